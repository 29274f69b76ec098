"""Bumps with a hole, drawn by a convolutional decoder, as in most of the published runs (forced rendering)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.spaces import centre_hole
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.worlds.bump_worlds import HOLE, PAPER, SIZE
from recombine.tasks import Task, bump_code, bump_images, bumps, single_factor_rows
from recombine.training import Recipe, adamw

WIDTH = {"smoke": 4, "quick": 16, "paper": 64}
STEPS = {"smoke": 5, "quick": 800, "paper": 20_000}
DEPTH = 3


def convolutional_world(scale: Scale) -> FailingWorld:
    """From the population codes of x and y to the image of a bump."""
    n = SIZE[scale]
    low, high = HOLE[scale]
    return FailingWorld(
        "bumps (CNN)",
        "draw a bump at x and y with convolutions; positions in the middle are never shown",
        PAPER,
        outputs="images",
        task=Part(
            bumps,
            n=n,
            hole=Part(centre_hole, low=low, high=high),
            encoding=Part(bump_code),
            polarity="bright",
        ),
        net=Part(cnn_decoder, inputs=2 * n, width=WIDTH[scale], depth=DEPTH, size=n, start=n // 4),
        recipe=Recipe(steps=STEPS[scale], batch=32, optimiser=adamw(1e-3), record_rows=100),
        loss_size=np.pi / n**2,
        noisy=tuple(f"block{i}" for i in range(DEPTH + 1)),
        blocks=(n, n),
        alone=Part(coded_stripes, n=n),
        rendering="it has a net of its own, which the world bumps has",
    )


def coded_stripes(task: Task, *, n: int) -> tuple[Any, Any]:
    """Each position of x or y alone, which draws a stripe; the code of the other factor is zero."""
    return single_factor_rows(Part(bump_images, n=n, polarity="bright"), Part(bump_code, n=n), [n, n])
