"""Mistakes that splits keep having, each with a code, the rows concerned and what to do.

| code | what |
|---|---|
| L1 | test rows whose combination training has too: they do not test composition |
| L2 | a level that only test rows have: its cells are not new combinations of familiar parts |
| L3 | cells with very few training rows |
| L4 | training falls apart into pieces that share no level: no effect can be carried from one to another |
| L5 | test rows that repeat training rows exactly |
| L6 | two factors that go together in training, so that either can stand in for the other |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from recombine.advice.table import Observations

FEW = 3
"""A cell with fewer training rows than this is tiny, if cells have `PLENTY` rows typically."""
PLENTY = 10
SHOWN = 20
"""Row numbers that are kept of each finding."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (`error`) or worth a look (`warning`) with a split.

    - `rows`: numbers of the first rows concerned, counted from 1; `count`: how many there are.
    """

    code: str
    severity: Literal["error", "warning"]
    message: str
    action: str
    rows: tuple[int, ...] = ()
    count: int = 0


def lint(table: Observations) -> list[Finding]:
    """All findings, by code."""
    checks = (_seen_after_all, _unseen_levels, _tiny_cells, _pieces, _repeats, _together)
    return [finding for check in checks for finding in check(table)]


def _rows(mask: np.ndarray) -> tuple[tuple[int, ...], int]:
    numbers = np.flatnonzero(mask)
    return tuple((numbers[:SHOWN] + 1).tolist()), len(numbers)


def _seen_after_all(table: Observations) -> Iterator[Finding]:
    codes = table.codes
    both = ~table.seen & np.isin(codes, np.unique(codes[table.seen]))
    if both.any():
        rows, count = _rows(both)
        test = int((~table.seen).sum())
        cells = len(np.unique(codes[both]))
        yield Finding(
            "L1",
            "error" if count == test else "warning",
            f"{count:,} of {test:,} test rows show {cells:,} combinations that training has, too",
            "leave them out when you measure generalisation to new combinations",
            rows,
            count,
        )


def _unseen_levels(table: Observations) -> Iterator[Finding]:
    for axis, factor in enumerate(table.space.factors):
        present = np.bincount(table.cells[table.seen, axis], minlength=factor.size) > 0
        for level in np.flatnonzero(~present):
            mask = table.cells[:, axis] == level
            rows, count = _rows(mask)
            yield Finding(
                "L2",
                "error",
                f"level {factor.levels[level]!r} of {factor.name} never occurs in training: its "
                f"{len(np.unique(table.codes[mask])):,} test cells do not test composition",
                f"add a training cell with {factor.name} = {factor.levels[level]}, or leave the level out",
                rows,
                count,
            )


def _tiny_cells(table: Observations) -> Iterator[Finding]:
    codes = table.codes[table.seen]
    cells, counts = np.unique(codes, return_counts=True)
    typical = float(np.median(counts))
    if typical >= PLENTY and (counts < FEW).any():
        tiny = cells[counts < FEW]
        rows, count = _rows(table.seen & np.isin(table.codes, tiny))
        example = table.describe(np.unravel_index(int(tiny[0]), table.space.shape))
        named = ", ".join(f"{name}={level}" for name, level in example.items())
        yield Finding(
            "L3",
            "warning",
            f"{len(tiny):,} training cells have fewer than {FEW} rows (typical: {typical:g}), such as {named}",
            "collect more of them, or treat them as unseen",
            rows,
            count,
        )


def _pieces(table: Observations) -> Iterator[Finding]:
    sizes = np.array(table.space.shape)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    nodes = table.train + starts[:-1]
    if nodes.shape[1] < 2:
        return
    ends = np.concatenate([nodes[:, [0, axis]] for axis in range(1, nodes.shape[1])])
    graph = sparse.coo_array((np.ones(len(ends)), ends.T), shape=(starts[-1], starts[-1]))
    _, piece = connected_components(graph, directed=False)
    used = np.unique(nodes)
    names, sizes_of = np.unique(piece[used], return_counts=True)
    if len(names) > 1:
        smallest = names[np.argmin(sizes_of)]
        members = [n for n in used if piece[n] == smallest]
        named = ", ".join(_level_name(table, int(node), starts) for node in members[:6])
        mask = table.seen & (piece[table.cells[:, 0] + starts[0]] == smallest)
        rows, count = _rows(mask)
        yield Finding(
            "L4",
            "warning",
            f"training falls apart into {len(names)} pieces that share no level; the smallest: {named}",
            "add a cell that joins two pieces, or no effect can be carried from one to the other",
            rows,
            count,
        )


def _level_name(table: Observations, node: int, starts: np.ndarray) -> str:
    axis = int(np.searchsorted(starts, node, side="right")) - 1
    factor = table.space.factors[axis]
    return f"{factor.name}={factor.levels[node - int(starts[axis])]}"


def _repeats(table: Observations) -> Iterator[Finding]:
    if table.content is None or table.seen.all():
        return
    keys = np.stack([table.codes, table.content], axis=1)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.ravel()
    trained = np.bincount(group, weights=table.seen) > 0
    mask = ~table.seen & trained[group]
    if mask.any():
        rows, count = _rows(mask)
        yield Finding(
            "L5",
            "warning",
            f"{count:,} test rows repeat training rows exactly",
            "remove them from the test part",
            rows,
            count,
        )


def _together(table: Observations) -> Iterator[Finding]:
    cells = table.train
    for a, b in combinations(range(cells.shape[1]), 2):
        sizes = [table.space.shape[a], table.space.shape[b]]
        met = (np.bincount(cells[:, a] * sizes[1] + cells[:, b], minlength=sizes[0] * sizes[1]) > 0).reshape(
            sizes
        )
        if min(met.any(axis=0).sum(), met.any(axis=1).sum()) < 2:
            continue
        if (met.sum(axis=1) <= 1).all():
            first, second = a, b
        elif (met.sum(axis=0) <= 1).all():
            first, second = b, a
        else:
            continue
        one, other = table.space.factors[first], table.space.factors[second]
        # If every level is in one cell only, it fixes all other factors, and there is nothing special about this one.
        if len(cells) == len(np.unique(cells[:, first])) and cells.shape[1] > 2:
            continue
        yield Finding(
            "L6",
            "warning",
            f"in training {one.name} fixes {other.name}: every {one.name} occurs with one {other.name} only",
            f"add cells with other pairs of {one.name} and {other.name}; a model cannot tell which of them counts",
        )
