"""Labels of cells: are they sums of effects of few factors, and can unseen ones be reached at all?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.advice.cells_of_interest import cell_names, plain_cell
from recombine.advice.thresholds import (
    ADDITIVE_TOLERANCE,
    LARGE_FIT,
    MAX_CLASSES,
    MAX_CONJUNCTIONS,
    MAX_MACHINE_CELLS,
    MAX_NAMED_CELLS,
)
from recombine.data.limits import check_magnitude
from recombine.errors import InputError
from recombine.report import count, percent
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions, separation
from recombine.theory.additive_fit import additive_fit


@dataclass(frozen=True, eq=False)
class CellLabels:
    """One label per labelled cell.

    **Attributes:**

    - `codes`: cell numbers, sorted; `cells`: their level indices; `seen`: whether they are in training.
    - `values` `(cells, outputs)`: numbers; classes as indicators (two classes as one column of -1 and 1).
    - `classes`: the distinct labels in the order of the indicators; empty for quantities.
    - `label` `(cells,)`: class numbers; -1 for quantities.
    """

    codes: Int[np.ndarray, " cells"]
    cells: Int[np.ndarray, "cells factors"]
    seen: Bool[np.ndarray, " cells"]
    values: Float[np.ndarray, "cells outputs"]
    classes: tuple[Any, ...]
    label: Int[np.ndarray, " cells"]

    @property
    def two_classes(self) -> bool:
        """Whether there are two classes, both of them in training."""
        return len(self.classes) == 2 and len(set(self.label[self.seen].tolist())) == 2


def cell_labels(table: Observations, *, average: bool = False) -> CellLabels | None:
    """Gathers the rows' labels by cell; `None` without a target column.

    Words are classes, and so are numbers if there are only two; other numbers are quantities.

    **Arguments:**

    - `average`: whether a cell with several quantities gets their mean; otherwise it is refused.
    """
    if table.target is None:
        return None
    codes, cells, seen, target = table.codes, table.cells, table.seen, table.target
    known = has_label(target)
    if not known[seen].all():
        row = int(np.flatnonzero(seen & ~known)[0])
        raise InputError("target", f"no label in training row {row + 1}", "a label for every training row")
    codes, cells, seen, target = codes[known], cells[known], seen[known], target[known]
    unique, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    words = target.dtype == object
    names, label = _numbered_words(target) if words else np.unique(target, return_inverse=True)
    classes = tuple(names.tolist()) if (words and len(names) <= MAX_CLASSES) or len(names) == 2 else ()
    differs = label != label[first][inverse]
    if differs.any() and not average:
        row = int(np.flatnonzero(differs)[0])
        cell = ", ".join(f"{name}={level}" for name, level in table.describe(cells[row]).items())
        got = f"{target[first[inverse[row]]]} and {target[row]} for the cell {cell}"
        raise InputError(
            "target", got, "one label for each cell (or average=True, --average, for their mean)"
        )
    in_training = np.bincount(inverse, weights=seen, minlength=len(unique)) > 0
    if differs.any() and not words:
        classes = ()
    if classes:
        if differs.any():
            raise InputError("target", "classes that differ within a cell", "numbers, which can be averaged")
        kind = label[first]
        indicators = np.eye(len(classes))[kind]
        values = 2 * indicators[:, 1:] - 1 if len(classes) == 2 else indicators
        return CellLabels(unique, cells[first], in_training, values, classes, kind)
    if words:
        raise InputError(
            "target", f"{len(names)} different labels", f"numbers, or at most {MAX_CLASSES} classes"
        )
    check_magnitude("target", target.astype(float))
    means = np.bincount(inverse, weights=target.astype(float)) / np.bincount(inverse)
    return CellLabels(unique, cells[first], in_training, means[:, None], (), np.full(len(unique), -1))


def has_label(target: np.ndarray) -> Bool[np.ndarray, " rows"]:
    """Which rows have a label: neither None nor NaN."""
    if target.dtype != object:
        return target == target  # NaN != NaN
    return np.array([value is not None and value == value for value in target.tolist()], dtype=bool)


def _numbered_words(target: np.ndarray) -> tuple[np.ndarray, Int[np.ndarray, " rows"]]:
    """The different labels as text, sorted, and the number of each row's label."""
    words = [str(value) for value in target.tolist()]
    names = sorted(set(words))
    number = {name: position for position, name in enumerate(names)}
    return np.array(names), np.fromiter(map(number.__getitem__, words), dtype=np.int64, count=len(words))


@dataclass(frozen=True, eq=False)
class Additivity:
    """How well sums over conjunctions up to one order fit the training labels.

    **Attributes:**

    - `explained`: the share of the labels' variance; `additive`: whether the fit is exact.
    - `worst`: cells `(few, factors)` that the best fit misses most; `misses`: by how much (share of the labels' range).
    """

    order: int
    explained: float
    additive: bool
    worst: Int[np.ndarray, "few factors"]
    misses: Float[np.ndarray, " few"]

    def to_dict(self, table: Observations) -> dict[str, Any]:
        """The fit as plain values."""
        return {
            "additive": self.additive,
            "explained": self.explained if isfinite(self.explained) else None,
            "worst": [plain_cell(table, cell) for cell in self.worst],
        }


def additivity(
    labels: CellLabels,
    sizes: Sequence[int],
    *,
    order: int,
    few: int = 3,
    seen: Conjunctions | None = None,
    counts: Float[np.ndarray, "columns columns"] | None = None,
) -> Additivity:
    """The best fit of the training labels by sums over conjunctions up to `order`; its `few` worst cells are kept.

    **Arguments:**

    - `seen`, `counts`: the conjunctions of the training cells from order 1 on, and how often two occur together. Large
        tables are fitted from these, if they are known up to `order`.
    """
    cells, values = labels.cells[labels.seen], labels.values[labels.seen]
    fitted = None
    if seen is not None and counts is not None and max(map(len, seen.subsets)) >= order:
        used = seen.of_orders(order, min_order=1)
        if len(cells) * len(used.subsets) >= LARGE_FIT:
            width = int(used.starts[-1])  # small sets of factors come first
            label = labels.label[labels.seen] if len(labels.classes) > 2 else None
            fitted = additive_fit(cells, values, used, counts[:width, :width], label=label)
    if fitted is None:
        fitted = _fit_by_design(cells, values, sizes, order)
    span = max(float(np.ptp(values)), 1e-300)
    miss = np.abs(fitted - values).max(axis=1) / span
    variance = ((values - values.mean(axis=0)) ** 2).sum()
    explained = 1 - ((fitted - values) ** 2).sum() / variance if variance else 1.0
    ranked = -miss.round(9)  # of equal misses the first cells are shown, whatever rounding does
    some = np.arange(len(miss))
    if len(miss) > few:
        some = np.flatnonzero(ranked <= np.partition(ranked, few)[few])
    worst = some[np.argsort(ranked[some], kind="stable")[:few]]
    worst = worst[miss[worst] > ADDITIVE_TOLERANCE]
    return Additivity(order, float(explained), not len(worst), cells[worst], miss[worst])


def _fit_by_design(
    cells: Int[np.ndarray, "cells factors"],
    values: Float[np.ndarray, "cells outputs"],
    sizes: Sequence[int],
    order: int,
) -> Float[np.ndarray, "cells outputs"]:
    from scipy.sparse.linalg import lsmr

    design = Conjunctions.of(cells, sizes, order=order).design(cells)
    return np.stack(
        [
            design @ lsmr(design, column, atol=1e-12, btol=1e-12, conlim=0, maxiter=5000)[0]
            for column in values.T
        ],
        axis=1,
    )


def additive_order(fits: Mapping[int, Additivity]) -> int | None:
    """The first of the orders at which the labels are additive."""
    return next((order for order, fit in fits.items() if fit.additive), None)


def additivity_heading(fits: Mapping[int, Additivity], n_factors: int) -> str:
    """At which order the labels are additive, in one sentence; any labels are at the order of all factors."""

    def at(order: int) -> str:
        kinds = {1: "single factors", 2: "pairs of factors", 3: "triples of factors"}
        return f"{kinds.get(order, f'groups of {order} factors')} (order {order})"

    fits = {order: fit for order, fit in fits.items() if order < n_factors}
    if not fits:
        return "Your labels"
    order = additive_order(fits)
    if order is None:
        return f"Your labels are not exactly additive in {' or '.join(at(k) for k in fits)}"
    below = [at(k) for k in fits if k < order and not fits[k].additive]
    return f"Your labels are additive in {at(order)}" + (
        f", but not in {' or '.join(below)}" if below else ""
    )


def additivity_lines(fits: Mapping[int, Additivity], table: Observations) -> list[str]:
    """What additive means, and where labels are not."""
    lines: list[str] = []
    for order, fit in fits.items():
        if order >= len(table.space.shape):
            break
        what = {1: "level", 2: "level and pair of levels"}.get(order, f"combination of up to {order} levels")
        sums = f"sums of one effect per {what}"
        if fit.additive:
            return [*lines, f"{sums} fit every training label"]
        share = percent(max(fit.explained, 0))
        violations = "violation" if len(fit.worst) == 1 else "violations"
        cells = cell_names(table, fit.worst, len(fit.worst))
        lines.append(
            f"{sums} explain {share} of the training labels' variance; largest {violations}: {cells}"
        )
    return lines or ["not checked for additivity: at this order each cell may have a value of its own"]


def contradiction(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], sizes: Sequence[int]
) -> Int[np.ndarray, "cells factors"] | None:
    """Unseen cells whose two classes no sum over seen conjunctions can have together; empty if some sum can.

    Such labels are out of reach of every kernel machine on a compositionally structured representation (Theorem 4.2 of
    arXiv 2405.16391). `None` if there are too many cells or factors to check.

    **Arguments:**

    - `interesting`: which labelled cells are cells of interest.
    """
    if len(labels.classes) != 2 or not interesting.any():
        return labels.cells[:0]
    work = 2 ** len(sizes) * (labels.seen.sum() + interesting.sum())
    if interesting.sum() > MAX_MACHINE_CELLS or work > MAX_CONJUNCTIONS:
        return None
    cells = labels.cells[interesting]
    design = Conjunctions.of(labels.cells[labels.seen], sizes, order=len(sizes)).design(cells)
    return cells[separation(design, labels.values[interesting, 0]).certificate > 0]


def contradiction_lines(cells: Int[np.ndarray, "cells factors"] | None, table: Observations) -> list[str]:
    """Labels that are out of reach, or that this was not checked; nothing if all labels can be reached."""
    if cells is None:
        return ["not checked: whether the unseen labels are out of reach (too many cells or factors)"]
    if not len(cells):
        return []
    names = cell_names(table, cells, MAX_NAMED_CELLS)
    return [
        f"out of reach: no sum of effects of parts seen in training gives these {count(len(cells), 'unseen cell')} "
        f"their labels together, so a model would have to learn new features: {names}"
    ]
