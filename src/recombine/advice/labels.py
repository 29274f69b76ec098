"""What the labels say: are they additive, and which shortcut would they teach?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse.linalg import lsmr

from recombine.errors import InputError
from recombine.theory import Conjunctions, OverlapKernel, separation, subsets
from recombine.theory.conjunctions import Subset, codes_of
from recombine.theory.overlap_kernels import place

MOST_CLASSES = 50
"""Words with more different values than this are no classes."""
EXACT = 1e-6
"""Labels count as additive if the best fit misses no cell by more than this share of their range."""
MOST_CONJUNCTIONS = 2e6
"""Cells times sets of factors up to which contradictions are looked for."""
MOST_MACHINE_CELLS = 1500
"""Training cells up to which kernel machines are solved exactly for a forecast."""


@dataclass(frozen=True, eq=False)
class CellLabels:
    """One label per labelled cell.

    - `codes`: cell numbers, sorted; `cells`: their level indices; `seen`: whether training has them.
    - `values` `(cells, outputs)`: numbers, classes as indicators (two classes as one column of -1 and 1).
    - `classes`: the labels that are classes, in the order of the indicators; empty for quantities.
    - `label` `(cells,)`: class numbers; -1 for quantities.
    """

    codes: Int[np.ndarray, " cells"]
    cells: Int[np.ndarray, "cells factors"]
    seen: Bool[np.ndarray, " cells"]
    values: Float[np.ndarray, "cells outputs"]
    classes: tuple[Any, ...]
    label: Int[np.ndarray, " cells"]


def cell_labels(
    codes: Int[np.ndarray, " rows"],
    cells: Int[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    target: np.ndarray,
    describe: Any,
    *,
    average: bool = False,
) -> CellLabels:
    """Gathers the labels of the rows by cell; refuses a cell with two labels unless `average` is set.

    Words are classes, and so are numbers of which there are only two; other numbers are quantities.
    """
    known = np.array([value is not None and value == value for value in target.tolist()])
    if not known[seen].all():
        row = int(np.flatnonzero(seen & ~known)[0])
        raise InputError("target", f"no label in training row {row + 1}", "a label for every training row")
    codes, cells, seen, target = codes[known], cells[known], seen[known], target[known]
    unique, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    names, label = np.unique(target.astype(str) if target.dtype == object else target, return_inverse=True)
    words = target.dtype == object
    classes = tuple(names.tolist()) if (words and len(names) <= MOST_CLASSES) or len(names) == 2 else ()
    clash = label != label[first][inverse]
    if clash.any() and not average:
        row = int(np.flatnonzero(clash)[0])
        where = ", ".join(f"{k}={v}" for k, v in describe(cells[row]).items())
        got = f"{target[first[inverse[row]]]} and {target[row]} for the cell {where}"
        raise InputError(
            "target", got, "one label for each cell (or average=True, --average, for their mean)"
        )
    in_training = np.bincount(inverse, weights=seen, minlength=len(unique)) > 0
    if clash.any() and target.dtype != object:
        classes = ()
    if classes:
        if clash.any():
            raise InputError(
                "target", "classes that differ within a cell", "numbers, if they are to be averaged"
            )
        kind = label[first]
        indicators = np.eye(len(classes))[kind]
        values = 2 * indicators[:, 1:] - 1 if len(classes) == 2 else indicators
        return CellLabels(unique, cells[first], in_training, values, classes, kind)
    if target.dtype == object:
        raise InputError(
            "target", f"{len(names)} different labels", f"numbers, or at most {MOST_CLASSES} classes"
        )
    sums = np.bincount(inverse, weights=target.astype(float)) / np.bincount(inverse)
    return CellLabels(unique, cells[first], in_training, sums[:, None], (), np.full(len(unique), -1))


@dataclass(frozen=True, eq=False)
class Additivity:
    """How well sums over conjunctions of order at most k fit the training labels.

    - `explained`: the share of the labels' variance; `additive`: whether nothing is left.
    - `worst`: cells `(few, factors)` that the best fit misses most, and `misses` by how much (of the labels' range).
    """

    order: int
    explained: float
    additive: bool
    worst: Int[np.ndarray, "few factors"]
    misses: Float[np.ndarray, " few"]


def additivity(labels: CellLabels, sizes: Sequence[int], *, order: int, few: int = 3) -> Additivity:
    """The best additive fit of the training labels at one order."""
    cells, values = labels.cells[labels.seen], labels.values[labels.seen]
    design = Conjunctions.of(cells, sizes, order=order).design(cells)
    fitted = np.stack(
        [
            design @ lsmr(design, column, atol=1e-12, btol=1e-12, conlim=0, maxiter=5000)[0]
            for column in values.T
        ],
        axis=1,
    )
    span = max(float(np.ptp(values)), 1e-300)
    miss = np.abs(fitted - values).max(axis=1) / span
    variance = ((values - values.mean(axis=0)) ** 2).sum()
    explained = 1 - ((fitted - values) ** 2).sum() / variance if variance else 1.0
    worst = np.argsort(-miss, kind="stable")[:few]
    worst = worst[miss[worst] > EXACT]
    return Additivity(order, float(explained), not len(worst), cells[worst], miss[worst])


@dataclass(frozen=True)
class Shortcut:
    """A low-order rule that training rewards.

    - `factors`: positions of the factors that it looks at.
    - `train`, `target`: how well their best guess does on training cells and on the cells of interest (accuracy, or
        share of variance for quantities; NaN if the labels of the cells of interest are not known); `base`, `chance`:
        what a constant reaches on each.
    - `misleads`: better than a constant in training, worse than chance where it matters.
    - `weight`: the salience of the rule times its gap; rules are ranked by it.
    """

    factors: Subset
    train: float
    target: float
    base: float
    chance: float
    misleads: bool
    weight: float


def shortcuts(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], sizes: Sequence[int], kernel: OverlapKernel
) -> list[Shortcut]:
    """Rules of one factor, and of two where both together do better in training; the most misleading first.

    - `interesting`: which labelled cells are cells of interest.
    """
    seen, found = labels.seen, []
    alone: dict[int, float] = {}
    for subset in subsets(len(sizes), min(2, len(sizes) - 1), least=1):
        codes = codes_of(labels.cells, subset, sizes)
        if labels.classes:
            train, target, base = _by_majority(codes, labels.label, seen, interesting)
            chance = 1 / len(labels.classes)
        else:
            train, target, base = _by_mean(codes, labels.values[:, 0], seen, interesting)
            chance = 0.0
        if len(subset) == 1:
            alone[subset[0]] = train
        elif train <= max(alone[axis] for axis in subset) + 1e-9:
            continue
        misleads = bool(train > base + 1e-9 and target < chance - 1e-9)
        salience = kernel.normalised[place(subset, len(sizes))]
        gap = train - target if np.isfinite(target) else train - base
        found.append(Shortcut(subset, train, target, base, chance, misleads, float(salience * gap)))
    return sorted(found, key=lambda rule: (-rule.misleads, -rule.weight))


def _by_majority(
    codes: np.ndarray, label: np.ndarray, seen: np.ndarray, interesting: np.ndarray
) -> tuple[float, float, float]:
    known, group = np.unique(codes[seen], return_inverse=True)
    table = np.zeros((len(known), label.max() + 1))
    np.add.at(table, (group, label[seen]), 1)
    guess = table.argmax(axis=1)
    base = np.bincount(label[seen]).max() / seen.sum()
    train = float((guess[group] == label[seen]).mean())
    place = np.minimum(np.searchsorted(known, codes[interesting]), len(known) - 1)
    familiar = known[place] == codes[interesting]
    right = (guess[place] == label[interesting])[familiar]
    return train, float(right.mean()) if len(right) else float("nan"), float(base)


def _by_mean(
    codes: np.ndarray, values: np.ndarray, seen: np.ndarray, interesting: np.ndarray
) -> tuple[float, float, float]:
    known, group = np.unique(codes[seen], return_inverse=True)
    means = np.bincount(group, weights=values[seen]) / np.bincount(group)
    train = _explained(means[group], values[seen])
    place = np.minimum(np.searchsorted(known, codes[interesting]), len(known) - 1)
    familiar = known[place] == codes[interesting]
    if familiar.sum() < 2:
        return train, float("nan"), 0.0
    return train, _explained(means[place][familiar], values[interesting][familiar]), 0.0


def _explained(guess: np.ndarray, values: np.ndarray) -> float:
    spread = ((values - values.mean()) ** 2).sum()
    return float(1 - ((guess - values) ** 2).sum() / spread) if spread else float("nan")


def contradiction(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], sizes: Sequence[int]
) -> Int[np.ndarray, "cells factors"] | None:
    """Cells of interest whose two classes no sum over seen conjunctions can have together; empty if there is one.

    `None` if cells or factors are too many to look.

    Such labels are out of reach of every kernel machine on a compositionally structured representation.
    """
    if len(labels.classes) != 2 or not interesting.any():
        return labels.cells[:0]
    work = 2 ** len(sizes) * (labels.seen.sum() + interesting.sum())
    if interesting.sum() > MOST_MACHINE_CELLS or work > MOST_CONJUNCTIONS:
        return None
    cells = labels.cells[interesting]
    design = Conjunctions.of(labels.cells[labels.seen], sizes, order=len(sizes)).design(cells)
    found = separation(design, labels.values[interesting, 0])
    return cells[found.certificate > 0]
