"""Every exact statement gives the numbers of the reference, whatever the seed.

Those without anything random are left to the run of the study at scale smoke, which checks the same numbers.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from recombine.studies.interaction_asymmetry import identities, published
from recombine.tasks import interaction_task

pytestmark = pytest.mark.usefixtures("compile_quickly")


@pytest.fixture(params=[0, 1])
def task(request):
    return SimpleNamespace(inputs=np.random.default_rng(request.param).normal(size=(3, 4)))


def test_finite_differences(task):
    values = identities.finite_differences(task)
    assert values["vanishing"].max() < 1e-12
    assert values["present"].min() > 0.1
    assert values["softmax"][0] > 1e-3


def test_probe_estimates(task):
    values = identities.probe_estimates(task)
    assert values["estimate_z"].max() < 4
    assert values["error_slope"] == pytest.approx(-0.5, abs=0.15)


def test_independence_ranks(task):
    values = identities.independence_ranks(task)
    assert values["ranks_that_differ"] == 0
    assert values["ranks_linear"].tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize(("outputs", "enough"), [(20, False), (40, True)])
def test_generators_of_order_two_need_more_than_twenty_outputs(outputs, enough):
    made = interaction_task(rows=5, test=0, order=2, outputs=outputs)
    assert identities.generator_independence(made) == {"independent": enough}


def test_indecomposability(task):
    values = identities.indecomposability(task)
    assert values["parts_that_differ"] == 0
    assert values["parts"].tolist() == list(published.CENTROIDS.values())


def test_l_shape(task):
    values = identities.l_shape(task)
    table = values["table"]
    assert values["clean_gap"] < 1e-5
    assert table.shape == (4, 4, 4)
    assert values["surface"].shape == (2, 4, 41, 41)
    np.testing.assert_allclose(values["surface"][0, 1], values["truth"], atol=1e-3)
    noisy = table[:3, :3, 3]  # g1 to g3, models of order 1 to 3
    expected = np.array([[published.L_SHAPE[g, k][3] for k in (1, 2, 3)] for g in ("g1", "g2", "g3")])
    np.testing.assert_allclose(noisy, expected, atol=0.03)
    assert (table[:3, 3, 3] < 0.95).all()  # order 7 with noise
    assert table[3, :, 1].max() < 0.4  # the softmax
