"""Kept inverses: dense inverses, and retention that grows cell by cell as it is from scratch."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory import Conjunctions, GrowingRetention, OverlapKernel, growing_retention, retention
from recombine.theory.cooccurrence import cooccurrence
from recombine.theory.levelwise_inverse import LevelwiseColumns
from recombine.theory.posterior_inverse import PosteriorInverse, corrected


def features(seen, cells, scale):
    return seen.design(cells).toarray() * scale


@st.composite
def problems(draw):
    sizes = tuple(draw(st.lists(st.integers(2, 4), min_size=2, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    cells = rng.permutation(np.indices(sizes).reshape(len(sizes), -1).T)
    order, n_train = draw(st.integers(1, len(sizes))), draw(st.integers(1, len(cells) - 1))
    return sizes, cells, n_train, order, draw(st.sampled_from([0.02, 1.0])), rng


@given(problems())
def test_the_inverse_is_that_of_the_dense_matrix(problem):
    sizes, cells, n_train, order, ridge, rng = problem
    train, others = cells[:n_train], cells[n_train:]
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    scale = np.sqrt(np.repeat(rng.uniform(0.1, 1, len(seen.subsets)), [len(codes) for codes in seen.codes]))
    rows = features(seen, train, scale)
    inverse = PosteriorInverse.of(cooccurrence(train, seen), scale, ridge, 1.0)
    dense = np.linalg.inv(rows.T @ rows + ridge * np.eye(len(scale)))
    asked = features(seen, others, scale)
    expected = (asked**2).sum(axis=1) - ridge * np.einsum("ij,jk,ik->i", asked, dense, asked)
    np.testing.assert_allclose(inverse.retention(seen.columns(others)), expected, atol=1e-9)
    solved = inverse.solve(seen.columns(train))
    np.testing.assert_allclose(solved, dense @ rows.T, atol=1e-9 / ridge)


@given(problems(), st.integers(1, 3))
def test_added_cells_correct_the_inverse(problem, at_once):
    """Cells are added in several steps; some of their conjunctions are new."""
    sizes, cells, n_train, order, ridge, rng = problem
    train, rest = cells[:n_train], cells[n_train:]
    saliences = rng.uniform(0.1, 1, 2 ** len(sizes))
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)

    def scale_of(seen):
        return np.sqrt(np.repeat(saliences[: len(seen.subsets)], [len(codes) for codes in seen.codes]))

    inverse = PosteriorInverse.of(cooccurrence(train, seen), scale_of(seen), ridge, 1.0)
    forms = inverse.retention(seen.columns(rest))
    for start in range(0, min(len(rest), 3 * at_once), at_once):
        added = rest[start : start + at_once]
        grown = seen.also_of(added)
        inverse = inverse.with_conjunctions(seen, grown, scale_of(grown))
        (inverse,), (gains,) = corrected([inverse], grown.columns(added), [grown.columns(rest)])
        train, seen, forms = np.concatenate([train, added]), grown, forms + gains
    later = rest[3 * at_once :]
    rows, asked = features(seen, train, inverse.scale), features(seen, later, inverse.scale)
    dense = np.linalg.inv(rows.T @ rows + ridge * np.eye(len(inverse.scale)))
    expected = (asked**2).sum(axis=1) - ridge * np.einsum("ij,jk,ik->i", asked, dense, asked)
    np.testing.assert_allclose(forms[3 * at_once :], expected, atol=1e-8)


@given(problems())
def test_the_inverse_by_level_gives_the_same(problem):
    sizes, cells, n_train, order, ridge, rng = problem
    order = min(order, 2)
    train, others = cells[:n_train], cells[n_train:]
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    salience = {subset: rng.uniform(0.1, 1) for subset in seen.subsets}
    total = sum(salience.values())
    scale = np.sqrt(np.repeat(list(salience.values()), [len(codes) for codes in seen.codes]))
    counts, coding = cooccurrence(train, seen), LevelwiseColumns(sizes, order)
    expected = PosteriorInverse.of(counts, scale, ridge, total)
    inverse = PosteriorInverse.by_level(coding, coding.grams(seen, counts, n_train), salience, ridge, total)
    np.testing.assert_allclose(
        inverse.retention(coding.columns(others)), expected.retention(seen.columns(others)), atol=1e-9
    )
    # The posterior covariance of any two training cells does not depend on the coding.
    covariance = features(seen, train, scale) @ expected.solve(seen.columns(train))
    design = np.zeros((n_train, coding.width + 1))
    design[np.arange(n_train)[:, None], coding.columns(train)] = 1
    solved = design[:, :-1] @ inverse.solve(coding.columns(train))
    np.testing.assert_allclose(solved, covariance, atol=1e-9)


@pytest.mark.parametrize("by_level", [False, True], ids=["dense", "by level"])
@pytest.mark.parametrize("kept", [0, 2**30], ids=["from scratch", "kept"])
@pytest.mark.parametrize("exact", [0, 3000], ids=["features", "kernel"])
def test_growing_is_as_from_scratch(kept, exact, by_level, monkeypatch):
    monkeypatch.setattr(import_module("recombine.theory.retention"), "MAX_CELLS", exact)
    monkeypatch.setattr(growing_retention, "MAX_KEPT", kept)
    if not by_level:
        monkeypatch.setattr(growing_retention, "MIN_SALIENCE", np.inf)
    rng, sizes = np.random.default_rng(1), (4, 3, 3)
    cells = np.indices(sizes).reshape(3, -1).T
    seen = rng.random(len(cells)) < 0.4
    kernels = [OverlapKernel.by_order([0, 0.2, 0.1, 0.1]), OverlapKernel.by_order([0.1, 0.1, 0.3, 0.02])]
    shown = Conjunctions.of(cells[seen], sizes, order=2, min_order=1)
    counts = cooccurrence(cells[seen], shown)
    grown = GrowingRetention.of(kernels, cells[seen], cells[~seen], sizes, seen=shown, counts=counts)
    assert len(grown.inverses) == (2 if kept and not exact else 0)
    if grown.inverses:
        assert isinstance(grown.coding, LevelwiseColumns if by_level else Conjunctions)
    for n_added in (0, 1, 3):
        seen[rng.permutation(np.flatnonzero(~seen))[:n_added]] = True
        grown = grown.with_cells(cells[seen], cells[~seen])
        expected = retention(kernels, cells[seen], cells[~seen], sizes)
        np.testing.assert_allclose(grown.values, expected, atol=1e-9)


def test_many_corrections_lead_to_a_fresh_start(monkeypatch):
    monkeypatch.setattr(import_module("recombine.theory.retention"), "MAX_CELLS", 0)
    monkeypatch.setattr(growing_retention, "MAX_CORRECTIONS", 1)
    sizes, kernel = (4, 3, 3), OverlapKernel.by_order([0, 0.2, 0.1, 0.1])
    cells = np.random.default_rng(0).permutation(np.indices(sizes).reshape(3, -1).T)
    cells[:20] = cells[:20][np.lexsort(cells[:20].T[::-1])]
    targets = cells[22:][np.lexsort(cells[22:].T[::-1])]
    shown = Conjunctions.of(cells[:20], sizes, order=2, min_order=1)
    counts = cooccurrence(cells[:20], shown)
    grown = GrowingRetention.of([kernel], cells[:20], targets, sizes, seen=shown, counts=counts)
    grown = grown.with_cells(cells[:21], targets)
    assert grown.inverses
    grown = grown.with_cells(cells[:22], targets)
    assert not grown.inverses
    np.testing.assert_allclose(grown.values, retention([kernel], cells[:22], targets, sizes), atol=1e-9)


def test_next_to_no_ridge_nothing_is_kept(monkeypatch):
    """A kernel whose whole cells have no salience: corrections would lose half of the digits."""
    monkeypatch.setattr(import_module("recombine.theory.retention"), "MAX_CELLS", 0)
    sizes, kernel = (4, 3, 3), OverlapKernel.by_count([0, 0.1, 0.5, 1])
    cells = np.indices(sizes).reshape(3, -1).T
    seen = np.random.default_rng(1).random(len(cells)) < 0.4
    shown = Conjunctions.of(cells[seen], sizes, order=2, min_order=1)
    counts = cooccurrence(cells[seen], shown)
    grown = GrowingRetention.of([kernel], cells[seen], cells[~seen], sizes, seen=shown, counts=counts)
    assert not grown.inverses
    seen[np.flatnonzero(~seen)[:1]] = True
    expected = retention([kernel], cells[seen], cells[~seen], sizes)
    np.testing.assert_allclose(grown.with_cells(cells[seen], cells[~seen]).values, expected, atol=1e-9)
