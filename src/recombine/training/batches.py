"""The training rows of each step, drawn on the host so that nothing has to be compiled for it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError

BLOCK = 1024
"""Approximate number of steps drawn at a time: as many whole epochs as fit, at least one."""


def batches(
    seed: int, start: int, *, rows: int, batch: int, steps: int, sampling: str
) -> tuple[Int[np.ndarray, "steps batch"] | None, Float[np.ndarray, "steps batch"] | None]:
    """Row numbers and weights for the steps `start`, ..., `start + steps - 1`.

    The result depends on the seed and the step alone, not on how training is cut into pieces. In an epoch of
    `rows` examples that `batch` does not divide, the last batch is padded with rows of the same epoch that
    have weight 0: the loss and batch statistics ignore them, penalties on activity do not.

    **Returns:**

    Row numbers, or `None` if every batch is all rows in order; and their weights, or `None` if all are equal.
    """
    if sampling not in {"shuffled", "replacement", "ordered"}:
        raise InputError("sampling", sampling, "'shuffled', 'replacement' or 'ordered'")
    if batch == rows and sampling != "replacement":
        return None, None
    per_epoch = -(-rows // batch)
    missing = per_epoch * batch - rows
    epochs = max(1, BLOCK // per_epoch)
    length = epochs * per_epoch
    first, last = start // length, (start + steps - 1) // length

    def block(number: int) -> Int[np.ndarray, "length batch"]:
        rng = np.random.default_rng([seed, 1, number])
        if sampling == "replacement":
            return rng.integers(rows, size=(length, batch))
        order = np.tile(np.arange(rows), (epochs, 1))
        if sampling == "shuffled":
            order = rng.permuted(order, axis=1)
        return np.concatenate([order, order[:, :missing]], axis=1).reshape(length, batch)

    index = np.concatenate([block(number) for number in range(first, last + 1)])
    index = index[start - first * length :][:steps].astype(np.int32)
    if sampling == "replacement" or not missing:
        return index, None
    position = (start + np.arange(steps)) % per_epoch
    counts = position[:, None] * batch + np.arange(batch) < rows
    return index, counts.astype(np.float32)
