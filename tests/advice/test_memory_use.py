"""Advice that does not fit into memory is refused beforehand, and the estimates are close to what it takes."""

import tracemalloc

import numpy as np
import pytest

from recombine import advise
from recombine.advice import memory_use
from recombine.errors import InputError
from recombine.theory import Determinacy, random_network, retention


def table_of(factors, levels, rows=60):
    cells = np.random.default_rng(0).integers(0, levels, size=(rows, factors))
    return {f"f{axis}": cells[:, axis] for axis in range(factors)} | {"train": np.arange(rows) % 5 > 0}


def advice(factors, levels, **settings):
    settings = {"seen": "train", "interest": "table"} | settings
    return advise(table_of(factors, levels), factors=[f"f{axis}" for axis in range(factors)], **settings)


@pytest.fixture
def free(monkeypatch):
    return lambda mebibytes: monkeypatch.setattr(memory_use, "free_memory", lambda: mebibytes * 2.0**20)


def test_a_design_that_does_not_fit_is_refused(free):
    free(40)
    with pytest.raises(
        InputError, match=r"order: got 2, expected order 1 \(--order 1\), or factors with fewer"
    ):
        advice(8, 20)
    assert advice(8, 20, orders=[1]).orders[1].order == 1


def test_too_many_cells_of_interest_are_refused(free):
    free(150)
    with pytest.raises(InputError, match=r"interest: got '1,0.*expected interest='table'"):
        advice(5, 16, interest="unseen")
    assert len(advice(5, 16).targets)


def test_too_many_factors_are_refused(free):
    free(100)
    with pytest.raises(InputError, match="factors: got '20 factors', expected fewer factors"):
        advice(20, 2, orders=[1])


def test_cells_that_cannot_be_numbered_are_refused():
    with pytest.raises(InputError, match="factors: got '16 factors with"):
        advice(16, 20, orders=[1])


def test_two_factors_of_many_levels_need_no_design_of_whole_cells(free):
    free(100)
    forecasts = advice(2, 200, interest="unseen").orders[2]
    assert forecasts.norm_completed.all()
    assert len(forecasts.additions.cells) == forecasts.additions.lower_bound == len(forecasts.norm_completed)


def test_the_estimate_covers_what_is_taken():
    rng, sizes = np.random.default_rng(0), (9,) * 5
    cells = np.unique(rng.integers(0, 9, size=(4500, 5)), axis=0)
    kernels = [random_network(5, depth) for depth in (1, 3)]
    for work, estimate in (
        (lambda: Determinacy.of(cells, sizes, 2), memory_use.elimination(sizes, 2, 10_000)),
        (lambda: retention(kernels, cells, cells[:2000], sizes), memory_use.forecast(cells, 2000, sizes)),
    ):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0.7 * peak < estimate < 3 * peak


def test_free_memory_is_known_or_assumed(monkeypatch):
    assert 2**20 < memory_use.free_memory() < 2**50
    monkeypatch.setattr(memory_use, "Path", lambda *parts: type("Gone", (), {"read_text": _gone})())
    monkeypatch.setattr(memory_use.os, "sysconf_names", {})
    assert memory_use.free_memory() == memory_use.DEFAULT_FREE


def _gone(*_, **__):
    raise OSError


def test_forecasts_that_would_take_very_long_are_refused():
    """Without this, two factors of 5000 levels would take minutes."""
    rng = np.random.default_rng(0)
    cells = np.unique(np.stack([rng.integers(0, 5000, 30_000) for _ in range(2)], axis=1), axis=0)
    with pytest.raises(
        InputError, match=r"fewer levels in all: the forecast would solve for .* at most 8,000"
    ):
        memory_use.check_memory(cells, 1000, (5000, 5000), (1,))
