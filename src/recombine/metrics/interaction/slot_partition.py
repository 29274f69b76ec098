"""Slots: a partition of the latents, and the sets of slots that a derivative can touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError

SlotIndices = tuple[Int[np.ndarray, " latents"], ...]
"""The latents of every slot; together they are all latents, each once."""


def as_slots(slots: int | Sequence[Sequence[int]], latents: int) -> SlotIndices:
    """A partition of `latents` numbers, checked.

    **Arguments:**

    - `slots`: the indices of each slot's latents, or a number K for K equal blocks in order.
    - `latents`: how many latents there are.

    ```python
    >>> from recombine.metrics.interaction import as_slots
    >>> [slot.tolist() for slot in as_slots(2, 4)], [slot.tolist() for slot in as_slots([[0, 2], [1]], 3)]
    ([[0, 1], [2, 3]], [[0, 2], [1]])

    ```
    """
    if isinstance(slots, int | np.integer):
        if not 2 <= slots <= latents:
            raise InputError(
                "slots", int(slots), f"from 2 to {latents} slots, as there are {latents} latents"
            )
        if latents % slots:
            raise InputError(
                "slots", int(slots), f"a number that divides {latents} latents, or the indices of every slot"
            )
        return tuple(np.arange(latents).reshape(slots, -1))
    try:
        partition = tuple(np.array([int(i) for i in slot], dtype=int) for slot in slots)
    except (TypeError, ValueError):
        raise InputError(
            "slots", slots, "a number of slots, or the indices of every slot's latents"
        ) from None
    shown = [slot.tolist() for slot in partition]
    if len(partition) < 2:
        raise InputError("slots", shown, "at least two slots: interaction is between slots")
    if not all(len(slot) for slot in partition):
        raise InputError("slots", shown, "at least one latent in every slot")
    count = Counter(int(i) for slot in partition for i in slot)
    foreign = sorted(i for i in count if not 0 <= i < latents)
    if foreign:
        raise InputError("slots", f"latent {foreign[0]}", f"indices from 0 to {latents - 1}")
    twice = sorted(i for i, times in count.items() if times > 1)
    if twice:
        raise InputError("slots", f"latent {twice[0]} twice", "every latent in one slot only")
    missing = sorted(set(range(latents)) - set(count))
    if missing:
        raise InputError("slots", f"no slot with latent {missing[0]}", f"all {latents} latents in some slot")
    return partition


def arrangements(items: Sequence[int]) -> int:
    """In how many orders a tuple can be written: what a sorted tuple stands for in a sum over ordered ones.

    ```python
    >>> arrangements((0, 0, 1)), arrangements((2, 2))
    (3, 1)

    ```
    """
    return factorial(len(items)) // prod(factorial(times) for times in Counter(items).values())


def sorted_tuples(number: int, order: int) -> list[tuple[int, ...]]:
    """All sorted tuples of `order` numbers below `number`: multi-indices, or sets of slots.

    ```python
    >>> sorted_tuples(2, 2)
    [(0, 0), (0, 1), (1, 1)]

    ```
    """
    return list(combinations_with_replacement(range(number), order))


def slot_of(slots: SlotIndices) -> Int[np.ndarray, " latents"]:
    """The slot of every latent."""
    owner = np.empty(sum(map(len, slots)), dtype=int)
    for number, slot in enumerate(slots):
        owner[slot] = number
    return owner


def as_latents(latents: Any) -> np.ndarray:
    """Latents as a finite float64 matrix `(samples, latents)`, checked."""
    try:
        array = np.asarray(latents, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("latents", type(latents).__name__, "numbers (samples, latents)") from None
    if array.ndim != 2 or not array.size:
        raise InputError("latents", f"shape {array.shape}", "(samples, latents) with at least one sample")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            "latents", f"{array[row, column]} at sample {row}, latent {column}", "finite numbers"
        )
    return array
