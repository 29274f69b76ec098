import os
import random
import subprocess
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError, StoreError
from recombine.runs import Result, Store, StoreWarning, complete, execute, run_trial, table
from recombine.runs.store import compaction, file_format
from recombine.runs.store.segment import frame_of, write_segment

VALUES = [
    {"mean": np.array([1.5, np.nan]), "flag": np.array([True, False]), "map": np.ones((2, 3))},
    {
        "name": np.array(["x", "a\nb"]),
        "count": np.array([1, 2**40]),
        "half": np.array([0.1, np.inf], np.float16),
    },
    {"wave": np.array([1 + 2j, 0]), "huge": np.array([2**64 - 1, 0], np.uint64)},
    {"long": np.array([1, 3], np.longdouble) / 3, "seed": np.array([7, 8])},
]


@pytest.fixture
def results(make_trial):
    """Results of every type of value, in the order of their keys."""
    made = []
    for n in range(3, 23):
        values = VALUES[n % len(VALUES)]
        trial = make_trial(n=n, label="née ≠ \n" if n % 3 else 0.25)
        made.append(
            Result(trial, ("finished", "diverged"), values, {"loss": np.ones((2, n))}, 0.1, "1", "m", "now")
        )
    return sorted(made, key=lambda result: result.key)


@pytest.fixture
def filled(store, results):
    for result in results:
        store.put(result)
    return store


def parquet_files(store):
    return sorted((store.path / "compacted").glob("*.parquet"))


def result_files(store):
    return sorted((store.path / "results").iterdir())


def assert_holds(store, results):
    assert store.keys() == {result.key for result in results}
    for result in results:
        again = store.get(result.trial)
        assert list(again.values) == list(result.values)
        for name, array in result.values.items():
            assert again.values[name].dtype == array.dtype
            np.testing.assert_array_equal(again.values[name], array)


def views(store):
    """All that a store shows of its results."""
    return list(store.entries()), [repr(result) for result in store.results()], table(store.rows())


def test_a_compacted_store_shows_the_same(filled, results, tmp_path):
    entries, texts, frame = views(filled)
    assert frame.equals(table(results), null_equal=True)
    compacted = filled.compact()
    assert (compacted.moved, compacted.files, compacted.segments) == (len(results), 0, 1)
    for store in (filled, Store(filled.path)):
        assert_holds(store, results)
        assert views(store)[:2] == (entries, texts)
        assert views(store)[2].equals(frame, null_equal=True)
        assert store.count() == len(results)
        assert store.find(results[3].key[:12]).key == results[3].key
        assert all(result.trial in store for result in results)
    assert filled.compact().moved == 0


def test_nothing_to_compact(store):
    assert store.compact().to_dict() == {"moved": 0, "files": 0, "segments": 0}
    assert not (store.path / "compacted").exists()


def test_later_results_are_merged_and_replace_earlier_ones(filled, results, make_trial):
    filled.compact()
    newer = replace(results[0], values={"mean": np.zeros(2)})
    added = run_trial(make_trial(n=2))
    filled.put(newer)
    filled.put(added)
    expected = sorted([newer, added, *results[1:]], key=lambda result: result.key)
    assert_holds(filled, expected)
    assert table(filled.rows()).equals(table(expected), null_equal=True)
    filled.compact()
    assert len(parquet_files(filled)) == 1
    assert_holds(Store(filled.path), expected)


def test_only_old_results(filled, results):
    old = filled.path / "results" / f"{results[0].key}.npz"
    os.utime(old, (time.time() - 10 * 86400,) * 2)
    assert filled.compact(older_than=9.5).moved == 1
    assert len(result_files(filled)) == len(results) - 1
    assert_holds(filled, results)
    for wrong in (-1, float("nan"), float("inf"), True, "1"):
        with pytest.raises(InputError, match="older_than"):
            filled.compact(older_than=wrong)


def test_stored_results_are_not_run_again(filled, results):
    filled.compact()
    trials = [result.trial for result in results]
    left = []
    complete(trials, filled, on_plan=left.extend)
    assert left == []
    assert [result.key for result in execute(trials, filled)] == [result.key for result in results]


def test_large_results_stay_files_and_segments_are_bounded(filled, results, monkeypatch):
    sizes = sorted(entry.size for entry in filled.entries())
    monkeypatch.setattr(compaction, "MAX_BYTES", sizes[-1] - 1)
    monkeypatch.setattr(compaction, "SEGMENT_BYTES", 4 * sizes[0])
    assert filled.compact().files == sizes.count(sizes[-1])
    assert len(parquet_files(filled)) > 4
    assert_holds(Store(filled.path), results)


def test_clear(filled, results):
    filled.compact()
    first = results[0].key
    assert filled.clear(first) == 1
    assert filled.count() == Store(filled.path).count() == len(results) - 1
    assert results[0].trial not in filled
    assert filled.get(results[0].trial) is None
    filled.put(results[1])
    assert filled.clear(results[1].key) == 1  # its file, and what is compacted of it
    assert results[1].trial not in Store(filled.path)
    filled.compact()
    assert len(list((filled.path / "compacted").iterdir())) == 1
    assert_holds(Store(filled.path), results[2:])
    filled.put(results[0])
    assert_holds(filled, [results[0], *results[2:]])
    assert filled.clear() == len(results) - 1
    assert list(filled.entries()) == []
    assert list((filled.path / "compacted").iterdir()) == []


def test_one_at_a_time(filled):
    lease = filled._acquire("compaction")
    with lease:
        for refused in (filled.compact, filled.clear):
            with pytest.raises(StoreError, match="another process is compacting it"):
                refused()
    assert filled.compact().moved


def test_a_damaged_file_is_set_aside_by_a_compaction(filled, results):
    (filled.path / "results" / f"{results[0].key}.npz").write_bytes(b"PK")
    with pytest.warns(StoreWarning, match="is damaged"):
        filled.compact()
    assert_holds(filled, results[1:])
    assert (filled.path / "damaged" / f"{results[0].key}.npz").exists()


def test_a_file_of_another_format_stays(filled, results, trial, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(file_format, "FORMAT", 2)
        filled.put(run_trial(trial))
    assert filled.compact().files == 1
    assert [file.stem for file in result_files(filled)] == [trial.key]


def rewritten(path, **columns):
    """The same segment with some columns replaced."""
    frame = pl.read_parquet(path).with_columns(**columns)
    size = pl.scan_parquet(path).collect_schema()
    assert set(size) == set(frame.columns)
    path.unlink()
    return write_segment(path.parent, 1, frame)


def test_a_damaged_row_is_dropped_and_its_trial_run_again(filled, results):
    filled.compact()
    (path,) = parquet_files(filled)
    damaged = results[2].key
    data = pl.when(pl.col("key") == damaged).then(pl.lit(b"PK")).otherwise(pl.col("data"))
    rewritten(path, data=data)
    store = Store(filled.path)
    with pytest.warns(StoreWarning, match=f"compacted result {damaged} is damaged .* run again"):
        assert store.get(results[2].trial) is None
    others = [result for result in results if result.key != damaged]
    assert_holds(store, others)
    assert_holds(Store(filled.path), others)
    assert (filled.path / "damaged" / f"{damaged}.npz").read_bytes() == b"PK"
    store.put(results[2])
    assert_holds(Store(filled.path), results)
    store.compact()
    assert_holds(Store(filled.path), results)


def test_what_is_kept_next_to_a_result_is_not_trusted(filled, results):
    filled.compact()
    expected = table(filled.rows())
    rewritten(parquet_files(filled)[0], rows=pl.lit('[["finished"], 1.0, {}]\n{}'))
    store = Store(filled.path)
    assert table(store.rows()).equals(expected, null_equal=True)
    store.put(results[0])
    store.compact()  # writes the rows anew
    assert table(Store(filled.path).rows()).equals(expected, null_equal=True)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-100])


def other_columns(path):
    pl.DataFrame({"a": [1]}).write_parquet(path)


def other_types(path):
    pl.read_parquet(path).with_columns(size=pl.col("size").cast(pl.String)).write_parquet(path)


@pytest.mark.parametrize("damage", [truncate, other_columns, other_types, lambda path: path.write_bytes(b"")])
def test_a_damaged_segment_is_set_aside(filled, results, damage):
    filled.compact()
    (path,) = parquet_files(filled)
    filled.put(results[0])
    damage(path)
    store = Store(filled.path)
    with pytest.warns(StoreWarning, match=f"{path.name} is damaged"):
        assert_holds(store, results[:1])
    assert (filled.path / "damaged" / path.name).exists()
    assert store.compact().moved == 1


def test_a_list_of_dropped_results_hides_nothing_that_is_compacted_later(filled, results):
    filled.compact()
    filled.clear(results[0].key)
    for file in parquet_files(filled):
        file.unlink()  # the list of what was dropped stays
    filled.put(results[0])
    filled.compact()
    assert Store(filled.path).keys() == {results[0].key}


def test_flipped_bits_never_give_another_result(filled, results):
    """Wherever a segment is damaged, a result is as it was or is missing."""
    filled.compact()
    (path,) = parquet_files(filled)
    data, rng = path.read_bytes(), random.Random(0)
    known = {result.key: repr(result) + repr(dict(result.values)) for result in results}
    for _ in range(25):
        changed = bytearray(data)
        for _ in range(3):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        for name in os.listdir(path.parent):
            (path.parent / name).unlink()
        path.write_bytes(changed)
        store = Store(filled.path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            for result in store.results():
                assert repr(result) + repr(dict(result.values)) == known[result.key]
            listed = list(Store(filled.path).entries())
        assert len(listed) <= len(known)


def test_strangers_are_ignored(filled, results):
    folder = filled.path / "compacted"
    folder.mkdir()
    (folder / "mine.parquet").write_bytes(b"mine")
    (folder / f"00000001-{'0' * 32}.parquet.bak").write_bytes(b"mine")
    (folder / "notes").mkdir()
    filled.compact()
    assert_holds(filled, results)
    filled.clear()
    assert len(list(folder.iterdir())) == 3


def test_a_read_only_store_can_be_read(filled, results, monkeypatch):
    filled.compact()
    real_open = open

    def refuse(file, mode="r", *args, **kwargs):
        if "r" not in mode:
            raise PermissionError(13, "Permission denied")
        return real_open(file, mode, *args, **kwargs)

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "replace", lambda *args: refuse("", "w"))
    monkeypatch.setattr(Path, "write_bytes", lambda *args: refuse("", "w"))
    store = Store(filled.path)
    assert_holds(store, results)
    with pytest.raises(StoreError, match="cannot write"):
        store.compact()


def test_a_full_disk_loses_nothing(filled, results, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left on device"):
            filled.compact()
    assert_holds(Store(filled.path), results)
    assert list((filled.path / "compacted").iterdir()) == []
    assert filled.compact().moved == len(results)


def test_a_limit_on_the_size_of_files_loses_nothing(filled, results):
    code = f"""
import resource, signal
from recombine.runs import Store
from recombine.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    Store({str(filled.path)!r}).compact()
except StoreError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot write" in done.stdout
    assert_holds(Store(filled.path), results)


def test_a_new_result_that_arrives_during_a_compaction_stays(filled, results, monkeypatch):
    newer = replace(results[0], values={"mean": np.zeros(2)})

    def write_then_put(*args):
        path = write_segment(*args)
        filled.put(newer)
        return path

    monkeypatch.setattr(compaction, "write_segment", write_then_put)
    filled.compact()
    assert_holds(Store(filled.path), [newer, *results[1:]])


KILLED = """
import sys
from recombine.runs import Store
store = Store(sys.argv[1])
store.compact()
print("begin", flush=True)
while True:
    for result in list(store.results()):
        store.put(result)
    store.compact()
"""


def test_killed_at_any_moment_nothing_is_lost(filled, results):
    rng = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(filled.path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "begin\n"
        time.sleep(rng.uniform(0, 0.3))
        process.kill()
        process.communicate()
        assert_holds(Store(filled.path), results)


class Killed(BaseException):
    pass


def test_killed_between_any_two_steps_nothing_is_lost(filled, results, make_trial, monkeypatch):
    """A compaction ends at the n-th system call that changes the store, for every n, and does not clean up."""
    filled.compact()
    extra = [run_trial(make_trial(n=2, seeds=(0, seed))) for seed in (1, 2)]
    for result in extra:
        filled.put(result)
    expected = sorted([*results, *extra], key=lambda result: result.key)
    n = 0
    while filled._files.keys():
        left = [n]

        def deadly(function, left=left):
            def call(*args, **kwargs):
                left[0] -= 1
                if left[0] < 0:
                    raise Killed
                return function(*args, **kwargs)

            return call

        with monkeypatch.context() as patch:
            for name in ("fsync", "replace", "unlink"):
                patch.setattr(os, name, deadly(getattr(os, name)))
            with suppress(Killed):
                compaction.compact(filled._files, Store(filled.path)._segments, older_than=0)
        assert_holds(Store(filled.path), expected)
        assert table(Store(filled.path).rows()).equals(table(expected), null_equal=True)
        n += 1
    assert n > 3
    filled.compact()
    assert len(parquet_files(filled)) == 1
    assert_holds(filled, expected)


def test_readers_writers_and_two_compactions_at_once(filled, results, make_trial):
    added = [replace(results[0], trial=make_trial(n=2, seeds=(0, seed)), key="") for seed in range(1, 30)]
    errors, stop = [], threading.Event()

    def repeat(work):
        store = Store(filled.path)
        try:
            while not stop.is_set():
                work(store)
        except BaseException as error:
            errors.append(error)

    def compact(store):
        # Without the lease: what two processes do if it fails.
        compaction.compact(store._files, store._segments, older_than=0)

    def read(store):
        keys = store.keys()
        assert keys >= {result.key for result in results}
        assert {entry.key for entry in store.entries()} >= keys
        assert len(list(store.results())) >= len(keys)

    threads = [threading.Thread(target=repeat, args=(work,)) for work in (compact, compact, read, read)]
    for thread in threads:
        thread.start()
    for result in added:
        filled.put(result)
    time.sleep(0.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert_holds(Store(filled.path), [*results, *added])


def test_a_result_twice_counts_once_and_the_later_one_counts(filled, results):
    filled.compact()
    (path,) = parquet_files(filled)
    newer = replace(results[0], values={"mean": np.zeros(2)})
    from recombine.runs.store.segment import SegmentRow

    write_segment(path.parent, 2, frame_of([SegmentRow.of(newer.key, file_format.encode(newer))]))
    store = Store(filled.path)
    assert_holds(store, [newer, *results[1:]])
    assert store.count() == len(list(store.entries())) == len(results)
    store.compact()
    assert len(parquet_files(store)) == 1
    assert_holds(Store(filled.path), [newer, *results[1:]])
