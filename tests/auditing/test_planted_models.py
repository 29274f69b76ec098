"""Audits of models whose behaviour was planted name it, and nothing else.

`python -m benchmarks planted` prints the whole confusion matrix for as many constructions as one likes.
"""

import itertools

import numpy as np
import pytest
from tests.auditing.planted import KINDS, planted

from recombine import audit

BEHAVIOUR = ("composes", "memorisation_leak", "shortcut", "superposition", "additive_only")
SEEDS = range(3000, 3008)


def holding(made, **settings):
    report = audit(
        made.table,
        factors=made.factors,
        seen="train",
        target=made.target,
        prediction=made.prediction,
        **settings,
    )
    return {name for name in BEHAVIOUR if report.finding(name).holds is True}


def test_what_was_planted_is_found():
    """What cannot be distinguished from chance may stay unclear; nothing false may hold."""
    right, misses = 0, []
    for kind in KINDS:
        for seed in SEEDS:
            made = planted(kind, seed)
            names = holding(made)
            assert names <= made.expected, f"{made.note}: {names}"
            right += names == made.expected
            misses += [] if names == made.expected else [made.note]
    assert right >= 0.95 * len(KINDS) * len(SEEDS), misses


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.6, 1.0])
def test_noisy_targets_are_not_a_failure(noise):
    """Rows of one cell show how noisy targets are."""
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        a, b = np.repeat(np.indices((8, 8)).reshape(2, -1), 6, axis=1)
        truth = rng.normal(size=8)[a] + rng.normal(size=8)[b]
        seen = (rng.random((8, 8)) > 0.3)[a, b]
        noisy = truth + noise * truth.std() * rng.normal(size=len(a))
        report = audit(factors={"a": a, "b": b}, seen=seen, target=noisy, prediction=truth)
        alarms += any(report.finding(name).holds is True for name in BEHAVIOUR[1:])
        assert report.finding("composes").holds is not False
    assert alarms == 0


def test_sums_of_what_cannot_be_learned_by_sums_are_named():
    cells = np.array(list(itertools.product(range(6), repeat=3)))
    rng = np.random.default_rng(0)
    seen, y = rng.random(216) > 0.3, rng.normal(size=216)
    x = np.concatenate([np.eye(6)[column] for column in cells.T], axis=1)
    predictions = x @ np.linalg.lstsq(x[seen], y[seen], rcond=None)[0]
    factors = {f"f{i}": column for i, column in enumerate(cells.T)}
    report = audit(factors=factors, seen=seen, target=y, prediction=predictions)
    assert report.finding("additive_only").holds is True
    noise = audit(factors=factors, seen=seen, target=y, prediction=rng.normal(size=216))
    assert not any(noise.finding(name).holds for name in BEHAVIOUR)
