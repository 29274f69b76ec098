import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from recombine.liveness import Owner, is_alive
from recombine.runs import lease as leases
from recombine.runs.lease import acquire, remove_if_stale, sweep_leases


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


def test_a_reused_process_number_is_not_the_old_holder(path):
    owner = Owner.current()
    assert is_alive(owner)
    if owner.started:
        assert not is_alive(replace(owner, started="1"))


def test_an_invisible_holder_is_alive_by_its_heartbeat(path):
    write(path, Owner("another host", 1, "1"))
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
        deadline = time.monotonic() + 60.0
        while path.stat().st_mtime == 0:
            assert time.monotonic() < deadline, "no heartbeat"
            time.sleep(0.01)


GARBAGE = ["", "{", "null", "[1]", "\x00", *(
    json.dumps({"place": "another host", "started": "1"} | {"pid": pid}) for pid in (0, -1, "1", 1.5, None, True)
)]  # fmt: skip


@pytest.mark.parametrize("content", GARBAGE)
def test_a_file_that_names_no_process_is_removed_after_a_moment(path, content):
    path.write_text(content)
    assert acquire(path) is None  # on a file system without links it may be being written
    old = time.time() - leases.GARBAGE_AFTER - 1
    os.utime(path, (old, old))
    lease = acquire(path)
    assert lease is not None
    lease.release()


@pytest.mark.parametrize("content", ["", json.dumps(asdict(Owner("another host", 1, "1")))])
def test_a_lease_from_the_future_is_stale(path, content):
    """The clock of the file server was set back; a living holder would have touched the lease since."""
    path.write_text(content)
    for ahead, is_stale in ((1, False), (leases.STALE_AFTER + 60, True), (10**9, True)):
        os.utime(path, (time.time() + ahead,) * 2)
        lease = acquire(path)
        assert (lease is not None) == is_stale
        if lease is not None:
            lease.release()
            path.write_text(content)


def test_a_holder_on_this_host_is_not_judged_by_clocks(path):
    write(path, Owner.current())
    os.utime(path, (time.time() - 60,) * 2)
    assert acquire(path) is None


@pytest.mark.parametrize("pid", [0, -1, -(2**70), 2**70])
def test_numbers_that_are_not_processes_are_not_alive(pid):
    assert is_alive(replace(Owner.current(), pid=pid)) is False


def test_a_lease_is_never_seen_before_it_is_written(path, monkeypatch):
    """A process that is killed at any step leaves a whole lease or none, and a temporary file that can be swept."""
    real_link, seen = os.link, []

    def link(source, target):
        seen.append(Path(target).exists())
        real_link(source, target)
        seen.append(json.loads(path.read_text())["pid"])

    monkeypatch.setattr(os, "link", link)
    with acquire(path):
        assert seen == [False, os.getpid()]
        assert leases.holder(path) == Owner.current()
        assert os.listdir(path.parent) == [path.name]
    assert leases.holder(path) is None


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_file_systems_without_links(path, monkeypatch, number):
    def refuse(source, target):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    with acquire(path) as lease:
        assert lease is not None
        assert acquire(path) is None
    assert os.listdir(path.parent) == []


def test_a_link_whose_reply_was_lost_counts(path, monkeypatch):
    real_link = os.link

    def link(source, target):
        real_link(source, target)
        raise TimeoutError(errno.ETIMEDOUT, "the file server does not answer")

    monkeypatch.setattr(os, "link", link)
    lease = acquire(path)
    assert lease is not None
    lease.release()
    assert os.listdir(path.parent) == []


def test_a_full_disk_leaves_nothing(path, monkeypatch):
    def full(self, data):
        self.touch()
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="full"):
        acquire(path)
    assert os.listdir(path.parent) == []


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


def test_a_lease_of_deeply_nested_json_names_no_holder(path):
    path.write_bytes(b"[" * 200_000)
    os.utime(path, (time.time() - 10,) * 2)
    sweep_leases(path.parent)
    assert not path.exists()


def test_a_link_that_leads_to_nothing_blocks_nobody(path):
    path.symlink_to(path.parent / "nothing")
    with acquire(path) as lease:
        assert lease is not None
