"""Planted models do what their kind says, whatever was drawn."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import nnls
from tests.auditing.planted import FINDINGS, KINDS, planted

SEEDS = range(12)
EXPECTED = {
    "lookup": {"memorisation_leak"},
    "additive": {"additive_only"},
    "kernel": {"memorisation_leak"},
    "shortcut": {"shortcut"},
    "superposition": {"superposition"},
    "composer": {"composes"},
    "noisy_composer": {"composes"},
    "constant": set(),
}


def each(*kinds):
    """Every construction of some kinds, made when it is asked for and once."""
    drawn = [(kind, seed) for kind in kinds for seed in SEEDS]
    return pytest.mark.parametrize("made", drawn, ids=lambda one: f"{one[0]}-{one[1]}", indirect=True)


@pytest.fixture
def made(request):
    return kept(*request.param)


kept = cache(planted)


def cells_of(made):
    """Level indices by row, and whether the row's cell is in training."""
    cells = np.stack([np.unique(made.table[name], return_inverse=True)[1] for name in made.factors], axis=1)
    number = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    return cells, np.isin(number, number[made.table["train"]])


def predictions_of(made):
    """Scores as the labels they stand for."""
    if made.target.ndim == 1 and made.prediction.ndim == 2:
        return np.unique(made.target)[made.prediction.argmax(axis=1)]
    return made.prediction


def is_labels(made):
    return made.target.dtype.kind in "iU"


def right(made):
    """By row; numbers up to rounding in single precision."""
    if is_labels(made):
        return predictions_of(made) == made.target
    far = np.abs(made.prediction.astype(float) - made.target).reshape(len(made.target), -1).max(axis=1)
    return far < 1e-5 * np.abs(made.target).max()


def error(made, where):
    """On some rows, over that of the best constant in training."""
    train = made.table["train"]
    if is_labels(made):
        labels, counts = np.unique(made.target[train], return_counts=True)
        constant = labels[counts.argmax()] != made.target
        return (~right(made))[where].mean() / constant[where].mean()
    target = made.target.astype(float)
    constant = (target - target[train].mean(axis=0)) ** 2
    return ((made.prediction - target) ** 2)[where].mean() / constant[where].mean()


@each(*KINDS)
def test_designs(made):
    cells, seen = cells_of(made)
    train, rows = made.table["train"], len(made.target)
    assert made.expected == EXPECTED[made.kind]
    assert made.forbidden == set(FINDINGS) - made.expected
    assert set(made.table) == {*made.factors, "train"}
    assert all(column.shape == (rows,) for column in made.table.values())
    assert 2 <= len(made.factors) <= 4
    assert train.dtype == bool
    for column in cells.T:
        assert 3 <= len(np.unique(column)) <= 8
        assert set(column[train]) == set(column)
    different, index = np.unique(cells, axis=0, return_index=True)
    assert 15 <= len(different) <= 400
    assert (~seen[index]).sum() >= 6
    assert 0.1 <= (~seen[index]).mean() <= 0.4


@each(*KINDS)
def test_shapes(made):
    assert len(made.prediction) == len(made.target)
    if made.prediction.shape != made.target.shape:
        assert is_labels(made)
        assert made.prediction.shape[1] == len(np.unique(made.target)) >= 2
    elif is_labels(made):
        assert set(made.prediction) <= set(made.target)
    else:
        assert np.isfinite(made.prediction).all()
        assert made.target.ndim < 3 or all(8 <= side <= 16 for side in made.target.shape[1:])
    cells, _ = cells_of(made)
    different, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(made.target, made.target[first][number.ravel()])
    assert len(different) == len(first)


@each("composer")
def test_composers_are_right(made):
    assert right(made).all()
    assert predictions_of(made).dtype == made.target.dtype


@each("noisy_composer")
def test_noise_is_as_large_on_seen_as_on_unseen_cells(made):
    _, seen = cells_of(made)
    assert not right(made).all()
    if is_labels(made):
        assert (~right(made)).mean() <= 0.1
    else:
        off = (made.prediction - made.target) ** 2
        assert off[~seen].mean() / off[seen].mean() == pytest.approx(1, abs=0.8)
        assert np.sqrt(off.mean() / made.target.var(axis=0).mean()) > 0.04
        assert np.sqrt(off.mean() / made.target.var()) < 0.4


@each("lookup", "kernel", "superposition")
def test_right_on_seen_cells_and_wrong_on_unseen_ones(made):
    _, seen = cells_of(made)
    assert right(made)[seen].all()
    assert error(made, ~seen) > (0.02 if made.kind == "kernel" else 0.15)


@each("lookup")
def test_lookups_copy_a_seen_cell_close_by(made):
    cells, seen = cells_of(made)
    predictions = predictions_of(made)
    for row in np.flatnonzero(~seen):
        near = cells[seen][(made.target[seen] == predictions[row]).reshape(seen.sum(), -1).all(axis=1)]
        assert len(near)
        assert (near == cells[row]).any()


@each("kernel")
def test_kernels_shrink(made):
    _, seen = cells_of(made)
    centre = made.target[made.table["train"]].mean(axis=0)
    truth, predicted = (made.target[~seen] - centre).ravel(), (made.prediction[~seen] - centre).ravel()
    assert truth @ predicted / (truth @ truth) < 0.9


def off_additive(cells, values):
    """The share of the variance that main effects leave."""
    features = np.concatenate([np.eye(column.max() + 1)[column] for column in cells.T], axis=1)
    values = values.reshape(len(values), -1).astype(float)
    left = values - features @ np.linalg.lstsq(features, values, rcond=None)[0]
    return left.var() / (values - values.mean(axis=0)).var()


@each("additive")
def test_additive_predictions_for_a_task_that_is_not_additive(made):
    cells, seen = cells_of(made)
    assert off_additive(cells, made.prediction) < 1e-6
    assert off_additive(cells, made.target) > 0.1
    assert min(error(made, seen), error(made, ~seen)) > 0.08


@each("kernel")
def test_kernels_have_an_additive_task(made):
    assert off_additive(cells_of(made)[0], made.target) < 1e-6


def decided_by_one_factor(cells, predictions):
    return any(
        all(len(set(predictions[column == level])) == 1 for level in np.unique(column)) for column in cells.T
    )


@each("shortcut")
def test_shortcuts(made):
    cells, seen = cells_of(made)
    predictions = predictions_of(made)
    assert decided_by_one_factor(cells[~seen], predictions[~seen])
    assert not decided_by_one_factor(cells, made.target)
    assert (~right(made))[~seen].mean() > 0.15
    if "pure" in made.note:
        assert decided_by_one_factor(cells, predictions)
        assert not right(made)[seen].all()
    else:
        assert right(made)[seen].all()
    assert len(set(predictions[~seen])) > 1


@each("superposition")
def test_superpositions_are_sums_of_images_that_share_a_level(made):
    cells, seen = cells_of(made)
    if "not clipped" not in made.note:
        return
    scale = np.abs(made.target).max()
    for row in np.flatnonzero(~seen)[:3]:
        parts = made.target[seen & (cells == cells[row]).any(axis=1)].reshape(-1, made.target[0].size) / scale
        _, left = nnls(parts.T.astype(float), made.prediction[row].ravel().astype(float) / scale)
        assert left < 1e-4


@each("constant")
def test_constants(made):
    assert (made.prediction == made.prediction[0]).all()
    assert error(made, ~cells_of(made)[1]) > 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_construction(kind):
    one, again, other = planted(kind, 3), planted(kind, 3), planted(kind, 4)
    assert one.note == again.note != other.note
    np.testing.assert_array_equal(one.target, again.target)
    np.testing.assert_array_equal(one.prediction, again.prediction)
    assert all((one.table[name] == again.table[name]).all() for name in one.table)


def test_kinds_vary():
    for kind in KINDS:
        notes = [planted(kind, seed).note for seed in range(40)]
        for word in ("random split", "hole split", "sparse split", "words", "ints"):
            assert any(word in note for note in notes)
