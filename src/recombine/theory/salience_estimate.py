"""The saliences of conjunctions in a trained layer, estimated from its activity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.intervals import percentile_interval, resample_counts
from recombine.theory.overlap_kernels import OverlapKernel, order_means, overlaps


@dataclass(frozen=True, eq=False)
class SalienceEstimate:
    """The mean similarity by overlap, and the saliences that follow from it.

    **Attributes:**

    - `kernel`: the mean dot product for every set of shared factors.
    - `order_shares`, `interval`: `S(k; C)` for k = 1 to C, and an interval `(C, 2)` over resampled cells.
    - `unevenness`: for every set of shared factors, the standard deviation of the dot products as a share of their
        range (identical minus distinct cells); 0 if the representation is exactly compositionally structured.
    - `self_pairs`: whether cells were compared with themselves through pairs of a row with itself, because they have no
        second row. Noise then counts as similarity, and the shares of low orders come out too small.
    """

    kernel: OverlapKernel
    order_shares: Float[np.ndarray, " factors"]
    interval: Float[np.ndarray, "factors 2"]
    unevenness: Float[np.ndarray, ...]
    self_pairs: bool


def estimate_salience(
    activity: Float[np.ndarray, "rows ..."],
    levels: np.ndarray,
    *,
    self_pairs: bool | None = None,
    draws: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> SalienceEstimate:
    """Estimates the saliences of a layer from its activity and the levels of its rows.

    **Arguments:**

    - `activity`: `(rows, ...)`, one row of activity per example.
    - `levels`: `(rows, factors)`; rows with equal levels are examples of one cell.
    - `self_pairs`: whether a row is compared with itself; default: only if some cell has no second row.
    - `draws`, `confidence`, `seed`: of the bootstrap interval over cells.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import estimate_salience, random_features
    >>> cells = np.indices((9, 9)).reshape(2, -1).T
    >>> estimate = estimate_salience(random_features(cells, (9, 9), units=20_000, seed=0), cells)
    >>> bool(abs(estimate.order_shares[0] - 0.4264) < 0.005)  # the limit of infinitely many units
    True

    ```
    """
    activity, levels = np.asarray(activity, dtype=np.float64), np.asarray(levels)
    activity = activity.reshape(len(activity), -1)
    if levels.ndim != 2 or len(levels) != len(activity):
        raise InputError("levels", levels.shape, f"({len(activity)}, factors), a row for each activity")
    if not np.isfinite(activity).all():
        raise InputError("activity", "a value that is not finite", "finite numbers")
    cells, cell, counts = np.unique(levels, axis=0, return_inverse=True, return_counts=True)
    cell, factors = cell.ravel(), levels.shape[1]
    if self_pairs is None:
        self_pairs = bool((counts < 2).any())
    similarity = _between_cells(activity, cell, counts, self_pairs=self_pairs)
    overlap = overlaps(cells, cells, factors)
    absent = np.setdiff1d(np.arange(2**factors), overlap)
    usable = np.isfinite(similarity)
    if absent.size or not usable[overlap == 2**factors - 1].any():
        raise InputError("levels", f"{len(cells)} cells", "pairs of rows for every set of shared factors")

    def mean_similarity(weights: np.ndarray) -> np.ndarray:
        pairs = weights[:, None] * weights[None, :]
        np.fill_diagonal(pairs, weights)  # a cell drawn twice is still compared with itself only once
        pairs = np.where(usable, pairs, 0.0).ravel()
        total = np.bincount(overlap.ravel(), weights=pairs, minlength=2**factors)
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = np.bincount(overlap.ravel(), weights=pairs * np.where(usable, similarity, 0.0).ravel())
            return (sums / total).reshape((2,) * factors)

    kernel = OverlapKernel(mean_similarity(np.ones(len(cells))))
    spread = kernel.similarity.ravel()[-1] - kernel.similarity.ravel()[0]
    if not spread > 0:
        expected = "a layer in which cells are more similar to themselves than to cells that share no level"
        raise InputError("activity", "similarities that do not grow with the shared levels", expected)
    deviation = similarity - kernel.similarity.ravel()[overlap]
    unevenness = [np.sqrt(np.nanmean(deviation[overlap == o] ** 2)) / spread for o in range(2**factors)]
    shares = []
    for weights in resample_counts(np.random.default_rng(seed), len(cells), draws):
        drawn = mean_similarity(weights.astype(float))
        if np.isfinite(drawn).all():
            shares.append(order_means(OverlapKernel(drawn).normalised)[1:])
    interval = np.full((factors, 2), np.nan)
    if shares:
        interval = np.array([percentile_interval(draws, level=confidence) for draws in np.transpose(shares)])
    return SalienceEstimate(
        kernel, kernel.order_shares, interval, np.reshape(unevenness, (2,) * factors), self_pairs
    )


def _between_cells(
    activity: np.ndarray, cell: np.ndarray, counts: np.ndarray, *, self_pairs: bool
) -> Float[np.ndarray, "cells cells"]:
    """Mean dot products between the rows of every two cells; NaN for a cell with itself if it has only one row."""
    sums = np.zeros((len(counts), activity.shape[1]))
    np.add.at(sums, cell, activity)
    products = sums @ sums.T
    pairs = np.outer(counts, counts).astype(float)
    if not self_pairs:
        squares = np.bincount(cell, weights=(activity**2).sum(axis=1))
        products[np.diag_indices_from(products)] -= squares
        pairs[np.diag_indices_from(pairs)] -= counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 0, products / pairs, np.nan)
