"""Coverage: which levels, pairs of levels and larger conjunctions of the unseen cells never occur in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.advice.thresholds import MAX_EXAMPLES, MAX_NAMED_CELLS
from recombine.report import count, plain_level
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions


@dataclass(frozen=True)
class Coverage:
    """The conjunctions of one order in the cells of interest, and those among them that no training cell has.

    **Attributes:**

    - `order`: the number of levels that are combined.
    - `all`, `unseen`: how many there are, and how many of them are unseen.
    - `of_seen`: the unseen ones whose single levels all occur in training (at order 1: all unseen ones).
    - `examples`: some of these, by factor and level.
    """

    order: int
    all: int
    unseen: int
    of_seen: int
    examples: tuple[Mapping[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        """Counts and examples as plain values."""
        return {
            "unseen_conjunctions": self.unseen,
            "unseen_of_seen_levels": self.of_seen,
            "conjunctions": self.all,
            "examples": [{name: plain_level(level) for name, level in one.items()} for one in self.examples],
        }

    def sentence(self, n_levels: int) -> str:
        """How many conjunctions are missing, and which.

        **Arguments:**

        - `n_levels`: the number of levels of all factors together, which missing single levels are counted against.
        """
        noun = {1: "level", 2: "pair of levels", 3: "triple of levels"}.get(
            self.order, f"combination of {self.order} levels"
        )
        nouns = noun.replace(" of", "s of", 1) if " of" in noun else f"{noun}s"
        if not self.unseen:
            return f"every {noun} in the unseen cells occurs in training"
        names = [" × ".join(str(level) for level in one.values()) for one in self.examples[:MAX_NAMED_CELLS]]
        listed = ", ".join([*names, "…"] if self.of_seen > len(names) else names)
        verb = "never occurs" if self.of_seen == 1 else "never occur"
        others = self.unseen - self.of_seen
        new_level = f"{count(others)} with a level that never occurs"
        if not self.of_seen:
            return f"every {noun} in the unseen cells occurs in training, except {new_level}"
        if self.order == 1:
            return f"{count(self.of_seen)} of {count(n_levels)} {nouns} {verb} in training: {listed}"
        text = (
            f"{count(self.of_seen)} of the {count(self.all)} {nouns} in the unseen cells {verb} in training"
        )
        return f"{text}, although the levels do: {listed}" + (f" (and {new_level})" if others else "")


def coverage(
    table: Observations, targets: np.ndarray, seen: Conjunctions, max_order: int
) -> dict[int, Coverage]:
    """For every order up to `max_order`, which conjunctions of the cells of interest are not among the seen ones."""
    by_order, sizes = {}, seen.sizes
    occurs = [
        np.isin(np.arange(size), known)
        for size, known in zip(sizes, seen.of_orders(1, min_order=1).codes, strict=True)
    ]
    for order in range(1, max_order + 1):
        needed = Conjunctions.of(targets, sizes, order=order, min_order=order)
        trained = seen.of_orders(order, min_order=order)
        n_unseen, n_of_seen, examples = 0, 0, []
        for subset, codes, known in zip(needed.subsets, needed.codes, trained.codes, strict=True):
            unseen = np.setdiff1d(codes, known)
            levels = np.stack(np.unravel_index(unseen, [sizes[axis] for axis in subset]), axis=1)
            familiar = [occurs[axis][column] for axis, column in zip(subset, levels.T, strict=True)]
            of_seen = np.all(familiar, axis=0) if order > 1 else np.ones(len(unseen), dtype=bool)
            n_unseen, n_of_seen = n_unseen + len(unseen), n_of_seen + int(of_seen.sum())
            factors = [table.space.factors[axis] for axis in subset]
            for row in levels[of_seen][:MAX_EXAMPLES]:
                examples.append({f.name: f.levels[int(i)] for f, i in zip(factors, row, strict=True)})
        total = int(sum(map(len, needed.codes)))
        by_order[order] = Coverage(order, total, n_unseen, n_of_seen, tuple(examples[:MAX_EXAMPLES]))
    return by_order


def training_cells_by_level(table: Observations) -> dict[str, list[tuple[Any, int]]]:
    """For every factor its levels with the number of training cells that have them, rarest first."""
    by_factor = {}
    for axis, factor in enumerate(table.space.factors):
        counts = np.bincount(table.train[:, axis], minlength=factor.size)
        by_factor[factor.name] = [
            (factor.levels[i], int(counts[i])) for i in np.argsort(counts, kind="stable")
        ]
    return by_factor


def rarest_levels(by_factor: Mapping[str, Sequence[tuple[Any, int]]], *, counts: bool = False) -> str:
    """The three rarest levels of all factors, with their numbers of training cells if `counts`."""
    rarest = sorted(
        ((number, name, level) for name, levels in by_factor.items() for level, number in levels[:2]),
        key=lambda entry: entry[0],
    )
    names = [f"{name} = {level}" for _, name, level in rarest[:3]]
    if counts:
        numbers = [count(rarest[0][0], "training cell"), *(count(number) for number, *_ in rarest[1:3])]
        names = [f"{name} ({number})" for name, number in zip(names, numbers, strict=True)]
    return ", ".join(names)
