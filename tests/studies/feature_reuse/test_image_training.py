"""Passes over two tasks with one optimiser: weights of the tasks, endings, and what is left of the other head."""

import jax
import numpy as np
import pytest

from recombine.nets import image_resnet, mlp
from recombine.parts import Part
from recombine.studies.feature_reuse.image_probes import image_draw, multi_task_images, rescaled_finetuning
from recombine.studies.feature_reuse.image_training import Pass, head_cross_entropy, train_in_passes
from recombine.tasks import Task
from recombine.tasks.modular import train_and_test
from recombine.training import Recipe, adam, fit, sgd

SMALL = {"source": "digits", "enlarge": 2, "aux_images": 120, "aux_test": 40, "pool": 40, "test": 20}


def classes_of(low, rows=64, seed=0):
    """Two classes that a line separates, as outputs `low` and `low + 1`."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows + 20, 3)).astype(np.float32)
    split, cell = train_and_test(rows, 20)
    return Task(split, x, low + (x[:, low % 3] > 0).astype(int), "classification", cell=cell)


def net(seed=0):
    return mlp(inputs=3, width=8, depth=1, outputs=4, key=jax.random.key(seed))


def test_one_pass_is_ordinary_training():
    """The same net as `fit` makes with the same rows in one batch."""
    task = classes_of(0)
    ours = train_in_passes(net(), [Pass(task, 0, 2, 64)], optimiser=sgd(0.3), epochs=20, goal=0.0, seed=0)
    loss = Part(head_cross_entropy, low=0, high=2)
    recipe = Recipe(epochs=20, batch=None, optimiser=sgd(0.3), loss=loss, record_every="epoch")
    fitted = fit(lambda *, key: net(), task, recipe, seeds=(0,))
    np.testing.assert_allclose(ours.loss, fitted.curves["train"][0], rtol=1e-4)


def test_training_ends_at_its_goal_and_learns():
    one = Pass(classes_of(0), 0, 2, 16)
    ended = train_in_passes(net(), [one], optimiser=adam(1e-2), epochs=200, goal=0.1, seed=0)
    assert ended.loss[-1] < 0.1 <= min(ended.loss[:-1])
    assert len(ended.loss) < 200
    assert ended.best >= ended.final > 0.8


def test_both_tasks_are_learned_together_and_a_pass_of_weight_0_is_not():
    passes = [Pass(classes_of(0), 0, 2, 16), Pass(classes_of(2, seed=1), 2, 4, 16)]
    ended = train_in_passes(net(), passes, optimiser=adam(1e-2), epochs=60, goal=0.0, seed=0)
    assert min(one.accuracy(ended.net) for one in passes) > 0.8
    ignored = [passes[0], Pass(passes[1].task, 2, 4, 16, weight=0.0)]
    kept = train_in_passes(net(), ignored, optimiser=sgd(0.3), epochs=5, goal=0.0, seed=0)
    alone = train_in_passes(net(), ignored[:1], optimiser=sgd(0.3), epochs=5, goal=0.0, seed=0)
    np.testing.assert_allclose(kept.loss, alone.loss, rtol=1e-4)


def test_divergence_is_a_result():
    one = Pass(classes_of(0), 0, 2, 16)
    ended = train_in_passes(net(), [one], optimiser=sgd(1e30), epochs=20, goal=0.0, seed=0)
    assert np.isnan(ended.final)


def test_halved_images_are_means_of_squares():
    whole, half = (image_draw(**SMALL, halve=halve) for halve in (False, True))
    expected = whole.main.inputs.reshape(-1, 8, 2, 8, 2, 1).mean(axis=(2, 4))
    np.testing.assert_allclose(half.main.inputs, expected, rtol=1e-5)
    assert (len(half.aux.train), len(half.aux.rows_out)) == (120, 40)
    assert set(half.main.targets) == {8, 9}


@pytest.fixture(scope="module")
def images():
    return image_draw(**SMALL, seed=1)


RESNET = Part(image_resnet, channels=1, widths=(2, 4), blocks=1)
RATE = Part(sgd, learning_rate=1e-2, momentum=0.9)


def test_rescaled_finetuning_records_both_accuracies(images):
    values = rescaled_finetuning(
        images,
        net=RESNET,
        layer="pool",
        rows=(10, 20),
        scales=(0.5, 1.0),
        optimiser=RATE,
        pretrain_optimiser=RATE,
        pretrain_epochs=1,
        epochs=6,
    )
    assert values["accuracy"].shape == values["best accuracy"].shape == values["loss"].shape == (2, 2)
    assert (values["best accuracy"] >= values["accuracy"]).all()
    assert values["scratch"].shape == (2,)
    assert (values["shared"] > 0).all()
    assert (values["after"] >= 1).all()


def test_multi_task_learning_weighs_both_tasks_alike(images):
    main, aux = images.main_pass(20), images.aux_pass()
    assert (main.steps, aux.steps) == (1, 1)
    values = multi_task_images(images, net=RESNET, rows=(10, 20), optimiser=RATE, epochs=2)
    assert {name: array.shape for name, array in values.items()} == dict.fromkeys(values, (2,))
    assert (values["epochs"] == 2).all()
