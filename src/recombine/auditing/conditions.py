"""What separates right from wrong unseen cells: short, readable conditions, each with the share of wrong cells.

A condition is a level, a set of levels of one factor, how many seen cells share a level, how far the nearest seen cell
is, whether the mirror image (the same two levels, exchanged) was seen, or a value of another column. Each is tested by
Fisher's exact test (a set of levels by a permutation test that repeats the choice of the set), with the p-value and the
interval corrected for the number of conditions that were tried (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy.special import gammaln

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.independent_units import one_of_each
from recombine.auditing.level_sets import LevelSet, best_level_set, level_set_text
from recombine.auditing.thresholds import (
    MAX_CONDITION_LEVELS,
    MAX_P_VALUE_OF_CONDITION,
    MAX_SHOWN_CONDITIONS,
    MIN_CONDITION_CELLS,
    SAME_CONDITION,
    STRONG_CONDITION,
)
from recombine.auditing.wrong_cells import is_wrong
from recombine.intervals import Estimate, rate_difference
from recombine.report import percent
from recombine.spaces.observations import Observations

TIE = 1e-7
"""Relative difference up to which two tables are equally probable in Fisher's test, as in R."""


@dataclass(frozen=True, eq=False)
class Condition:
    """Something that is true of some unseen cells, and how often these are wrong.

    **Attributes:**

    - `text`: such as `"colour is red"`; `kind`: `level`, `levels`, `partners`, `distance`, `mirror` or `slice`.
    - `cells`, `others`: how many unseen cells it is true of, and how many not; `wrong`, `wrong_elsewhere`: the share of
        wrong ones among them.
    - `lift`: the difference of these shares, with an interval that holds for all conditions together.
    - `p_value`: of its test, corrected likewise; `tried`: how many conditions there were.
    - `index`: the cells it is true of, among the cells of the table, with their copies, which `cells` and `others`
        count once.
    """

    text: str
    kind: str
    cells: int
    others: int
    wrong: float
    wrong_elsewhere: float
    lift: Estimate
    p_value: float
    tried: int
    index: Int[np.ndarray, " cells"]

    @property
    def strong(self) -> bool:
        """Whether it separates right from wrong cells so well that the verdict mentions it."""
        return self.lift.low >= STRONG_CONDITION or self.lift.high <= -STRONG_CONDITION

    @property
    def sentence(self) -> str:
        """The shares in words."""
        what = (
            "unseen cells (their rows with each value by themselves)"
            if self.kind == "slice"
            else "unseen cells"
        )
        return (
            f"{percent(self.wrong)} of the {what} are wrong where {self.text}, {percent(self.wrong_elsewhere)} "
            "elsewhere"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "condition": self.text,
            "kind": self.kind,
            "cells": self.cells,
            "others": self.others,
            "wrong": self.wrong,
            "wrong_elsewhere": self.wrong_elsewhere,
            "difference": self.lift.value,
            "interval": list(self.lift.pair),
            "p_value": self.p_value,
            "tried": self.tried,
        }


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A condition before its test: which units it is true of, which of them are wrong, and the cell of every unit."""

    text: str
    kind: str
    holds: Bool[np.ndarray, " units"]
    wrong: Bool[np.ndarray, " units"]
    cell: Int[np.ndarray, " units"]
    axis: int = -1
    chosen: LevelSet | None = None


def separating_conditions(
    table: Observations, cells: Cells, slices: Mapping[str, np.ndarray] | None = None
) -> tuple[Condition, ...]:
    """The conditions that separate right from wrong unseen cells beyond chance, strongest first.

    **Arguments:**

    - `slices`: `(rows,)` values of further columns by name.
    """
    index = one_of_each(cells.outside, cells.unit)
    wrong = is_wrong(cells)[index]
    candidates = [] if not wrong.any() or wrong.all() else list(_of_cells(table, cells, index, wrong))
    candidates += _of_slices(cells, index, slices or {})
    enough = [
        one
        for one in candidates
        if min(one.holds.sum(), (~one.holds).sum()) >= MIN_CONDITION_CELLS
        and 0 < one.wrong.sum() < len(one.wrong)
    ]
    tested = _without_members(enough, [_tested(one, len(enough)) for one in enough])
    chosen: list[Condition] = []
    for one in sorted(tested, key=lambda one: (one.p_value, -abs(one.lift.value))):
        new = not any(_same(one, other, len(index)) for other in chosen)
        if one.p_value <= MAX_P_VALUE_OF_CONDITION and new and len(chosen) < MAX_SHOWN_CONDITIONS:
            chosen.append(one)
    return tuple(chosen) if not cells.copied else tuple(_with_copies(one, cells) for one in chosen)


def _with_copies(one: Condition, cells: Cells) -> Condition:
    """A condition that is also true of the copies of its cells; further columns may have other values there."""
    if one.kind == "slice":
        return one
    return replace(one, index=cells.outside[np.isin(cells.unit[cells.outside], cells.unit[one.index])])


def _of_cells(
    table: Observations, cells: Cells, index: np.ndarray, wrong: np.ndarray
) -> Iterator[_Candidate]:
    levels, seen = cells.cells[index], cells.cells[cells.seen]

    def candidate(text: str, kind: str, holds: np.ndarray, axis: int = -1) -> _Candidate:
        return _Candidate(text, kind, holds, wrong, index, axis)

    for axis, factor in enumerate(table.space.factors):
        if axis in cells.copied:  # nothing depends on it, and one level stands for all
            continue
        if factor.size <= MAX_CONDITION_LEVELS:
            for level in np.unique(levels[:, axis]):
                text = f"{factor.name} is {factor.levels[level]}"
                yield candidate(text, "level", levels[:, axis] == level, axis)
            best = best_level_set(levels[:, axis], wrong)
            if best is not None:
                text = level_set_text(factor.name, factor.levels, best.levels)
                holds = np.isin(levels[:, axis], best.levels)
                yield replace(candidate(text, "levels", holds, axis), chosen=best)
        partners = np.bincount(seen[:, axis], minlength=factor.size)[levels[:, axis]]
        middle = int(np.median(partners))
        few = f"at most {middle} seen cells share the {factor.name}"
        yield candidate(few, "partners", partners <= middle)
    apart = _distance(levels, seen)
    for away in np.unique(apart)[1:]:
        far = f"every seen cell differs in {away} or more factors"
        yield candidate(far, "distance", apart >= away)
    yield from _mirrored(table, levels, seen, candidate)


def _distance(levels: np.ndarray, seen: np.ndarray) -> Int[np.ndarray, " cells"]:
    """The number of factors in which the nearest seen cell differs."""
    nearest = np.full(len(levels), levels.shape[1])
    step = max(1, 2**24 // max(1, len(seen)))
    for start in range(0, len(levels), step):
        block = levels[start : start + step]
        differ = np.zeros((len(block), len(seen)), dtype=np.int16)
        for axis in range(levels.shape[1]):
            differ += block[:, axis, None] != seen[None, :, axis]
        nearest[start : start + step] = differ.min(axis=1)
    return nearest


def _mirrored(
    table: Observations, levels: np.ndarray, seen: np.ndarray, candidate: Any
) -> Iterator[_Candidate]:
    """For factors with the same levels: whether the cell with exchanged levels was seen."""
    space = table.space
    codes = np.unique(np.ravel_multi_index(tuple(seen.T), space.shape))
    for one, other in combinations(range(len(space.factors)), 2):
        first, second = space.factors[one], space.factors[other]
        if set(first.levels) != set(second.levels):
            continue
        place = {level: number for number, level in enumerate(second.levels)}
        back = {level: number for number, level in enumerate(first.levels)}
        exchanged = levels.copy()
        exchanged[:, one] = [back[second.levels[level]] for level in levels[:, other]]
        exchanged[:, other] = [place[first.levels[level]] for level in levels[:, one]]
        mirrored = np.isin(np.ravel_multi_index(tuple(exchanged.T), space.shape), codes)
        text = f"the mirror image ({first.name} and {second.name} exchanged) was seen"
        yield candidate(text, "mirror", mirrored)


def _of_slices(cells: Cells, index: np.ndarray, slices: Mapping[str, np.ndarray]) -> Iterator[_Candidate]:
    """Values of further columns: each unseen cell counts once for every value that its rows have."""
    rows_of = cells.measured
    inside = np.zeros(len(cells.cells), dtype=bool)
    inside[index] = True
    errors = rows_of.outputs.row_errors()
    for name, values in slices.items():
        rows = np.flatnonzero(rows_of.counts & inside[rows_of.cell_index] & np.isfinite(errors))
        texts = np.array([str(one) for one in values[rows].tolist()])
        known, number = np.unique(texts, return_inverse=True)
        if not 1 < len(known) <= MAX_CONDITION_LEVELS:
            continue
        units, unit = np.unique(rows_of.cell_index[rows] * len(known) + number, return_inverse=True)
        mean = means_by_cell(errors[rows][:, None], unit, len(units))[:, 0]
        cell, value = units // len(known), units % len(known)
        wrong = mean > _bound(cells)
        for one, text in enumerate(known):
            yield _Candidate(f"{name} is {text}", "slice", value == one, wrong, cell)


def _bound(cells: Cells) -> float:
    """The error above which some rows of a cell are wrong: the largest of a cell that is right."""
    if cells.measured.outputs.measure.name == "labels":
        return 0.5
    wrong = is_wrong(cells)
    right = cells.known & ~wrong
    return float(cells.error[right].max(initial=0.0))


def _tested(one: _Candidate, tried: int) -> Condition:
    here, elsewhere = one.wrong[one.holds], one.wrong[~one.holds]
    counts = [[int(part.sum()), int((~part).sum())] for part in (here, elsewhere)]
    p_value, level = _fisher_exact(counts), 1 - 0.05 / max(1, tried)
    if one.chosen is not None:
        p_value, level = one.chosen.p_value_by_sets(p_value), one.chosen.confidence(level)
    p_value = min(1.0, tried * p_value)
    lift = rate_difference(counts[0][0], len(here), counts[1][0], len(elsewhere), level=level)
    return Condition(
        one.text,
        one.kind,
        len(here),
        len(elsewhere),
        float(here.mean()),
        float(elsewhere.mean()),
        lift,
        p_value,
        tried,
        np.unique(one.cell[one.holds]),
    )


def _fisher_exact(counts: Sequence[Sequence[int]]) -> float:
    """The two-sided p-value of Fisher's exact test of a 2 x 2 table: all tables that are at most as probable.

    `scipy.stats.fisher_exact` takes a hundred times as long, which counts for hundreds of conditions.
    """
    (a, b), (c, d) = counts
    first = np.arange(max(0, a - d), min(a + b, a + c) + 1)  # tables with the same sums, by their first entry
    tables = np.stack([first, a + b - first, a + c - first, d - a + first])
    log_probability = -gammaln(tables + 1).sum(axis=0)
    probability = np.exp(log_probability - log_probability.max())
    observed = probability[a - first[0]]
    as_extreme = probability <= observed * (1 + TIE)
    return float(probability[as_extreme].sum() / probability.sum())


def _without_members(candidates: Sequence[_Candidate], tested: Sequence[Condition]) -> list[Condition]:
    """Conditions without single levels that are wrong as often as the set to which they belong, or its complement."""
    sets = {
        one.axis: one
        for one, test in zip(candidates, tested, strict=True)
        if one.chosen is not None and test.p_value <= MAX_P_VALUE_OF_CONDITION
    }
    kept = []
    for one, test in zip(candidates, tested, strict=True):
        if one.kind == "level" and one.axis in sets:
            larger = sets[one.axis]
            side = larger.holds == larger.holds[one.holds.argmax()]
            rest = one.wrong[side & ~one.holds]
            counts = [[int(part.sum()), int((~part).sum())] for part in (one.wrong[one.holds], rest)]
            if len(candidates) * _fisher_exact(counts) > MAX_P_VALUE_OF_CONDITION:
                continue
        kept.append(test)
    return kept


def _same(one: Condition, other: Condition, count: int) -> bool:
    """Whether two conditions are true of nearly the same cells, or one is true where the other is not."""
    if "slice" in (one.kind, other.kind):  # true of rows rather than cells; of two values one is enough
        return (
            one.kind == other.kind
            and one.text.split(" is ")[0] == other.text.split(" is ")[0]
            and (
                one.cells,
                one.others,
            )
            == (other.others, other.cells)
        )
    common = len(np.intersect1d(one.index, other.index))
    either = len(one.index) + len(other.index) - common
    opposite = (either - common) / max(1, count)
    return common / max(1, either) >= SAME_CONDITION or opposite >= SAME_CONDITION
