"""Targets of any size: the verdict does not depend on their unit."""

import numpy as np
import pytest

from recombine import InputError, audit
from recombine.auditing.magnitude import in_ordinary_units

A, B = np.indices((8, 8)).reshape(2, -1).repeat(2, axis=1)
RNG = np.random.default_rng(0)
SEEN = np.repeat(RNG.random(64) < 0.6, 2)
TARGET = A + 0.5 * B + 0.3 + 0.05 * RNG.normal(size=128)
PREDICTION = np.where(SEEN, TARGET, A + 1.9)


def run(scale, metric=None, prediction=PREDICTION):
    return audit(
        factors={"a": A, "b": B},
        seen=SEEN,
        target=TARGET * scale,
        prediction=prediction * scale,
        metric=metric,
    )


@pytest.mark.parametrize("metric", [None, "absolute", "relative", "log"])
def test_nothing_that_is_decided_depends_on_the_unit(metric):
    usual = run(1.0, metric)
    for scale in (1e-300, 1e-200, 1e-140, 1e-10, 1e140, 1e200, 1e300):
        report = run(scale, metric)
        assert report.verdict == usual.verdict
        assert [one.holds for one in report.findings] == [one.holds for one in usual.findings]
        assert [one.id for one in report.remedies] == [one.id for one in usual.remedies]


def test_the_report_names_the_unit_and_shows_values_in_the_users():
    report = run(1e-200)
    assert report.scores.measure == "mean squared error, in units of 1e-200"
    assert report.scores.unseen.value == pytest.approx(run(1.0).scores.unseen.value)
    assert any("in units of 1e-200" in note for note in report.notes)
    assert "3.9e-200" in report.page().html()


def test_targets_below_the_smallest_power_of_ten_have_a_unit_that_is_one():
    tiny = np.where(A + B > 7, 5e-324, 0.0)
    targets, predictions, unit = in_ordinary_units(tiny[:, None], tiny[:, None])
    assert unit == 1e-307
    assert 0 < targets.max() == predictions.max() < 1e-15
    report = audit(factors={"a": A, "b": B}, seen=SEEN, target=tiny, prediction=tiny)
    assert report.scores.measure == "mean squared error, in units of 1e-307"
    assert report.finding("composes").holds is not False


def test_a_function_gets_the_users_values():
    sizes = []
    metric = lambda t, p: sizes.append(abs(t).max()) or abs(t - p) / abs(t)  # noqa: E731
    run(1e-200, metric)
    assert max(sizes) < 1e-198


def test_predictions_in_quite_other_units_get_one_line():
    with pytest.raises(InputError, match="prediction: got 'a number more than 1e\\+150 times"):
        run(1e-200, prediction=np.full(128, 1e199))
    with pytest.raises(InputError, match="prediction: got 'a value that is not finite"):
        run(1e200, prediction=np.full(128, np.inf))


def test_a_single_number_of_extreme_size_is_refused():
    """It is more likely a mark for a missing value than a unit."""
    for scale, odd in ((1.0, 1e300), (1e-200, 1.0)):
        target = np.where(np.arange(128) == 3, odd, TARGET * scale)
        with pytest.raises(InputError, match=r"target: got 'a number (beyond|more than) 1e"):
            audit(factors={"a": A, "b": B}, seen=SEEN, target=target, prediction=PREDICTION * scale)


def test_an_output_that_vanishes_next_to_another_is_named():
    both, prediction = (np.stack([one, one * 1e-200], axis=1) for one in (TARGET, PREDICTION))
    report = audit(factors={"a": A, "b": B}, seen=SEEN, target=both, prediction=prediction)
    assert "output 2 is so small next to the others that its squares vanish: rescale it" in report.notes
