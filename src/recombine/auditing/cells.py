"""Rows gathered into cells: mean targets, mean predictions and errors of every combination of levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.auditing.label_noise import label_noise, voted
from recombine.auditing.outputs import Outputs, decide
from recombine.auditing.thresholds import MIN_REPLICATES
from recombine.spaces.observations import Observations
from recombine.tasks.task import Kind
from recombine.theory import Conjunctions


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that have rows, in C order.

    **Attributes:**

    - `cells`: level indices; `sizes`: the number of levels of every factor; `rows`: the number of rows of every cell.
    - `first_row`: the first training row of a seen cell, the first row of others.
    - `seen`: whether training has the cell; `familiar`: whether training has all of its levels.
    - `targets`, `predictions`: means over rows; targets are NaN where no row of the cell has one. If labels are noisy,
        the probability of every class, see `recombine.auditing.label_noise`.
    - `error`: the mean over the rows that count. If most seen cells have rows that training did not use, these rows
        count for seen cells, and `held_out` is true; otherwise all rows count.
    - `error_of_constant`: the same for the mean of the training targets (the commonest label); `scatter`: the same for
        the cell's own mean, the best that a function of the cell can do.
    - `excess`, `excess_of_constant`: errors beyond those that noisy labels cause, whatever is predicted; the errors
        themselves if labels are not noisy.
    - `target_noise`, `error_noise`: the expected squared length of the noise in the mean target, and in the mean
        difference of prediction and target; 0 if no cell has several rows, and for labels without noise.
    - `label_noise`: the share of labels that are wrong; NaN if there are labels, but no cell has several rows.
    """

    kind: Kind
    sizes: tuple[int, ...]
    cells: Int[np.ndarray, "cells factors"]
    rows: Int[np.ndarray, " cells"]
    training_rows: Int[np.ndarray, " cells"]
    first_row: Int[np.ndarray, " cells"]
    seen: Bool[np.ndarray, " cells"]
    familiar: Bool[np.ndarray, " cells"]
    targets: Float[np.ndarray, "cells outputs"]
    predictions: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    error_of_constant: Float[np.ndarray, " cells"]
    excess: Float[np.ndarray, " cells"]
    excess_of_constant: Float[np.ndarray, " cells"]
    scatter: Float[np.ndarray, " cells"]
    target_noise: Float[np.ndarray, " cells"]
    error_noise: Float[np.ndarray, " cells"]
    constant: Float[np.ndarray, " outputs"]
    held_out: bool
    label_noise: float = 0.0

    @cached_property
    def known(self) -> Bool[np.ndarray, " cells"]:
        """Cells with a target."""
        return np.isfinite(self.error)

    @cached_property
    def inside(self) -> Int[np.ndarray, " inside"]:
        """Seen cells with a target."""
        return np.flatnonzero(self.seen & self.known)

    @cached_property
    def outside(self) -> Int[np.ndarray, " outside"]:
        """Unseen cells with a target all of whose levels are seen: those that test composition."""
        return np.flatnonzero(~self.seen & self.familiar & self.known)


def gather(table: Observations, outputs: Outputs) -> Cells:
    """Means and errors of all cells that have rows."""
    codes, cell_index = np.unique(table.codes, return_inverse=True)
    sizes = table.space.shape
    cells = np.stack(np.unravel_index(codes, sizes), axis=1)
    n = len(codes)
    rows = np.bincount(cell_index, minlength=n)
    training = np.bincount(cell_index[table.seen], minlength=n)
    seen = training > 0
    familiar = np.logical_not(Conjunctions.of(table.train, sizes, order=1).missing(cells).any(axis=1))
    fresh = ~table.seen & seen[cell_index]
    has_fresh = np.bincount(cell_index[fresh & outputs.known], minlength=n) > 0
    held_out = bool(has_fresh[seen].mean() > 0.5)
    counts = outputs.known & (fresh | ~seen[cell_index] if held_out else np.ones_like(fresh))
    constant = _constant(outputs, table.seen)

    def error(of: np.ndarray | None = None) -> Float[np.ndarray, " cells"]:
        return means_by_cell(outputs.row_errors(of)[:, None], cell_index, n, counts)[:, 0]

    targets = means_by_cell(outputs.targets, cell_index, n, outputs.known)
    predictions = means_by_cell(outputs.predictions, cell_index, n)
    errors = error(), error(np.broadcast_to(constant, outputs.targets.shape))
    excess, noise = errors, label_noise(outputs, cell_index, table.seen)
    target_noise = _noise(outputs.targets, cell_index, targets, outputs)
    error_noise = _noise(outputs.predictions - outputs.targets, cell_index, predictions - targets, outputs)
    if noise > 0:
        targets = voted(targets, np.bincount(cell_index[outputs.known], minlength=n), noise)
        answers = means_by_cell(outputs.predictions, cell_index, n, counts), constant
        # Whoever predicts the true label is wrong as often as two draws from these probabilities differ.
        spread = 1 - (targets**2).sum(axis=1)
        excess = tuple(1 - (targets * one).sum(axis=1) - spread for one in answers)
        target_noise = error_noise = 2 * np.nan_to_num(spread)
    return Cells(
        kind=outputs.kind,
        sizes=sizes,
        cells=cells,
        rows=rows,
        training_rows=training,
        first_row=_first_rows(cell_index, table.seen, n),
        seen=seen,
        familiar=familiar,
        targets=targets,
        predictions=predictions,
        error=errors[0],
        error_of_constant=errors[1],
        excess=excess[0],
        excess_of_constant=excess[1],
        scatter=error(decide(np.nan_to_num(targets), outputs.kind)[cell_index]),
        target_noise=target_noise,
        error_noise=error_noise,
        constant=constant,
        held_out=held_out,
        label_noise=noise,
    )


def _noise(
    values: Float[np.ndarray, "rows outputs"],
    cell_index: Int[np.ndarray, " rows"],
    means: Float[np.ndarray, "cells outputs"],
    outputs: Outputs,
) -> Float[np.ndarray, " cells"]:
    """The expected squared length of the error of every mean, from the variance within cells, pooled over cells."""
    rows = np.bincount(cell_index[outputs.known], minlength=len(means))
    free = int(np.maximum(rows - 1, 0).sum())
    if outputs.kind == "classification" or free < MIN_REPLICATES:
        return np.zeros(len(means))
    total, step = 0.0, max(1, 2**22 // values.shape[1])
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        off = (values[some] - means[cell_index[some]])[outputs.known[some]]
        total += float(np.einsum("ru,ru->", off, off, dtype=np.float64))
    return total / free / np.maximum(rows, 1)


def _first_rows(
    cell_index: Int[np.ndarray, " rows"], seen: Bool[np.ndarray, " rows"], n: int
) -> Int[np.ndarray, " cells"]:
    """The first row of every cell, training rows before others."""
    order = np.argsort(~seen, kind="stable")
    cells, at = np.unique(cell_index[order], return_index=True)
    first = np.zeros(n, dtype=np.int64)
    first[cells] = order[at]
    return first


def _constant(outputs: Outputs, seen: Bool[np.ndarray, " rows"]) -> Float[np.ndarray, " outputs"]:
    """The best single prediction for training rows."""
    known = seen & outputs.known
    if not known.any():
        return np.zeros(outputs.targets.shape[1])
    mean = outputs.targets[known].mean(axis=0, dtype=np.float64)
    return mean if outputs.kind == "regression" else np.eye(len(mean))[mean.argmax()]


def means_by_cell(
    values: Float[np.ndarray, "rows outputs"],
    cell_index: Int[np.ndarray, " rows"],
    n: int,
    counted: Bool[np.ndarray, " rows"] | None = None,
) -> Float[np.ndarray, "cells outputs"]:
    """For each of n cells the mean over its counted rows (default: all); NaN for cells without any.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.cells import means_by_cell
    >>> means_by_cell(np.array([[1.0], [5.0], [3.0]]), np.array([0, 1, 0]), 2).tolist()
    [[2.0], [5.0]]

    ```
    """
    chosen = np.arange(len(cell_index)) if counted is None else np.flatnonzero(counted)
    total = np.bincount(cell_index[chosen], minlength=n)
    weights = 1.0 / np.maximum(total, 1)[cell_index[chosen]]
    average = sparse.csr_array(
        (weights, (cell_index[chosen], np.arange(len(chosen)))), shape=(n, len(chosen))
    )
    picked = values if len(chosen) == len(values) else values[chosen]
    means = average @ picked
    means[total == 0] = np.nan
    return means


def squared_lengths(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, " rows"]:
    """The squared length of every row."""
    return np.einsum("ru,ru->r", rows, rows)


def slope_parts(cells: Cells, index: Int[np.ndarray, " some"]) -> Float[np.ndarray, "some 2"]:
    """For every cell the product of prediction and target, and the square of the target, both about their means."""
    targets = cells.targets[index] - cells.targets[index].mean(axis=0)
    predictions = cells.predictions[index] - cells.predictions[index].mean(axis=0)
    return np.stack(
        [np.einsum("cu,cu->c", targets, predictions), np.einsum("cu,cu->c", targets, targets)], axis=1
    )


def slope_from(sums: Float[np.ndarray, "*draws 2"]) -> Float[np.ndarray, "*draws"]:
    """Slopes from sums (or means) of such parts; NaN where the targets do not vary."""
    wide = sums[..., 1]
    return np.divide(sums[..., 0], wide, out=np.full(wide.shape, np.nan), where=wide > 0)


def slope_of(cells: Cells, index: Int[np.ndarray, " some"]) -> float:
    """The slope of predictions on targets over some cells, with a free offset: 1 if they vary as they should."""
    return float(slope_from(slope_parts(cells, index).sum(axis=0)))
