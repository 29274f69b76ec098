"""How the verdict is decided: consistent bars, causes beyond chance, noise, stored values, boundaries."""

import numpy as np
import pytest
from benchmarks.calibration import evidence_of

from recombine import audit
from recombine.auditing.findings import FINDINGS
from recombine.auditing.rules.copy_nearby import choice_cost

A, B = np.indices((10, 10)).reshape(2, -1)
FACTORS = {"a": A, "b": B}


def seen_cells(seed, share=0.65):
    return np.random.default_rng(seed).random(100) < share


@pytest.mark.parametrize("seed", range(6))
def test_a_network_that_adds_is_not_said_to_look_up_its_memory(seed):
    """A product task, predictions that are the best sum of effects on unseen cells and right on seen ones."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=10)[A] * rng.normal(size=10)[B]
    seen = seen_cells(seed)
    codes = np.concatenate([np.ones((100, 1)), np.eye(10)[A], np.eye(10)[B]], axis=1)
    weights = np.linalg.lstsq(codes[seen], target[seen], rcond=None)[0]
    sums = codes @ weights
    noise = 0.2 * sums.std() * rng.normal(size=100)  # the sum explains 96% of the predictions
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=np.where(seen, target, sums + noise))
    assert report.finding("memorisation_leak").holds is not True
    assert report.finding("additive_only").holds is True


def test_more_wrong_cells_never_make_a_better_verdict():
    """Of two models that go as far, the one with more wrong cells is not the one that composes."""
    target, seen = 1.0 * (A + B), seen_cells(0)
    unseen = np.flatnonzero(~seen)
    verdicts = []
    for wrong in (0, 3, 8, 14, 20):
        prediction = target + 0.0
        prediction[unseen[:wrong]] += 3.0
        report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
        verdicts.append(report.finding("composes").holds)
    assert verdicts[0] is True
    assert verdicts[-1] is False
    order = [{True: 0, None: 1, False: 2}[one] for one in verdicts]
    assert order == sorted(order)


def test_small_errors_without_a_pattern_and_without_wrong_cells_are_not_a_failure():
    rng = np.random.default_rng(0)
    target, seen = 1.0 * (A + B), seen_cells(0)
    off = np.where(seen, 0.0, 0.12 * target.std() * rng.choice([-1, 1], size=100))
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=target + off)
    assert report.finding("composes").holds is True
    assert "for the most part" in report.verdict


@pytest.mark.parametrize("slope", [0.75, 0.85])
def test_small_but_systematic_errors_are_named(slope):
    """Predictions that keep 85% of their size have 2% of a constant's squared error, all of it a leak."""
    target, seen = 1.0 * (A + B), seen_cells(0)
    centre = target.mean()
    prediction = np.where(seen, target, centre + slope * (target - centre))
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.finding("memorisation_leak").holds is True
    assert report.finding("composes").holds is False


def test_stored_values_are_memory_wherever_they_come_from():
    """Each unseen cell gets the value of a random seen cell: no rule of levels, but memory all the same."""
    rng = np.random.default_rng(0)
    target, seen = rng.normal(size=100), seen_cells(0)
    prediction = np.where(seen, target, rng.choice(target[seen], size=100))
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.cause.rule.name == "stored"
    assert "digit by digit" in report.verdict
    whole = audit(
        factors=FACTORS, seen=seen, target=target.round(), prediction=prediction.round(), kind="regression"
    )
    assert whole.cause is None or whole.cause.rule.name != "stored"  # whole numbers coincide anyway


def test_choosing_among_copies_costs_what_it_makes_more_probable():
    """Predictions at random among m values: the best of them is near by chance, and the cost undoes that."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 12))
    predictions = rng.normal(size=200)
    distances = [(one - row) ** 2 for one, row in zip(predictions, values, strict=True)]
    best = np.mean([one.min() for one in distances])
    assert best < 0.1
    assert best * choice_cost(distances, 1) > 0.5  # about the variance that is left without any copy
    exact = [np.append(one, 1e-12) for one in distances]
    assert np.mean([one.min() for one in exact]) * choice_cost(exact, 1) < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_a_model_with_reversed_effects_does_not_take_a_shortcut(seed):
    """Predictions mostly go with the most important factor, but they ignore the other no more than the targets do."""
    rng = np.random.default_rng(seed)
    target, seen = 3.0 * rng.normal(size=10)[A] + rng.normal(size=10)[B], seen_cells(seed)
    prediction = np.where(seen, target, 2 * target.mean() - target)
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.finding("composes").holds is False
    assert report.finding("shortcut").holds is not True


def test_noise_and_failure_are_not_distinguished_without_repeated_rows():
    """A perfect composer with noisy targets, one row per cell: never said to fail, whatever rule fits."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=10)[A] + rng.normal(size=10)[B]
        seen = seen_cells(seed)
        noisy = truth + 0.6 * rng.normal(size=100)
        codes = np.concatenate([np.ones((100, 1)), np.eye(10)[A], np.eye(10)[B]], axis=1)
        fitted = codes @ np.linalg.lstsq(codes[seen], noisy[seen], rcond=None)[0]
        report = audit(factors=FACTORS, seen=seen, target=noisy, prediction=fitted)
        assert report.finding("composes").holds is not False, seed
        assert report.cause is None


def test_an_output_that_was_not_learned_is_not_hidden_by_one_that_was():
    rng = np.random.default_rng(0)
    seen = seen_cells(0)
    target = np.stack([1000.0 * (A + B), rng.normal(size=10)[A] * rng.normal(size=10)[B]], axis=1)
    prediction = np.stack([target[:, 0], np.full(100, target[seen, 1].mean())], axis=1)
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.finding("composes").holds is not True
    assert "output 2" in report.verdict


def test_a_shrunken_model_is_not_said_to_use_other_units():
    target, seen = 1.0 * (A + B), seen_cells(0)
    centre = target[seen].mean()
    prediction = centre + 0.3 * (target - centre)
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.units is None
    assert report.finding("composes").holds is not True


def test_the_same_verdict_for_every_seed():
    """Tables near the boundary, 12 seeds each: at least 98% have the commonest verdict of their table."""
    same = total = 0
    for table in range(8):
        rng = np.random.default_rng(table)
        target, seen = 1.0 * (A + B), seen_cells(table)
        off = np.where(seen, 0.1, 0.55 + 0.05 * table) * target.std() * rng.normal(size=100)
        arguments = {"factors": FACTORS, "seen": seen, "target": target, "prediction": target + off}
        holds = [
            FINDINGS["composes"].measure(evidence_of(**arguments, seed=seed)).holds for seed in range(12)
        ]
        assert audit(**arguments).finding("composes").holds == holds[0]
        same += max(holds.count(one) for one in (True, False, None))
        total += len(holds)
    assert same >= 0.98 * total


def test_an_error_that_may_be_twice_as_large_is_not_said_to_be_like_that_on_seen_cells():
    """Two unseen cells in ten have larger errors: the ratio is above 1.5, but not surely, and the verdict shows it."""
    target, seen = 1.0 * (A + B), seen_cells(0)
    size = np.where(seen, 0.1, 0.08)
    size[np.flatnonzero(~seen)[::5]] = 0.3
    errors = size * target.std() * np.random.default_rng(0).choice([-1, 1], size=100)
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=target + errors)
    scores = report.scores
    assert scores.composes
    assert scores.ratio.low < 1.5 < scores.ratio.value
    assert "like seen ones" not in report.verdict
    assert f"{scores.ratio.value:.1f} times [" in report.verdict


def test_targets_of_several_sizes_are_said_to_hide_errors_of_small_ones():
    target = np.exp(0.5 * (A + B))
    audited = {
        metric: audit(
            factors=FACTORS, seen=seen_cells(1), target=target, prediction=1.1 * target, metric=metric
        )
        for metric in ("squared", "log")
    }
    assert any("mostly about large ones" in note for note in audited["squared"].notes)
    assert not any("mostly about large ones" in note for note in audited["log"].notes)
