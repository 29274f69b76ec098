"""The additivity analysis on outputs whose structure is known."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import additive_fit, item_slope
from recombine.studies.kernel_theory.predictions import kind_sizes
from recombine.tasks import addition, context_dependence

CELLS = np.indices((9, 9)).reshape(2, -1).T
VALUES = np.arange(-4.0, 5.0)


def test_sums_are_explained_and_products_are_not():
    seen = addition(anchors="both").split.seen
    sums = VALUES[CELLS].sum(axis=1)
    fit = additive_fit(0.7 * sums + 1, CELLS, seen)
    assert fit.r2_out == pytest.approx(1)
    unseen = CELLS[~seen]
    assert item_slope(fit, 0, VALUES, np.unique(unseen[:, 0]).tolist()) == pytest.approx(0.7)
    products = additive_fit(VALUES[CELLS].prod(axis=1), CELLS, seen)
    assert products.r2_in == pytest.approx(1)  # every training cell has a coefficient of its own
    assert products.r2_out < 0.2


def test_constant_outputs_have_no_r2():
    assert np.isnan(additive_fit(np.ones(81), CELLS, CELLS[:, 0] == 0).r2_out)


def test_published_sizes_of_conjunctions():
    task = context_dependence(hidden=2)
    fit = additive_fit(task.targets.ravel(), task.split.space.cells, task.split.seen)
    np.testing.assert_allclose(kind_sizes(fit), [0.5992, 0.3135, 0.1169, 0.0238, 0.0804], atol=5e-5)


def test_a_lower_order_can_be_requested():
    task = context_dependence()
    fit = additive_fit(task.targets.ravel(), task.split.space.cells, task.split.seen, order=1)
    assert set(fit.values) == {(0,), (1,), (2,)}
    assert fit.r2_in < 0.9


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"outputs: got"):
        additive_fit(np.ones(3), CELLS, np.ones(81, bool))
    with pytest.raises(InputError, match="at least one seen cell"):
        additive_fit(np.ones(81), CELLS, np.zeros(81, bool))
