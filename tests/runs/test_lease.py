import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace

import pytest

from recombine.runs import lease as leases
from recombine.runs.lease import acquire, remove_if_stale, sweep_leases
from recombine.runs.liveness import Owner, is_alive


@pytest.fixture
def path(tmp_path):
    return tmp_path / "key.lease"


@pytest.fixture(scope="module")
def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def write(path, owner):
    path.write_text(json.dumps(asdict(owner) | {"token": "t"}))


def test_one_holder_at_a_time(path):
    with acquire(path):
        assert acquire(path) is None
    assert not path.exists()
    again = acquire(path)
    assert again is not None
    again.release()


def test_of_many_at_once_one_wins(path):
    with ThreadPoolExecutor(8) as pool:
        won = [lease for lease in pool.map(lambda _: acquire(path), range(32)) if lease is not None]
    assert len(won) == 1
    won[0].release()


def test_of_many_that_take_over_a_stale_lease_one_wins(path, dead_pid):
    write(path, replace(Owner.current(), pid=dead_pid))
    with ThreadPoolExecutor(8) as pool:
        won = [lease for lease in pool.map(lambda _: acquire(path), range(32)) if lease is not None]
    assert len(won) == 1
    won[0].release()
    assert os.listdir(path.parent) == []


def test_a_dead_process_loses_its_lease_at_once(path, dead_pid):
    write(path, replace(Owner.current(), pid=dead_pid))
    lease = acquire(path)
    assert lease is not None
    lease.release()


def test_a_number_that_was_given_to_a_new_process_is_not_the_old_holder(path):
    owner = Owner.current()
    assert is_alive(owner)
    if owner.started:
        assert not is_alive(replace(owner, started="1"))


@pytest.mark.parametrize("content", ["", "{", "null", json.dumps(asdict(Owner("another host", 1, "1")))])
def test_a_holder_that_cannot_be_seen_is_judged_by_its_heartbeat(path, content):
    path.write_text(content)
    assert is_alive(Owner("another host", 1, "1")) is None
    assert acquire(path) is None
    old = time.time() - leases.STALE_AFTER - 5
    os.utime(path, (old, old))
    lease = acquire(path)
    assert lease is not None
    lease.release()


def test_the_heart_beats(path):
    with acquire(path, stale_after=0.3):
        os.utime(path, (0, 0))
        time.sleep(0.2)
        assert time.time() - path.stat().st_mtime < 10


def test_a_holder_that_was_taken_over_does_not_remove_the_new_lease(path):
    old = acquire(path)
    path.unlink()
    new = acquire(path)
    old.release()
    assert path.exists()
    new.release()
    assert not path.exists()


def test_a_live_lease_that_was_moved_aside_by_mistake_is_put_back(path, dead_pid, monkeypatch):
    write(path, replace(Owner.current(), pid=dead_pid))
    real_rename = os.rename

    def rename_too_late(source, target):
        write(path, Owner.current())  # somebody else takes over just before the move
        real_rename(source, target)

    monkeypatch.setattr(os, "rename", rename_too_late)
    remove_if_stale(path)
    assert json.loads(path.read_text())["pid"] == os.getpid()
    assert os.listdir(path.parent) == [path.name]


def test_sweeping_removes_only_what_is_stale(tmp_path, dead_pid):
    write(tmp_path / "a.lease", replace(Owner.current(), pid=dead_pid))
    write(tmp_path / "b.lease", Owner.current())
    sweep_leases(tmp_path)
    assert os.listdir(tmp_path) == ["b.lease"]
