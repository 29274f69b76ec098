"""Which combinations of few levels training lacks, and with how many cells each level was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.advice.table import Observations
from recombine.theory import Conjunctions

EXAMPLES = 20
"""Unseen conjunctions that are named, for every order."""


@dataclass(frozen=True)
class Coverage:
    """Conjunctions of one order that cells of interest have: `unseen` of `all` are in no training cell.

    - `of_seen`: those whose single levels all occur in training; `examples`: some of these, by factor and level.
    """

    unseen: int
    of_seen: int
    all: int
    examples: tuple[Mapping[str, Any], ...]


def coverage(
    table: Observations, targets: np.ndarray, sizes: Sequence[int], most: int
) -> dict[int, Coverage]:
    """For every order up to `most`, which conjunctions of the cells of interest are unseen."""
    found = {}
    familiar = [np.bincount(table.train[:, axis], minlength=size) > 0 for axis, size in enumerate(sizes)]
    for order in range(1, most + 1):
        wanted = Conjunctions.of(targets, sizes, order=order, least=order)
        seen = Conjunctions.of(table.train, sizes, order=order, least=order)
        lacking, of_seen, examples = 0, 0, []
        for subset, codes, known in zip(wanted.subsets, wanted.codes, seen.codes, strict=True):
            missing = np.setdiff1d(codes, known)
            levels = np.stack(np.unravel_index(missing, [sizes[axis] for axis in subset]), axis=1)
            parts = [familiar[axis][column] for axis, column in zip(subset, levels.T, strict=True)]
            fresh = np.all(parts, axis=0) if order > 1 else np.ones(len(missing), dtype=bool)
            lacking, of_seen = lacking + len(missing), of_seen + int(fresh.sum())
            factors = [table.space.factors[axis] for axis in subset]
            for row in levels[fresh][:EXAMPLES]:
                examples.append({f.name: f.levels[int(i)] for f, i in zip(factors, row, strict=True)})
        total = int(sum(map(len, wanted.codes)))
        found[order] = Coverage(lacking, of_seen, total, tuple(examples[:EXAMPLES]))
    return found


def partners(table: Observations, train: np.ndarray) -> dict[str, list[tuple[Any, int]]]:
    """For every factor its levels with the number of training cells that have them, fewest first."""
    found = {}
    for axis, factor in enumerate(table.space.factors):
        counts = np.bincount(train[:, axis], minlength=factor.size)
        found[factor.name] = [(factor.levels[i], int(counts[i])) for i in np.argsort(counts, kind="stable")]
    return found
