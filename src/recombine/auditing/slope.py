"""The slope of a model's answers on what would be right, over cells: 1 if they vary as much as they should."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells


def slope_parts(cells: Cells, rows: Int[np.ndarray, " some"]) -> Float[np.ndarray, "some 2"]:
    """For every cell the product of answer and truth, and the square of the truth, both about their means."""
    truth = cells.targets[rows] - cells.targets[rows].mean(axis=0)
    said = cells.answers[rows] - cells.answers[rows].mean(axis=0)
    return np.stack([np.einsum("cu,cu->c", truth, said), np.einsum("cu,cu->c", truth, truth)], axis=1)


def slope_from(sums: Float[np.ndarray, "*draws 2"]) -> Float[np.ndarray, "*draws"]:
    """Slopes from sums (or means) of such parts; NaN where the truth does not vary."""
    wide = sums[..., 1]
    return np.divide(sums[..., 0], wide, out=np.full(wide.shape, np.nan), where=wide > 0)


def slope_of(cells: Cells, rows: Int[np.ndarray, " some"]) -> float:
    """The slope, with a free offset, over some cells."""
    return float(slope_from(slope_parts(cells, rows).sum(axis=0)))
