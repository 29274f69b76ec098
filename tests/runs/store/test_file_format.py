import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.runs import Result, run_trial
from recombine.runs.store import file_format
from recombine.runs.store.file_format import DamagedError, UnknownFormatError, decode, encode, peek


@pytest.fixture
def result(trial):
    values = {
        "a/b 'é'": np.array([1.5, np.nan]),
        "flag": np.array([True, False]),
        "name": np.array(["x", "long"]),
        "map": np.arange(6, dtype=np.float32).reshape(2, 3).T.copy().T,
    }
    return Result(trial, ("finished", "diverged"), values, {"loss": np.ones((2, 4))}, 0.25, "1", "m", "now")


def same(a, b):
    assert (a.status, a.seconds, a.version, a.machine, a.created, a.key) == (
        b.status, b.seconds, b.version, b.machine, b.created, b.key,
    )  # fmt: skip
    for field in ("values", "curves"):
        ours, theirs = getattr(a, field), getattr(b, field)
        assert list(ours) == list(theirs)
        for name in ours:
            assert ours[name].dtype == theirs[name].dtype
            np.testing.assert_array_equal(ours[name], theirs[name])


def test_round_trip_with_and_without_the_trial(result):
    data = encode(result)
    same(decode(data, key=result.key), result)
    same(decode(data, key=result.key, trial=result.trial), result)
    assert decode(data, key=result.key).trial == result.trial


def test_encoding_is_deterministic(result):
    assert encode(result) == encode(result)


def test_numpy_alone_can_read_it(result, tmp_path):
    (tmp_path / "r.npz").write_bytes(encode(result))
    with np.load(tmp_path / "r.npz", allow_pickle=False) as file:
        assert b'"version": "1"' in file["record"].tobytes()
        np.testing.assert_array_equal(file["array.4"], np.ones((2, 4)))
    assert peek(tmp_path / "r.npz")["summary"] == "numbers · 2 seeds"


def test_a_flipped_bit_is_noticed_wherever_it_is(trial):
    result = run_trial(trial)
    data = bytearray(encode(result))
    noticed = 0
    for position in range(0, len(data), 7):
        data[position] ^= 1 << (position % 8)
        try:
            same(decode(bytes(data), key=result.key, trial=trial), result)
        except DamagedError:
            noticed += 1
        data[position] ^= 1 << (position % 8)
    assert noticed > 100  # the rest are fields of the zip format that say nothing about the content


def test_every_truncation_is_noticed(trial):
    result = run_trial(trial)
    data = encode(result)
    for length in range(0, len(data), 13):
        with pytest.raises(DamagedError):
            decode(data[:length], key=result.key, trial=trial)


def test_content_that_is_consistent_for_zip_but_changed_is_noticed(result, tmp_path):
    path = tmp_path / "r.npz"
    path.write_bytes(encode(result))
    with np.load(path) as file:
        members = dict(file)
    members["array.4"] = members["array.4"] * 2
    np.savez_compressed(path, **members)
    with pytest.raises(DamagedError, match="checksum"):
        decode(path.read_bytes(), key=result.key)


def test_a_result_of_another_trial_is_refused(result):
    with pytest.raises(DamagedError, match="another trial"):
        decode(encode(result), key="0" * 32)


def test_pickles_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    path = tmp_path / "bomb.npz"
    np.savez(path, record=np.array([Bomb()], dtype=object))
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["record.npy"]
    with pytest.raises(DamagedError, match="allow_pickle"):
        decode(path.read_bytes(), key="")


def test_settings_of_another_version_are_not_damage(result, monkeypatch):
    def unknown(text):
        raise InputError("class", "recombine.training:Old", "an importable name")

    monkeypatch.setattr("recombine.runs.store.file_format.from_json", unknown)
    with pytest.raises(InputError):
        decode(encode(result), key=result.key)


def rewritten(data, tmp_path, **changes):
    """The same file with other fields in its record, and a checksum that fits."""
    path = tmp_path / "rewritten.npz"
    path.write_bytes(data)
    with np.load(path) as file:
        members = dict(file)
    record = json.loads(members["record"].tobytes()) | changes
    text = json.dumps({name: value for name, value in record.items() if value is not None}).encode()
    arrays = [members[f"array.{i}"] for i in range(len(members) - 2)]
    members["record"] = np.frombuffer(text, np.uint8)
    members["checksum"] = np.frombuffer(file_format._checksum(text, arrays), np.uint8)
    np.savez_compressed(path, **members)
    return path.read_bytes()


@pytest.mark.parametrize("number", [0, 2, "1", 1.0, True, [1]])
def test_a_format_of_another_version_is_named(result, tmp_path, number):
    data = rewritten(encode(result), tmp_path, format=number)
    with pytest.raises(UnknownFormatError, match="this version knows only format 1"):
        decode(data, key=result.key)
    with pytest.raises(UnknownFormatError):
        peek(io.BytesIO(data))


@pytest.mark.parametrize("field", sorted(file_format._FIELDS))
def test_a_record_without_one_of_its_fields_is_damaged(result, tmp_path, field):
    data = rewritten(encode(result), tmp_path, **{field: None})
    with pytest.raises(DamagedError, match=f"no valid '{field}'"):
        decode(data, key=result.key)


def test_fields_that_contradict_each_other_are_damage(result, tmp_path):
    data = rewritten(encode(result), tmp_path, status=["finished"])
    with pytest.raises(DamagedError, match="status"):
        decode(data, key=result.key)


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("record.npy", bytes(40 * 2**20))
    monkeypatch.setattr(file_format, "MAX_BYTES", 2**24)

    def refuse(*args, **kwargs):
        pytest.fail("unpacked")

    monkeypatch.setattr(zipfile.ZipFile, "open", refuse)
    with pytest.raises(DamagedError, match="more than the"):
        decode(bomb.getvalue(), key="0" * 32)
    with pytest.raises(DamagedError, match="more than the"):
        peek(io.BytesIO(bomb.getvalue()))


def test_a_size_that_is_a_lie_bounds_what_is_unpacked(monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("record.npy", bytes(2**24 + 54321))
    true, lie = (2**24 + 54321).to_bytes(4, "little"), (100).to_bytes(4, "little")
    assert bomb.getvalue().count(true) == 2
    tracemalloc.start()
    try:
        with pytest.raises(DamagedError):
            decode(bomb.getvalue().replace(true, lie), key="0" * 32)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_a_header_that_claims_a_large_array_is_refused_before_it_is_made():
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**45,)})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("record.npy", header.getvalue() + bytes(64))
    with pytest.raises(DamagedError, match="does not fit its 64 bytes"):
        decode(file.getvalue(), key="0" * 32)


def test_results_that_could_not_be_read_again_are_not_written(result, monkeypatch):
    monkeypatch.setattr(file_format, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="at most 10 bytes"):
        encode(result)
