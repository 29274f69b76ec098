"""Errors by the user's metric and weights."""

import numpy as np
import pytest

from recombine import InputError, audit
from recombine.auditing.error_measure import error_measure
from recombine.auditing.report.example_section import example_section

A, B = np.indices((8, 8)).reshape(2, -1)
SEEN = np.random.default_rng(0).random(64) > 0.3
TARGET = np.exp(0.4 * A + 0.3 * B)


def run(prediction, **settings):
    return audit(factors={"a": A, "b": B}, seen=SEEN, target=TARGET, prediction=prediction, **settings)


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        (None, lambda t, p: (t - p) ** 2),
        ("squared", lambda t, p: (t - p) ** 2),
        ("absolute", lambda t, p: abs(t - p)),
        ("relative", lambda t, p: abs(t - p) / t),
        ("log", lambda t, p: (np.log(t) - np.log(p)) ** 2),
        (lambda t, p: abs(t - p) ** 3, lambda t, p: abs(t - p) ** 3),
    ],
)
def test_errors_are_means_of_the_metric_over_cells(metric, by_hand):
    prediction = TARGET * np.where(SEEN, 1.01, np.linspace(0.5, 1.5, 64))
    report = run(prediction, metric=metric)
    error = by_hand(TARGET, prediction)
    assert report.scores.seen.value == pytest.approx(error[SEEN].mean())
    assert report.scores.unseen.value == pytest.approx(error[~SEEN].mean())


def test_the_best_constant_depends_on_the_metric():
    targets = np.array([[1.0], [2.0], [4.0], [50.0]])
    for name in ("absolute", "relative"):
        measure = error_measure(name, "regression")
        grid = np.linspace(0.5, 60, 5000)
        errors = [measure.errors(targets, np.full_like(targets, one)).mean() for one in grid]
        constant = np.broadcast_to(measure.constant(targets), targets.shape)
        assert measure.errors(targets, constant).mean() <= min(errors) + 1e-3


def test_products_are_sums_on_a_logarithmic_scale():
    """A model that multiplies is judged by what it does: on logarithms its predictions are sums, as the targets are."""
    report = run(TARGET * 1.05 ** (A - B), metric="log")
    assert report.scores.baselines["additive_1"].value == pytest.approx(0, abs=1e-12)
    assert report.scores.measure == "mean squared error of logarithms"


def test_predictions_without_a_logarithm_count_as_small_and_the_report_says_so():
    report = run(np.where(SEEN, TARGET, -1.0), metric="log")
    assert any("too small for a logarithm" in note for note in report.notes)
    assert report.finding("composes").holds is False


def test_cells_count_once_or_by_their_rows():
    row = np.repeat(np.arange(64), np.where(np.arange(64) % 7 == 0, 9, 1))
    off = np.where(np.arange(64) % 7 == 0, 1.0, 0.1)
    prediction = (TARGET + off)[row]
    means = {}
    for weigh in ("cells", "rows"):
        report = audit(
            factors={"a": A[row], "b": B[row]},
            seen=SEEN[row],
            target=TARGET[row],
            prediction=prediction,
            weigh=weigh,
        )
        means[weigh] = report.scores.unseen.value
        assert report.errors["weighting"] == weigh
    assert means["cells"] == pytest.approx((off**2)[~SEEN].mean())
    assert means["rows"] == pytest.approx((off**2)[row][~SEEN[row]].mean())


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("cubic", "squared"),
        (3, "squared"),
        (lambda t, p: "no", "for each row"),
        (lambda t, p: np.zeros(3), "one error for each"),
        (lambda t, p: np.full(len(t), -1.0), "at least 0"),
        (lambda t, p: np.full(len(t), np.nan), "finite errors"),
        (lambda t, p: 1 / 0, "ZeroDivisionError"),
        (lambda t: t, "TypeError"),
    ],
)
def test_bad_metrics_get_one_line(metric, text):
    with pytest.raises(InputError, match=text) as caught:
        run(TARGET, metric=metric)
    assert "\n" not in str(caught.value)


def test_metrics_that_the_targets_do_not_allow_are_refused():
    zero = np.where(A == 0, 0.0, TARGET)
    with pytest.raises(InputError, match="some targets are 0"):
        audit(factors={"a": A, "b": B}, seen=SEEN, target=zero, prediction=zero, metric="relative")
    with pytest.raises(InputError, match="not positive"):
        audit(factors={"a": A, "b": B}, seen=SEEN, target=-TARGET, prediction=TARGET, metric="log")
    labels = np.where(A > B, "x", "y")
    with pytest.raises(InputError, match="labels"):
        audit(
            factors={"a": A, "b": B},
            seen=SEEN,
            target=labels,
            prediction=labels,
            metric="absolute",
            kind="classification",
        )


def test_a_function_gets_labels_and_shapes_as_the_user_wrote_them():
    shapes = []

    def cost(targets, predictions):
        shapes.append((targets.shape, predictions.shape, targets.dtype.kind))
        return (
            (targets != predictions) * 2.0
            if targets.ndim == 1
            else ((targets - predictions) ** 2).sum((1, 2))
        )

    labels = np.where(A > B, "x", "y")
    report = audit(factors={"a": A, "b": B}, seen=SEEN, target=labels, prediction=labels[::-1], metric=cost)
    assert report.scores.unseen.value == pytest.approx(2 * (labels != labels[::-1])[~SEEN].mean())
    images = np.stack(
        [np.outer(np.arange(4) == a % 4, np.arange(4) == b % 4) * 1.0 for a, b in zip(A, B, strict=True)]
    )
    audit(factors={"a": A, "b": B}, seen=SEEN, target=images, prediction=images * 0.9, metric=cost)
    assert shapes[0][0] == (64,)
    assert shapes[-1][0][1:] == (4, 4)


def test_logarithms_are_shown_in_the_units_of_the_targets():
    """A model whose unseen predictions are those of another level: the table shows targets, not their logarithms."""
    report = run(np.where(SEEN, TARGET, np.exp(0.4 * A + 0.9)), metric="log")
    (table,) = example_section(report)
    shown = [tuple(map(float, row.entries[2:4])) for row in table.rows]
    for (a, b, *_), (target, prediction) in zip((row.entries for row in table.rows), shown, strict=True):
        assert target == pytest.approx(np.exp(0.4 * int(a) + 0.3 * int(b)), rel=0.06)
        assert prediction == pytest.approx(np.exp(0.4 * int(a) + 0.9), rel=0.06)


def test_remedies_fit_the_logarithms_that_are_measured():
    report = run(np.where(SEEN, TARGET, np.exp(0.4 * A + 0.9)), metric="log")
    remedy = next(one for one in report.remedies if one.refit)
    assert remedy.title == "let the logarithm of the prediction be a sum of effects of single factors"
    names = {"numbers": np.stack([A, B], 1)[SEEN], "y": TARGET[SEEN]}
    exec(remedy.snippet, names)
    assert np.exp(names["model"].predict(np.stack([A, B], 1))) == pytest.approx(TARGET, rel=0.01)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_a_function_of_extreme_errors_is_refused(scale):
    with pytest.raises(InputError, match="errors between 1e-70 and 1e\\+70"):
        run(TARGET, metric=lambda t, p: abs(t - p) * scale)
