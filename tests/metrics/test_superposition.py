import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import additive_kernel, signal, superposition_image, superposition_index
from recombine.spaces import Space, Split


def test_two_routes_to_the_superposition_image_for_three_factors():
    space = Space({"a": 3, "b": 4, "c": 2})
    rng = np.random.default_rng(0)
    seen = rng.uniform(size=space.n_cells) < 0.6
    signals = rng.normal(size=(space.n_cells, 5, 2))
    weights = additive_kernel(space.cells, space.cells[seen])
    expected = np.einsum("rs,s...->r...", weights, signals[seen])
    np.testing.assert_allclose(superposition_image(signals, space.cells, seen), expected)


@pytest.mark.parametrize("polarity", ["dark", "bright"])
def test_a_net_that_draws_the_superposition_scores_one(draw_bumps, polarity):
    bumps = draw_bumps(16, 1.0, 4, 11, polarity)
    superposed = superposition_image(signal(bumps.images, polarity), bumps.levels, bumps.seen)
    outputs = 1 - 0.1 * superposed if polarity == "dark" else 0.1 * superposed
    index = superposition_index(outputs, bumps.images, bumps.levels, bumps.seen, polarity)
    np.testing.assert_allclose(index["with_superposition"], 1.0)
    assert index["mean_with_truth"] < 0.2
    assert len(index["rows"]) == (~bumps.seen).sum()


def test_a_perfect_net_scores_the_null(donut):
    index = superposition_index(donut.images, donut.images, donut.levels, donut.seen)
    np.testing.assert_allclose(index["with_truth"], 1.0)
    np.testing.assert_allclose(index["with_superposition"], index["truth_with_superposition"])
    assert index["mean_with_superposition"] < 0.05


def test_the_nets_own_outputs_as_source(donut):
    """A net whose seen outputs are scaled and whose unseen outputs are the sum of its own seen ones."""
    outputs = np.random.default_rng(0).uniform(size=donut.images.shape)
    sums = superposition_image(signal(outputs, "dark"), donut.levels, donut.seen)
    outputs[~donut.seen] = 1 - sums[~donut.seen]
    arguments = (outputs, donut.images, donut.levels, donut.seen)
    np.testing.assert_allclose(superposition_index(*arguments, source="outputs")["with_superposition"], 1.0)
    assert superposition_index(*arguments)["mean_with_superposition"] < 0.3


def test_rows_as_numbers_or_mask(donut):
    centre = ((donut.levels >= 12) & (donut.levels <= 16)).all(axis=1)
    outputs = np.random.default_rng(1).normal(size=donut.images.shape)
    arguments = (outputs, donut.images, donut.levels, donut.seen, "dark")
    by_mask = superposition_index(*arguments, rows=centre)
    by_number = superposition_index(*arguments, rows=np.flatnonzero(centre))
    np.testing.assert_array_equal(by_mask["with_truth"], by_number["with_truth"])
    assert len(by_mask["rows"]) == 25
    expected = np.corrcoef(outputs[centre][0].ravel(), donut.images[centre][0].ravel())[0, 1]
    assert by_mask["with_truth"][0] == pytest.approx(expected)


def test_blank_outputs_show_nothing_and_full_splits_have_no_mean(donut):
    blank = np.ones_like(donut.images)
    index = superposition_index(blank, donut.images, donut.levels, donut.seen)
    assert index["mean_with_superposition"] == index["mean_with_truth"] == 0.0
    everything = np.ones_like(donut.seen)
    assert np.isnan(superposition_index(blank, donut.images, donut.levels, everything)["mean_with_truth"])


def test_works_with_a_split_of_the_space(donut):
    space = Space({"x": 28, "y": 28})
    split = Split(space, donut.seen)
    np.testing.assert_array_equal(space.cells, donut.levels)
    index = superposition_index(donut.images, donut.images, space.cells, split.seen)
    assert index["mean_with_truth"] == pytest.approx(1.0)


def test_misfits_are_refused():
    levels, seen = np.zeros((3, 2)), np.ones(3, bool)
    with pytest.raises(InputError, match="rows"):
        superposition_image(np.zeros((4, 5)), levels, seen)
    with pytest.raises(InputError, match="source"):
        superposition_index(np.zeros((3, 5)), np.zeros((3, 5)), levels, seen, source="memory")


def test_images_that_do_not_depend_on_the_cell_resemble_all_sums_alike(donut):
    """A net that always draws the mean seen image resembles sums, but its own no more than others."""
    mean = np.repeat(donut.images[donut.seen].mean(axis=0)[None], len(donut.images), axis=0)
    index = superposition_index(mean, donut.images, donut.levels, donut.seen)
    assert index["mean_with_superposition"] > 0.1
    assert index["mean_with_other_superpositions"] == pytest.approx(index["mean_with_superposition"])
    superposed = superposition_image(signal(donut.images, "dark"), donut.levels, donut.seen)
    own = superposition_index(1 - superposed / superposed.max(), donut.images, donut.levels, donut.seen)
    assert own["mean_with_superposition"] == pytest.approx(1.0)
    assert own["mean_with_other_superpositions"] < 0.7


def test_one_cell_has_no_others(donut):
    one = np.flatnonzero(~donut.seen)[:1]
    index = superposition_index(donut.images, donut.images, donut.levels, donut.seen, rows=one)
    assert np.isnan(index["mean_with_other_superpositions"])
