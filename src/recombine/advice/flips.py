"""The fewest cells whose addition to training makes the largest margin right about the others.

Where a shortcut misleads the largest margin, a few further cells can turn the outcome, but there is no formula for
how few. All sets are tried, smallest first, as long as that takes few machines; sets that only differ by names of
levels which the table treats alike count once. Beyond that, cells are added one by one, the best each time, and the
result is not proven to be the smallest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import comb

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.advice.forecasts import has_two_classes, margin_machine, share_right
from recombine.advice.labels import CellLabels
from recombine.theory import OverlapKernel

MOST_CELLS = 400
"""Labelled cells, in training and of interest, up to which a search is made."""
MACHINES = 400
"""Machines that a search may solve, for small tables."""
WORK = 1e7
"""Machines times squared training cells that a search may take; a machine of 150 cells takes about 3 ms."""
MOST_SETS = 10_000
"""Sets of one size that are looked through at most."""
LARGEST = 8
"""Cells that are added at most."""
_EXACT_SIZE = 4


@dataclass(frozen=True, eq=False)
class Flip:
    """Cells to add so that the largest margin is right about all other labelled cells of interest.

    - `before`: accuracy on the labelled cells of interest without them.
    - `cells` `(additions, factors)`: level indices; empty if no set was found within the search.
    - `after`: accuracy on the other cells with them (with the best set that was tried, if none makes all right).
    - `least`: fewer than so many are proven not to be enough.
    """

    before: float
    cells: Int[np.ndarray, "additions factors"]
    after: float
    least: int

    @property
    def smallest(self) -> bool:
        """Whether no smaller set would do."""
        return len(self.cells) > 0 and len(self.cells) == self.least


def fewest_to_flip(
    labels: CellLabels,
    interesting: Bool[np.ndarray, " cells"],
    kernel: OverlapKernel,
    *,
    banned: Bool[np.ndarray, " cells"] | None = None,
) -> Flip | None:
    """Searches for the fewest labelled cells of interest to add. `None` if nothing is wrong, or cells are too many.

    - `banned`: labelled cells that cannot be added; answers for them count all the same.
    """
    numbers = np.flatnonzero(labels.seen | interesting)
    if not has_two_classes(labels) or interesting.sum() < 2 or len(numbers) > MOST_CELLS:
        return None
    allowed = np.ones(len(numbers), dtype=bool) if banned is None else ~banned[numbers]
    search = _Search(labels.cells[numbers], labels.values[numbers, 0], labels.seen[numbers], allowed, kernel)
    before = search.accuracy(())
    if before == 1:
        return None
    least, found = search.exhaustive()
    if found is None:
        found = search.greedy()
    chosen, after = found
    kept = sorted(chosen) if after == 1 else []
    return Flip(before, search.cells[kept], after, least)


class _Search:
    """Sets of candidates, each scored once."""

    def __init__(
        self,
        cells: Int[np.ndarray, "cells factors"],
        truth: Float[np.ndarray, " cells"],
        seen: Bool[np.ndarray, " cells"],
        allowed: Bool[np.ndarray, " cells"],
        kernel: OverlapKernel,
    ) -> None:
        self.cells, self.truth, self.seen = cells, truth, seen
        self.gram = kernel.gram(cells)
        self.unseen = np.flatnonzero(~seen)
        self.candidates = np.flatnonzero(~seen & allowed)
        self.alike = interchangeable(cells, truth, 2 * seen + allowed)
        self.lost = False
        self.left = int(min(MACHINES, WORK / max(1, seen.sum()) ** 2))
        self.known: dict[tuple[tuple[int, ...], ...], float] = {}

    def accuracy(self, chosen: Sequence[int]) -> float:
        """On the unseen cells that are not chosen, if the chosen ones are trained too."""
        form = canonical(self.cells[list(chosen)], self.alike)
        if form not in self.known:
            rest, margins = self.margins(chosen)
            self.known[form] = share_right(margins, np.ones(len(rest)))
        return self.known[form]

    def margins(self, chosen: Sequence[int]) -> tuple[Int[np.ndarray, " rest"], Float[np.ndarray, " rest"]]:
        """The other unseen cells, and how far each is on the right side; all 0 if no largest margin is found."""
        self.left -= 1
        train = np.concatenate([np.flatnonzero(self.seen), np.asarray(chosen, dtype=int)])
        rest = np.setdiff1d(self.unseen, chosen)
        machine = margin_machine(self.gram[np.ix_(train, train)], self.truth[train])
        if machine is None:
            self.lost = True
            return rest, np.zeros(len(rest))
        return rest, machine(self.gram[np.ix_(rest, train)]) * self.truth[rest]

    def exhaustive(self) -> tuple[int, tuple[tuple[int, ...], float] | None]:
        """Tries all sets by size. Gives the size below which there is none, and a set that does, if one was found."""
        reserve, last = self.left // 2, self.most()  # the reserve is for adding cells one by one
        for size in range(1, min(_EXACT_SIZE, last) + 1):
            if comb(len(self.candidates), size) > MOST_SETS:
                return size, None
            for chosen in self._different(size):
                if self.left <= reserve or self.lost:
                    return size, None
                if self.accuracy(chosen) == 1:
                    return size, (chosen, 1.0)
        return min(_EXACT_SIZE, last) + 1, None

    def greedy(self) -> tuple[tuple[int, ...], float]:
        """Adds the best cell again and again, then leaves out those that turn out not to be needed.

        Where not every cell can be tried, those are that the machine is most wrong about.
        """
        chosen: tuple[int, ...] = ()
        best = (chosen, self.accuracy(()))
        steps = min(LARGEST, self.most())
        for step in range(steps):
            if best[1] == 1 or self.left <= 0:
                break
            rest, margins = self.margins(chosen)
            kept = np.isin(rest, self.candidates)
            rest, margins = rest[kept], margins[kept]
            share = max(1, self.left // (steps - step))
            tried = [(*chosen, one) for one in rest[np.argsort(margins, kind="stable")][:share].tolist()]
            scores = [self.accuracy(one) for one in tried]
            chosen = tried[int(np.argmax(scores))]
            best = max(best, (chosen, max(scores)), key=lambda pair: pair[1])
        for one in best[0] if best[1] == 1 else ():
            without = tuple(other for other in best[0] if other != one)
            if without and self.accuracy(without) == 1:
                best = (without, 1.0)
        return best

    def most(self) -> int:
        """Cells that can be added so that one is left to be right about."""
        return min(len(self.candidates), len(self.unseen) - 1)

    def _different(self, size: int) -> Iterator[tuple[int, ...]]:
        """Sets of candidates, one of each kind."""
        forms = set()
        for chosen in combinations(self.candidates.tolist(), size):
            form = canonical(self.cells[list(chosen)], self.alike)
            if form not in forms:
                forms.add(form)
                yield chosen


def interchangeable(
    cells: Int[np.ndarray, "cells factors"],
    truth: Float[np.ndarray, " cells"],
    role: Int[np.ndarray, " cells"],
) -> list[Int[np.ndarray, " levels"]]:
    """For every factor the kind of each level: swapping two levels of a kind changes neither labels nor roles.

    - `role`: a number for every cell that says whether it is trained, and whether it may be.
    """
    table = {
        tuple(cell): (label, part) for cell, label, part in zip(cells.tolist(), truth, role, strict=True)
    }
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


def canonical(
    cells: Int[np.ndarray, "cells factors"], alike: Sequence[Int[np.ndarray, " levels"]]
) -> tuple[tuple[int, ...], ...]:
    """A name of a set of cells that is the same for all sets which levels of one kind can be swapped to turn into it.

    Levels are numbered within their kind as they turn up, in the order of the cells that gives the smallest name.
    """
    rows = [tuple(row) for row in cells.tolist()]
    if len(rows) > _EXACT_SIZE:  # too many orders to try; then sets that differ count as different
        return tuple(sorted(rows))
    return min((_named(order, alike) for order in permutations(rows)), default=())


def _named(rows: Sequence[tuple[int, ...]], alike: Sequence[np.ndarray]) -> tuple[tuple[int, ...], ...]:
    turns: dict[tuple[int, int], list[int]] = {}
    named = []
    for row in rows:
        name: list[int] = []
        for axis, level in enumerate(row):
            kind = int(alike[axis][level])
            met = turns.setdefault((axis, kind), [])
            if level not in met:
                met.append(level)
            name += [kind, met.index(level)]
        named.append(tuple(name))
    return tuple(named)
