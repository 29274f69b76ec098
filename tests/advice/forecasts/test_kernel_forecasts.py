"""Forecasts with labels: the theory's slopes, the loss that decides, and the fewest cells that turn the tide."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq

from recombine import advise
from recombine.advice.forecasts import kernel_forecasts
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.theory import named_profile


def advice_on(task, **settings):
    space = task.split.space
    columns = {f.name: space.cells[:, axis] for axis, f in enumerate(space.factors)}
    table = pl.DataFrame(columns | {"train": task.split.seen, "y": task.targets.ravel().astype(float)})
    return advise(table, factors=space.names, seen="train", target="y", **{"orders": [1]} | settings)


@pytest.fixture(scope="module")
def context():
    return advice_on(context_dependence())


def words(advice):
    return " ".join(str(advice).split())


@pytest.mark.parametrize(
    ("anchors", "depth", "slope"),
    [([4], 1, 0.7434), ([4], 2, 0.6016), ([4], 3, 0.5090), ([4], 10, 0.2551), ([0, 8], 1, 0.8528)],
)
def test_slopes_of_addition(anchors, depth, slope):
    advice = advice_on(addition(anchors=anchors), salience=f"relu:{depth}").slope
    assert advice.slope == pytest.approx(slope, abs=1e-4)
    assert advice.slopes[depth - 1] == pytest.approx(slope, abs=1e-4)
    assert advice.explained == pytest.approx(1)


def test_the_slope_is_reported():
    advice = advice_on(addition())
    assert "rise by 0.51 where the true values rise by 1 (0.26 to 0.74 for random ReLU networks" in words(
        advice
    )
    assert advice.to_dict()["slope"]["band"] == pytest.approx([0.2551, 0.7434], abs=1e-4)
    assert advice.losses is None
    assert advice.to_dict()["losses"] is None


def test_large_tables_try_few_depths(monkeypatch):
    monkeypatch.setattr(kernel_forecasts, "MAX_CELLS_FOR_ALL_DEPTHS", 10)
    assert advice_on(addition()).slope.depths == (1, 3, 10)


def test_labels_that_do_not_differ_have_no_slope():
    task = addition(anchors=[0, 1, 2, 3, 4, 5, 6, 7])  # leaves one cell
    assert advice_on(task).slope is None


def test_squared_loss_fixes_the_shortcut(context):
    losses = context.losses
    assert (losses.chosen_margin, losses.chosen_squared) == (0, 1)
    assert losses.passing == (0.3, 1)  # from depth 8 on
    assert losses.squared_helps
    assert "3 of 10 kernel machines" in words(context)
    assert "squared loss would fix it" in words(context)
    assert advice_on(context_dependence(), salience="quadratic:3").losses.squared_helps is None


def test_the_critical_ratio_of_saliences_is_the_closed_form_s(context):
    """CD-3 with S3 fixed: right where 18 S1² < S2 (1 + 12 S1 + 6 S2)."""
    shares = named_profile("relu:3", 3).order_shares
    lower = 3 * (shares[0] + shares[1])

    def excess(ratio):
        pair = lower / (3 * ratio + 3)
        return 18 * (ratio * pair) ** 2 - pair * (1 + 12 * ratio * pair + 6 * pair)

    expected = brentq(excess, 0.1, 10)
    np.testing.assert_allclose(context.losses.critical, expected, rtol=0.02)
    np.testing.assert_allclose(context.losses.ratio, shares[0] / shares[1])
    assert "at most 1.3 times as much of the representation's similarity as pairs (here 2.2 times)" in words(
        context
    )


def test_squared_loss_does_not_fix_what_is_out_of_reach():
    advice = advice_on(transitive_equivalence())
    assert advice.losses.squared_helps is False
    assert set(advice.losses.margin) == {
        0
    }  # predictions are exactly 0; signs of rounding errors are not right
    assert "squared loss would not fix it" in words(advice)


def test_a_margin_that_is_not_found_is_unknown(monkeypatch):
    monkeypatch.setattr(kernel_forecasts, "margin_machine", lambda *_: None)
    advice = advice_on(context_dependence(hidden=1))
    assert np.isnan(advice.losses.chosen_margin)
    assert advice.to_dict()["losses"]["chosen"]["margin"] is None
    assert str(advice)
