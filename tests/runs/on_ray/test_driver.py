"""Trials on a real cluster: the same results as here, and nothing is lost whatever dies."""

import os
import signal
import time
from pathlib import Path

import pytest

from recombine.runs import Store

pytest.importorskip("ray")
pytestmark = pytest.mark.ray


def is_gone(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_results_are_bit_identical_to_those_of_local_processes(cluster, drive, outcome, tmp_path):
    local = drive("local", "trained", jobs=2, store=str(tmp_path / "local"))
    here = outcome(local)
    there = outcome(drive(cluster.address, "trained"))
    assert len(here["finished"]) == 8
    assert here["finished"] == there["finished"]
    results = {result.key: result for result in Store(tmp_path / "store").results()}
    assert set(results) == set(there["finished"])
    assert all(result.values["cores"].tolist() == [1] for result in results.values())
    again = outcome(drive(cluster.address, "trained"))  # resumes: there is nothing left to do
    assert again == {"finished": {}, "failed": {}, "from_store": 0}


def test_a_shared_store_is_written_by_the_workers(cluster, drive, outcome, tmp_path, log):
    found = outcome(drive(cluster.address, "logged", count=5, free=5, shared_store=True))
    assert len(found["finished"]) == 5
    assert Store(tmp_path / "store").keys() == set(found["finished"])
    assert sorted(log.labels("end")) == list(range(5))


def test_failing_and_crashing_trials_do_not_stop_the_others(cluster, drive, outcome, log):
    found = outcome(drive(cluster.address, "mixed", retries=1))
    assert len(found["finished"]) == 4
    assert found["failed"]["failing"] == "ValueError: no such luck"
    assert found["failed"]["killed"].startswith(
        "its worker died 3 times; the last time its process was killed"
    )


def test_a_killed_worker_loses_nothing(cluster, drive, outcome, log):
    driver = drive(cluster.address, "logged", count=4, free=1)
    log.wait_for("end", 1)
    log.wait_for("begin", 3)
    victim = log.pid_of(log.labels("begin")[-1])
    os.kill(victim, signal.SIGKILL)
    log.open_gate()
    found = outcome(driver)
    assert (len(found["finished"]), found["failed"]) == (4, {})
    assert log.labels("end").count(0) == 1  # what was finished is not run again


def test_a_dying_node_loses_nothing(cluster, drive, outcome, log):
    cluster.tell("add node")
    driver = drive(cluster.address, "logged", count=3, free=0)
    log.wait_for("begin", 3)  # one on every node
    cluster.tell("kill node")
    log.wait_for("begin", 3)
    log.open_gate()
    found = outcome(driver)
    assert (len(found["finished"]), found["failed"]) == (3, {})
    assert sorted(log.labels("end")) == [0, 1, 2]


def test_a_killed_driver_leaves_no_workers_and_its_results(cluster, drive, outcome, tmp_path, log):
    driver = drive(cluster.address, "logged", count=5, free=2)
    log.wait_for("end", 2)
    log.wait_for("begin", 4)
    wait_until(lambda: Store(tmp_path / "store").count() == 2)
    driver.kill()
    driver.wait()
    wait_until(lambda: all(is_gone(pid) for pid in log.pids()))
    log.open_gate()
    found = outcome(drive(cluster.address, "logged", count=5, free=2))
    assert len(found["finished"]) == 3
    assert Store(tmp_path / "store").count() == 5
    assert sorted(log.labels("end")) == list(range(5))


def test_workers_refuse_another_version_and_other_code(cluster, drive, outcome, tmp_path):
    found = outcome(drive(cluster.address, "logged", count=1, free=1, version="0.0.1"))
    assert "but this is 0.0.1; install the same version on every node" in found["error"]
    module = tmp_path / "changing_part.py"
    module.write_text("def probe(task, log):\n    return {'n': 1}\n")
    found = outcome(drive(cluster.address, "changed", module=str(module)))
    assert "would not run the same code" in found["error"]
    assert found["finished"] == {}


def test_the_environment_names_the_cluster(cluster, drive, outcome, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    found = outcome(drive("ray", "logged", count=1, free=1))
    assert len(found["finished"]) == 1


def test_a_script_cannot_be_sent_to_a_cluster(drive, outcome):
    found = outcome(drive("ray", "in_script"))
    assert found["error"].startswith(
        "InputError: function: got '__main__:own_probe', expected a function in a module"
    )


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "localhost:99999"])
def test_an_address_where_nobody_listens(drive, outcome, address):
    error = outcome(drive(address, "logged", count=1))["error"]
    assert error.startswith(f"InputError: on: got '{address}'")


def test_a_laptop_drives_the_cluster_through_its_client_server(cluster, drive, outcome, tmp_path):
    found = outcome(drive(cluster.client_address, "logged", count=3, free=3))
    assert (len(found["finished"]), found["failed"]) == (3, {})
    assert Store(tmp_path / "store").count() == 3


def test_when_the_head_dies_the_driver_says_so_and_another_run_continues(
    mortal_cluster, drive, outcome, tmp_path, log
):
    address = mortal_cluster.address
    driver = drive(address, "logged", count=4, free=2)
    log.wait_for("end", 2)
    log.wait_for("begin", 4)
    wait_until(lambda: Store(tmp_path / "store").count() == 2)
    mortal_cluster.tell("kill head")
    found = outcome(driver)
    assert found["error"].startswith(f"ExecutionError: the Ray cluster at {address} does not answer any more")
    # Nodes end by themselves once they have missed their head for a while, which a busy machine draws out.
    wait_until(lambda: all(is_gone(pid) for pid in log.pids()), seconds=180.0)
    log.open_gate()
    assert len(outcome(drive("local", "logged", count=4, free=2))["finished"]) == 2
    assert Store(tmp_path / "store").count() == 4
