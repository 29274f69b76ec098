"""Which further training cells determine the cells of interest, as few or as cheap as possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from recombine.theory import Determinacy


@dataclass(frozen=True, eq=False)
class Additions:
    """Cells to add to training.

    - `cells` `(additions, factors)`: level indices.
    - `least`: how many are needed at the very least: the rank that training lacks.
    - `optimal`: whether no smaller set (with costs: no cheaper set of cells of interest) would do.
    - `complete`: whether all cells of interest are determined with them; false only if too much is banned.
    """

    cells: Int[np.ndarray, "additions factors"]
    least: int
    optimal: bool
    complete: bool


def minimal_additions(
    known: Determinacy,
    targets: Int[np.ndarray, "targets factors"],
    *,
    first: Int[np.ndarray, " targets"] | None = None,
    banned: Bool[np.ndarray, " targets"] | None = None,
    helpers: Int[np.ndarray, "helpers factors"] | None = None,
) -> Additions:
    """The fewest cells (or, with costs, the cheapest among the targets) that determine all targets.

    Rows of the design form a matroid, so taking every target that is still open, cheapest first, is optimal, and no
    set of other cells can be smaller. That stays true if banned targets are determined by the others. Where they are
    not, cells that are no targets have to help; those that lie in the span of training and targets cost nothing in
    number, and only beyond them the answer is a heuristic one.

    **Arguments:**

    - `known`: what training determines.
    - `targets`: the cells of interest, level indices.
    - `first`: their numbers, cheapest first; default: as they stand.
    - `banned`: true for targets that cannot be added.
    - `helpers`: cells that are no targets and may be added, if targets are banned.
    """
    order = np.arange(len(targets)) if first is None else first
    reach = known.copy()
    taken = order[reach.show(targets[order])]
    if banned is None or not banned.any():
        return Additions(targets[np.sort(taken)], len(taken), optimal=True, complete=True)
    least = len(taken)
    grown, allowed = known.copy(), order[~banned[order]]
    chosen = [targets[allowed[grown.show(targets[allowed])]]]
    optimal = True
    for inside in (True, False):
        if helpers is None or grown.determined(targets).all():
            break
        candidates = helpers[reach.determined(helpers) == inside]
        chosen.append(candidates[grown.show(candidates)])
        optimal = inside
    cells = np.concatenate(chosen)
    complete = bool(grown.determined(targets).all())
    if complete and not optimal:
        cells = _pruned(known, cells, targets)
    return Additions(cells, least, optimal=complete and len(cells) == least, complete=complete)


def _pruned(known: Determinacy, cells: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Leaves out, from the last to the first, every cell without which the targets stay determined."""
    for index in range(len(cells) - 1, -1, -1):
        without = known.copy()
        without.show(np.delete(cells, index, axis=0))
        if without.determined(targets).all():
            cells = np.delete(cells, index, axis=0)
    return cells
