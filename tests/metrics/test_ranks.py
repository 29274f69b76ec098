import numpy as np
import pytest
from sklearn.decomposition import PCA

from recombine.errors import InputError
from recombine.metrics import (
    activation_ranks,
    components_for,
    covariance_spectrum,
    effective_rank,
    numerical_rank,
    participation,
    stripe_energy,
)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50), (20, 20)])
def test_spectrum_is_that_of_principal_components(shape):
    activations = np.random.default_rng(0).normal(size=shape) + 7
    expected = PCA().fit(activations).explained_variance_
    np.testing.assert_allclose(covariance_spectrum(activations), expected, atol=1e-12)


@pytest.mark.parametrize("units", [30, 3000])
@pytest.mark.parametrize("rank", [1, 4, 9])
def test_rank_of_a_product(rank, units):
    rng = np.random.default_rng(rank)
    activations = rng.normal(size=(60, rank)) @ rng.normal(size=(rank, units)) + 100.0
    ranks = activation_ranks(activations)
    assert ranks["numerical_rank"] == rank
    assert ranks["components"] <= rank
    assert ranks["largest_possible"] == min(59, units)


def test_constant_layers_have_rank_zero():
    for value in (0.0, 0.3, 1e6):
        layer = np.full((40, 11), value, dtype=np.float32)
        assert activation_ranks(layer)["numerical_rank"] == 0
        assert activation_ranks(np.tile(layer, 9))["components"] == 0


def test_thresholds():
    eigenvalues = np.array([1.0, 1.1e-3, 1e-3, 1e-9])
    assert numerical_rank(eigenvalues) == 2
    assert numerical_rank(eigenvalues, tolerance=1e-12) == 4
    assert components_for(np.array([0.98, 0.01, 0.01])) == 2
    assert components_for(np.ones(200), fraction=0.5) == 100
    with pytest.raises(InputError, match="fraction"):
        components_for(eigenvalues, fraction=0.0)


@pytest.mark.parametrize("k", [1, 3, 8])
def test_participation_counts_equal_terms(k):
    weights = np.zeros((5, 8))
    weights[:, :k] = np.random.default_rng(0).choice([-2.0, 2.0], size=(5, k))
    np.testing.assert_allclose(participation(weights), k)
    assert participation(np.zeros(4)) == 0


def test_effective_rank_is_invariant_under_rotations_and_scale():
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.normal(size=(3, 6, 6)))
    weights = rng.uniform(size=(3, 6))
    matrices = 5 * q @ (weights[..., None] * np.swapaxes(q, 1, 2)[::-1])
    np.testing.assert_allclose(effective_rank(matrices), participation(weights))
    assert effective_rank(np.outer([1.0, 2.0], [3.0, 4.0])) == pytest.approx(1.0)


def test_stripes_noise_and_their_sum():
    rng = np.random.default_rng(0)
    vertical = np.tile(rng.normal(size=(1, 32)), (32, 1))
    vertical -= vertical.mean()
    horizontal = vertical.T
    assert stripe_energy(vertical, axis=0) == pytest.approx(1.0)
    assert stripe_energy(vertical, axis=1) == pytest.approx(0.0, abs=1e-20)
    np.testing.assert_allclose(stripe_energy(np.stack([vertical + horizontal] * 2), axis=1), 0.5)
    noise = rng.normal(size=(200, 32, 32))
    assert stripe_energy(noise, axis=0).mean() == pytest.approx(1 / 32, rel=0.05)
    assert np.isnan(stripe_energy(np.zeros((4, 4)), axis=0))
    with pytest.raises(InputError, match="axis"):
        stripe_energy(vertical, axis=2)


def test_stripe_energy_does_not_see_signs_that_flip_halfway():
    broken = np.tile(np.exp(-((np.arange(32) - 14) ** 2) / 2), (32, 1))
    broken[16:] *= -1
    assert stripe_energy(broken, axis=0) == pytest.approx(0.0, abs=1e-20)
    assert effective_rank(broken) == pytest.approx(1.0)
