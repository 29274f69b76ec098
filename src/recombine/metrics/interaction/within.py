"""Interaction within the slots of a decoder at one point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.metrics.interaction.derivative_tensors import derivative_tensors
from recombine.metrics.interaction.slot_partition import SlotIndices, as_slots
from recombine.metrics.interaction.splitting import PART_TESTS, Splitting


def slot_parts(
    decoder: Any,
    point: Any,
    slots: int | Sequence[Sequence[int]],
    order: int,
    *,
    tolerance: float = 1e-8,
    **settings: Any,
) -> tuple[Splitting, ...]:
    """Into how many parts every slot can be split at a point, if interaction across parts may have that order.

    **Arguments:**

    - `decoder`, `point`, `settings`: those of [`recombine.metrics.interaction.derivative_tensors`][].
    - `order`: n = 0, 1 or 2; the test reads the derivatives of order n + 1.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.metrics.interaction import slot_parts
    >>> def decoder(z):
    ...     return jnp.stack([z[0] * z[1], z[0] ** 2, z[1] ** 2, z[2] ** 2, z[3] ** 2])
    >>> [part.parts for part in slot_parts(decoder, [1.0, 2.0, 3.0, 4.0], 2, order=1)]
    [1, 2]

    ```
    """
    if order not in (0, 1, 2):
        raise InputError("order", order, "0, 1 or 2")
    tensors = derivative_tensors(decoder, point, order + 1, **settings)
    return parts_of(tensors[-1], as_slots(slots, tensors[0].shape[1]), tolerance)


def parts_of(tensor: np.ndarray, slots: SlotIndices, tolerance: float) -> tuple[Splitting, ...]:
    """The same from the derivatives of order n + 1, `(outputs, d, …, d)`.

    A slot whose derivatives are tiny compared with the largest counts as having none.
    """
    order = tensor.ndim - 2
    blocks = [tensor[np.ix_(np.arange(len(tensor)), *[slot] * (order + 1))] for slot in slots]
    largest = max(float(np.abs(block).max()) for block in blocks)
    return tuple(
        PART_TESTS[order](
            np.where(np.abs(block).max() > tolerance * largest, block, 0.0), tolerance=tolerance
        )
        for block in blocks
    )
