"""Film rolls of two digits, of which some pairs of classes are never shown (Poisson modularity)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import mlp
from recombine.parts import Part
from recombine.spaces import Space, Split
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import LABELS_ARE_NOT_DRAWN, FailingWorld
from recombine.tasks import Task, load_exemplars
from recombine.training import Recipe, adamw
from recombine.training.losses import cross_entropy

PIXELS = 64
CLASSES = 10
BLANK = CLASSES
"""The class of an empty frame."""
SAMPLES = {"smoke": 4, "quick": 12, "paper": 200}
"""Training rolls per pair of classes."""
TEST = {"smoke": 2, "quick": 10, "paper": 40}
WIDTH = {"smoke": 16, "quick": 128, "paper": 512}
STEPS = {"smoke": 20, "quick": 1500, "paper": 20_000}


def film_world(scale: Scale) -> FailingWorld:
    """Two digits side by side; low digits occur with low ones, high digits with high ones."""
    return FailingWorld(
        "film rolls",
        "name two digits side by side; training pairs low digits with low ones and high with high",
        "poisson-modularity",
        outputs="labels",
        task=Part(digit_pairs, samples=SAMPLES[scale], test=TEST[scale]),
        net=Part(mlp, inputs=2 * PIXELS, width=WIDTH[scale], depth=2, outputs=(2, CLASSES + 1)),
        recipe=Recipe(
            steps=STEPS[scale],
            batch=64,
            optimiser=adamw(1e-3, weight_decay=1e-2),
            loss=Part(cross_entropy),
            record_rows=100,
        ),
        loss_size=2.3,
        noisy=("hidden0", "hidden1"),
        blocks=(PIXELS, PIXELS),
        alone=Part(one_frame),
        rendering=LABELS_ARE_NOT_DRAWN,
    )


def digit_pairs(*, samples: int, test: int, seed: int = 0) -> Task:
    """Rolls of two frames; a cell is a pair of classes. Test rolls show new pairs of familiar images.

    **Arguments:**

    - `samples`: training rolls per seen cell; `test`: further rolls of every cell.
    """
    library = load_exemplars("digits")
    images = library.images.reshape(len(library.images), -1)
    by_class = [np.flatnonzero(library.labels == digit) for digit in range(CLASSES)]
    rng = np.random.default_rng([seed, 7])
    space = Space({"first": CLASSES, "second": CLASSES})
    high = np.arange(CLASSES) >= CLASSES // 2
    split = Split(space, (high[:, None] == high).ravel())
    count = np.where(split.seen, samples + test, test)
    cell = np.repeat(np.arange(space.n_cells), count)
    position = np.concatenate([np.arange(n) for n in count])
    which = np.array([[rng.choice(by_class[digit]) for digit in pair] for pair in space.cells[cell]])
    train = np.flatnonzero(split.seen[cell] & (position < samples))
    inputs = images[which].reshape(len(which), -1)
    return Task(split, inputs, library.labels[which], "classification", cell, train)


def one_frame(task: Task) -> tuple[Any, Any]:
    """Training rolls with one of the two frames blank, which is a class of its own."""
    rows = task.train[task.cell[task.train] >= 0]
    first, second = task.inputs[rows].copy(), task.inputs[rows].copy()
    blank = task.inputs.min()
    first[:, PIXELS:], second[:, :PIXELS] = blank, blank
    labels = [task.targets[rows].copy() for _ in range(2)]
    labels[0][:, 1], labels[1][:, 0] = BLANK, BLANK
    return np.concatenate([first, second]), np.concatenate(labels)
