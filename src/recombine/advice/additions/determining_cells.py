"""What training determines at each order, and the fewest further cells that determine the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int

from recombine.advice.cells_of_interest import (
    cell_names,
    cheapest_first,
    matching_cells,
    other_cells,
    plain_cell,
)
from recombine.advice.thresholds import MAX_NAMED_CELLS, MAX_TARGETS
from recombine.report import count
from recombine.spaces.observations import Observations
from recombine.theory import CellVerdicts, Conjunctions, Determinacy, cell_verdicts

if TYPE_CHECKING:
    from recombine.advice.result import AdviceSettings


@dataclass(frozen=True, eq=False)
class Additions:
    """Cells to add to training so that all cells of interest are determined.

    **Attributes:**

    - `cells` `(additions, factors)`: level indices.
    - `lower_bound`: a lower bound on their number: the rank that training lacks.
    - `optimal`: whether no smaller set (with costs: no cheaper set of cells of interest) would do.
    - `complete`: whether all cells of interest are determined with them; false only if too much is banned.
    """

    cells: Int[np.ndarray, "additions factors"]
    lower_bound: int
    optimal: bool
    complete: bool


@dataclass(frozen=True, eq=False)
class OrderAdvice(CellVerdicts):
    """What training determines at one order, and the cells to add so that every cell of interest is determined."""

    additions: Additions

    def to_dict(self, table: Observations) -> dict[str, Any]:
        """Counts of cells by verdict, and the additions by level."""
        return {
            "determined": int(self.determined.sum()),
            "norm_completed": int(self.norm_completed.sum()),
            "undetermined": int(self.undetermined.sum()),
            "minimal_additions": [plain_cell(table, cell) for cell in self.additions.cells],
            "least_additions": self.additions.lower_bound,
            "optimal": self.additions.optimal,
            "complete": self.additions.complete,
            "certain": self.certain,
        }

    def sentence(
        self, table: Observations, targets: Int[np.ndarray, "targets factors"], *, explain: bool
    ) -> str:
        """How many of the unseen cells are determined, why the others are not, and which cells would help.

        **Arguments:**

        - `targets`: the cells of interest.
        - `explain`: whether to say why cells are not determined, for the first sentence that needs it.
        """
        total = count(len(targets), "unseen cell")
        if self.order == targets.shape[1]:
            return f"0 of {total}: each cell may have an effect of its own, so only training cells are known"
        chance = "" if self.certain else " (correct with a probability of about 0.999999)"
        n_determined = int(self.determined.sum())
        if n_determined == len(targets):
            return f"{f'all {total}' if len(targets) > 1 else 'the only unseen cell'}{chance}"
        text = f"{count(n_determined)} of {total}{chance}"
        reasons = self._reasons(explain=explain)
        open_cells = targets[~self.determined]
        if len(reasons) == 1:
            the_others = (
                f"the other {count(len(open_cells))}" if n_determined else f"all {count(len(open_cells))}"
            )
            shared = _shared_levels(table, open_cells) if n_determined else ""
            return f"{text}; {the_others}{shared} {reasons[0][1]} and {self._need(table, len(open_cells))}"
        listed = "; ".join(f"{count(number)} {reason}" for number, reason in reasons)
        return f"{text}; {listed}; these {count(len(open_cells))} {self._need(table, len(open_cells))}"

    def _reasons(self, *, explain: bool) -> list[tuple[int, str]]:
        """Why cells are not determined, with the number of cells."""
        n_bias, n_open = int(self.norm_completed.sum()), int(self.undetermined.sum())
        why_bias = " (training never shows one of their combinations)" if explain else ""
        why_open = " (their parts are seen, but not in ways that separate their effects)" if explain else ""
        bias = f"{'depends' if n_bias == 1 else 'depend'} on the model's inductive bias{why_bias}"
        return [
            (number, reason)
            for number, reason in ((n_bias, bias), (n_open, f"{_are(n_open)} undetermined{why_open}"))
            if number
        ]

    def _need(self, table: Observations, n_open: int) -> str:
        """How many further cells are needed, and which."""
        added = self.additions
        verb = "needs" if n_open == 1 else "need"
        if not added.complete:
            return f"{verb} more cells than are allowed ({count(added.lower_bound)} without the bans)"
        names = cell_names(table, added.cells, MAX_NAMED_CELLS)
        more = " (all: --additions FILE)" if len(added.cells) > MAX_NAMED_CELLS else ""
        number = count(len(added.cells), "more cell")
        bound = "" if added.optimal else f" (not proven minimal; at least {count(added.lower_bound)})"
        return f"{verb} {'at least ' if added.optimal else ''}{number}{bound}, for example {names}{more}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _shared_levels(table: Observations, cells: Int[np.ndarray, "cells factors"]) -> str:
    """The levels that all these cells have in common, in brackets."""
    if len(cells) == 1:
        return ""
    shared = np.flatnonzero((cells == cells[0]).all(axis=0))
    levels = [f"{table.space.factors[axis].levels[int(cells[0, axis])]!r}" for axis in shared]
    return f" (all {', '.join(levels)})" if levels else ""


def order_name(order: int) -> str:
    """The assumption behind an order."""
    names = {
        1: "if factors are additive",
        2: "if pairs of factors interact",
        3: "if triples of factors interact",
    }
    return names.get(order, f"if {order} factors interact")


def order_advice(
    table: Observations,
    settings: AdviceSettings,
    targets: Int[np.ndarray, "targets factors"],
    row_spaces: Mapping[int, Determinacy],
    seen: Conjunctions,
    *,
    previous: Mapping[int, OrderAdvice] | None = None,
) -> dict[int, OrderAdvice]:
    """Verdicts and additions at every order.

    **Arguments:**

    - `row_spaces`: by order, what training determines; `seen`: the conjunctions of the training cells.
    - `previous`: the same for less training. Additions are taken greedily, so those for more training are among those
        for less: a cell that was determined by training and earlier additions still is.
    """
    sizes, train = table.space.shape, table.train
    banned = matching_cells(table, targets, settings.ban, "ban") if settings.ban else None
    others = None
    if banned is not None:
        few = table.space.n_cells <= MAX_TARGETS
        others = other_cells(table, train, targets, settings.ban, settings.exclude) if few else train[:0]
    by_order: dict[int, OrderAdvice] = {}
    for order in settings.orders:
        if order == len(sizes):
            by_order[order] = _every_cell(order, targets, banned)
            continue
        known = row_spaces[order]
        verdicts = cell_verdicts(train, targets, sizes, order=order, known=known, seen=seen)
        if banned is not None:
            first = cheapest_first(table, targets)
            added = minimal_additions(known, targets, first=first, banned=banned, others=others)
        else:
            candidates = targets if previous is None else previous[order].additions.cells
            added = minimal_additions(known, candidates, first=cheapest_first(table, candidates))
        by_order[order] = OrderAdvice(
            order, verdicts.determined, verdicts.norm_completed, verdicts.certain, additions=added
        )
    return by_order


def _every_cell(
    order: int, targets: Int[np.ndarray, "targets factors"], banned: Bool[np.ndarray, " targets"] | None
) -> OrderAdvice:
    """If every cell may have an effect of its own, no unseen cell is determined, and each has to be added."""
    allowed = np.ones(len(targets), dtype=bool) if banned is None else ~banned
    complete = bool(allowed.all())
    added = Additions(targets[allowed], len(targets), optimal=complete, complete=complete)
    return OrderAdvice(order, np.zeros_like(allowed), np.ones_like(allowed), certain=True, additions=added)


def minimal_additions(
    known: Determinacy,
    targets: Int[np.ndarray, "targets factors"],
    *,
    first: Int[np.ndarray, " targets"] | Sequence[int] | None = None,
    banned: Bool[np.ndarray, " targets"] | None = None,
    others: Int[np.ndarray, "others factors"] | None = None,
) -> Additions:
    """The fewest cells (with costs: the cheapest among the targets) that determine all targets.

    Independent rows of the design form a matroid, so the greedy choice (take every target that is still open, cheapest
    first) is optimal, and no set of other cells can be smaller. This stays true if banned targets are determined by the
    allowed ones. Where they are not, cells that are not targets have to help. Those in the span of training and targets
    do not raise the number; only beyond them the result is a heuristic one.

    **Arguments:**

    - `known`: what training determines.
    - `targets`: the cells of interest, as level indices.
    - `first`: positions of the targets, cheapest first; default: as they come.
    - `banned`: true for targets that cannot be added.
    - `others`: cells that are not targets and may be added if targets are banned.

    ```python
    >>> import numpy as np
    >>> from recombine.advice import minimal_additions
    >>> from recombine.theory import Determinacy
    >>> known = Determinacy.of(np.array([[0, 0], [0, 1]]), (3, 2), order=1)
    >>> minimal_additions(known, np.array([[1, 0], [1, 1], [2, 0], [2, 1]])).cells  # one cell for each new row
    array([[1, 0],
           [2, 0]])

    ```
    """
    order = np.arange(len(targets)) if first is None else np.asarray(first)
    span = known.copy()  # of training and all targets
    taken = order[span.add(targets[order])]
    if banned is None or not banned.any():
        return Additions(targets[np.sort(taken)], len(taken), optimal=True, complete=True)
    lower_bound = len(taken)
    grown, allowed = known.copy(), order[~banned[order]]
    chosen = [targets[allowed[grown.add(targets[allowed])]]]
    optimal = True
    for inside in (True, False):
        if others is None or grown.determined(targets).all():
            break
        candidates = others[span.determined(others) == inside]
        chosen.append(candidates[grown.add(candidates)])
        optimal = inside
    cells = np.concatenate(chosen)
    complete = bool(grown.determined(targets).all())
    if complete and not optimal:
        cells = _pruned(known, cells, targets)
    return Additions(cells, lower_bound, optimal=complete and len(cells) == lower_bound, complete=complete)


def _pruned(known: Determinacy, cells: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Drops, from the last to the first, every cell without which the targets stay determined."""
    for index in range(len(cells) - 1, -1, -1):
        without = known.copy()
        without.add(np.delete(cells, index, axis=0))
        if without.determined(targets).all():
            cells = np.delete(cells, index, axis=0)
    return cells
