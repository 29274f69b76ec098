import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recombine.errors import InputError, StoreError
from recombine.parts import Part
from recombine.runs import (
    ExecutionError,
    Failed,
    Finished,
    Progress,
    Started,
    Store,
    Trial,
    Waiting,
    execute,
    run_trial,
    trial_queue,
)
from recombine.training import Recipe

BATCH = """
import signal, sys
# A test run in the background of a script ignores Ctrl-C, and so would the processes that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
from recombine.parts import Part
from recombine.runs import Store, Trial, execute

def batch(log, count, free):
    task = Part("counting_parts:numbers", n=2)
    for i in range(count):
        gate = log + ".gate" if i >= free else ""
        probe = Part("counting_parts:logged", log=log, label=i, seconds=0.1, gate=gate)
        yield Trial(task, probes=(probe,), seeds=(0,))

if __name__ == "__main__":
    store, log, count, free, jobs = sys.argv[1:]
    results = execute(batch(log, int(count), int(free)), Store(store), jobs=int(jobs))
    print(*(result.values["label"].item() for result in results))
"""


@pytest.fixture
def start_batch(tmp_path):
    """Starts another Python that executes `count` logged trials on a store under `tmp_path`.

    All but the first `free` of them do not end before the file `log.gate` exists.
    """
    script = tmp_path / "batch.py"
    script.write_text(BATCH)
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    started = []

    def start(*, count, free, jobs):
        arguments = [str(tmp_path / "store"), str(tmp_path / "log"), str(count), str(free), str(jobs)]
        process = subprocess.Popen(
            [sys.executable, str(script), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def lines(log, word):
    """How often each label was noted with `word`."""
    text = log.read_text() if log.exists() else ""
    return Counter(int(line.split()[1]) for line in text.splitlines() if line.startswith(word))


def worker_pids(log):
    return {int(line.split()[2]) for line in log.read_text().splitlines()}


def wait_until(condition, seconds=120.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("jobs", [0, 2])
def test_results_come_in_order_and_duplicates_run_once(store, make_trial, tmp_path, jobs):
    log = tmp_path / "log"
    trials = [make_trial("logged", seeds=(0,), log=str(log), label=i) for i in (3, 1, 2, 1, 3)]
    events = []
    results = execute(trials, store, jobs=jobs, on_event=events.append)
    assert [result.values["label"].item() for result in results] == [3, 1, 2, 1, 3]
    assert lines(log, "begin") == {1: 1, 2: 1, 3: 1}
    kinds = Counter(type(event) for event in events)
    assert kinds[Started] == kinds[Finished] == 3
    assert not any(event.from_store for event in events if isinstance(event, Finished))
    assert all(0 < event.fraction <= 1 for event in events if isinstance(event, Progress))
    assert not list((store.path / "leases").iterdir())
    events.clear()
    execute(trials, store, jobs=jobs, on_event=events.append)
    assert all(isinstance(event, Finished) and event.from_store for event in events)
    assert lines(log, "begin") == {1: 1, 2: 1, 3: 1}


def test_fresh_runs_again_and_replaces(store, make_trial, tmp_path):
    log = tmp_path / "log"
    trial = make_trial("logged", seeds=(0,), log=str(log))
    execute([trial], store)
    execute([trial], store, fresh=True)
    assert lines(log, "begin") == {0: 2}


def test_processes_give_the_numbers_that_this_process_gives(store, make_trial):
    trial = make_trial("mean", n=100)
    (result,) = execute([trial], store, jobs=2)
    np.testing.assert_array_equal(result.values["sorted"], run_trial(trial).values["sorted"])


def test_workers_are_pinned_and_leave_jax_alone_without_a_net(store, make_trial):
    trials = [make_trial("modules"), make_trial("core_count")]
    modules, cores = execute(trials, store, jobs=2)
    assert not modules.values["jax_imported"].any()
    if hasattr(os, "sched_getaffinity"):
        assert (cores.values["cores"] == 1).all()


@pytest.mark.parametrize("jobs", [-1, 1.5, True])
def test_bad_jobs(store, jobs):
    with pytest.raises(InputError, match="jobs"):
        execute([], store, jobs=jobs)


def test_nothing_to_do_needs_no_store(store):
    assert execute([], store, jobs=2) == []
    assert not store.path.exists()


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_failing_trial_does_not_stop_the_others(store, make_trial, jobs, caplog):
    caplog.set_level(logging.DEBUG, logger="recombine.runs")
    good = [make_trial(n=n) for n in (3, 4)]
    bad = make_trial("failing", message="no such\nluck")
    events = []
    with pytest.raises(ExecutionError) as raised:
        execute([bad, *good], store, jobs=jobs, on_event=events.append)
    assert str(raised.value) == (
        "1 of 3 trials failed; the results of the others are kept\n"
        f"  {bad.key[:8]} numbers · 2 seeds: ValueError: no such luck"
    )
    assert raised.value.failures == (Failed(bad, "ValueError: no such luck"),)
    assert all(trial in store for trial in good)
    assert bad not in store
    assert "counting_parts.py" in caplog.text


def test_a_worker_that_is_killed_loses_only_its_trial(store, make_trial):
    trials = [make_trial("killed"), *(make_trial(n=n) for n in (3, 4, 5)), make_trial("killed", label=1)]
    with pytest.raises(ExecutionError, match=r"2 of 5 trials failed") as raised:
        execute(trials, store, jobs=2)
    assert {failed.trial for failed in raised.value.failures} == {trials[0], trials[-1]}
    assert "its worker process was killed (SIGKILL; often this means that memory ran out)" in str(
        raised.value
    )
    assert all(trial in store for trial in trials[1:-1])


def test_a_full_disk_stops_the_pool_with_one_line(store, make_trial, tmp_path, monkeypatch):
    log = tmp_path / "log"
    real = store.check_writable

    def fill_up():
        real()
        (store.path / "results").rename(store.path / "gone")
        (store.path / "results").touch()  # a file in the place of the folder: workers cannot write

    monkeypatch.setattr(store, "check_writable", fill_up)
    trials = [make_trial("logged", log=str(log), label=i, seeds=(0,)) for i in range(9)]
    with pytest.raises(StoreError, match="cannot write"):
        execute(trials, store, jobs=2)
    assert sum(lines(log, "begin").values()) < 9


def test_kill_9_in_the_middle_and_resume(start_batch, tmp_path, store):
    log, count = tmp_path / "log", 8
    process = start_batch(count=count, free=3, jobs=2)
    wait_until(lambda: store.count() >= 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: all(map(is_gone, worker_pids(log))))  # without their parent the workers end too
    finished = {result.values["label"].item() for result in store.results()}
    assert 2 <= len(finished) <= 3
    assert set(lines(log, "end")) >= finished
    (tmp_path / "log.gate").touch()
    output, errors = start_batch(count=count, free=3, jobs=2).communicate(timeout=600)
    assert output.split() == [str(i) for i in range(count)], errors
    begun = lines(log, "begin")
    assert set(begun) == set(range(count))
    assert all(begun[label] == 1 for label in finished)
    assert not list((store.path / "leases").iterdir())


def test_two_processes_on_one_store_share_the_work(start_batch, tmp_path):
    count = 8
    both = [start_batch(count=count, free=count, jobs=jobs) for jobs in (1, 2)]
    for process in both:
        output, errors = process.communicate(timeout=600)
        assert output.split() == [str(i) for i in range(count)], errors
    assert lines(tmp_path / "log", "begin") == dict.fromkeys(range(count), 1)


def test_ctrl_c_ends_the_workers_and_keeps_what_is_finished(start_batch, tmp_path, store):
    log = tmp_path / "log"
    process = start_batch(count=50, free=1, jobs=2)
    wait_until(lambda: store.count() >= 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert errors.count("Traceback") == 1
    assert all(map(is_gone, worker_pids(log)))
    assert not list(store.path.glob("**/*.tmp"))
    assert len(list(store.results())) >= 1


def test_a_script_without_a_main_guard_gets_an_error_that_says_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(BATCH.replace('if __name__ == "__main__":', "if True:"))
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "store"), str(tmp_path / "log"), "2", "2", "2"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        timeout=600,
        check=False,
    )
    assert done.returncode != 0
    assert "under `if __name__ == '__main__':`" in done.stderr


def test_the_number_of_processes_changes_no_digit(tmp_path):
    """Of an encoder: XLA splits its convolutions by threads, which changes the order of their sums."""
    trials = [
        Trial(
            task=Part("recombine.tasks:reverse_bumps", hole=Part("recombine.spaces:corner_hole", low=14)),
            net=Part("recombine.nets:cnn_encoder", outputs=56),
            recipe=Recipe(steps=5),
            probes=(Part("recombine.studies.forced_rendering.bump_probes:encoder_accuracy"),),
            seeds=(seed,),
        )
        for seed in (0, 1)
    ]
    results = [execute(trials, Store(tmp_path / str(jobs)), jobs=jobs) for jobs in (1, 2)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.curves["train"], other.curves["train"])


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores cannot be chosen on this system")
@pytest.mark.parametrize("jobs", [1, 2])
def test_every_worker_has_one_core(store, make_trial, jobs):
    trials = [make_trial("core_count", n=n) for n in (2, 3)]
    for result in execute(trials, store, jobs=jobs):
        np.testing.assert_array_equal(result.values["cores"], 1)


@pytest.mark.parametrize("jobs", [0, 1])
def test_waiting_for_another_process_is_reported(store, make_trial, tmp_path, monkeypatch, caplog, jobs):
    monkeypatch.setattr(trial_queue, "WAIT_SECONDS", 0.3)
    trial, events = make_trial("mean"), []
    lease = store.lease(trial)

    def on_event(event):
        events.append(event)
        if isinstance(event, Waiting):
            lease.release()

    (result,) = execute([trial], store, jobs=jobs, on_event=on_event)
    waiting = [event for event in events if isinstance(event, Waiting)]
    assert [(event.trial, event.pid) for event in waiting] == [(trial, os.getpid())]
    assert f"waiting for another process (pid {os.getpid()} on " in caplog.text
    assert result.key == trial.key


def test_a_killed_worker_leaves_no_temporary_files(store, make_trial):
    with pytest.raises(ExecutionError):
        execute([make_trial("killed_while_writing", path=str(store.path / "results" / "x"))], store, jobs=1)
    assert not list((store.path / "results").iterdir())
    assert not list((store.path / "leases").iterdir())
