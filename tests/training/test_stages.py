"""Training in stages: each starts where the one before ended, after a change, seed by seed."""

import jax
import numpy as np
import pytest

from recombine import InputError, Part, Recipe
from recombine.nets import evaluate, mlp
from recombine.remedies import rescale
from recombine.tasks import relu_teachers, teacher_task
from recombine.training import TrainingStage, fit, fit_in_stages, sgd

NET = Part(mlp, inputs=15, width=8, depth=1, outputs=1, bias=False)
OLD, NEW = (teacher_task(teacher, train=32, test=16) for teacher in relu_teachers())


def recipe(steps, **changes):
    return Recipe(steps=steps, batch=None, optimiser=sgd(0.05), **changes)


def test_two_stages_without_a_change_are_one_long_stage():
    first, second = fit_in_stages(NET, [TrainingStage(OLD, recipe(5)), TrainingStage(OLD, recipe(5))], (0, 3))
    once = fit(NET, OLD, recipe(10), (0, 3))
    for seed in (0, 1):
        got, expected = (evaluate(one.net(seed), OLD.inputs) for one in (second, once))
        np.testing.assert_allclose(got, expected, atol=1e-5)
    assert first.seeds == second.seeds == (0, 3)


def test_changes_happen_before_their_stage():
    stages = [TrainingStage(OLD, recipe(5)), TrainingStage(NEW, recipe(0), Part(rescale, factor=0.5))]
    first, second = fit_in_stages(NET, stages, (0, 1))
    for seed in (0, 1):
        before, after = (evaluate(one.net(seed), OLD.inputs) for one in (first, second))
        np.testing.assert_allclose(after, 0.25 * before, atol=1e-6)
    fresh = [
        TrainingStage(OLD, recipe(5)),
        TrainingStage(NEW, recipe(0), Part(rescale, factor=1.0, readout="reset")),
    ]
    _, reset = fit_in_stages(NET, fresh, (0, 1))
    heads = [jax.tree.leaves(reset.net(seed))[-1] for seed in (0, 1)]
    assert not np.allclose(*heads)  # every seed draws its own


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([], "at least one stage"),
        ([TrainingStage(OLD, recipe(1), Part(rescale, factor=0.5))], "changes between stages"),
        (
            [TrainingStage(OLD, recipe(1)), TrainingStage(OLD, recipe(1, initial_scale=0.1))],
            "initial_scale: got 0.1",
        ),
    ],
)
def test_wrong_input_gets_one_line(stages, message):
    with pytest.raises(InputError, match=message):
        fit_in_stages(NET, stages)
