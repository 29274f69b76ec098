"""Leaks of which nothing reaches unseen cells: one value for all of them."""

import numpy as np
import pytest

from recombine import audit


@pytest.mark.parametrize("metric", [None, "log"])
def test_one_value_for_all_unseen_cells_is_a_leak_and_not_one_that_explains_nothing(metric):
    a, b = np.indices((6, 6)).reshape(2, -1)
    seen, y = (a + b) % 3 > 0, np.exp(0.3 * a + 0.2 * b)
    factors = {"a": a, "b": b}
    report = audit(factors=factors, seen=seen, target=y, prediction=np.where(seen, y, 4.0), metric=metric)
    leak = report.finding("memorisation_leak")
    assert leak.holds
    assert leak.details["explains"] == report.cause.share.value > 0.9
    assert "the same everywhere" in report.verdict
    assert "explains about as much (9" in report.finding("shortcut").explanation
    assert not [one for one in (report.verdict, *(f.explanation for f in report.findings)) if " 0%" in one]


def test_equal_targets_need_not_vary():
    a, b = np.indices((4, 4)).reshape(2, -1)
    y, seen = a + b * 1.0, (a + b != 5)
    factors = {"a": a, "b": b}
    report = audit(factors=factors, seen=seen, target=y, prediction=np.where(seen, y, y[seen].mean()))
    assert report.finding("memorisation_leak").holds
    assert "the mean of its predictions for seen ones" in report.verdict
    assert "as much as they should" not in report.verdict + report.finding("memorisation_leak").explanation
