"""Corrective cells: the fewest cells whose addition to training makes maximum margin right about the others.

Where a shortcut misleads maximum margin (and so cross-entropy), a few more cells can correct it, but no formula says
how few. All sets are tried, smallest first, as long as that takes few machines; sets that differ only by levels which
the table treats alike count once. Beyond that, cells are added one by one, the best each time, and the result is not
proven to be the smallest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.advice.cells_of_interest import cell_names, plain_cell
from recombine.advice.forecasts.kernel_forecasts import accuracy, margin_machine
from recombine.advice.labels import CellLabels
from recombine.advice.thresholds import (
    MAX_EXHAUSTIVE_SIZE,
    MAX_GREEDY_SIZE,
    MAX_MACHINES,
    MAX_SEARCH_CELLS,
    MAX_SEARCH_WORK,
    MAX_SETS,
)
from recombine.report import count, percent
from recombine.spaces.observations import Observations
from recombine.theory import OverlapKernel


@dataclass(frozen=True, eq=False)
class CorrectiveCells:
    """Cells to add so that maximum margin is right about all other labelled unseen cells.

    **Attributes:**

    - `before`: accuracy on the labelled unseen cells without them.
    - `cells` `(additions, factors)`: level indices; empty if the search found no such set.
    - `after`: accuracy on the other cells with them (or with the best set that was tried).
    - `lower_bound`: fewer cells than this are proven not to be enough.
    """

    before: float
    cells: Int[np.ndarray, "additions factors"]
    after: float
    lower_bound: int

    @property
    def smallest(self) -> bool:
        """Whether it is proven that no smaller set would do."""
        return len(self.cells) > 0 and len(self.cells) == self.lower_bound

    def to_dict(self, table: Observations) -> dict[str, Any]:
        """The cells by level, and what they change."""
        return {
            "before": self.before,
            "cells": [plain_cell(table, cell) for cell in self.cells],
            "after": self.after,
            "least": self.lower_bound,
            "smallest": self.smallest,
        }

    def sentence(self, table: Observations, saliences: str) -> str:
        """What maximum margin gets right, and which cells correct it; `saliences` says whose are assumed."""
        text = f"with {saliences}, maximum margin gets {percent(self.before)} of the unseen labels right"
        if not len(self.cells):
            return (
                f"{text}; no small set of cells was found that, once added, makes it right about the others"
            )
        proof = (
            "the minimum"
            if self.smallest
            else f"at least {self.lower_bound} {'is' if self.lower_bound == 1 else 'are'} needed; not proven minimal"
        )
        names = cell_names(table, self.cells, len(self.cells))
        return f"{text}; adding {count(len(self.cells), 'cell')} ({proof}) makes it right about all others: {names}"


def find_corrective_cells(
    labels: CellLabels,
    interesting: Bool[np.ndarray, " cells"],
    kernel: OverlapKernel,
    *,
    banned: Bool[np.ndarray, " cells"] | None = None,
) -> CorrectiveCells | None:
    """Searches for the fewest labelled unseen cells to add. `None` if nothing is wrong, or there are too many cells.

    **Arguments:**

    - `interesting`: which labelled cells are cells of interest.
    - `banned`: labelled cells that cannot be added; predictions for them count all the same.
    """
    used = np.flatnonzero(labels.seen | interesting)
    if not labels.two_classes or interesting.sum() < 2 or len(used) > MAX_SEARCH_CELLS:
        return None
    allowed = np.ones(len(used), dtype=bool) if banned is None else ~banned[used]
    search = _Search(labels.cells[used], labels.values[used, 0], labels.seen[used], allowed, kernel)
    before = search.accuracy(())
    if before == 1:
        return None
    lower_bound, best = search.exhaustive()
    if best is None:
        best = search.greedy()
    chosen, after = best
    kept = sorted(chosen) if after == 1 else []
    return CorrectiveCells(before, search.cells[kept], after, lower_bound)


class _Search:
    """Accuracies of sets of added cells, each machine solved once; `budget` counts the machines that are left."""

    def __init__(
        self,
        cells: Int[np.ndarray, "cells factors"],
        true: Float[np.ndarray, " cells"],
        seen: Bool[np.ndarray, " cells"],
        allowed: Bool[np.ndarray, " cells"],
        kernel: OverlapKernel,
    ) -> None:
        self.cells, self.true, self.seen = cells, true, seen
        self.gram = kernel.gram(cells)
        self.unseen = np.flatnonzero(~seen)
        self.candidates = np.flatnonzero(~seen & allowed)
        self.level_kinds = interchangeable_levels(cells, true, 2 * seen + allowed)
        self.failed = False
        self.budget = int(min(MAX_MACHINES, MAX_SEARCH_WORK / max(1, seen.sum()) ** 2))
        self.scores: dict[tuple[tuple[int, ...], ...], float] = {}

    def accuracy(self, chosen: Sequence[int]) -> float:
        """On the unseen cells that are not chosen, if the chosen ones are added to training."""
        form = canonical_form(self.cells[list(chosen)], self.level_kinds)
        if form not in self.scores:
            rest, margins = self.margins(chosen)
            self.scores[form] = accuracy(margins, np.ones(len(rest)))
        return self.scores[form]

    def margins(self, chosen: Sequence[int]) -> tuple[Int[np.ndarray, " rest"], Float[np.ndarray, " rest"]]:
        """The other unseen cells and their margins (positive: right); all 0 if no maximum margin is found."""
        self.budget -= 1
        train = np.concatenate([np.flatnonzero(self.seen), np.asarray(chosen, dtype=int)])
        rest = np.setdiff1d(self.unseen, chosen)
        machine = margin_machine(self.gram[np.ix_(train, train)], self.true[train])
        if machine is None:
            self.failed = True
            return rest, np.zeros(len(rest))
        return rest, machine(self.gram[np.ix_(rest, train)]) * self.true[rest]

    def exhaustive(self) -> tuple[int, tuple[tuple[int, ...], float] | None]:
        """Tries all sets by size. Returns the size below which none is right, and a set that is, if one was found."""
        reserve, last = self.budget // 2, self.max_size()  # the reserve is for the greedy search
        for size in range(1, min(MAX_EXHAUSTIVE_SIZE, last) + 1):
            if comb(len(self.candidates), size) > MAX_SETS:
                return size, None
            for chosen in self._distinct_sets(size):
                if self.budget <= reserve or self.failed:
                    return size, None
                if self.accuracy(chosen) == 1:
                    return size, (chosen, 1.0)
        return min(MAX_EXHAUSTIVE_SIZE, last) + 1, None

    def greedy(self) -> tuple[tuple[int, ...], float]:
        """Adds the best cell repeatedly, then drops those that turn out not to be needed.

        Where not every cell can be tried, those with the worst margins are.
        """
        chosen: tuple[int, ...] = ()
        best = (chosen, self.accuracy(()))
        steps = min(MAX_GREEDY_SIZE, self.max_size())
        for step in range(steps):
            if best[1] == 1 or self.budget <= 0:
                break
            rest, margins = self.margins(chosen)
            kept = np.isin(rest, self.candidates)
            rest, margins = rest[kept], margins[kept]
            share = max(1, self.budget // (steps - step))
            tried = [(*chosen, one) for one in rest[np.argsort(margins, kind="stable")][:share].tolist()]
            scores = [self.accuracy(one) for one in tried]
            chosen = tried[int(np.argmax(scores))]
            best = max(best, (chosen, max(scores)), key=lambda pair: pair[1])
        for one in best[0] if best[1] == 1 else ():
            without = tuple(other for other in best[0] if other != one)
            if without and self.accuracy(without) == 1:
                best = (without, 1.0)
        return best

    def max_size(self) -> int:
        """The most cells that can be added so that one is left to predict."""
        return min(len(self.candidates), len(self.unseen) - 1)

    def _distinct_sets(self, size: int) -> Iterator[tuple[int, ...]]:
        """Sets of candidates, one of each symmetry class."""
        forms = set()
        for chosen in combinations(self.candidates.tolist(), size):
            form = canonical_form(self.cells[list(chosen)], self.level_kinds)
            if form not in forms:
                forms.add(form)
                yield chosen


def interchangeable_levels(
    cells: Int[np.ndarray, "cells factors"],
    true: Float[np.ndarray, " cells"],
    role: Int[np.ndarray, " cells"],
) -> list[Int[np.ndarray, " levels"]]:
    """For every factor a kind for each level: swapping two levels of one kind changes neither labels nor roles.

    **Arguments:**

    - `role`: a number per cell that encodes whether it is trained, and whether it may be.
    """
    table = {tuple(cell): (label, part) for cell, label, part in zip(cells.tolist(), true, role, strict=True)}
    kinds = []
    for axis in range(cells.shape[1]):
        kind = np.arange(cells[:, axis].max() + 1)
        for level in range(1, len(kind)):
            for other in np.unique(kind[:level]).tolist():
                if _swap_changes_nothing(table, axis, level, other):
                    kind[level] = other
                    break
        kinds.append(kind)
    return kinds


def _swap_changes_nothing(
    table: dict[tuple[int, ...], tuple[float, int]], axis: int, one: int, other: int
) -> bool:
    swap = {one: other, other: one}
    for cell, entry in table.items():
        if cell[axis] in swap:
            image = (*cell[:axis], swap[cell[axis]], *cell[axis + 1 :])
            if table.get(image) != entry:
                return False
    return True


def canonical_form(
    cells: Int[np.ndarray, "cells factors"], level_kinds: Sequence[Int[np.ndarray, " levels"]]
) -> tuple[tuple[int, ...], ...]:
    """A form of a set of cells that swaps of levels of one kind leave unchanged.

    Levels are numbered within their kind as they turn up, in the order of the cells that gives the smallest form.
    """
    rows = [tuple(row) for row in cells.tolist()]
    if len(rows) > MAX_EXHAUSTIVE_SIZE:  # too many orders to try: symmetric copies then count as different
        return tuple(sorted(rows))
    return min((_numbered(order, level_kinds) for order in permutations(rows)), default=())


def _numbered(
    rows: Sequence[tuple[int, ...]], level_kinds: Sequence[np.ndarray]
) -> tuple[tuple[int, ...], ...]:
    met_by_kind: dict[tuple[int, int], list[int]] = {}
    numbered = []
    for row in rows:
        entry: list[int] = []
        for axis, level in enumerate(row):
            kind = int(level_kinds[axis][level])
            met = met_by_kind.setdefault((axis, kind), [])
            if level not in met:
                met.append(level)
            entry += [kind, met.index(level)]
        numbered.append(tuple(entry))
    return tuple(numbered)
