"""Classifiers of photographs: pretrained on most classes and finetuned on two others, or trained on all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from recombine.metrics import shared_dimensions
from recombine.nets import Net, trace
from recombine.parts import Part
from recombine.remedies import rescale
from recombine.studies.feature_reuse.image_training import Pass, TrainedClassifier, train_in_passes
from recombine.tasks import Task, load_exemplars
from recombine.tasks.modular import train_and_test

Values = dict[str, Any]
MAIN_CLASSES = 2
"""The last two outputs are the main task's head, the others the auxiliary task's."""
BATCH = 128
ACTIVITY_BATCH = 100
"""Images at a time when dimensions are measured, with the statistics of their own batch."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Images of one seed: the auxiliary classes, and rows of the two main classes for training and test."""

    aux: Task
    main: Task
    pool: Float[np.ndarray, "rows height width channels"]
    seed: int
    classes: int

    def aux_pass(self, weight: float = 1.0) -> Pass:
        """Over all images of the auxiliary classes."""
        return Pass(self.aux, 0, self.classes - MAIN_CLASSES, BATCH, weight)

    def main_pass(self, n: int) -> Pass:
        """Over the first `n` images of the main classes."""
        task = self.main.trained_on(self.main.train[:n])
        return Pass(task, self.classes - MAIN_CLASSES, self.classes, min(n, BATCH))


def image_draw(
    *,
    source: str,
    enlarge: int = 1,
    halve: bool = False,
    aux_images: int,
    aux_test: int,
    pool: int,
    test: int,
    seed: int = 0,
) -> Classes:
    """Which classes are main is drawn by the seed; so are the images. `halve` averages over squares of 2 × 2 pixels."""
    images = load_exemplars(source, enlarge=enlarge)
    pixels, labels = images.images, images.labels
    rng = np.random.default_rng(seed)
    classes = rng.permutation(len(np.unique(labels)))
    aux_classes, main_classes = classes[:-MAIN_CLASSES], classes[-MAIN_CLASSES:]
    new = np.full(len(classes), -1)
    new[aux_classes] = np.arange(len(aux_classes))
    new[main_classes] = len(aux_classes) + np.arange(MAIN_CLASSES)
    order = rng.permutation(len(labels))
    relabelled = new[labels[order]]
    of_aux = order[relabelled < len(aux_classes)][: aux_images + aux_test]
    of_main = order[relabelled >= len(aux_classes)][: pool + test]

    def taken(rows: np.ndarray) -> np.ndarray:
        chosen = pixels[rows]
        if not halve:
            return chosen
        count, height, width, channels = chosen.shape
        return chosen.reshape(count, height // 2, 2, width // 2, 2, channels).mean(axis=(2, 4))

    aux = _task(taken(of_aux), new[labels[of_aux]], len(of_aux) - aux_test)
    main = _task(taken(of_main), new[labels[of_main]], min(pool, len(of_main) - test))
    return Classes(aux, main, main.inputs[main.train], seed, len(classes))


def _task(images: np.ndarray, labels: np.ndarray, train: int) -> Task:
    split, cell = train_and_test(train, len(images) - train)
    return Task(split, images, labels, "classification", cell=cell)


def rescaled_finetuning(
    data: Classes,
    *,
    net: Part,
    layer: str,
    rows: Sequence[int],
    scales: Sequence[float],
    optimiser: Part,
    pretrain_optimiser: Part,
    pretrain_epochs: int,
    epochs: int,
    pretrain_goal: float = 0.05,
    goal: float = 0.01,
) -> Values:
    """Pretrains once, then finetunes from every rescaling on every number of rows.

    **Returns:**

    - `accuracy` `(scales, rows)` on test images of the main classes at the end, `best accuracy`, the same at its best
        over training, and `loss`, the last training losses;
    - `scratch`, `best scratch` and `scratch loss` `(rows,)`: the same for nets that were not pretrained;
    - `before`, `after`, `shared` `(scales,)`: uncentred dimensions of `layer` on the pool of main images, at the start
        of finetuning (after rescaling) and at its end, for the largest number of rows;
    - `pretraining loss` and `pretraining accuracy`, the latter on test images of the auxiliary classes.
    """
    fresh = _fresh(net, data)
    begun = train_in_passes(
        fresh,
        [data.aux_pass()],
        optimiser=pretrain_optimiser(),
        epochs=pretrain_epochs,
        goal=pretrain_goal,
        seed=data.seed,
    )
    train = partial(train_in_passes, optimiser=optimiser(), seed=data.seed)

    def tuned(start: Net) -> list[TrainedClassifier]:
        return [train(start, [data.main_pass(n)], epochs=epochs, goal=goal) for n in rows]

    ended: list[list[TrainedClassifier]] = []
    dimensions = []
    for scale in scales:
        start = rescale(begun.net, scale)
        ended.append(tuned(start))
        dimensions.append(_dimensions(start, ended[-1][-1], data, layer))
    scratch = tuned(fresh)
    before, after, shared = np.array(dimensions).T
    return {
        "accuracy": np.array([[one.final for one in row] for row in ended]),
        "best accuracy": np.array([[one.best for one in row] for row in ended]),
        "loss": np.array([[one.loss[-1] for one in row] for row in ended]),
        "scratch": np.array([one.final for one in scratch]),
        "best scratch": np.array([one.best for one in scratch]),
        "scratch loss": np.array([one.loss[-1] for one in scratch]),
        "before": before,
        "after": after,
        "shared": shared,
        "pretraining loss": begun.loss[-1],
        "pretraining accuracy": begun.final,
    }


def multi_task_images(
    data: Classes, *, net: Part, rows: Sequence[int], optimiser: Part, epochs: int, goal: float = 0.01
) -> Values:
    """Trains on both tasks together, for every number of rows of the main task.

    Every epoch is a pass over the main task and a pass over all auxiliary images. The auxiliary loss is multiplied by
    main batches / auxiliary batches, so that both tasks weigh the same. Training ends with the main loss below `goal`.

    **Returns:**

    Each `(rows,)`: `accuracy` and `best accuracy` of the main task, `aux accuracy`, the main task's last training
    `loss`, and the number of `epochs`.
    """
    ended = []
    aux_accuracy = []
    for n in rows:
        main = data.main_pass(n)
        aux = data.aux_pass(main.steps / data.aux_pass().steps)
        start = _fresh(net, data)
        ended.append(
            train_in_passes(
                start, [main, aux], optimiser=optimiser(), epochs=epochs, goal=goal, seed=data.seed
            )
        )
        aux_accuracy.append(aux.accuracy(ended[-1].net))
    return {
        "accuracy": np.array([one.final for one in ended]),
        "best accuracy": np.array([one.best for one in ended]),
        "aux accuracy": np.array(aux_accuracy),
        "loss": np.array([one.loss[-1] for one in ended]),
        "epochs": np.array([len(one.loss) for one in ended]),
    }


def _fresh(net: Part, data: Classes) -> Net:
    drawn: Net = net(outputs=data.classes, key=jax.random.fold_in(jax.random.key(data.seed), 0))
    return drawn


def _dimensions(
    start: Net, ended: TrainedClassifier, data: Classes, layer: str
) -> tuple[float, float, float]:
    if np.isnan(ended.final):
        return (float("nan"),) * 3
    before, after = (_activity(net, data.pool, layer) for net in (start, ended.net))
    found = shared_dimensions(before, after, centred=False)
    return found.before, found.after, found.shared


def _activity(net: Net, images: np.ndarray, layer: str) -> np.ndarray:
    """A layer's activity in training mode, as published: running statistics mean nothing right after rescaling."""
    size = min(ACTIVITY_BATCH, len(images))
    pieces = [
        np.asarray(_stage(net, images[start : start + size], layer))
        for start in range(0, len(images) - size + 1, size)
    ]
    return np.concatenate(pieces).reshape(len(pieces) * size, -1)


@eqx.filter_jit
def _stage(net: Net, images: Any, layer: str) -> Any:
    return trace(net, images, key=jax.random.key(0))[1][layer]
