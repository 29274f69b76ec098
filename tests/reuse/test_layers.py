"""Labels of layers on planted changes, intervals, both routes, and wrong input."""

import numpy as np
import pytest

from recombine import InputError
from recombine.metrics import response_persistence, shared_dimensions
from recombine.reuse.layers import layer_reuse, pairings


def planted(kind, rng, *, rows=400, inputs=15, units=60):
    """A layer of rectified units before and after a change whose regime is known."""
    x = rng.normal(size=(rows, inputs))
    known = rng.normal(size=(inputs, units)) * (np.arange(inputs) < 8)[:, None]  # looks at eight inputs
    before = np.maximum(x @ known, 0)
    if kind == "lazy":  # a linear probe, or a small change of every weight
        return before, np.maximum(x @ (known + 0.05 * rng.normal(size=known.shape)), 0)
    if kind == "nested":  # a few units survive, with other strengths
        strength = np.zeros(units)
        strength[rng.choice(units, size=6, replace=False)] = rng.uniform(0.5, 2, size=6)
        return before, before * strength
    fresh = rng.normal(size=(inputs, units)) * (np.arange(inputs) >= 8)[:, None]
    return before, np.maximum(x @ fresh, 0)


@pytest.mark.parametrize("kind", ["lazy", "nested", "rich"])
def test_planted_changes_are_named(kind):
    labels = [layer_reuse("layer", *planted(kind, np.random.default_rng(seed))).label for seed in range(20)]
    assert labels == [kind] * 20


def test_training_from_scratch_on_the_same_inputs_is_rich():
    """Unrelated nets respond to the same inputs, so their layers are not independent."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(400, 15))
        before, after = (np.maximum(x @ rng.normal(size=(15, 60)), 0) for _ in range(2))
        assert layer_reuse("layer", before, after).label == "rich"


def test_numbers_equal_the_metrics():
    for units in (30, 500):  # fewer and more units than rows
        rng = np.random.default_rng(units)
        x, y = rng.normal(size=(100, units)), rng.normal(size=(100, units))
        y[:, : units // 2] = x[:, : units // 2]
        found, expected = layer_reuse("layer", x, y), shared_dimensions(x, y)
        for name in ("before", "after", "shared"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-4)
        own = response_persistence(x, y)
        others = [response_persistence(np.roll(x, -shift, axis=1), y) for shift in pairings(x.shape[1])]
        chance = np.mean(others)
        assert found.persistence.value == pytest.approx((own - chance) / (1 - chance), rel=1e-3, abs=1e-4)
        assert found.kept.low <= found.kept.value <= found.kept.high


def test_chance_is_the_mean_over_random_pairings_of_units():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(300, 1))
    x, y = (common * rng.uniform(0.5, 1.5, size=12) + rng.normal(size=(300, 12)) for _ in range(2))
    shuffled = [shared_dimensions(x, y[:, rng.permutation(12)]).shared for _ in range(2000)]
    found = layer_reuse("layer", x, y)
    assert found.chance == pytest.approx(np.mean(shuffled), rel=0.01)
    assert found.chance > 2 * shared_dimensions(x, y).chance  # all units rise and fall together


def test_intervals_shrink_with_more_rows():
    widths = []
    for rows in (60, 2000):
        found = layer_reuse("layer", *planted("nested", np.random.default_rng(0), rows=rows)).kept
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2


def test_very_wide_layers_are_sampled():
    x = np.random.default_rng(0).normal(size=(60, 3, 4000)).astype(np.float32)
    found = layer_reuse("layer", x, x)
    assert (found.units, found.used) == (12000, 8192)
    assert found.label == "lazy"


def test_constant_layers_are_reported_as_such():
    x = np.random.default_rng(0).normal(size=(50, 3))
    dead, offset = np.zeros((50, 3)), np.full((50, 3), 0.1, dtype=np.float32)
    for before, after in ((dead, dead), (x, dead), (offset, x), (x, offset + 1e-8 * x)):
        assert layer_reuse("layer", before, after).label == "constant"
    found = layer_reuse("layer", x, dead)
    assert found.before > 1
    assert found.after == 0
    assert np.isnan(found.kept.value)


def test_a_layer_that_responds_to_one_row_and_one_of_a_single_unit():
    rare = np.zeros((50, 4))
    rare[7] = 1.0
    assert (
        layer_reuse("layer", rare, rare).label == "unclear"
    )  # all units respond alike, as in any such layer
    unit = np.random.default_rng(0).normal(size=(200, 1))
    found = layer_reuse("layer", unit, -3 * unit)
    assert found.label == "lazy"
    assert (found.persistence.low, found.persistence.high) <= (1.0, 1.0)
    assert layer_reuse("layer", unit, np.random.default_rng(1).normal(size=(200, 1))).label == "rich"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (np.eye(50), np.full((50, 50), np.nan), "layer, after: got 'NaN, infinity or no numbers'"),
        (np.eye(50), np.eye(50)[:, :20], "as many rows and units as before"),
        (np.eye(10), np.eye(10), "inputs: got 10, expected at least 40 rows"),
    ],
)
def test_wrong_input_gets_one_line(before, after, message):
    with pytest.raises(InputError, match=message):
        layer_reuse("layer", before, after)


@pytest.mark.parametrize("inputs", ["one input", "one large column"])
@pytest.mark.parametrize("seed", range(5))
def test_unrelated_networks_whose_units_follow_one_direction_are_not_said_to_reuse(seed, inputs):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 6)) * (
        [1000, 1, 1, 1, 1, 1] if inputs == "one large column" else [1, 0, 0, 0, 0, 0]
    )
    one, other = (np.maximum(x @ rng.normal(size=(6, 40)) + rng.normal(size=40), 0) for _ in range(2))
    assert layer_reuse("hidden", one, other).label in ("unclear", "rich")
    assert layer_reuse("hidden", one, one).label == "lazy"
