"""Nets and losses that remedies put in the place of a world's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets import Net, mlp
from recombine.nets.stages import Stage
from recombine.remedies.interaction import contrast_at


class SumOfBlocks(eqx.Module):
    """One net per block of inputs; their outputs are added."""

    nets: tuple[Net, ...]
    blocks: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        """The sum of all parts."""
        ends = np.cumsum(self.blocks)[:-1].tolist()
        parts = [net(part) for net, part in zip(self.nets, jnp.split(x, ends, axis=1), strict=True)]
        return sum(parts[1:], start=parts[0])


def additive_net(
    *,
    blocks: tuple[int, ...],
    width: int,
    depth: int,
    outputs: int | tuple[int, ...],
    activation: Stage = jax.nn.relu,
    key: PRNGKeyArray,
    inputs: int | None = None,
) -> Net:
    """A sum of one MLP per factor: an additive decoder (Lachapelle et al. 2023) whose slots are the factors' codes.

    `inputs` is their total, which settings of an MLP contain.
    """
    keys = jax.random.split(key, len(blocks))
    made = tuple(
        mlp(inputs=size, width=width, depth=depth, outputs=outputs, activation=activation, key=k)
        for size, k in zip(blocks, keys, strict=True)
    )
    return Net(("output",), (SumOfBlocks(made, tuple(blocks)),))


def input_contrast(
    net: Any, outputs: Mapping[str, Array], batch: Any, *, blocks: Sequence[int], rows: int = 16
) -> Float[Array, ""]:
    """Compositional contrast of a net whose inputs are the slots: blocks of equal size, one per factor."""
    x = batch[0][:rows]
    slots = x.reshape(len(x), len(blocks), blocks[0])
    return contrast_at(lambda z: net(z.reshape(len(z), -1)), slots)


def one_hot_squared_error(
    outputs: Float[Array, "batch *parts classes"], targets: Array
) -> Float[Array, " batch"]:
    """Squared error against one-hot labels, summed over classes; with several labels per example, their mean."""
    wanted = jax.nn.one_hot(targets.reshape(outputs.shape[:-1]), outputs.shape[-1])
    return ((outputs - wanted) ** 2).sum(axis=-1).reshape(len(outputs), -1).mean(axis=1)
