"""Saliences measured in a layer: known answers, samples of large tables, and one line for each kind of bad input."""

import io
import pickle

import numpy as np
import pytest

from recombine import advise
from recombine.advice.forecasts import salience_profile
from recombine.errors import InputError
from recombine.spaces.observations import observe
from recombine.theory import OverlapKernel, estimate_salience, random_features

CELLS = np.indices((4, 3, 3)).reshape(3, -1).T
TABLE = {name: CELLS[:, axis] for axis, name in enumerate("abc")} | {"train": np.arange(36) % 5 > 0}
ACTIVITY = random_features(CELLS, (4, 3, 3), units=4000, seed=0)


def advice(**settings):
    return advise(TABLE, factors=["a", "b", "c"], seen="train", orders=[1], **settings)


@pytest.fixture(params=["array", "npy", "npz"])
def activity(request, tmp_path):
    if request.param == "array":
        return ACTIVITY
    path = tmp_path / f"layer.{request.param}"
    np.save(path, ACTIVITY) if request.param == "npy" else np.savez(path, ACTIVITY)
    return path


def test_a_random_layer_is_close_to_its_limit(activity):
    forecasts = advice(activations=activity)
    assert forecasts.salience.kernel.order_shares == pytest.approx([0.270680, 0.055877, 0.020329], abs=0.02)
    assert forecasts.leak.median == pytest.approx(advice(salience="relu:1").leak.median, abs=0.05)
    assert forecasts.leak.band is None
    plain = forecasts.to_dict()["salience"]
    assert plain["profile"] == "activations"
    assert plain["estimate"]["self_pairs"]
    assert (plain["estimate"]["rows"], plain["estimate"]["of_rows"]) == (36, 36)
    assert set(plain["estimate"]["unevenness"]) == {"nothing", "a", "b", "c", "a b", "a c", "b c", "a b c"}
    text = " ".join(str(forecasts).split())
    assert "S(1) = 0.2" in text
    assert "the layer's saliences" in text
    assert "compared with themselves" in text
    assert "The layer's saliences" in [section.heading for section in forecasts.page().sections]


def test_an_estimate_can_be_passed():
    estimate = estimate_salience(ACTIVITY, CELLS)
    assert advice(salience=estimate).leak.median == advice(activations=ACTIVITY).leak.median
    assert advice(salience=estimate).to_dict()["salience"]["estimate"]["interval"]
    assert advice().to_dict()["salience"]["estimate"] is None


def test_saliences_below_zero_count_as_none():
    twice = np.repeat(CELLS, 2, axis=0)
    noise = np.random.default_rng(0).normal(size=(72, 50))
    noisy = estimate_salience(np.repeat(ACTIVITY[:, :50], 2, axis=0) + noise, twice)
    assert noisy.kernel.salience.min() < 0
    kept = advice(salience=noisy).retention
    assert ((kept >= 0) & (kept <= 1)).all()


def test_large_tables_are_sampled_by_level(monkeypatch):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 12, size=(9000, 3))
    table = observe(
        {name: cells[:, axis] for axis, name in enumerate("abc")} | {"train": np.ones(9000, dtype=bool)},
        factors=["a", "b", "c"],
        seen="train",
    )
    monkeypatch.setattr(salience_profile, "MAX_LAYER_CELLS", 100)
    profile = salience_profile.profile_from_activations(
        random_features(cells, (12, 12, 12), units=500, seed=0), table
    )
    assert profile.measured.rows < profile.measured.total_rows == 9000
    assert not profile.measured.estimate.self_pairs
    assert profile.kernel.order_shares == pytest.approx([0.270680, 0.055877, 0.020329], abs=0.03)


def pickled():
    file = io.BytesIO()
    pickle.dump({"a": 1}, file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("objects.npy", np.array([{}], dtype=object), "nothing is unpickled"),
        ("pickle.npy", pickled(), "nothing is unpickled"),
        ("broken.npz", b"PK\x03\x04 and so on", "an .npz file of arrays that can be read"),
        ("empty.npy", b"", "nothing is unpickled"),
        ("few.npy", np.zeros((7, 2)), "got '7 rows', expected one for each of the 36 rows of the table"),
        ("words.npy", np.array(["a"] * 36), "real numbers"),
        ("nan.npy", np.where(np.arange(72).reshape(36, 2) == 50, np.nan, 1.0), "not finite in row 26"),
        ("two.npz", {"x": np.zeros(3), "y": np.zeros(3)}, "one array (it has x, y)"),
        ("constant.npy", np.ones((36, 5)), "similarities that do not grow with the shared levels"),
        ("nothing.npy", None, "expected the path of a .npy file"),
    ],
)
def test_bad_activations_are_one_line(tmp_path, name, content, message):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        np.save(path, content)
    with pytest.raises(InputError) as error:
        advice(activations=path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_saliences_and_activations_exclude_each_other():
    with pytest.raises(InputError, match="salience: got 'relu:1', expected saliences or activations"):
        advice(activations=ACTIVITY, salience="relu:1")
    with pytest.raises(InputError, match="a kernel of 2 factors"):
        advice(salience=estimate_salience(np.eye(4), [[0, 0], [0, 1], [1, 0], [1, 1]]))
    assert advice(salience=OverlapKernel.by_count([0, 1, 2, 4])).salience.name == "given"


def test_overlaps_that_never_occur_are_named():
    table = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "train": [True, True, True, False]}
    with pytest.raises(InputError, match="2 cells, no two of which share b alone"):
        advise(table, factors=["a", "b"], seen="train", activations=np.eye(4))
