import zipfile

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.runs import Result, run_trial
from recombine.runs.record import DamagedError, decode, encode, peek


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
        raise InputError("class", "recombine.fit:Old", "an importable name")

    monkeypatch.setattr("recombine.runs.record.from_json", unknown)
    with pytest.raises(InputError):
        decode(encode(result), key=result.key)
