"""Similarity of outputs: which cells a net renders alike, and whether a kernel between cells explains it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Real

from recombine.errors import InputError
from recombine.metrics.cell_kernels import additive_kernel, binary_kernel
from recombine.metrics.image_measures import check_polarity
from recombine.tasks.bumps.bump_images import Polarity


def cosine_similarity(outputs: Real[np.ndarray, "rows ..."]) -> Float[np.ndarray, "rows rows"]:
    """Cosine of the angle between every two outputs, `a . b / (|a| |b|)`.

    A white background makes all dark images similar; pass their [`recombine.metrics.signal`][] instead.

    **Arguments:**

    - `outputs`: `(rows, ...)`.

    **Returns:**

    `(rows, rows)`, from -1 to 1. Null value: 0 for unrelated outputs of mean zero, and for an output that is zero
    everywhere.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import cosine_similarity
    >>> cosine_similarity(np.array([[1.0, 0.0], [3.0, 4.0]])).round(2).tolist()
    [[1.0, 0.6], [0.6, 1.0]]

    ```
    """
    flat = _flat(outputs)
    norm = np.linalg.norm(flat, axis=1, keepdims=True)
    unit = np.divide(flat, norm, out=np.zeros_like(flat), where=norm != 0)
    return unit @ unit.T


def euclidean_distance(outputs: Real[np.ndarray, "rows ..."]) -> Float[np.ndarray, "rows rows"]:
    """L2 distance between every two outputs, `|a - b|`, in the outputs' own units.

    **Arguments:**

    - `outputs`: `(rows, ...)`.

    **Returns:**

    `(rows, rows)`, from 0 (on the diagonal) upwards. It is a dissimilarity: negate it for
    [`recombine.metrics.kernel_agreement`][]. Null value: `sqrt(2)` times the distance of outputs from their mean,
    for unrelated outputs.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import euclidean_distance
    >>> euclidean_distance(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [[0.0, 5.0], [5.0, 0.0]]

    ```
    """
    flat = _flat(outputs)
    flat = flat - flat.mean(axis=0)  # does not change distances but reduces cancellation in the next lines
    square = (flat * flat).sum(axis=1)
    distance = np.sqrt(np.maximum(square[:, None] + square[None, :] - 2 * flat @ flat.T, 0.0))
    np.fill_diagonal(distance, 0.0)
    return distance


def pixel_overlap(
    outputs: Real[np.ndarray, "rows ..."], polarity: Polarity = "dark", threshold: float | None = None
) -> Float[np.ndarray, "rows rows"]:
    """The share of pixels that are marked in both of two outputs, `#{marked in both} / #{pixels}`.

    **Arguments:**

    - `outputs`: `(rows, ...)` images.
    - `polarity`: a pixel of a dark image is marked if its value is below the threshold, of a bright image if
        it is above.
    - `threshold`: default 0.8 for dark and 0.2 for bright images, which marks 9 pixels of a bump of width 1. The
        original analysis of dark images used 0.3, which marks a single pixel of such a bump.

    **Returns:**

    `(rows, rows)`, from 0 to 1; the diagonal is the share of marked pixels. Null value: the product of the two
    shares on the diagonal, for unrelated outputs.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import pixel_overlap
    >>> pixel_overlap(np.array([[0.0, 0.5, 1.0, 1.0], [0.0, 0.9, 1.0, 0.0]])).tolist()
    [[0.5, 0.25], [0.25, 0.5]]

    ```
    """
    flat = _flat(outputs)
    if check_polarity(polarity) == "dark":
        marked = flat < (0.8 if threshold is None else threshold)
    else:
        marked = flat > (0.2 if threshold is None else threshold)
    counts = marked.astype(np.float64)
    return counts @ counts.T / flat.shape[1]


def kernel_agreement(
    similarity: Real[np.ndarray, "rows rows"],
    levels: Real[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
) -> dict[str, float]:
    """How well a kernel between cells explains which seen outputs the unseen outputs resemble.

    Only the block of unseen rows and seen columns is used.

    **Arguments:**

    - `similarity`: `(rows, rows)`, larger for more similar outputs.
    - `levels`: `(rows, factors)`.
    - `seen`: true for the rows of seen cells.

    **Returns:**

    - `binary`, `additive`: Pearson correlation with [`recombine.metrics.binary_kernel`][] and
        [`recombine.metrics.additive_kernel`][], from -1 to 1; NaN if either block is constant. Null value: that
        of the similarity matrix of the targets, which is not 0 because correct images of neighbouring cells
        overlap too.
    - `mean_shared`, `mean_not_shared`: the mean similarity of pairs that share a level, and of pairs that do not.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import binary_kernel, kernel_agreement
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> agreement = kernel_agreement(binary_kernel(levels), levels, np.array([True, True, True, False]))
    >>> round(agreement["binary"], 6), agreement["mean_shared"], agreement["mean_not_shared"]
    (1.0, 1.0, 0.0)

    ```
    """
    similarity, levels = np.asarray(similarity, dtype=np.float64), np.asarray(levels)
    seen = np.asarray(seen, dtype=bool)
    if similarity.shape != (len(levels), len(levels)) or len(seen) != len(levels):
        raise InputError("similarity", similarity.shape, f"shape {(len(levels), len(levels))}, one per cell")
    block = similarity[np.ix_(~seen, seen)]
    binary = binary_kernel(levels[~seen], levels[seen])
    shared = binary > 0
    return {
        "binary": _correlation(block, binary),
        "additive": _correlation(block, additive_kernel(levels[~seen], levels[seen])),
        "mean_shared": float(block[shared].mean()) if shared.any() else float("nan"),
        "mean_not_shared": float(block[~shared].mean()) if (~shared).any() else float("nan"),
    }


def _flat(outputs: Real[np.ndarray, "rows ..."]) -> Float[np.ndarray, "rows pixels"]:
    outputs = np.asarray(outputs, dtype=np.float64)
    return outputs.reshape(len(outputs), -1)


def _correlation(a: Float[np.ndarray, "out in"], b: Float[np.ndarray, "out in"]) -> float:
    if not a.size or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
