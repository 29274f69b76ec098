"""Cells in which two models differ: right to wrong, wrong to right; for quantities, errors that changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import MIN_REPLICATES, WRONG_CELL
from recombine.auditing.wrong_cells import is_wrong
from recombine.intervals import LEVEL
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False)
class ChangedCells:
    """The cells in which a second model is worse, and better, than a first one.

    **Attributes:**

    - `worse`, `better`: masks over the cells of the table. With labels: right to wrong, wrong to right. With
        quantities: the error changed by a tenth of a constant's or more, and beyond noise where that is known.
    - `noise_known`: whether several rows per cell show how much errors vary; labels need no such noise.
    """

    worse: Bool[np.ndarray, " cells"]
    better: Bool[np.ndarray, " cells"]
    noise_known: bool = True


def changed_cells(
    table: Observations, first: tuple[Outputs, Cells], second: tuple[Outputs, Cells]
) -> ChangedCells:
    """The cells that changed from a first model to a second one."""
    (_, before), (_, after) = first, second
    if before.kind == "classification":
        wrong = is_wrong(before), is_wrong(after)
        counted = before.known & after.known
        return ChangedCells(counted & ~wrong[0] & wrong[1], counted & wrong[0] & ~wrong[1])
    change = np.nan_to_num(after.error - before.error)
    known = before.known & before.familiar
    scale = float(before.error_of_constant[known].mean()) if known.any() else 0.0
    noise = _error_noise(table, first[0], second[0], before)
    bound = np.full(len(change), WRONG_CELL * scale)
    if noise is not None:
        from scipy.special import ndtri

        # Every cell is one of as many comparisons.
        bound = np.maximum(bound, float(ndtri(1 - (1 - LEVEL) / 2 / len(change))) * noise)
    return ChangedCells(change > bound, change < -bound, noise is not None)


def _error_noise(
    table: Observations, first: Outputs, second: Outputs, cells: Cells
) -> Float[np.ndarray, " cells"] | None:
    """The standard error of every cell's change, from how much rows of a cell vary; `None` without repeated rows."""
    off = second.row_errors() - first.row_errors()
    known = np.isfinite(off)
    cell_index: Int[np.ndarray, " rows"] = np.unique(table.codes, return_inverse=True)[1]
    rows = np.bincount(cell_index[known], minlength=len(cells.cells))
    free = int(np.maximum(rows - 1, 0).sum())
    if free < MIN_REPLICATES:
        return None
    means = means_by_cell(np.nan_to_num(off)[:, None], cell_index, len(cells.cells), known)[:, 0]
    spread = float(((off - means[cell_index])[known] ** 2).sum() / free)
    return np.sqrt(spread / np.maximum(rows, 1))
