"""Proximal gradient descent ends at the minimum of loss plus penalty, and at the programme as the penalty vanishes."""

import numpy as np
import pytest

from recombine import InputError
from recombine.remedies import group_norm_of, shrink_groups
from recombine.tasks import sphere_inputs
from recombine.theory import min_group_norm
from recombine.training import descend_proximal


def two_tasks(seed, features=30, rows=(12, 10)):
    """Two tasks with eight and five features, of which they share four."""
    rng = np.random.default_rng(seed)
    xs = [sphere_inputs(n, features, rng) for n in rows]
    betas = np.zeros((2, features))
    betas[0, :8] = rng.choice([-1, 1], size=8) / np.sqrt(8)
    betas[1, 2:6] = np.sign(betas[0, 2:6]) / 2
    betas[1, 20] = 0.5
    return xs, [x @ beta for x, beta in zip(xs, betas, strict=True)]


def pooled(beta, data):
    (x, u), (y, v) = data
    return 0.5 * (((x @ beta[0] - y) ** 2).sum() + ((u @ beta[1] - v) ** 2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_vanishing_strength_reaches_the_programme(seed):
    xs, ys = two_tasks(seed)
    best = min_group_norm(xs, ys)
    falling = 10.0 ** -np.arange(0, 6.1, 0.5)
    found = descend_proximal(
        pooled, np.zeros((2, 30)), (xs, ys), shrink_groups, strengths=falling, tolerance=1e-13
    )
    assert found.settled
    np.testing.assert_allclose(group_norm_of(found.parameters), best.objective, rtol=1e-6)
    np.testing.assert_allclose(found.parameters, best.coefficients, atol=1e-4)
    assert found.loss[-1] < 1e-10


def test_orthonormal_inputs_have_a_closed_form():
    rng = np.random.default_rng(0)
    xs = [np.linalg.qr(rng.normal(size=(20, 6)))[0] for _ in range(2)]
    targets = np.array([[3.0, 0.1, 0, 2, -1, 0], [4.0, 0.1, 0, 0, 1, 0.4]])
    ys = [x @ beta for x, beta in zip(xs, targets, strict=True)]
    found = descend_proximal(pooled, np.zeros((2, 6)), (xs, ys), shrink_groups, strengths=[0.5], rate=4.0)
    lengths = np.sqrt((targets**2).sum(axis=0))
    expected = targets * np.maximum(0, 1 - 0.5 / np.where(lengths > 0, lengths, 1))
    np.testing.assert_allclose(found.parameters, expected, atol=1e-9)
    assert (found.parameters[:, [1, 2, 5]] == 0).all()  # dropped in both tasks, exactly


def test_the_minimum_meets_its_conditions_at_a_finite_strength():
    """The loss's slope is the strength times a unit vector where a feature is used, and shorter where it is not."""
    xs, ys = two_tasks(5)
    strength = 0.3
    found = descend_proximal(pooled, np.zeros((2, 30)), (xs, ys), shrink_groups, strengths=[strength])
    beta = found.parameters
    slope = np.stack([x.T @ (x @ b - y) for x, b, y in zip(xs, beta, ys, strict=True)])
    used = (beta != 0).any(axis=0)
    directions = beta[:, used] / np.sqrt((beta[:, used] ** 2).sum(axis=0))
    np.testing.assert_allclose(-slope[:, used], strength * directions, atol=1e-6)
    assert (np.sqrt((slope[:, ~used] ** 2).sum(axis=0)) < strength).all()
    assert 0 < used.sum() < 30


def test_too_few_steps_are_reported():
    xs, ys = two_tasks(0)
    found = descend_proximal(pooled, np.zeros((2, 30)), (xs, ys), shrink_groups, strengths=[1e-3], steps=5)
    assert found.steps == (5,)
    assert not found.settled


@pytest.mark.parametrize(
    "wrong", [{"strengths": []}, {"strengths": [0.0]}, {"rate": 0}, {"tolerance": -1}, {"steps": 0}]
)
def test_wrong_numbers_are_named(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        descend_proximal(pooled, np.zeros((2, 3)), None, shrink_groups, **{"strengths": [1.0]} | wrong)
