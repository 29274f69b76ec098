"""Classifiers of photographs: pretrained on most classes, finetuned on the two others after rescaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int

from recombine.metrics import shared_dimensions
from recombine.nets import Net, evaluate
from recombine.parts import Part
from recombine.remedies import rescale
from recombine.tasks import Task, load_exemplars
from recombine.tasks.modular import train_and_test
from recombine.training import Fitted, Recipe, fit
from recombine.training.recipe import Optimiser

Values = dict[str, Any]
MAIN_CLASSES = 2
"""The last two outputs are the main task's head, the others the auxiliary task's."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Images of one seed: the auxiliary classes, and rows of the two main classes for training and test."""

    aux: Task
    main: Task
    pool: Float[np.ndarray, "rows height width channels"]
    seed: int
    classes: int


def image_draw(*, source: str, enlarge: int, aux_images: int, pool: int, test: int, seed: int = 0) -> Classes:
    """Which classes are main is drawn by the seed; so are the images."""
    images = load_exemplars(source, enlarge=enlarge)
    rng = np.random.default_rng(seed)
    classes = rng.permutation(len(np.unique(images.labels)))
    aux_classes, main_classes = classes[:-MAIN_CLASSES], classes[-MAIN_CLASSES:]
    new = np.full(len(classes), -1)
    new[aux_classes] = np.arange(len(aux_classes))
    new[main_classes] = len(aux_classes) + np.arange(MAIN_CLASSES)
    order = rng.permutation(len(images.labels))
    labels = new[images.labels[order]]
    of_aux = order[labels < len(aux_classes)][:aux_images]
    of_main = order[labels >= len(aux_classes)][: pool + test]
    aux = _task(images.images[of_aux], new[images.labels[of_aux]], len(of_aux) - 100)
    main = _task(images.images[of_main], new[images.labels[of_main]], min(pool, len(of_main) - test))
    return Classes(aux, main, images.images[of_main][:pool], seed, len(classes))


def _task(images: np.ndarray, labels: np.ndarray, train: int) -> Task:
    split, cell = train_and_test(train, len(images) - train)
    return Task(split, images, labels, "classification", cell=cell)


def head_cross_entropy(
    outputs: Float[Array, "batch classes"], targets: Int[Array, " batch"], *, low: int, high: int
) -> Float[Array, " batch"]:
    """Cross-entropy among the classes of one head."""
    logits = jax.nn.log_softmax(outputs[:, low:high])
    return -jax.numpy.take_along_axis(logits, (targets - low)[:, None], axis=1)[:, 0]


def rescaled_finetuning(
    data: Classes,
    *,
    net: Part,
    layer: str,
    rows: Sequence[int],
    scales: Sequence[float],
    optimiser: Optimiser | Part,
    pretrain_epochs: int,
    epochs: int,
    pretrain_goal: float = 0.05,
    goal: float = 0.01,
) -> Values:
    """Pretrains once, then finetunes from every rescaling on every number of rows.

    **Returns:**

    - `accuracy` `(scales, rows)` on test images of the main classes, and `scratch` `(rows,)`;
    - `before`, `after`, `shared` `(scales,)`: uncentred dimensions of `layer` on the pool of main images, for the
        largest number of rows;
    - `pretraining loss`, and `loss` `(scales, rows)`, the last training losses.
    """
    rule = optimiser() if isinstance(optimiser, Part) else optimiser
    aux_loss = Part(head_cross_entropy, low=0, high=data.classes - MAIN_CLASSES)
    main_loss = Part(head_cross_entropy, low=data.classes - MAIN_CLASSES, high=data.classes)
    make = partial(net, outputs=data.classes)
    seeds = (data.seed,)
    how: dict[str, Any] = {"optimiser": rule, "record_every": "epoch"}
    begun = fit(
        make,
        data.aux,
        Recipe(epochs=pretrain_epochs, batch=128, loss=aux_loss, stop_below=pretrain_goal, **how),
        seeds=seeds,
    )
    start = begun.net()

    def tuned(from_net: Any, n: int) -> Fitted:
        task = data.main.trained_on(data.main.train[:n])
        recipe = Recipe(epochs=epochs, batch=min(n, 128), loss=main_loss, stop_below=goal, **how)
        return fit(from_net, task, recipe, seeds=seeds)

    accuracy, loss, dimensions = [], [], []
    for scale in scales:
        changed = rescale(start, scale)
        ended = [tuned(partial(_given, changed), n) for n in rows]
        accuracy.append([_accuracy(one, data) for one in ended])
        loss.append([float(one.curves["train"][0, -1]) for one in ended])
        dimensions.append(_dimensions(start, ended[-1], data, layer))
    scratch = [_accuracy(tuned(make, n), data) for n in rows]
    before, after, shared = np.array(dimensions).T
    return {
        "accuracy": np.array(accuracy),
        "scratch": np.array(scratch),
        "loss": np.array(loss),
        "before": before,
        "after": after,
        "shared": shared,
        "pretraining loss": float(begun.curves["train"][0, -1]),
    }


def _given(net: Net, *, key: Any) -> Net:
    return net


def _accuracy(fitted: Fitted, data: Classes) -> float:
    if fitted.status[0] == "diverged":
        return float("nan")
    test = data.main.rows_out
    outputs = evaluate(fitted.net(), data.main.inputs[test])[:, -MAIN_CLASSES:]
    chosen = outputs.argmax(axis=1) + data.classes - MAIN_CLASSES
    return float((chosen == data.main.targets[test]).mean())


def _dimensions(start: Net, fitted: Fitted, data: Classes, layer: str) -> tuple[float, float, float]:
    if fitted.status[0] == "diverged":
        return (float("nan"),) * 3
    before, after = (evaluate(net, data.pool, stage=layer) for net in (start, fitted.net()))
    found = shared_dimensions(before, after, centred=False)
    return found.before, found.after, found.shared
