"""Superposition: whether the output for an unseen cell is the sum of the seen images that share one of its levels.

This is how a net that memorises fails: it adds up what it memorised instead of composing it (Liang et al., arXiv
2501.18797).
"""

from __future__ import annotations

from typing import Literal, TypedDict

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from recombine.errors import InputError
from recombine.metrics.image_measures import signal
from recombine.tasks.bumps.bump_images import Polarity


class SuperpositionIndex(TypedDict):
    """The result of [`recombine.metrics.superposition_index`][]; each array has one entry per chosen row."""

    rows: Int[np.ndarray, " chosen"]
    with_superposition: Float[np.ndarray, " chosen"]
    with_other_superpositions: Float[np.ndarray, " chosen"]
    with_truth: Float[np.ndarray, " chosen"]
    truth_with_superposition: Float[np.ndarray, " chosen"]
    mean_with_superposition: float
    mean_with_other_superpositions: float
    mean_with_truth: float
    mean_truth_with_superposition: float


def superposition_image(
    signals: Real[np.ndarray, " rows *shape"],
    levels: Real[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
) -> Float[np.ndarray, " rows *shape"]:
    """The superposition image of every cell, `S = sum over seen cells of (number of shared levels) * signal`.

    For two factors, the weight of a seen cell is `1[x = x'] + 1[y = y']`. The sum is not normalised.

    **Arguments:**

    - `signals`: `(rows, ...)`, 0 on the background (see [`recombine.metrics.signal`][]).
    - `levels`: `(rows, factors)`, any number of factors.
    - `seen`: the rows to sum. A cell with several rows counts several times.

    **Returns:**

    `(rows, ...)`, in units of the signal times the number of seen cells. It equals
    `additive_kernel(levels, levels[seen]) @ signals[seen]` but costs only `rows * pixels * factors * levels`
    operations. A cell that shares no level with a seen one has an empty image (null value 0).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import superposition_image
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> superposition_image(np.eye(4), levels, np.array([True, True, True, False]))[3].tolist()
    [0.0, 1.0, 1.0, 0.0]

    ```
    """
    signals, levels = np.asarray(signals, dtype=np.float64), np.asarray(levels)
    seen = np.asarray(seen, dtype=bool)
    if levels.ndim != 2 or not len(signals) == len(levels) == len(seen):
        raise InputError(
            "rows", (signals.shape, levels.shape, seen.shape), "as many signals as levels and seen"
        )
    flat = signals.reshape(len(signals), -1)
    total = np.zeros_like(flat)
    for level in levels.T:
        distinct, code = np.unique(level, return_inverse=True)
        has_level = np.equal.outer(distinct, level[seen]).astype(np.float64)  # (levels, seen rows)
        total += (has_level @ flat[seen])[code]
    return total.reshape(signals.shape)


def superposition_index(
    outputs: Real[np.ndarray, " rows *shape"],
    targets: Real[np.ndarray, " rows *shape"],
    levels: Real[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    polarity: Polarity = "dark",
    rows: Int[np.ndarray, " chosen"] | Bool[np.ndarray, " rows"] | None = None,
    *,
    source: Literal["targets", "outputs"] = "targets",
) -> SuperpositionIndex:
    """Whether a net outputs the sum of related seen images or the correct image.

    For every row, the Pearson correlation over pixels of the output's signal with the superposition image and with
    the correct image. A net that composes has `with_truth` near 1; one that superposes has `with_superposition`
    near 1.

    **Arguments:**

    - `outputs`, `targets`: `(rows, ...)` images.
    - `levels`: `(rows, factors)`.
    - `seen`: true for the rows of seen cells.
    - `polarity`: dark images are compared by their darkness.
    - `rows`: the rows to measure, as numbers or a mask; default: all unseen ones.
    - `source`: superpose the targets of the seen rows (default), or the net's own outputs for them.

    **Returns:**

    Arrays over the chosen rows and their means (NaN if there are none), each from -1 to 1. `with_superposition` has
    two null values: `truth_with_superposition`, the correlation of the two references with each other, which a
    perfect net scores; and `with_other_superpositions`, the mean correlation with the superposition images of the
    other chosen rows, which a net scores as well if its output does not depend on the row, such as one that always
    draws the mean image. A constant image shows nothing and has correlation 0.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import superposition_index
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> seen = np.array([True, True, True, False])
    >>> outputs = np.eye(4)
    >>> outputs[3] = [0, 1, 1, 0]  # the sum of the images of cells 1 and 2
    >>> index = superposition_index(outputs, np.eye(4), levels, seen, "bright")
    >>> round(index["mean_with_superposition"], 3), round(index["mean_with_truth"], 3)
    (1.0, -0.577)

    ```
    """
    outputs, targets = signal(outputs, polarity), signal(targets, polarity)
    if outputs.shape != targets.shape:
        raise InputError("outputs", outputs.shape, f"the targets' shape {targets.shape}")
    if source not in {"targets", "outputs"}:
        raise InputError("source", source, "'targets' or 'outputs'")
    superposed = superposition_image(targets if source == "targets" else outputs, levels, seen)
    chosen = np.flatnonzero(~np.asarray(seen, dtype=bool)) if rows is None else np.asarray(rows)
    chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
    pairs = {
        "with_superposition": correlations(outputs[chosen], superposed[chosen]),
        "with_other_superpositions": _with_others(outputs[chosen], superposed[chosen]),
        "with_truth": correlations(outputs[chosen], targets[chosen]),
        "truth_with_superposition": correlations(targets[chosen], superposed[chosen]),
    }
    means = {name: float(r.mean()) if r.size else float("nan") for name, r in pairs.items()}
    return SuperpositionIndex(
        rows=chosen,
        with_superposition=pairs["with_superposition"],
        with_other_superpositions=pairs["with_other_superpositions"],
        with_truth=pairs["with_truth"],
        truth_with_superposition=pairs["truth_with_superposition"],
        mean_with_superposition=means["with_superposition"],
        mean_with_other_superpositions=means["with_other_superpositions"],
        mean_with_truth=means["with_truth"],
        mean_truth_with_superposition=means["truth_with_superposition"],
    )


def correlations(
    a: Float[np.ndarray, "rows ..."], b: Float[np.ndarray, "rows ..."]
) -> Float[np.ndarray, " rows"]:
    """Pearson correlation of every row of `a` with the same row of `b`.

    **Arguments:**

    - `a`, `b`: `(rows, ...)`, of the same shape.

    **Returns:**

    `(rows,)`, from -1 to 1. Null value: 0, also where either row is constant.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import correlations
    >>> a = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    >>> correlations(a, np.array([[2.0, 4.0, 6.0], [5.0, 5.0, 5.0]])).round(6).tolist()
    [1.0, 0.0]

    ```
    """
    return np.asarray((_standardised(a) * _standardised(b)).sum(axis=1))


def _with_others(a: np.ndarray, b: np.ndarray) -> Float[np.ndarray, " rows"]:
    """The mean correlation of every row of `a` with the other rows of `b`; NaN if there is only one."""
    every = _standardised(a) @ _standardised(b).T
    if len(every) < 2:
        return np.full(len(every), np.nan)
    return np.asarray((every.sum(axis=1) - np.diag(every)) / (len(every) - 1))


def _standardised(rows: np.ndarray) -> Float[np.ndarray, "rows pixels"]:
    """Rows with mean 0 and length 1; constant rows become 0."""
    flat = rows.reshape(len(rows), int(np.prod(rows.shape[1:])))
    centred = flat - flat.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.divide(centred, size, out=np.zeros_like(centred), where=size != 0)
