"""Gradient descent to a target loss: convergence, restarts, records, and many problems at once."""

import jax.numpy as jnp
import numpy as np
import pytest

from recombine import InputError
from recombine.training import descend


def loss(beta, data):
    x, y = data
    return ((x @ beta - y) ** 2).mean()


@pytest.fixture
def problems():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 20, 4))
    beta = rng.normal(size=(3, 4))
    return x, np.einsum("prd,pd->pr", x, beta), beta


def test_every_problem_reaches_the_target(problems):
    x, y, beta = problems
    ended = descend(loss, np.zeros((3, 4)), (x, y), rate=0.2, target=1e-18, steps=10_000)
    assert ended.status == ("reached",) * 3
    assert (ended.loss <= 1e-18).all()
    np.testing.assert_allclose(ended.parameters, beta, atol=1e-8)
    assert len(set(ended.steps)) > 1  # each stops on its own


def test_steps_equal_a_plain_loop(problems):
    x, y, _ = problems
    ended = descend(loss, np.ones((3, 4)), (x, y), rate=0.05, target=1e-30, steps=123, test_every=50)
    beta = np.ones((3, 4))
    for _ in range(123):
        error = np.einsum("prd,pd->pr", x, beta) - y
        beta = beta - 0.05 * 2 * np.einsum("prd,pr->pd", x, error) / 20
    np.testing.assert_allclose(ended.parameters, beta, rtol=1e-12)
    assert ended.status == ("stopped",) * 3
    assert ended.steps.tolist() == [123] * 3


def test_a_rate_that_diverges_is_lowered_and_training_starts_again(problems):
    x, y, beta = problems
    x = x * np.array([1.0, 1.0, 5.0])[:, None, None]
    y = np.einsum("prd,pd->pr", x, beta)
    ended = descend(loss, np.zeros((3, 4)), (x, y), rate=0.2, target=1e-16, steps=50_000)
    assert ended.rate.tolist() == pytest.approx([0.2, 0.2, 0.02])
    assert ended.status == ("reached",) * 3
    lost = descend(loss, np.zeros((3, 4)), (x, y), rate=1e6, target=1e-16, steps=100, restarts=2)
    assert lost.status == ("diverged",) * 3


def test_the_best_and_the_final_test_loss_differ_where_training_hurts():
    x, y = np.array([[[1.0]]]), np.array([[3.0]])
    ended = descend(
        loss,
        np.zeros((1, 1)),
        (x, y),
        rate=0.01,
        target=1e-12,
        steps=5000,
        test=lambda beta, data: jnp.abs(beta[0] - 1.0),
        test_every=10,
    )
    assert ended.best[0] < 0.05
    assert ended.final[0] == pytest.approx(2.0, abs=1e-4)


def test_wrong_numbers_are_refused(problems):
    x, y, _ = problems
    with pytest.raises(InputError, match="rate: got 0"):
        descend(loss, np.zeros((3, 4)), (x, y), rate=0, target=1e-3, steps=10)
