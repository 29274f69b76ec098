"""Salience from activities: right on average, with honest intervals."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory import OverlapKernel, estimate_salience


def activities(shares, copies, noise, seed=0):
    """A representation with known saliences of two factors and of their pair, and private noise in every row."""
    rng = np.random.default_rng(seed)
    cells = np.repeat(np.indices((4, 4)).reshape(2, -1).T, copies, axis=0)
    code = [np.eye(4)[cells[:, 0]], np.eye(4)[cells[:, 1]], np.eye(16)[4 * cells[:, 0] + cells[:, 1]]]
    parts = [np.sqrt(share) * part for share, part in zip(shares, code, strict=True)]
    private = noise * rng.normal(size=(len(cells), 4000)) / np.sqrt(4000)
    return np.concatenate([*parts, private], axis=1), cells


def test_exact_representations_are_recovered():
    activity, cells = activities((0.2, 0.5, 0.3), 1, 0.0)
    estimate = estimate_salience(activity, cells)
    np.testing.assert_allclose(estimate.kernel.normalised, [[0, 0.5], [0.2, 0.3]], atol=1e-12)
    np.testing.assert_allclose(estimate.order_shares, [0.35, 0.3], atol=1e-12)
    np.testing.assert_allclose(estimate.unevenness, 0, atol=1e-12)
    assert estimate.self_pairs


def test_pairing_a_row_with_itself_counts_noise_as_similarity():
    activity, cells = activities((0.3, 0.3, 0.4), 5, 1.0)
    without, with_them = (estimate_salience(activity, cells, self_pairs=pairs) for pairs in (False, True))
    assert without.order_shares[0] == pytest.approx(0.3, abs=0.01)
    assert with_them.order_shares[0] == pytest.approx(0.3 / 1.2, abs=0.01)
    assert not estimate_salience(activity, cells).self_pairs


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    truth, covered = random_kernel_shares(), 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 1])
        cells = rng.integers(0, 12, size=(60, 2))
        features = [rng.normal(size=(12, 300)) for _ in range(2)]
        pairs = rng.normal(size=(144, 300))
        activity = features[0][cells[:, 0]] + features[1][cells[:, 1]] + pairs[12 * cells[:, 0] + cells[:, 1]]
        estimate = estimate_salience(activity, cells, self_pairs=True, draws=100, seed=seed)
        low, high = estimate.interval[0]
        covered += low <= truth[0] <= high
    assert 45 <= covered <= 60


def random_kernel_shares():
    return OverlapKernel.by_order([0, 1, 1]).order_shares


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"levels: got \(3, 1\)"):
        estimate_salience(np.zeros((4, 2)), np.zeros((3, 1)))
    with pytest.raises(InputError, match="pairs of rows for every set of shared factors"):
        estimate_salience(np.eye(2), np.array([[0, 0], [1, 1]]))
    with pytest.raises(InputError, match="finite numbers"):
        estimate_salience(np.array([[np.nan]]), np.array([[0]]))
