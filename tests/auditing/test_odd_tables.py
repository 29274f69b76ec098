"""Tables that once led to a wrong verdict or an error: odd designs, scales, outputs and metrics."""

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsRegressor

from recombine import audit

A, B = np.indices((8, 8)).reshape(2, -1)
FACTORS = {"a": A, "b": B}


def seen_cells(seed=0):
    return np.random.default_rng(seed).random(64) < 0.65


@pytest.mark.parametrize("seed", range(4))
def test_a_model_that_knows_seen_labels_and_guesses_one_elsewhere_has_learned_the_task(seed):
    rng, seen = np.random.default_rng(seed), seen_cells(seed)
    label = rng.integers(4, size=64)
    usual = np.bincount(label[seen]).argmax()
    report = audit(factors=FACTORS, seen=seen, target=label, prediction=np.where(seen, label, usual))
    assert "has not learned" not in report.verdict
    assert report.finding("composes").holds is False


@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_a_cross_without_repeated_rows_cannot_distinguish_noise_from_failure(kind):
    """No seen cell can be left out, since each is the only one with its level, so no simple model can be measured."""
    a, b = np.indices((9, 9)).reshape(2, -1)
    seen = ((a == 0) | (b == 0)) & (a + b > 0)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        if kind == "labels":
            truth = (rng.normal(size=9)[a] + rng.normal(size=9)[b] > 0).astype(int)
            noisy = np.where(rng.random(81) < 0.25, 1 - truth, truth)
        else:
            truth = rng.normal(size=9)[a] + rng.normal(size=9)[b]
            noisy = truth + 0.5 * rng.normal(size=81)
        report = audit(
            factors={"a": a, "b": b}, seen=seen, target=noisy, prediction=np.where(seen, noisy, truth)
        )
        assert report.finding("composes").holds is not False, seed


def test_remedies_of_a_cross_are_not_measured():
    a, b = np.indices((9, 9)).reshape(2, -1)
    seen = ((a == 0) | (b == 0)) & (a + b > 0)
    y = (1.0 + a) * (2.0 + b)
    codes = np.concatenate([np.ones((81, 1)), np.eye(9)[a], np.eye(9)[b]], axis=1)
    sums = codes @ np.linalg.lstsq(codes[seen], y[seen], rcond=None)[0]
    report = audit(factors={"a": a, "b": b}, seen=seen, target=y, prediction=sums)
    assert all(one.gain is None for one in report.remedies if one.refit)


@pytest.mark.parametrize("count", [3, 15, 16, 40])
def test_an_output_of_large_scale_hides_no_other(count):
    rng, seen = np.random.default_rng(0), seen_cells()
    target = rng.normal(size=(8, count))[A] + rng.normal(size=(8, count))[B]
    prediction = np.where(seen[:, None], target, rng.permutation(target))
    target[:, 0] *= 1e4
    prediction[:, 0] = target[:, 0]
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    assert report.finding("composes").holds is False


def test_an_undecided_output_is_not_hidden_by_one_that_composes():
    rng, seen = np.random.default_rng(0), seen_cells()
    one = rng.normal(size=8)[A] + rng.normal(size=8)[B]
    shaky = one + np.where(seen, 0.0, 0.45 * one.std() * rng.standard_t(2, size=64))
    alone = audit(factors=FACTORS, seen=seen, target=one, prediction=shaky).finding("composes").holds
    other = 1000.0 * (A + B)
    both = audit(
        factors=FACTORS,
        seen=seen,
        target=np.stack([one, other], axis=1),
        prediction=np.stack([shaky, other], axis=1),
    )
    assert alone is not True
    assert both.finding("composes").holds is alone
    assert "output 1" in both.verdict


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e9])
def test_verdicts_and_wrong_cells_do_not_depend_on_units(scale):
    rng, seen = np.random.default_rng(0), seen_cells()
    target = 1.0 * (A + B)
    prediction = target + np.where(seen, 0.0, rng.choice([0.0, 4.0], p=[0.8, 0.2], size=64))
    usual = audit(factors=FACTORS, seen=seen, target=target, prediction=prediction)
    scaled = audit(factors=FACTORS, seen=seen, target=scale * target, prediction=scale * prediction)
    assert scaled.scores.wrong.value == pytest.approx(usual.scores.wrong.value)
    assert scaled.finding("composes").holds is usual.finding("composes").holds


@pytest.mark.parametrize("offset", [10.0, -20.0, 1000.0])
def test_products_are_recognised_behind_an_offset(offset):
    target = (A + 1.0) * (B + 1.0) + offset
    seen = seen_cells()
    codes = np.concatenate([np.ones((64, 1)), np.eye(8)[A], np.eye(8)[B]], axis=1)
    sums = codes @ np.linalg.lstsq(codes[seen], target[seen], rcond=None)[0]
    report = audit(factors=FACTORS, seen=seen, target=target, prediction=sums)
    assert report.refits.named("product").unseen.value < 0.01 * report.refits.named("constant").unseen.value
    assert report.finding("additive_only").holds is True
    assert report.remedies[0].refit == "product"


def test_one_failing_fit_does_not_hide_the_best_model():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        a, b = np.indices((5, 5)).reshape(2, -1)
        y = rng.normal(size=5)[a] + rng.normal(size=5)[b]
        seen = rng.random(25) < 0.7
        report = audit(factors={"a": a, "b": b}, seen=seen, target=y, prediction=np.where(seen, y, y.mean()))
        refits = report.refits
        additive, best = refits.named("additive_1"), refits.best
        if np.isfinite(additive.held_out.value):
            assert (
                best.held_out.value
                <= additive.held_out.value + 1e-3 * refits.named("constant").held_out.value
            )


def test_errors_of_labels_by_a_metric_are_not_shares():
    label, seen = (A + B) % 5, seen_cells()
    prediction = np.where(seen, label, (label + 2) % 5)
    for scale in (10.0, 0.1):
        report = audit(
            factors=FACTORS,
            seen=seen,
            target=label,
            prediction=prediction,
            kind="classification",
            metric=lambda t, p, scale=scale: scale * np.abs(t.astype(float) - p.astype(float)),
        )
        unseen = report.scores.unseen
        assert unseen.low <= unseen.value <= unseen.high
        assert report.scores.wrong.value > 0.9


def test_two_columns_that_both_separate_are_both_named():
    rng, seen = np.random.default_rng(0), seen_cells()
    row = np.repeat(np.arange(64), 4)
    camera, light = np.tile(["A", "A", "B", "B"], 64), np.tile(["n", "d", "n", "d"], 64)
    label = ((A + B) % 4)[row]
    wrong = ~seen[row] & ((camera == "A") | (light == "n"))
    report = audit(
        factors={"a": A[row], "b": B[row]},
        seen=seen[row],
        target=label,
        prediction=np.where(wrong, (label + rng.integers(1, 4, size=256)) % 4, label),
        slices={"camera": camera, "light": light},
    )
    columns = {one.text.split(" is ")[0] for one in report.conditions if one.kind == "slice"}
    assert columns == {"camera", "light"}


def test_pure_noise_has_nothing_to_learn():
    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(64), 6)
    seen = seen_cells()[row]
    report = audit(
        factors={"a": A[row], "b": B[row]},
        seen=seen,
        target=rng.normal(size=len(row)),
        prediction=np.zeros(len(row)) + 0.01 * A[row],
    )
    assert report.finding("composes").holds is not True
    assert "partly learned (100%" not in report.verdict


def test_nearest_neighbours_of_single_rows_are_memory():
    rng = np.random.default_rng(0)
    row = np.repeat(np.arange(64), 4)
    seen = seen_cells()[row]
    y = 3.0 * A[row] + 2.0 * B[row] + 0.1 * rng.normal(size=len(row))
    x = np.concatenate([np.eye(8)[A[row]], np.eye(8)[B[row]]], axis=1) + 0.3 * rng.normal(size=(len(row), 16))
    prediction = KNeighborsRegressor(1).fit(x[seen], y[seen]).predict(x)
    report = audit(factors={"a": A[row], "b": B[row]}, seen=seen, target=y, prediction=prediction)
    assert report.finding("memorisation_leak").holds is True


def test_decimal_columns_are_numbers():
    seen = seen_cells()
    y = pl.Series((A + 0.5 * B).tolist()).cast(pl.Decimal(10, 3))
    table = pl.DataFrame({"a": A, "b": B, "train": seen, "y": y, "p": y})
    report = audit(table, factors=["a", "b"], seen="train", target="y", prediction="p")
    assert report.outputs.kind == "regression"
    assert report.finding("composes").holds is True


def test_whole_numbers_without_end_get_one_line():
    from recombine import InputError

    with pytest.raises(InputError):
        audit(factors=FACTORS, seen=seen_cells(), target=[10**400] * 64, prediction=[10**400] * 64)
