"""The block of ResNet-18 and a trunk of such blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import equinox as eqx
import jax
from jaxtyping import Array, PRNGKeyArray

from recombine.nets.layers.convolution import Conv2d
from recombine.nets.layers.normalisation import BatchNorm
from recombine.nets.stages import Chain, Stage, watch


class Residual(eqx.Module):
    """`relu(shortcut(x) + path(x))`, the block of ResNet-18."""

    path: Chain
    shortcut: Chain

    def __init__(self, c_in: int, c_out: int, *, stride: int, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.path = Chain(
            Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False, key=keys[0]),
            BatchNorm(c_out),
            jax.nn.relu,
            Conv2d(c_out, c_out, 3, padding=1, bias=False, key=keys[1]),
            BatchNorm(c_out),
        )
        bridge = (Conv2d(c_in, c_out, 1, stride=stride, bias=False, key=keys[2]), BatchNorm(c_out))
        self.shortcut = Chain() if stride == 1 and c_in == c_out else Chain(*bridge)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return self.observe(x, key=key, weight=None)[0]

    def observe(self, x: Array, *, key: PRNGKeyArray | None, weight: Array | None) -> tuple[Array, Residual]:
        """The output, and the block with updated running statistics."""
        residual, path = watch(self.path, x, key=key, weight=weight)
        skipped, shortcut = watch(self.shortcut, x, key=key, weight=weight)
        after = eqx.tree_at(lambda block: (block.path, block.shortcut), self, (path, shortcut))
        return jax.nn.relu(residual + skipped), after


def residual_trunk(
    channels: int, widths: Sequence[int], blocks: int, *, keys: Iterator[PRNGKeyArray]
) -> list[tuple[str, Stage]]:
    """Stages `stem` (3 × 3) and `block0.0`, ...: `blocks` of every width; every width but the first halves the image.

    Uses one of `keys` for the stem and one for each block; the caller can use the rest for later stages.
    """
    stem = Conv2d(channels, widths[0], 3, padding=1, bias=False, key=next(keys))
    stages: list[tuple[str, Stage]] = [("stem", Chain(stem, BatchNorm(widths[0]), jax.nn.relu))]
    c_in = widths[0]
    for group, c_out in enumerate(widths):
        for block in range(blocks):
            stride = 2 if group and not block else 1
            stages += [(f"block{group}.{block}", Residual(c_in, c_out, stride=stride, key=next(keys)))]
            c_in = c_out
    return stages
