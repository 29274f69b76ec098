"""All derivatives of a decoder at one point, as symmetric arrays."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.interaction.differences import difference_quotient
from recombine.metrics.interaction.energies import Derivative
from recombine.metrics.interaction.slot_partition import sorted_tuples
from recombine.models import as_function
from recombine.models.function import Arrays

Tensors = tuple[Float[np.ndarray, "outputs ..."], ...]
"""The first, second, … derivative: `(outputs, d)`, `(outputs, d, d)`, …"""

MAX_ENTRIES = 1_000_000
"""Entries of one output's derivative up to which it is stored: 8 MB."""


def derivative_tensors(
    decoder: Any,
    point: Any,
    order: int,
    *,
    step: float | None = None,
    batched: bool | None = None,
    framework: Arrays | None = None,
) -> Tensors:
    """The derivatives of order 1 to `order` of a decoder at one point.

    **Arguments:**

    - `decoder`: see [`recombine.models.as_function`][].
    - `point`: `(latents,)`.
    - `step`: length of central differences; by default derivatives are exact where the decoder has them, and
        differences with step 0.05 elsewhere.

    **Returns:**

    `(outputs, d)`, `(outputs, d, d)`, …, in float64.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.metrics.interaction import derivative_tensors
    >>> first, second = derivative_tensors(lambda z: jnp.stack([z[0] * z[1], z[0] ** 3]), [2.0, 5.0], 2)
    >>> first.tolist(), second.tolist()
    ([[5.0, 2.0], [12.0, 0.0]], [[[0.0, 1.0], [1.0, 0.0]], [[12.0, 0.0], [0.0, 0.0]]])

    ```
    """
    z = np.asarray(point, dtype=np.float64)
    if z.ndim != 1:
        raise InputError("point", f"shape {z.shape}", "one point (latents,)")
    function = as_function(decoder, z[None], batched=batched, framework=framework, field="decoder")
    if step is None and function.derivative is not None:
        return tensors_at(function.derivative, z, order)
    return tensors_at(difference_quotient(function.values, 0.05 if step is None else step), z, order)


def tensors_at(derivative: Derivative, z: np.ndarray, order: int, scale: np.ndarray | None = None) -> Tensors:
    """The same from a derivative along directions; a latent's `scale` is its unit."""
    d = len(z)
    if d**order > MAX_ENTRIES:
        raise InputError(
            "latents",
            f"{d} of them for derivatives of order {order}",
            f"at most {int(MAX_ENTRIES ** (1 / order) + 1e-9)}",
        )
    basis = np.eye(d) if scale is None else np.diag(scale)
    derivatives = []
    for m in range(1, order + 1):
        indices = sorted_tuples(d, m)
        columns = derivative(np.repeat(z[None], len(indices), axis=0), basis[np.array(indices)])
        if not np.isfinite(columns).all():
            raise InputError("decoder", f"derivatives of order {m} that are not finite", "a smooth decoder")
        if columns.shape[1] * d**m > 100 * MAX_ENTRIES:
            raise InputError(
                "decoder",
                f"{columns.shape[1]} outputs",
                f"at most {100 * MAX_ENTRIES // d**m}: keep a random part of them",
            )
        tensor = np.zeros((columns.shape[1], *[d] * m))
        for index, column in zip(indices, columns, strict=True):
            for ordered in set(permutations(index)):
                entry: tuple[Any, ...] = (slice(None), *ordered)
                tensor[entry] = column
        derivatives.append(tensor)
    return tuple(derivatives)
