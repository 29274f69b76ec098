"""The score: a perfect predictor has 0, the best constant 1, in every world."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import Net
from recombine.studies.remedies.score import FITTED, constant_error, error, fits, score, score_of
from recombine.studies.remedies.worlds import worlds
from recombine.tasks import Task

WORLDS = {world.name: world for world in worlds("smoke")}


def lookup(task: Task, values: np.ndarray) -> Net:
    """A net that gives row i the i-th value, whatever it has to compute."""
    inputs = jnp.asarray(task.inputs.reshape(len(task.inputs), -1))
    table = jnp.asarray(values)

    def predict(x: jnp.ndarray) -> jnp.ndarray:
        flat = x.reshape(len(x), -1)
        return table[jnp.argmin(((flat[:, None] - inputs) ** 2).sum(axis=-1), axis=1)]

    return Net(("output",), (predict,))


def right_outputs(task: Task) -> np.ndarray:
    if task.kind == "regression":
        return task.targets
    return np.eye(int(task.targets.max()) + 1, dtype=np.float32)[task.targets]


@pytest.mark.parametrize("name", WORLDS)
def test_a_perfect_predictor_scores_0_and_fits(name: str) -> None:
    task = WORLDS[name].task(seed=0)
    found = score(lookup(task, right_outputs(task)), task)
    assert found["score"] == pytest.approx(0, abs=1e-6)
    assert found["fits"] == 1


@pytest.mark.parametrize("name", WORLDS)
def test_right_on_seen_cells_and_constant_on_unseen_ones_scores_1(name: str) -> None:
    task = WORLDS[name].task(seed=0)
    values = np.array(right_outputs(task))
    out = task.rows_out
    if task.kind == "regression":
        values[out] = task.targets[out].mean(axis=0)
    else:  # the commonest label of each part
        labels = task.targets[out].reshape(len(out), -1)
        commonest = np.array([np.bincount(column).argmax() for column in labels.T])
        values[out] = np.eye(values.shape[-1])[commonest].reshape(values[out].shape[1:])
    assert score(lookup(task, values), task)["score"] == pytest.approx(1, abs=1e-5)


def test_errors_by_hand() -> None:
    assert error(np.array([[0.0], [2.0]]), np.array([[1.0], [2.0]]), "regression") == 0.5
    assert error(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([1, 1]), "classification") == 0.5
    assert constant_error(np.array([[0.0], [2.0]]), "regression") == 1
    assert constant_error(np.array([0, 0, 1, 2]), "classification") == 0.5
    assert np.isnan(score_of(seen=0.5, unseen=0.7, constant_unseen=0.4))


def test_a_net_fits_below_the_stated_share_of_the_constant() -> None:
    assert fits(seen=0.99 * FITTED, constant_seen=1.0)
    assert not fits(seen=1.01 * FITTED, constant_seen=1.0)
