"""Retention: the slopes of addition, and two ways to compute it that agree."""

from importlib import import_module

import numpy as np
import pytest

from recombine.tasks import addition
from recombine.theory import OverlapKernel, retention, updated_retention


def test_retention_is_a_little_below_the_slope():
    kernel = OverlapKernel.by_count([0, 0.3, 1])
    for anchors, expected in (([4], 0.398), ([0, 8], 0.570), ([0, 4, 8], 0.669)):
        task = addition(anchors=anchors)
        cells, seen = task.split.space.cells, task.split.seen
        (values,) = retention([kernel], cells[seen], cells[~seen], (9, 9))
        assert np.median(values) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("advantage", [0, 1000], ids=["looked up", "dense"])
def test_retention_by_conjunctions_is_the_same(monkeypatch, advantage):
    rng = np.random.default_rng(0)
    cells = np.indices((4, 4, 3)).reshape(3, -1).T
    seen = rng.random(48) < 0.6
    kernel = OverlapKernel.by_order([0.3, 0.2, 0.1, 0.4])
    (exact,) = retention([kernel], cells[seen], cells[~seen], (4, 4, 3))
    monkeypatch.setattr(import_module("recombine.theory.retention"), "MAX_CELLS", 0)
    monkeypatch.setattr(import_module("recombine.theory.cooccurrence"), "DENSE_ADVANTAGE", advantage)
    (values,) = retention([kernel], cells[seen], cells[~seen], (4, 4, 3))
    np.testing.assert_allclose(values, exact, atol=1e-10)


@pytest.mark.parametrize("n_added", [1, 4])
def test_updates_agree_with_a_fresh_start(n_added):
    rng, sizes = np.random.default_rng(1), (4, 3, 3)
    cells = np.indices(sizes).reshape(3, -1).T
    seen = rng.random(len(cells)) < 0.4
    grown = seen.copy()
    grown[np.flatnonzero(~seen)[:n_added]] = True
    kernels = [OverlapKernel.by_order([0, 0.2, 0.1, 0.1]), OverlapKernel.by_count([0, 0.1, 0.5, 1])]
    before = retention(kernels, cells[seen], cells[~seen], sizes)
    updated = updated_retention(
        kernels, before, cells[seen], cells[~seen], cells[grown], cells[~grown], sizes
    )
    expected = retention(kernels, cells[grown], cells[~grown], sizes)
    np.testing.assert_allclose(updated, expected, atol=1e-8)
    assert (np.stack(expected) >= np.stack([values[n_added:] for values in before]) - 1e-9).all()
