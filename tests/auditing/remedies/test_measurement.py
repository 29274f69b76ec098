"""Remedies are measured: what helps comes first, and what does not help is not offered."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.remedies.measurement import gain_of_cells, most_alike
from recombine.auditing.seen_cells import seen_targets

A, B = np.indices((9, 9)).reshape(2, -1)


def audited(target, *, seed=0, prediction=None):
    rng = np.random.default_rng(seed)
    seen = rng.random(81) > 0.4
    if prediction is None:  # a lookup table: the nearest seen cell
        cells, known = np.stack([A, B], axis=1), np.flatnonzero(seen)
        apart = np.abs(cells[:, None] - cells[known]).sum(axis=2)
        prediction = target[known][apart.argmin(axis=1)]
    return audit(factors={"a": A, "b": B}, seen=seen, target=target, prediction=prediction), seen


def test_a_product_is_recommended_for_a_product_with_its_gain():
    report, _ = audited(np.linspace(1, 3, 9)[A] * np.linspace(2, 5, 9)[B] ** 2)
    first = report.remedies[0]
    assert first.refit == "product"
    assert first.gain.low > 0.9
    assert "left out" in first.measured
    assert first.to_dict()["gain"] > 0.9
    assert "lower" in str(report)


def test_a_sum_is_recommended_for_a_sum_and_following_it_helps():
    report, seen = audited(
        np.random.default_rng(3).normal(size=9)[A] + np.random.default_rng(4).normal(size=9)[B]
    )
    first = report.remedies[0]
    assert first.refit == "additive_1"
    cells = report.by_cell
    codes = np.concatenate([np.eye(9)[A], np.eye(9)[B]], axis=1)
    target = cells.targets[:, 0]
    weights = np.linalg.lstsq(codes[seen], target[seen], rcond=None)[0]
    followed = ((codes @ weights - target)[~seen] ** 2).mean()
    assert followed < 0.05 * report.scores.unseen.value


def test_cells_to_add_are_compared_with_random_ones():
    """A machine that averages the nearest seen cells, of which rare levels have few."""
    rng = np.random.default_rng(0)
    target = np.random.default_rng(3).normal(size=9)[A] + np.random.default_rng(4).normal(size=9)[B]
    seen = (rng.random(81) < 0.6) & ((A < 6) | (B == 0))
    codes = np.concatenate([np.eye(9)[A], np.eye(9)[B]], axis=1)
    weights = np.linalg.solve(codes[seen].T @ codes[seen] + 0.5 * np.eye(18), codes[seen].T @ target[seen])
    report = audit(
        factors={"a": A, "b": B},
        seen=seen,
        target=target,
        prediction=np.where(seen, target, 1.3 * (codes @ weights) + 0.3),
    )
    adding = [one for one in report.remedies if one.cells and one.gain is not None]
    for one in adding:
        assert np.isfinite(one.random_gain)
        assert one.gain.low > 0
        assert "stay unseen" in one.measured


def test_the_gain_of_cells_is_that_of_the_simple_model_with_and_without_them():
    """By hand: the best sum, fitted with and without two cells of a level that only one seen cell has."""
    target = np.random.default_rng(3).normal(size=9)[A] + np.random.default_rng(4).normal(size=9)[B]
    noise = np.random.default_rng(5).normal(size=81)
    seen = np.random.default_rng(0).random(81) > 0.4
    noisy = target + 0.5 * noise
    effects = np.eye(9)[A], np.eye(9)[B]
    sums = np.concatenate(effects, axis=1)
    fitted = sums @ np.linalg.lstsq(sums[seen], noisy[seen], rcond=None)[0]
    report = audit(factors={"a": A, "b": B}, seen=seen, target=noisy, prediction=fitted)
    cells, refits = report.by_cell, report.refits
    added = cells.outside[:6]
    gain = gain_of_cells(added, cells, refits)
    alike, likeness = most_alike(cells, refits)
    rest = np.setdiff1d(cells.outside, added)
    predict = refits.predictors[alike.name]
    errors = [
        ((predict(seen_targets(cells, index), cells.cells[rest])[:, 0] - cells.targets[rest, 0]) ** 2).mean()
        for index in (cells.inside, np.union1d(cells.inside, added))
    ]
    assert likeness > 0.5
    assert gain.share.value == pytest.approx(1 - errors[1] / errors[0])


def test_what_does_not_help_is_not_offered_and_the_report_says_what_is_needed():
    """Targets at random: no simple model knows anything about cells that it was not fitted to."""
    report, _ = audited(np.random.default_rng(0).normal(size=81), seed=1)
    assert not any(one.refit for one in report.remedies)
    assert "nothing_known" in [one.id for one in report.remedies]


def test_remedies_are_ordered_by_what_was_measured():
    for seed in range(4):
        report, _ = audited(np.linspace(1, 3, 9)[A] * np.linspace(2, 5, 9)[B], seed=seed)
        gains = [one.gain for one in report.remedies]
        measured = [one for one in gains if one is not None]
        assert gains[: len(measured)] == measured  # what was not measured comes last
        sure = [one.value for one in measured if one.low > 0]
        assert sure == sorted(sure, reverse=True)


def test_a_remedy_that_was_not_measured_says_so():
    report, _ = audited(np.linspace(1, 3, 9)[A] * np.linspace(2, 5, 9)[B])
    rest = [one for one in report.remedies if one.gain is None]
    assert all(one.promise.startswith(("not measured here", "no sure gain")) for one in rest)


def test_copies_of_cells_do_not_narrow_the_gain():
    def gain(runs):
        target = np.random.default_rng(3).normal(size=9)[A] + np.random.default_rng(4).normal(size=9)[B]
        seen = np.random.default_rng(0).random(81) > 0.4
        noisy = target + 0.5 * np.random.default_rng(5).normal(size=81)
        sums = np.concatenate([np.eye(9)[A], np.eye(9)[B]], axis=1)
        fitted = sums @ np.linalg.lstsq(sums[seen], noisy[seen], rcond=None)[0]
        factors = {"a": A, "b": B} if runs == 1 else {"a": A.repeat(runs), "b": B.repeat(runs)}
        factors |= {"run": np.tile(np.arange(runs), 81)} if runs > 1 else {}
        many = {"seen": seen.repeat(runs), "target": noisy.repeat(runs), "prediction": fitted.repeat(runs)}
        report = audit(factors=factors, **many)
        return gain_of_cells(report.by_cell.outside[: 6 * runs], report.by_cell, report.refits).share

    once, copied = gain(1), gain(4)
    assert copied.pair == pytest.approx(once.pair)
