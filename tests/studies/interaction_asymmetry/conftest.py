"""Slot autoencoders that are made by hand: what they hold, and how they recombine, is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import Net
from recombine.tasks import SceneTask

NOWHERE = (-9.0, 1.0, 0.0)
"""Position, half-width and hue of a bar outside the frame."""


def lookup(task: SceneTask, codes: np.ndarray) -> Callable[[jax.Array], jax.Array]:
    """An encoder that looks up the scene whose image is nearest, and gives its code."""
    known = jnp.asarray(task.scenes.images.reshape(len(task.scenes), -1))
    table = jnp.asarray(codes, jnp.float32)

    def encoder(x: jax.Array) -> jax.Array:
        flat = x.reshape(len(x), -1)
        apart = (flat**2).sum(axis=1)[:, None] - 2 * flat @ known.T + (known**2).sum(axis=1)
        return table[apart.argmin(axis=1)]

    return encoder


def bars(slots: jax.Array) -> jax.Array:
    """One bar for each slot (position, half-width, hue), drawn by itself: `(batch, slots, 1, 32, 3)`."""
    middle, half, hue = (slots[..., i, None] for i in range(3))
    left = jnp.arange(32.0)
    cover = jnp.clip(jnp.minimum(left + 1, middle + half) - jnp.maximum(left, middle - half), 0, 1)
    wheel = jnp.abs((6 * hue + jnp.array([0.0, 4.0, 2.0])) % 6 - 3)
    return (cover[..., None] * jnp.clip(wheel - 1, 0, 1)[..., None, :])[:, :, None]


def holding_bars(task: SceneTask) -> Net:
    """Slots are bars: two in use and an empty one, in another order in every other scene."""
    codes = np.concatenate([task.scenes.latents, np.full((len(task.scenes), 1, 3), NOWHERE)], axis=1)
    codes[::2] = codes[::2, [1, 2, 0]]
    layers = (lookup(task, codes), lambda z: z, lambda z: bars(z).sum(axis=1))
    return Net(("encoding", "slots", "decoder"), layers)


def going_by_the_majority(task: SceneTask) -> Net:
    """Each of three slots holds the whole scene, and the decoder goes by the majority: exchanging one does nothing."""
    whole = task.scenes.latents.reshape(len(task.scenes), 1, 6)
    codes = np.broadcast_to(whole, (len(whole), 3, 6))

    def decoder(z: jax.Array) -> jax.Array:
        return bars(jnp.median(z, axis=1).reshape(len(z), 2, 3)).sum(axis=1)

    return Net(("encoding", "slots", "decoder"), (lookup(task, codes), lambda z: z, decoder))


@pytest.fixture(scope="session")
def nearest() -> Any:
    return lookup


@pytest.fixture(scope="session")
def perfect() -> Any:
    return holding_bars


@pytest.fixture(scope="session")
def stubborn() -> Any:
    return going_by_the_majority
