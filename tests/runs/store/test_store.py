import errno
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.durable import temporary_name
from recombine.errors import InputError, StoreError
from recombine.runs import Store, StoreWarning, execute, export, run_trial
from recombine.runs.store import file_format


@pytest.fixture
def filled(store, trial):
    store.put(run_trial(trial))
    return store


def the_file(store, trial):
    return store.path / "results" / f"{trial.key}.npz"


def test_stored_results_can_be_read_back(store, trial):
    assert store.get(trial) is None
    assert trial not in store
    result = run_trial(trial)
    store.put(result)
    assert trial in store
    again = store.get(trial)
    np.testing.assert_array_equal(again.values["sorted"], result.values["sorted"])
    assert again.trial is trial
    assert [entry.name for entry in (store.path / "results").iterdir()] == [f"{trial.key}.npz"]


def test_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    assert Store().path == tmp_path / "home"
    assert not (tmp_path / "home").exists()
    monkeypatch.delenv("RECOMBINE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert Store().path.name == "recombine"
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="a folder"):
        Store(tmp_path / "file")


def truncate(file):
    file.write_bytes(file.read_bytes()[:100])


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [truncate, flip, lambda file: file.write_bytes(b"")])
def test_a_damaged_file_is_set_aside_and_its_trial_run_again(filled, trial, damage):
    damage(the_file(filled, trial))
    with pytest.warns(
        StoreWarning, match=f"{trial.key}.npz is damaged .* damaged/, and its trial will be run"
    ):
        assert filled.get(trial) is None
    assert (filled.path / "damaged" / f"{trial.key}.npz").exists()
    assert trial not in filled
    (result,) = execute([trial], filled)
    np.testing.assert_array_equal(filled.get(trial).values["mean"], result.values["mean"])


def test_a_damaged_file_that_cannot_be_moved_is_not_a_result(filled, trial, monkeypatch):
    truncate(the_file(filled, trial))

    def refuse(*args):
        raise PermissionError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(StoreWarning, match="could not be moved away"):
        assert filled.get(trial) is None


def test_a_full_disk_leaves_one_clear_line_and_a_usable_store(filled, trial, make_trial, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    other = make_trial(n=5)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError) as raised:
            filled.put(run_trial(other))
    assert str(raised.value) == (
        f"store {filled.path}: cannot write (No space left on device); "
        "free some space, or choose another folder with --store or RECOMBINE_HOME"
    )
    assert [file.name for file in (filled.path / "results").iterdir()] == [f"{trial.key}.npz"]
    assert filled.get(trial) is not None
    filled.put(run_trial(other))
    assert other in filled


@pytest.fixture
def tiny_disk(tmp_path):
    """A real file system of 64 kB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_is_really_full(tiny_disk, make_trial):
    small, large = make_trial(n=10), make_trial(n=20_000)
    store = Store(tiny_disk / "store")
    with pytest.raises(StoreError, match="No space left on device"):
        execute([small, large], store)
    assert small in store
    assert large not in store
    assert not list(store.path.glob("**/*.tmp"))
    assert not list(store.path.glob("**/*.lease"))
    assert len(execute([small], store)) == 1


def test_a_read_only_store_can_be_read_and_refuses_work_before_it_is_done(
    filled, trial, make_trial, tmp_path, monkeypatch
):
    log, real_open = tmp_path / "log", open

    def refuse(file, mode="r", *args, **kwargs):
        if "r" not in mode and str(filled.path) in str(file):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real_open(file, mode, *args, **kwargs)

    monkeypatch.setattr("builtins.open", refuse)
    assert len(execute([trial], filled)) == 1
    with pytest.raises(StoreError, match=r"cannot write \(Read-only file system\); choose another folder"):
        execute([trial, make_trial("logged", log=str(log))], filled)
    assert not log.exists()


def test_a_store_below_a_regular_file(tmp_path, trial):
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "store")
    assert store.get(trial) is None
    with pytest.raises(StoreError, match=r"cannot write \(Not a directory\)"):
        execute([trial], store)


def test_an_unreadable_file_does_not_count_as_damaged(filled, trial, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(StoreError, match=r"cannot read .*Permission denied"):
        filled.get(trial)


def test_listing(filled, trial, make_trial):
    other = make_trial("mean", n=4, seeds=(0,))
    filled.put(run_trial(other))
    entries = {entry.key: entry for entry in filled.entries()}
    assert set(entries) == {trial.key, other.key}
    assert entries[other.key].summary == "numbers · 1 seed"
    assert entries[trial.key].size == the_file(filled, trial).stat().st_size
    assert entries[trial.key].created.endswith("+00:00")
    truncate(the_file(filled, trial))
    assert {entry.summary for entry in filled.entries()} == {None, "numbers · 1 seed"}


def test_all_results_also_those_of_earlier_code(filled, trial):
    filled.put(replace(run_trial(trial), key="0" * 32))
    value = list(filled.results())
    assert {result.key for result in value} == {trial.key, "0" * 32}
    assert {result.trial for result in value} == {trial}


def test_results_with_unknown_settings_are_counted_not_lost(filled, monkeypatch):
    def unknown(text):
        raise InputError("class", "recombine.training:Old", "an importable name")

    monkeypatch.setattr("recombine.runs.store.file_format.from_json", unknown)
    with pytest.warns(StoreWarning, match="left out 1 results"):
        assert list(filled.results()) == []
    assert len(list(filled.entries())) == 1


def test_clear(filled, trial, make_trial):
    trials = [trial, *(make_trial(n=n) for n in range(4, 7))]
    execute(trials, filled)
    assert filled.clear(trial.key) == 1
    assert trial not in filled
    assert trials[1] in filled
    with pytest.raises(InputError, match="hexadecimal"):
        filled.clear("../")
    assert filled.clear() == 3
    assert list(filled.entries()) == []


def test_strangers_in_the_folder_of_results_are_ignored(filled, trial, make_trial, tmp_path):
    results = filled.path / "results"
    (results / f"{'a' * 32}.npz").mkdir()
    (results / "notes.npz").write_text("mine")
    (results / "notes.txt").write_text("mine")
    (results / f"{trial.key} (copy).npz").write_bytes(the_file(filled, trial).read_bytes())
    assert filled.count() == len(list(filled.entries())) == len(list(filled.results())) == 1
    assert export(filled.results(), tmp_path / "table.csv").exists()
    assert filled.clear() == 1
    assert len(list(results.iterdir())) == 4


def test_a_folder_with_a_results_name_is_not_a_result(store, trial):
    the_file(store, trial).mkdir(parents=True)
    assert store.get(trial) is None


def test_a_result_of_another_format_is_set_aside_and_blocks_nothing(
    filled, trial, make_trial, tmp_path, monkeypatch
):
    other = make_trial(n=5)
    with monkeypatch.context() as later:
        later.setattr(file_format, "FORMAT", 2)
        filled.put(run_trial(other))
    with pytest.warns(StoreWarning, match="has format 2, .* only format 1; it is now in unknown-format/"):
        export(filled.results(), tmp_path / "table.csv")
    assert (filled.path / "unknown-format" / f"{other.key}.npz").exists()
    assert [entry.key for entry in filled.entries()] == [trial.key]
    execute([other], filled)
    assert filled.get(other) is not None


def test_a_file_larger_than_any_result_is_not_read(filled, trial, monkeypatch):
    monkeypatch.setattr(file_format, "MAX_BYTES", -(2**20))
    with pytest.warns(StoreWarning, match="more than the"):
        assert filled.get(trial) is None


def test_probing_for_writability_leaves_nothing_even_if_killed(store, monkeypatch):
    store.check_writable()
    assert not list((store.path / "results").iterdir())
    dead = subprocess.Popen(["true"])
    dead.wait()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: dead.pid)
        names = [temporary_name(name) for name in ("writable", "clock")]
    for folder, name in zip(("results", "leases"), names, strict=True):
        (store.path / folder / name).touch()
    store.sweep()
    assert not [*(store.path / "results").iterdir(), *(store.path / "leases").iterdir()]
