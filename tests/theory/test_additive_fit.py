"""Additive fits from counts are those of least squares."""

import numpy as np
import pytest

from recombine.theory import Conjunctions
from recombine.theory import additive_fit as module
from recombine.theory.additive_fit import additive_fit
from recombine.theory.cooccurrence import cooccurrence


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_fits_are_those_of_least_squares(order, seed):
    rng, sizes = np.random.default_rng(seed), (4, 3, 5)
    cells = np.unique(rng.integers(sizes, size=(200, 3)), axis=0)
    label = rng.integers(3, size=len(cells))
    seen = Conjunctions.of(cells, sizes, order=order, min_order=1)
    counts, design = cooccurrence(cells, seen), seen.design(cells).toarray()
    for values, classes in ((rng.normal(size=(len(cells), 2)), None), (np.eye(3)[label], label)):
        fitted = additive_fit(cells, values, seen, counts, label=classes)
        expected = design @ np.linalg.lstsq(design, values, rcond=None)[0]
        np.testing.assert_allclose(fitted, expected, atol=1e-10)


def test_equations_that_converge_slowly_are_not_used(monkeypatch):
    """A long chain of cells that share a level with the next one only: effects are hardly determined."""
    monkeypatch.setattr(module, "MAX_ITERATIONS", 20)
    steps = np.arange(200)
    cells = np.concatenate([np.stack([steps, steps], axis=1), np.stack([steps[1:], steps[:-1]], axis=1)])
    seen = Conjunctions.of(cells, (200, 200), order=1, min_order=1)
    values = np.random.default_rng(0).normal(size=(len(cells), 1))
    assert additive_fit(cells, values, seen, cooccurrence(cells, seen)) is None
