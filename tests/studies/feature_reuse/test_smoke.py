"""The new arms of feature reuse at scale smoke, and what must be true of them at any size."""

import numpy as np
import pytest

from recombine.runs import Store
from recombine.studies import reproduce
from recombine.studies.feature_reuse import diagonal_networks, group_norm_training


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("store"))
    return reproduce("feature-reuse", scale="smoke", claims=["6", "22", "23", "25"], store=store)


def test_proximal_training_reaches_the_programme(result):
    arm = result.evidence[group_norm_training.ARM]
    np.testing.assert_allclose(arm["proximal: norm"], arm["programme: norm"], rtol=5e-3)
    np.testing.assert_allclose(arm["proximal: error"], arm["programme: error"], rtol=0.05)


def test_forecasts_have_every_task(result):
    arm = result.evidence[diagonal_networks.FORECASTS]
    assert arm["subset of 8"].shape == (1, 4, 2)
    assert {"all shared", "three quarters shared", "half shared", "5 new", "8 new"} <= set(arm.values)


def test_claims_are_measured_with_finite_numbers(result):
    for outcome in result.outcomes:
        assert all(np.isfinite(values).all() for values in outcome.supports().values())
