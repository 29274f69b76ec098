"""Rows gathered into cells: mean targets, mean predictions and errors of every combination of levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.auditing.independent_units import copied_factors, units_without
from recombine.auditing.label_noise import label_noise, voted
from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import MANY_CLASSES, MIN_REPLICATES
from recombine.intervals import Estimate, mean_over_cells
from recombine.spaces.observations import Observations
from recombine.tasks.task import Kind
from recombine.theory import Conjunctions

DISTANCE_BLOCK = 2**17
"""Entries of a block of rows in `squared_distances`."""

Weighting = Literal["cells", "rows"]
"""Whether every cell counts once, or by the number of its rows."""


@dataclass(frozen=True, eq=False)
class MeasuredRows:
    """The rows that count, and the cell of each."""

    outputs: Outputs
    cell_index: Int[np.ndarray, " rows"]
    counts: Bool[np.ndarray, " rows"]

    def errors(
        self, index: Int[np.ndarray, " some"], predictions: Float[np.ndarray, "some outputs"]
    ) -> Float[np.ndarray, " some"]:
        """The mean error over the rows of some cells, if every row of a cell got the same prediction."""
        place = np.full(int(self.cell_index.max()) + 1, -1)
        place[index] = np.arange(len(index))
        rows = np.flatnonzero(self.counts & (place[self.cell_index] >= 0))
        cell = place[self.cell_index[rows]]
        errors = self.outputs.measure.errors(self.outputs.targets[rows], predictions[cell])
        return means_by_cell(errors[:, None], cell, len(index))[:, 0]


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
    - `error_of_constant`: the same for the best constant of the training targets (the commonest label).
    - `excess`, `excess_of_constant`: errors beyond those that noise in the targets causes, whatever is predicted; the
        errors themselves if there is none, or if it is not known.
    - `replicated`: whether the noise could be estimated, from several rows of the same cell.
    - `target_noise`, `error_noise`: the expected squared length of the noise in the mean target, and in the mean
        difference of prediction and target; 0 if no cell has several rows, and for labels without noise.
    - `label_noise`: the share of labels that are wrong; NaN if there are labels, but no cell has several rows.
    - `row_noise`: the error that every row has because targets of the same cell differ, pooled over cells; 0 without
        repeated rows, and for labels.
    - `scored`: whether errors are 1 - a score from 0 to 1, as those of free text are.
    - `texts`: then, numbers for targets and answers, equal for equal texts.
    - `weights`: how much every cell counts in means over cells.
    - `measured`: the rows that count, with the measure of their errors.
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
    target_noise: Float[np.ndarray, " cells"]
    error_noise: Float[np.ndarray, " cells"]
    constant: Float[np.ndarray, " outputs"]
    held_out: bool
    replicated: bool
    weights: Float[np.ndarray, " cells"]
    measured: MeasuredRows
    label_noise: float = 0.0
    row_noise: float = 0.0
    scored: bool = False
    texts: Float[np.ndarray, "cells 2"] | None = None

    @cached_property
    def copied(self) -> tuple[int, ...]:
        """The factors on which neither targets nor predictions nor errors depend, by their axis.

        None if all unseen cells are right: each of them then shows that the model ignores what it should ignore.
        """
        if not self.error[self.outside].any():
            return ()
        known = np.concatenate([self.inside, self.outside])
        values = [self.error[:, None], self.targets, self.predictions]
        values += [] if self.texts is None else [self.texts[:, :1], self.texts[:, 1:]]
        return copied_factors(self.cells, self.seen, values, known)

    @cached_property
    def unit(self) -> Int[np.ndarray, " cells"]:
        """A number that is equal for cells that differ only in these factors: one piece of evidence."""
        return units_without(self.cells, self.copied, self.seen)

    @cached_property
    def copies_are_seen(self) -> bool:
        """Whether most unseen cells differ from some seen cell only in these factors."""
        if not self.copied:
            return False
        apart = units_without(self.cells, self.copied, np.zeros_like(self.seen))
        return bool(np.isin(apart[self.outside], apart[self.inside]).mean() > 0.5)

    @property
    def heavy_errors(self) -> bool:
        """Whether errors have no bound, so that a few cells may have very large ones."""
        measure = self.measured.outputs.measure.name
        if measure == "function":  # of the user; it may return 0 and 1
            return not bool(np.isin(self.measured.outputs.row_errors()[self.measured.counts], (0, 1)).all())
        return measure != "labels" and not self.scored

    def mean_error(self, errors: Float[np.ndarray, " some"], index: Int[np.ndarray, " some"]) -> Estimate:
        """The mean of errors of some cells, with an interval over units; not clipped, since errors beyond noise may be
        negative."""
        weights, units, heavy = self.weights[index], self.unit[index], self.heavy_errors
        return mean_over_cells(errors, weights, units, heavy=heavy, shares=not heavy)

    def possible(self, error: Estimate) -> Estimate:
        """An error whose interval has only values that an error can have."""
        return error.clipped(0.0, np.inf if self.heavy_errors else 1.0)

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

    def error_of(
        self, index: Int[np.ndarray, " some"], predictions: Float[np.ndarray, "some outputs"]
    ) -> Float[np.ndarray, " some"]:
        """The errors that other predictions would have in some cells, in the units of `error`."""
        if self.kind == "classification" and self.label_noise > 0:
            # targets are probabilities of the true labels: back to noisy ones
            targets = self.targets[index]
            beyond = (targets**2).sum(axis=1) - (targets * predictions).sum(axis=1)
            kept = 1 - self.label_noise * targets.shape[1] / (targets.shape[1] - 1)
            return np.maximum(self.label_noise + kept * beyond, 0.0)
        return self.measured.errors(index, predictions)


def gather(table: Observations, outputs: Outputs, weighting: Weighting = "cells") -> Cells:
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
    own = outputs.measure.name == "function"
    excess, noise = errors, 0.0 if own else label_noise(outputs, cell_index, table.seen)
    target_noise = error_noise = np.zeros(n)
    row_noise = 0.0
    if outputs.kind == "regression":
        target_noise = _noise(outputs.targets, cell_index, outputs.known, n)
        error_noise = _noise(outputs.predictions - outputs.targets, cell_index, outputs.known, n)
    if outputs.kind == "regression" and outputs.measure.is_squared:
        row_noise = _row_noise(outputs, cell_index, ~table.seen, n)
        excess = errors[0] - row_noise, errors[1] - row_noise
    if noise > 0:
        targets = voted(targets, np.bincount(cell_index[outputs.known], minlength=n), noise)
        answers = means_by_cell(outputs.predictions, cell_index, n, counts), constant
        # Whoever predicts the true label is wrong as often as two draws from these probabilities differ.
        spread = 1 - squared_lengths(targets)
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
        target_noise=target_noise,
        error_noise=error_noise,
        constant=constant,
        held_out=held_out,
        replicated=_is_replicated(outputs, cell_index),
        weights=np.bincount(cell_index[counts], minlength=n).astype(float)
        if weighting == "rows"
        else np.ones(n),
        measured=MeasuredRows(outputs, cell_index, counts),
        label_noise=noise,
        row_noise=row_noise,
    )


def _is_replicated(outputs: Outputs, cell_index: Int[np.ndarray, " rows"]) -> bool:
    """Whether enough cells have several rows, and errors are such that the noise in them can be subtracted."""
    free = int(np.maximum(np.bincount(cell_index[outputs.known]) - 1, 0).sum()) if outputs.known.any() else 0
    return free >= MIN_REPLICATES and (outputs.measure.is_squared or outputs.measure.name == "labels")


def _row_noise(
    outputs: Outputs, cell_index: Int[np.ndarray, " rows"], fresh: Bool[np.ndarray, " rows"], n: int
) -> float:
    """The mean squared error of rows that no function of the cell can avoid.

    It is the variance of targets within cells; or, if the model knows more about a row than its cell, the variance of
    its errors in rows that it was not trained on.
    """
    errors = outputs.predictions - outputs.targets
    known = outputs.known
    within = [_variance_within(outputs.targets, cell_index, known, n)]
    within += [_variance_within(errors, cell_index, known & fresh, n)]
    some = [one for one in within if np.isfinite(one)]
    return min(some) / outputs.targets.shape[1] if np.isfinite(within[0]) else 0.0


def _variance_within(
    values: Float[np.ndarray, "rows outputs"],
    cell_index: Int[np.ndarray, " rows"],
    counted: Bool[np.ndarray, " rows"],
    n: int,
) -> float:
    """The variance of rows about the mean of their cell, summed over outputs; NaN with too few repeated rows."""
    rows = np.bincount(cell_index[counted], minlength=n)
    free = int(np.maximum(rows - 1, 0).sum())
    if free < MIN_REPLICATES:
        return float("nan")
    means = means_by_cell(values, cell_index, n, counted)
    total, step = 0.0, max(1, 2**22 // values.shape[1])
    index = np.flatnonzero(counted)
    for start in range(0, len(index), step):
        some = index[start : start + step]
        off = values[some] - means[cell_index[some]]
        total += float(np.einsum("ru,ru->", off, off, dtype=np.float64))
    return total / free


def _noise(
    values: Float[np.ndarray, "rows outputs"],
    cell_index: Int[np.ndarray, " rows"],
    known: Bool[np.ndarray, " rows"],
    n: int,
) -> Float[np.ndarray, " cells"]:
    """The expected squared length of the error of every mean, from the variance within cells, pooled over cells."""
    rows = np.bincount(cell_index[known], minlength=n)
    within = _variance_within(values, cell_index, known, n)
    if not np.isfinite(within):
        return np.zeros(n)
    return within / np.maximum(rows, 1)


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
    return outputs.measure.constant(outputs.targets[known])


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
    label = _labels(values)
    if label is not None:
        places = cell_index[chosen] * values.shape[1] + label[chosen]
        means = np.bincount(places, weights=weights, minlength=n * values.shape[1])
        means = means.reshape(n, values.shape[1]).astype(
            np.float64, copy=False
        )  # whole numbers if there is no row
    elif values.shape[1] == 1:  # the sum of a sparse product, in the same order, without a matrix
        column = np.bincount(cell_index[chosen], weights=weights * values[chosen, 0], minlength=n)
        means = column[:, None].astype(np.float64, copy=False)
    else:
        average = sparse.csr_array(
            (weights, (cell_index[chosen], np.arange(len(chosen)))), shape=(n, len(chosen))
        )
        means = average @ (values if len(chosen) == len(values) else values[chosen])
    means[total == 0] = np.nan
    return means


def _labels(values: Float[np.ndarray, "rows outputs"]) -> Int[np.ndarray, " rows"] | None:
    """The labels that one-hot rows stand for; `None` if rows are not one-hot, or so short that it does not matter."""
    if values.shape[1] < MANY_CLASSES or np.count_nonzero(values) != len(values):
        return None
    label = values.argmax(axis=1)
    return label if bool((values[np.arange(len(values)), label] == 1).all()) else None


def squared_lengths(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, " rows"]:
    """The squared length of every row."""
    return np.einsum("ru,ru->r", rows, rows)


def squared_distances(
    rows: Float[np.ndarray, "rows outputs"],
    centres: Float[np.ndarray, "groups outputs"],
    group: Int[np.ndarray, " rows"],
) -> Float[np.ndarray, " rows"]:
    """The squared distance of every row to the centre of its group, in blocks that stay in fast memory."""
    distances, step = np.empty(len(rows)), max(1, DISTANCE_BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        distances[some] = squared_lengths(rows[some] - centres[group[some]])
    return distances


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
