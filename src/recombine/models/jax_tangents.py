"""Gradients of a JAX model's outputs by its parameters, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from recombine.models.model import Model
from recombine.models.model_errors import user_code
from recombine.models.model_inputs import Inputs
from recombine.models.model_outputs import to_numpy
from recombine.models.tangents import Sample
from recombine.nets.stages import trainable

STAGE = "while differentiating it by its parameters"


def parameter_sizes(function: Any) -> list[int]:
    """Sizes of all arrays of parameters inside a function; none if it closes over them."""
    return [leaf.size for leaf in jax.tree.leaves(eqx.filter(function, trainable(function)))]


def gradients(
    model: Model, inputs: Inputs, direction: np.ndarray, sample: Sample, shuffle: int | None
) -> np.ndarray:
    """`(rows, entries)`: gradients of the outputs times `direction`."""
    trained, rest = eqx.partition(model.function, trainable(model.function))
    if shuffle is not None:
        trained = _shuffled(trained, shuffle)
    own = jax.tree.leaves(trained)[0].dtype

    def convert(part: Any) -> Array:
        array = jnp.asarray(to_numpy(part))
        return array.astype(own) if jnp.issubdtype(array.dtype, jnp.floating) else array

    with user_code(STAGE):
        tangents = _gradients(
            trained,
            rest,
            inputs.convert(convert).parts,
            inputs.names,
            model.by_rows,
            jnp.asarray(direction),
            [None if index is None else jnp.asarray(index) for index, _ in sample],
            jnp.asarray([factor for _, factor in sample]),
        )
    return np.asarray(tangents, dtype=np.float32)


@eqx.filter_jit
def _gradients(
    trained: PyTree,
    rest: PyTree,
    parts: tuple[Array, ...],
    names: tuple[str, ...] | None,
    by_rows: bool,
    direction: Array,
    entries: Sequence[Array | None],
    factors: Array,
) -> Array:
    def value(trained: PyTree, row: tuple[Array, ...]) -> Array:
        given = tuple(part[None] for part in row) if by_rows else row
        outputs = Inputs(given, names, 1).feed(eqx.combine(trained, rest))
        return (jnp.asarray(outputs).reshape(-1) * direction).sum()

    def one(row: tuple[Array, ...]) -> Array:
        slopes = jax.tree.leaves(jax.grad(value)(trained, row))
        kept = [
            (slope.reshape(-1) if index is None else slope.reshape(-1)[index]) * factor
            for slope, index, factor in zip(slopes, entries, factors, strict=True)
        ]
        return jnp.concatenate(kept)

    return jax.lax.map(one, parts)


def _shuffled(trained: PyTree, seed: int) -> PyTree:
    """Weight matrices and kernels in random order; vectors (biases, gains) as they are."""

    def shuffle(leaf: Array) -> Array:
        if leaf.ndim < 2:
            return leaf
        return jax.random.permutation(jax.random.key(seed), leaf.reshape(-1)).reshape(leaf.shape)

    return jax.tree.map(shuffle, trained)
