"""Running sweeps: known answers, laziness, resuming, failures."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import polars as pl
import pytest

import recombine
from recombine import InputError, Part, Recipe, nets
from recombine.errors import StoreError
from recombine.runs import Store, StoreWarning
from recombine.sweeps import Sweep, plan, sweep, sweep_plan
from recombine.training import sgd

HERE = Path(__file__).parent
SUMS = Part("sweep_parts:sums")
NET = Part(nets.mlp, inputs=6, width=4, depth=1, outputs=1)
RECIPE = Recipe(steps=3, batch=4, optimiser=sgd(1e-2))


def test_known_values(plan_numbers, store):
    found = plan_numbers({"task.n": [1, 2], "task.low": [0.0, 0.5]}).run(store=store, quiet=True)
    frame = found.frame()
    assert frame.columns[:6] == ["task.n", "task.low", "seed", "status", "error", "value"]
    assert frame["task.n"].to_list() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert frame["task.low"].to_list() == [0.0, 0.0, 0.5, 0.5] * 2
    assert frame["seed"].to_list() == [0, 1] * 4
    assert frame["value"].to_list() == pytest.approx([1.0, 1.1, 1.5, 1.6, 2.0, 2.1, 2.5, 2.6])
    assert set(frame["status"]) == {"finished"}
    assert (frame["error"].dtype, frame["error"].null_count()) == (pl.String, 8)
    assert [result.trial.seeds for result in found.results()] == [(0,), (1,)] * 4


def test_the_top_level_call_is_plan_and_run(store):
    over = {"task.low": [1.0]}
    found = recombine.sweep(
        task=Part("sweep_parts:numbers"),
        probes=Part("sweep_parts:value"),
        seeds=1,
        over=over,
        store=store.path,
        quiet=True,
    )
    assert isinstance(found, Sweep)
    assert found.frame()["value"].to_list() == [4.0]


def test_damaged_results_are_run_again(plan_numbers, store):
    made = plan_numbers({"task.n": [1, 2]})
    before = made.run(store=store, quiet=True)
    file = next((store.path / "results").glob("*.npz"))
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.warns(StoreWarning, match="is damaged"):
        after = made.run(store=Store(store.path), quiet=True)
    assert after.ran == 1
    times = ("seconds",)
    assert after.frame().drop(times).equals(before.frame().drop(times))


def test_nets_are_trained_and_measured(store):
    found = sweep(
        task=SUMS, net=NET, recipe=RECIPE, seeds=2, over={"net.width": [4, 5]}, store=store, quiet=True
    )
    frame = found.frame()
    assert frame["net.width"].to_list() == [4, 4, 5, 5]
    assert frame["error_out"].is_finite().all()
    assert frame["recipe.optimiser.learning_rate"].to_list() == [0.01] * 4


def test_seeds_that_are_trained_together_give_the_same_rows(store):
    apart, together = (
        sweep(task=SUMS, net=NET, recipe=RECIPE, seeds=3, together=n, store=store, quiet=True) for n in (1, 2)
    )
    assert [apart.plan.n_trials, together.plan.n_trials] == [3, 2]
    assert apart.frame()["seed"].to_list() == together.frame()["seed"].to_list() == [0, 1, 2]
    assert apart.frame()["error_in"].to_list() == pytest.approx(
        together.frame()["error_in"].to_list(), rel=1e-4
    )


def test_trials_are_made_one_by_one(monkeypatch, plan_numbers):
    planned = plan_numbers({"task.n": range(1000), "task.low": [i / 8 for i in range(100)]}, seeds=10)
    assert planned.n_trials == 1_000_000
    made, original = [], sweep_plan.Trial
    monkeypatch.setattr(sweep_plan, "Trial", lambda *args: made.append(1) or original(*args))
    assert len(list(islice(planned.trials(), 5))) == 5
    assert len(made) == 5


def test_what_is_stored_is_not_run_again(plan_numbers, store):
    first = plan_numbers({"task.n": [1, 2]}).run(store=store, quiet=True)
    more = plan_numbers({"task.n": [1, 2, 3]}, seeds=3).run(store=store, quiet=True)
    again = plan_numbers({"task.n": [1, 2]}).run(store=store, quiet=True)
    fresh = plan_numbers({"task.n": [1, 2]}).run(store=store, quiet=True, fresh=True)
    assert [one.ran for one in (first, more, again, fresh)] == [4, 5, 0, 4]
    assert again.frame().drop("seconds").equals(first.frame().drop("seconds"))


def test_a_sweep_can_be_recalled_before_it_is_complete(plan_numbers, store):
    plan_numbers({"task.n": [1]}).run(store=store, quiet=True)
    frame = plan_numbers({"task.n": [1, 2]}).recall(store).frame()
    assert frame["status"].to_list() == ["finished", "finished", "failed", "failed"]
    assert frame["error"].to_list()[2] == "it has no result in the store"


KILLED = """
import sys
from recombine import Part
from recombine.sweeps import plan
store, log = sys.argv[1:]
sweep = plan(task=Part("sweep_parts:numbers"), probes=Part("sweep_parts:gated", log=log), seeds=1,
             over={"task.n": [0, 1, 2, 3]})
if __name__ == "__main__":
    sweep.run(store=store, quiet=True)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_sweep_does_the_rest(tmp_path, number):
    script, log = tmp_path / "killed.py", tmp_path / "log"
    script.write_text(KILLED)
    words = [sys.executable, str(script), str(tmp_path / "store"), str(log)]
    env = os.environ | {"PYTHONPATH": str(HERE)}
    reset = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background run would ignore it
    try:
        process = subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL)
    finally:
        signal.signal(signal.SIGINT, reset)
    deadline = time.monotonic() + 60
    while not log.exists() or len(log.read_text().split()) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(timeout=60) != 0
    assert Store(tmp_path / "store").count() == 2
    Path(f"{log}.gate").touch()
    subprocess.run(words, env=env, check=True)
    assert Store(tmp_path / "store").count() == 4
    assert sorted(log.read_text().split()) == ["0", "1", "2", "2", "3"]  # only the one in flight ran twice


@pytest.mark.parametrize("jobs", [0, 2])
def test_trials_that_raise_are_rows(plan_numbers, store, jobs):
    planned = plan_numbers({"task.n": [1, -1, 13, 2]}, seeds=1)
    found = planned.run(store=store, quiet=True, jobs=jobs)
    assert found.frame()["status"].to_list() == ["finished", "failed", "failed", "finished"]
    assert found.frame()["error"].to_list() == [
        None,
        "ValueError: n is negative",
        "MemoryError: no memory left",
        None,
    ]
    assert found.frame()["value"].to_list() == [1.0, None, None, 2.0]
    assert [failed.error for failed in found.failures] == [
        "ValueError: n is negative",
        "MemoryError: no memory left",
    ]
    assert repr(found) == "Sweep(4 trials, 4 points; 2 failed)"
    again = planned.run(store=store, quiet=True)
    assert again.ran == 2  # failures are not stored


def test_a_failing_trial_is_tried_again_as_often_as_asked(plan_numbers, store, tmp_path):
    settings = {"log": str(tmp_path / "log")}
    found = plan_numbers(seeds=1, probe="flaky", settings=settings).run(store=store, quiet=True)
    assert found.frame()["error"].to_list() == ["RuntimeError: try again"]
    (tmp_path / "log").unlink()
    found = plan_numbers(seeds=1, probe="flaky", settings=settings).run(store=store, quiet=True, retries=1)
    assert found.frame()["status"].to_list() == ["finished"]


def test_trials_that_diverge_are_rows(store):
    over = {"recipe.optimiser.learning_rate": [1e-2, 1e30]}
    found = sweep(
        task=SUMS,
        net=NET,
        recipe=Recipe(steps=20, optimiser=sgd(1.0)),
        seeds=2,
        over=over,
        store=store,
        quiet=True,
    )
    frame = found.frame()
    assert frame["status"].to_list() == ["finished", "finished", "diverged", "diverged"]
    assert frame["error"].to_list()[2:] == ["the training loss was not finite, or above 1e+06"] * 2
    assert found.failures == ()
    assert found.best().settings == {"recipe.optimiser.learning_rate": 0.01}
    assert "2 seeds diverged: the training loss was not finite, or above 1e+06" in str(found)


def test_all_trials_may_fail(plan_numbers, store):
    found = plan_numbers({"task.n": [-1, -2]}).run(store=store, quiet=True)
    assert "4 seeds failed: ValueError: n is negative" in str(found)
    assert json.dumps(found.to_dict(), allow_nan=False)
    with pytest.raises(InputError, match="a sweep with a measured number"):
        found.best()
    with pytest.raises(InputError, match="a sweep with a measured number"):
        found.plot()
    assert found.page().html()


def test_best(plan_numbers, store):
    found = plan_numbers({"task.n": [3, 1, 2, -1], "task.low": [0.0, 0.5]}).run(store=store, quiet=True)
    assert found.best("value").settings == {"task.n": 1, "task.low": 0.0}
    best = found.best(lowest=False)  # `twice_out`: the error on unseen cells comes first
    assert (best.value, best.settings) == ("twice_out", {"task.n": 3, "task.low": 0.5})
    assert best.estimate.value == pytest.approx(7.1)
    assert best.trial.task == Part("sweep_parts:numbers", n=3, low=0.5)
    with pytest.raises(InputError, match="did you mean 'value'"):
        found.best("valeu")


def test_frames_are_written(plan_numbers, store, tmp_path):
    found = plan_numbers({"task.n": [1, 2]}).run(store=store, quiet=True)
    assert pl.read_parquet(found.to_parquet(tmp_path / "a.parquet")).equals(found.frame())
    found.write(tmp_path / "a.csv")
    assert pl.read_csv(tmp_path / "a.csv")["value"].to_list() == found.frame()["value"].to_list()
    with pytest.raises(InputError, match=r"a file name that ends in \.parquet"):
        found.to_parquet(tmp_path / "a.csv")
    with pytest.raises(StoreError, match="cannot write"):
        found.to_parquet(tmp_path / "nowhere" / "a.parquet")


def test_swept_parts_are_told_apart(plan_numbers, store):
    parts = [Part("sweep_parts:numbers", n=n) for n in (1, 2)]
    frame = plan_numbers({"task": parts}, seeds=1).run(store=store, quiet=True).frame()
    assert frame["task"].to_list() == ["numbers(n=1)", "numbers(n=2)"]
    assert frame["task.n"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"over": {"net.widht": [4]}},
            "over: got 'net.widht', expected a setting of net; did you mean 'net.width'?",
        ),
        ({"over": {"net.width": ["a"]}}, "net.width: got 'a', expected a whole number"),
        ({"over": {"net.width": [4, 2.5]}}, "net.width: got 2.5, expected a whole number"),
        ({"over": {"net": [3]}}, "net: got 3, expected a Part, or a function"),
        ({"over": {"net": [None]}}, "net: got None"),
        ({"over": {"recipe": [3]}}, "recipe: got 3, expected a Recipe"),
        (
            {"over": {"recipe": [Recipe(steps=4), Recipe(steps=5)], "recipe.steps": [1]}},
            "values that make a difference",
        ),
        ({"task": 3}, "task: got 3"),
        ({"task": "bumps"}, "task: got 'bumps', expected a Part, or a function"),
        ({"task": Part("nowhere:sums")}, "function: got 'nowhere:sums', expected an importable name"),
        ({"task": Part("sweep_parts:sums", m=3)}, "got 'task.m', expected a setting of sweep_parts:sums"),
        ({"task": Part("math:sqrt")}, "a function with a keyword 'seed'"),
        ({"net": Part(nets.mlp, width=4)}, "a value for net.inputs, net.outputs"),
        ({"net": lambda key: None}, "no lambda"),
        ({"net": None}, "at least one probe in a sweep without a net"),
        ({"recipe": None}, "a Recipe"),
        ({"recipe": 3}, "recipe: got 3"),
        ({"probes": 3}, "probes[0]: got 3"),
        ({"probes": Part("recombine.probes:errors", baselinez=1)}, "did you mean 'probes[0].baselines'?"),
        ({"seeds": 0}, "seeds: got 0, expected a number from 1"),
        ({"seeds": True}, "seeds: got True"),
        ({"seeds": 2.0}, "seeds: got 2.0"),
        ({"seeds": []}, "at least one seed"),
        ({"seeds": [1, 1]}, "all different"),
        ({"seeds": [-1]}, "whole numbers from 0"),
        ({"seeds": range(10**9)}, "at most 1,000,000"),
        ({"seeds": 1_000_000, "over": {"net.width": [1, 2]}}, "got '2,000,000 trials'"),
        ({"together": 0}, "together: got 0"),
        ({"name": 3}, "name: got 3"),
    ],
)
def test_what_could_not_run_is_refused_before_anything_runs(change, words):
    legal = {"task": SUMS, "net": NET, "recipe": RECIPE, "seeds": 2}
    with pytest.raises(InputError) as error:
        plan(**(legal | change))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"on": "mars"}, "on: got 'mars'"),
        ({"jobs": -1}, "jobs: got -1"),
        ({"retries": 1.5}, "retries: got 1.5"),
        ({"shared_store": True}, "shared_store"),
        ({"store": 3}, "store: got 3, expected a folder or a Store"),
    ],
)
def test_wrong_options_are_refused(plan_numbers, options, words):
    with pytest.raises(InputError) as error:
        plan_numbers().run(**options)
    assert words in str(error.value)


def test_a_store_that_cannot_be_written_is_one_error(plan_numbers, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises((InputError, StoreError), match="file"):
        plan_numbers().run(store=tmp_path / "file" / "store", quiet=True)
