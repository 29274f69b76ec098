"""Whether the seeds of one call run side by side (`vmap`) or in turn (`lax.map`). Decided here and nowhere else.

On a CPU, running seeds side by side pays only for tiny nets, where one batched operation replaces many calls that are
mostly overhead. From a few thousand weights on there is no gain; beyond that the weights of all seeds do not fit into
the cache, and convolutions whose weights have a batch axis are several times slower. Seeds then run one after another
inside the compiled program. On an accelerator, side by side is always faster.
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
