"""Nets for tests that compile as little as can be."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


def filled(make: Any) -> Any:
    """A net with weights drawn by NumPy, which compiles nothing."""
    rng = np.random.default_rng(0)

    def draw(leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        return jnp.asarray(rng.normal(scale=0.5, size=leaf.shape).astype(np.float32))

    return jax.tree.map(draw, eqx.filter_eval_shape(lambda: make(key=jax.random.key(0))))
