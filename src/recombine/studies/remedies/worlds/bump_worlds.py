"""Bumps with a hole: an image from a position, and a position from an image (forced rendering)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import mlp
from recombine.parts import Part
from recombine.spaces import centre_hole
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.tasks import Task, bump_code, bump_images, bumps, one_hot, reverse_bumps, single_factor_rows
from recombine.training import Recipe, adamw

PAPER = "forced-rendering"
SIZE = {"smoke": 8, "quick": 16, "paper": 28}
HOLE = {"smoke": (3, 5), "quick": (4, 12), "paper": (6, 22)}
"""The first and last level of x and of y that are never combined."""
WIDTH = {"smoke": 32, "quick": 128, "paper": 256}
STEPS = {"smoke": 20, "quick": 1500, "paper": 20_000}
DEPTH = 3


def decoder_world(scale: Scale) -> FailingWorld:
    """From the one-hot codes of x and y to the image of a bump."""
    n = SIZE[scale]
    return FailingWorld(
        "bumps",
        "draw a bump at x and y; positions in the middle are never shown",
        PAPER,
        outputs="images",
        task=Part(bump_decoding, n=n, low=HOLE[scale][0], high=HOLE[scale][1]),
        net=Part(mlp, inputs=2 * n, width=WIDTH[scale], depth=DEPTH, outputs=(n, n)),
        recipe=_recipe(scale),
        loss_size=np.pi / n**2,
        noisy=tuple(f"hidden{i}" for i in range(DEPTH)),
        blocks=(n, n),
        alone=Part(stripes, n=n),
        rendering=(n, n),
    )


def encoder_world(scale: Scale) -> FailingWorld:
    """From the image of a bump to the codes of x and y."""
    n = SIZE[scale]
    return FailingWorld(
        "bump encoder",
        "read x and y from the image of a bump; positions in the middle are never shown",
        PAPER,
        outputs="quantities",
        task=Part(bump_encoding, n=n, low=HOLE[scale][0], high=HOLE[scale][1]),
        net=Part(mlp, inputs=n * n, width=WIDTH[scale], depth=DEPTH, outputs=2 * n),
        recipe=_recipe(scale),
        loss_size=1.7 / n,
        noisy=tuple(f"hidden{i}" for i in range(DEPTH)),
        blocks="inputs are pixels, which show both factors",
        alone=Part(encoded_stripes, n=n),
        rendering="images are read here, not drawn",
    )


def _recipe(scale: Scale) -> Recipe:
    return Recipe(steps=STEPS[scale], batch=32, optimiser=adamw(1e-3), record_rows=100)


def bump_decoding(*, n: int, low: int, high: int, seed: int = 0) -> Task:
    """Bright bumps, with one-hot inputs, which forced rendering needs."""
    return bumps(
        n,
        hole=Part(centre_hole, low=low, high=high),
        encoding=Part(one_hot),
        polarity="bright",
        seed=seed,
    )


def bump_encoding(*, n: int, low: int, high: int, seed: int = 0) -> Task:
    """Images as vectors of pixels, and population codes as targets."""
    task = reverse_bumps(n, hole=Part(centre_hole, low=low, high=high), train=None, seed=seed)
    flat = task.inputs.reshape(len(task.inputs), -1)
    return Task(task.split, flat, task.targets, latents=task.latents)


def stripes(task: Task, *, n: int) -> tuple[Any, Any]:
    """Each position of x or y alone, which draws a stripe."""
    return single_factor_rows(Part(bump_images, n=n, polarity="bright"), Part(one_hot, n=n), [n, n])


def encoded_stripes(task: Task, *, n: int) -> tuple[Any, Any]:
    """The reverse: stripes as inputs, and the code of one factor, with zeros for the other."""
    images = Part(bump_images, n=n, polarity="bright", order="xy")
    codes, drawn = single_factor_rows(images, Part(bump_code, n=n), [n, n])
    return drawn.reshape(len(drawn), -1), codes
