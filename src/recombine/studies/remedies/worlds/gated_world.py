"""Contexts that select which weights count: labels that are sums of parts (gated linear)."""

from __future__ import annotations

import numpy as np

from recombine.nets import mlp
from recombine.parts import Part
from recombine.spaces import Space, Split
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import LABELS_ARE_NOT_DRAWN, FailingWorld
from recombine.tasks import Task
from recombine.training import Recipe, adam
from recombine.training.losses import cross_entropy

GATES, CONTEXTS = 2, 4
"""Two gates, each of which is in one of four contexts."""
FEATURES = 4
ROWS = {"smoke": 20, "quick": 200, "paper": 1000}
"""Of every conjunction of contexts."""
WIDTH = {"smoke": 16, "quick": 128, "paper": 1000}
STEPS = {"smoke": 20, "quick": 2500, "paper": 20_000}
UNSEEN = 7


def gated_world(scale: Scale) -> FailingWorld:
    """The sign of a sum of linear parts, one for the context of each gate."""
    return FailingWorld(
        "gated contexts",
        "contexts select linear parts, whose sum decides; some conjunctions of contexts are never shown",
        "gated-linear",
        outputs="labels",
        task=Part(gated_rows, rows=ROWS[scale]),
        net=Part(mlp, inputs=FEATURES + GATES * CONTEXTS, width=WIDTH[scale], depth=1, outputs=2),
        recipe=Recipe(
            steps=STEPS[scale], batch=128, optimiser=adam(2e-3), loss=Part(cross_entropy), record_rows=100
        ),
        loss_size=0.69,
        noisy=("hidden0",),
        blocks="contexts select what happens to the same inputs; they have no part of their own",
        alone="without the context of every gate there is no label",
        rendering=LABELS_ARE_NOT_DRAWN,
    )


def gated_rows(*, rows: int, seed: int = 0) -> Task:
    """Gaussian inputs with the one-hot contexts of every gate; the label is the sign of the sum of selected parts.

    Of the 16 conjunctions, `UNSEEN` are left out at random; every context of every gate is seen.
    """
    rng = np.random.default_rng([seed, 11])
    parts = rng.normal(size=(GATES, CONTEXTS, FEATURES))
    space = Space({f"gate {i + 1}": CONTEXTS for i in range(GATES)})
    cell = np.repeat(np.arange(space.n_cells), 2 * rows)
    x = rng.normal(size=(len(cell), FEATURES))
    contexts = space.cells[cell]  # (rows, gates)
    total = sum((parts[g][contexts[:, g]] * x).sum(axis=1) for g in range(GATES))
    codes = [np.eye(CONTEXTS)[contexts[:, g]] for g in range(GATES)]
    # A Latin arrangement leaves every context of every gate with the same number of partners, up to one.
    order = (space.cells.sum(axis=1) + rng.integers(CONTEXTS)) % CONTEXTS
    seen = np.argsort(np.argsort(order * 100 + rng.permutation(space.n_cells), kind="stable")) >= UNSEEN
    split = Split(space, seen)
    first_half = np.tile(np.repeat([True, False], rows), space.n_cells)
    train = np.flatnonzero(first_half & seen[cell])
    return Task(
        split, np.hstack([x, *codes]), (np.asarray(total) > 0).astype(int), "classification", cell, train
    )
