"""How the seeds of one call are spread over the hardware. Decided here and nowhere else.

On a CPU, running seeds side by side (`vmap`) pays only while their weights are tiny: one batched operation
then replaces many calls that are all overhead. From a few thousand weights on it is level, then loses to the
cache, and convolution weights with a batch axis are several times slower; seeds then go one after another
inside the compiled program. On an accelerator side by side always wins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax
from jaxtyping import PyTree

Spread = Literal["side by side", "in turn"]

SMALL = 4096
"""Weights per seed up to which a CPU runs seeds side by side."""


def choose(parameters: int, *, convolutional: bool, backend: str | None = None) -> Spread:
    """Picks the way to spread seeds for a net with that many parameters."""
    if (backend or jax.default_backend()) != "cpu":
        return "side by side"
    return "side by side" if parameters <= SMALL and not convolutional else "in turn"


def over_seeds(function: Callable[..., Any], own: PyTree, how: Spread) -> Any:
    """Applies `function` to every seed's slice of `own`, whose arrays have the seeds as first axis."""
    if len(jax.tree.leaves(own)[0]) == 1:
        alone = function(jax.tree.map(lambda leaf: leaf[0], own))
        return jax.tree.map(lambda leaf: leaf[None], alone)
    return jax.vmap(function)(own) if how == "side by side" else jax.lax.map(function, own)
