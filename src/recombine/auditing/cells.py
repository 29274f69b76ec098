"""Rows gathered into cells: what was wanted and what was said, on average, for every combination of levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.advice import Observations
from recombine.auditing.answers import Answers, Kind
from recombine.auditing.extrapolation import decide
from recombine.theory import Conjunctions

LEAST_FREE = 5
"""Rows beyond the first of their cell from which noise is told."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that have rows, in C order.

    - `cells`: `(cells, factors)` level indices; `sizes`: levels of every factor; `rows`: how many each has.
    - `first_row`: the first training row of a seen cell, the first row of others.
    - `seen`: whether training has the cell; `familiar`: whether training has all of its levels.
    - `targets`, `answers`: `(cells, outputs)` means; targets are NaN where no row of the cell has one.
    - `error`: `(cells,)`, mean over the rows that judge the model: of seen cells rows that training did not have, where
        most seen cells have such rows (`held_out` is then true), otherwise all rows.
    - `error_of_constant`: the same for the mean of the training targets (the commonest label); `scatter`: the same for
        the cell's own mean, which no function of the cell can do better than.
    - `target_noise`, `error_noise`: `(cells,)`, the squared length that rows which differ by chance give to the mean
        target, and to the mean difference of answer and target; 0 for classes, and if no cell has several rows.
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
    answers: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    error_of_constant: Float[np.ndarray, " cells"]
    scatter: Float[np.ndarray, " cells"]
    target_noise: Float[np.ndarray, " cells"]
    error_noise: Float[np.ndarray, " cells"]
    constant: Float[np.ndarray, " outputs"]
    held_out: bool

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


def gather(table: Observations, answers: Answers) -> Cells:
    """Means and errors of all cells that have rows."""
    codes, place = np.unique(table.codes, return_inverse=True)
    sizes = table.space.shape
    cells = np.stack(np.unravel_index(codes, sizes), axis=1)
    n = len(codes)
    rows = np.bincount(place, minlength=n)
    training = np.bincount(place[table.seen], minlength=n)
    seen = training > 0
    familiar = np.logical_not(Conjunctions.of(table.train, sizes, order=1).missing(cells).any(axis=1))
    fresh = ~table.seen & seen[place]
    judged = np.bincount(place[fresh & answers.known], minlength=n) > 0
    held_out = bool(judged[seen].mean() > 0.5)
    counts = answers.known & (fresh if held_out else np.ones_like(fresh)) | (answers.known & ~seen[place])
    constant = _constant(answers, table.seen)

    def error(of: np.ndarray | None = None) -> Float[np.ndarray, " cells"]:
        return means_by_cell(answers.row_errors(of)[:, None], place, n, counts)[:, 0]

    targets = means_by_cell(answers.targets, place, n, answers.known)
    said = means_by_cell(answers.answers, place, n)
    return Cells(
        kind=answers.kind,
        sizes=sizes,
        cells=cells,
        rows=rows,
        training_rows=training,
        first_row=_first_rows(place, table.seen, n),
        seen=seen,
        familiar=familiar,
        targets=targets,
        answers=said,
        error=error(),
        error_of_constant=error(np.broadcast_to(constant, answers.targets.shape)),
        scatter=error(decide(np.nan_to_num(targets), answers.kind)[place]),
        target_noise=_noise(answers.targets, place, targets, answers),
        error_noise=_noise(answers.answers - answers.targets, place, said - targets, answers),
        constant=constant,
        held_out=held_out,
    )


def _noise(
    values: Float[np.ndarray, "rows outputs"],
    place: Int[np.ndarray, " rows"],
    means: Float[np.ndarray, "cells outputs"],
    answers: Answers,
) -> Float[np.ndarray, " cells"]:
    """The expected squared length of the error of every mean, from the variance within cells, pooled over cells."""
    rows = np.bincount(place[answers.known], minlength=len(means))
    free = int(np.maximum(rows - 1, 0).sum())
    if answers.kind == "classification" or free < LEAST_FREE:
        return np.zeros(len(means))
    total, step = 0.0, max(1, 2**22 // values.shape[1])
    for start in range(0, len(values), step):
        some = slice(start, start + step)
        off = (values[some] - means[place[some]])[answers.known[some]]
        total += float(np.einsum("ru,ru->", off, off, dtype=np.float64))
    return total / free / np.maximum(rows, 1)


def _first_rows(
    place: Int[np.ndarray, " rows"], seen: Bool[np.ndarray, " rows"], n: int
) -> Int[np.ndarray, " cells"]:
    """The first row of every cell, training rows before others."""
    order = np.argsort(~seen, kind="stable")
    found, at = np.unique(place[order], return_index=True)
    first = np.zeros(n, dtype=np.int64)
    first[found] = order[at]
    return first


def _constant(answers: Answers, seen: Bool[np.ndarray, " rows"]) -> Float[np.ndarray, " outputs"]:
    """The best single answer for training rows."""
    known = seen & answers.known
    if not known.any():
        return np.zeros(answers.targets.shape[1])
    mean = answers.targets[known].mean(axis=0, dtype=np.float64)
    return mean if answers.kind == "regression" else np.eye(len(mean))[mean.argmax()]


def means_by_cell(
    values: Float[np.ndarray, "rows outputs"],
    place: Int[np.ndarray, " rows"],
    n: int,
    counted: Bool[np.ndarray, " rows"] | None = None,
) -> Float[np.ndarray, "cells outputs"]:
    """Means over the counted rows (all, by default) of every one of n cells; NaN for cells without any."""
    chosen = np.arange(len(place)) if counted is None else np.flatnonzero(counted)
    total = np.bincount(place[chosen], minlength=n)
    weights = 1.0 / np.maximum(total, 1)[place[chosen]]
    average = sparse.csr_array((weights, (place[chosen], np.arange(len(chosen)))), shape=(n, len(chosen)))
    picked = values if len(chosen) == len(values) else values[chosen]
    found = average @ picked
    found[total == 0] = np.nan
    return found
