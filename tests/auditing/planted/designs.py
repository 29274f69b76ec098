"""Grids of factors, splits into seen and unseen cells, and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from tests.auditing.planted.redraw import insist

WORDS = {
    "colour": "amber blue cyan green indigo pink red violet",
    "shape": "arch ball cone disc egg fork gate heart",
    "place": "attic barn cellar deck hall kitchen porch shed",
    "verb": "carry drop eat find give hide keep lift",
}
PLAIN_NAMES = ("x", "y", "z", "w")
MIN_UNSEEN = 6
SHARES = (0.1, 0.4)
"""Of unseen cells."""


@dataclass(frozen=True, eq=False)
class Grid:
    """The cells that a table has; levels are sorted, so the index of a level is its rank."""

    factors: tuple[str, ...]
    levels: tuple[np.ndarray, ...]
    cells: np.ndarray

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels every factor has."""
        return tuple(map(len, self.levels))


@dataclass(frozen=True, eq=False)
class Design:
    """Which cells are seen, and the rows: `cell` indexes the grid's cells, `train` marks training rows."""

    grid: Grid
    seen: np.ndarray
    cell: np.ndarray
    train: np.ndarray
    note: str

    @cached_property
    def first_row(self) -> np.ndarray:
        """Of every cell: where the table has it first."""
        return np.unique(self.cell, return_index=True)[1]

    @cached_property
    def weight(self) -> np.ndarray:
        """Training rows of every cell."""
        return np.bincount(self.cell[self.train], minlength=len(self.seen))

    @cached_property
    def shared(self) -> np.ndarray:
        """Levels that every unseen cell shares with every seen cell."""
        cells = self.grid.cells
        return (cells[~self.seen][:, None] == cells[self.seen]).sum(axis=2)

    def table(self) -> dict[str, np.ndarray]:
        """The columns, by row."""
        rows = self.grid.cells[self.cell]
        columns = zip(self.grid.factors, self.grid.levels, rows.T, strict=True)
        return {name: levels[index] for name, levels, index in columns} | {"train": self.train}


def one_hot(cells: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """A constant and the levels side by side."""
    blocks = [np.eye(size)[cells[:, axis]] for axis, size in enumerate(sizes)]
    return np.concatenate([np.ones((len(cells), 1)), *blocks], axis=1)


def draw_grid(
    rng: np.random.Generator, *, factors: tuple[int, ...] = (2, 3, 4), max_cells: int = 400
) -> Grid:
    """2 to 4 factors of 3 to 8 levels, at times without some cells."""
    count, sizes = int(rng.choice(factors)), np.array([0])
    while not 20 <= np.prod(sizes) <= max_cells:
        sizes = rng.integers(3, 9, size=count)
    cells = np.indices(sizes.tolist()).reshape(count, -1).T
    if rng.random() < 0.2:
        cells = cells[rng.random(len(cells)) > 0.1]
    named = rng.random() < 0.5
    names = rng.permutation(list(WORDS))[:count] if named else PLAIN_NAMES[:count]
    levels = []
    for name, size in zip(names, sizes, strict=True):
        if named and rng.random() < 0.7:
            levels.append(np.array(sorted(rng.permutation(WORDS[name].split())[:size])))
        elif rng.random() < 0.5:
            levels.append(np.arange(size))
        else:
            levels.append(int(rng.integers(-5, 20)) + int(rng.integers(1, 11)) * np.arange(size))
    return Grid(tuple(map(str, names)), tuple(levels), cells)


def draw_design(rng: np.random.Generator, grid: Grid, *, favour: np.ndarray | None = None) -> Design:
    """A split and its rows; every level is seen, with partners that tell its effect from those of other factors.

    - `favour`: how likely every cell is to be unseen, relative to others.
    """
    shape = str(rng.choice(["random", "hole", "sparse"]))
    unseen = {"random": _random, "hole": _hole, "sparse": _sparse}[shape](rng, grid, favour)
    seen = ~unseen
    rank = 1 + sum(size - 1 for size in grid.sizes)
    insist(unseen.sum() >= MIN_UNSEEN, SHARES[0] <= unseen.mean() <= SHARES[1])
    insist(np.linalg.matrix_rank(one_hot(grid.cells[seen], grid.sizes)) == rank)
    many, held_out = rng.random() < 0.5, rng.choice([0, 0.3])
    counts = rng.integers(1, 5, size=len(seen)) if many else np.ones(len(seen), dtype=int)
    cell = np.repeat(np.arange(len(seen)), counts)
    first = np.concatenate([[True], np.array([a != b for a, b in pairwise(cell)])])
    train = seen[cell] & (first | (rng.random(len(cell)) >= held_out))
    order = rng.permutation(len(cell)) if rng.random() < 0.7 else np.arange(len(cell))
    kinds = "/".join("words" if levels.dtype.kind == "U" else "ints" for levels in grid.levels)
    note = f"sizes {'x'.join(map(str, grid.sizes))} of {kinds}, {shape} split, {unseen.sum()} of {len(seen)} unseen"
    return Design(
        grid, seen, cell[order], train[order], f"{note}, {len(cell)} rows, {train.sum()} for training"
    )


def _random(rng: np.random.Generator, grid: Grid, favour: np.ndarray | None) -> np.ndarray:
    return _some(rng, np.ones(len(grid.cells), dtype=bool), rng.uniform(*SHARES) * len(grid.cells), favour)


def _some(rng: np.random.Generator, among: np.ndarray, count: float, favour: np.ndarray | None) -> np.ndarray:
    chance = among * (np.ones(len(among)) if favour is None else favour)
    picked = np.zeros(len(among), dtype=bool)
    count = min(max(0, round(count)), np.count_nonzero(chance))
    picked[rng.choice(len(among), count, replace=False, p=chance / chance.sum())] = True
    return picked


def _hole(rng: np.random.Generator, grid: Grid, favour: np.ndarray | None) -> np.ndarray:
    """Some levels of two or more factors never meet; of some holes the one with the most favour."""
    holes = []
    for _ in range(1 if favour is None else 10):
        hole = np.ones(len(grid.cells), dtype=bool)
        for axis in rng.permutation(len(grid.sizes))[: rng.integers(2, len(grid.sizes) + 1)]:
            size = grid.sizes[axis]
            some = (
                rng.permutation(size) if rng.random() < 0.4 else np.roll(np.arange(size), rng.integers(size))
            )
            hole &= np.isin(grid.cells[:, axis], some[: rng.integers(1, size)])
        holes.append(hole)
    return (
        holes[0] if favour is None else max(holes, key=lambda hole: favour[hole].sum() / max(6, hole.sum()))
    )


def _sparse(rng: np.random.Generator, grid: Grid, favour: np.ndarray | None) -> np.ndarray:
    """One or two levels of a factor are seen with one to three partners each; some other cells are unseen, too."""
    axis = rng.integers(len(grid.sizes))
    unseen = np.zeros(len(grid.cells), dtype=bool)
    for level in rng.permutation(grid.sizes[axis])[: 1 if grid.sizes[axis] < 5 else rng.integers(1, 3)]:
        members = np.flatnonzero(grid.cells[:, axis] == level)
        unseen[rng.permutation(members)[rng.integers(1, 4) :]] = True
    return unseen | _some(rng, ~unseen, rng.uniform(*SHARES) * len(unseen) - unseen.sum(), favour)
