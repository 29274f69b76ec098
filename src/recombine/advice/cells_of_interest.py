"""Cells of interest: the unseen cells that the advice is about, and the cells that may be added to training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.advice.thresholds import MAX_TARGETS
from recombine.errors import InputError
from recombine.report import plain_level
from recombine.spaces.cell_numbers import are_among
from recombine.spaces.observations import Observations


def max_cells_of_interest(table: Observations, interest: str) -> int:
    """An upper bound on the number of cells of interest, before they are listed."""
    unseen = table.space.n_cells - len(table.train_codes)
    return unseen if interest == "unseen" and unseen <= MAX_TARGETS else min(unseen, len(table.codes))


def cells_of_interest(
    table: Observations, interest: str, exclude: Sequence[Mapping[str, Any]]
) -> tuple[Int[np.ndarray, "targets factors"], int]:
    """The cells of interest in C order, and how many were excluded as impossible."""
    if interest not in {"unseen", "table"}:
        raise InputError("interest", interest, "'unseen' or 'table'")
    sizes, trained = table.space.shape, table.train_codes
    if interest == "unseen" and table.space.n_cells - len(trained) <= MAX_TARGETS:
        unseen = np.ones(table.space.n_cells, dtype=bool)
        unseen[trained] = False
        codes = np.flatnonzero(unseen)
    else:
        codes = table.test_codes[~are_among(table.test_codes, trained, table.space.n_cells)]
    targets = np.stack(np.unravel_index(codes, sizes), axis=1)
    impossible = matching_cells(table, targets, exclude, "exclude")
    return targets[~impossible], int(impossible.sum())


def matching_cells(
    table: Observations, cells: np.ndarray, patterns: Sequence[Mapping[str, Any]], field: str
) -> Bool[np.ndarray, " cells"]:
    """Whether each cell has all the levels of at least one pattern; errors name `field`."""
    matches = np.zeros(len(cells), dtype=bool)
    for pattern in patterns:
        match = np.ones(len(cells), dtype=bool)
        for name, level in pattern.items():
            index = table.level_index(field, name, level)
            match &= cells[:, table.space.axis(name)] == index
        matches |= match
    return matches


def other_cells(
    table: Observations,
    train: np.ndarray,
    targets: np.ndarray,
    ban: Sequence[Mapping[str, Any]],
    exclude: Sequence[Mapping[str, Any]],
) -> Int[np.ndarray, "others factors"]:
    """Cells that are neither trained nor of interest, and neither banned nor impossible: they may be added, too."""
    sizes = table.space.shape
    free = np.ones(table.space.n_cells, dtype=bool)
    for cells in (train, targets):
        free[np.ravel_multi_index(tuple(cells.T), sizes)] = False
    cells = np.stack(np.unravel_index(np.flatnonzero(free), sizes), axis=1)
    return cells[
        ~(matching_cells(table, cells, ban, "ban") | matching_cells(table, cells, exclude, "exclude"))
    ]


def cheapest_first(table: Observations, cells: np.ndarray) -> Int[np.ndarray, " cells"]:
    """The order in which cells are added: by cost; at equal cost, cells that have rows, so can be collected, first."""
    codes = np.ravel_multi_index(tuple(cells.T), table.space.shape)
    n_cells = table.space.n_cells
    with_rows = are_among(codes, table.test_codes, n_cells) | are_among(codes, table.train_codes, n_cells)
    return np.lexsort((~with_rows, _costs(table, codes)))


def _costs(table: Observations, codes: Int[np.ndarray, " cells"]) -> Float[np.ndarray, " cells"]:
    """The cost of adding each cell: its cheapest row; without rows, as much as the dearest row of all."""
    if table.cost is None:
        return np.ones(len(codes))
    known, cell = np.unique(table.codes, return_inverse=True)
    cheapest = np.full(len(known), np.inf)
    np.minimum.at(cheapest, cell, table.cost)
    position = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.where(known[position] == codes, cheapest[position], table.cost.max())


def cell_name(table: Observations, cell: np.ndarray) -> str:
    """A cell by its levels, as in `(cyan, cat, large)`."""
    return "(" + ", ".join(str(level) for level in table.describe(cell).values()) + ")"


def cell_names(table: Observations, cells: np.ndarray, at_most: int) -> str:
    """The first cells by name; an ellipsis stands for the others."""
    names = [cell_name(table, cell) for cell in cells[:at_most]]
    return ", ".join([*names, "…"] if len(cells) > at_most else names)


def plain_cell(table: Observations, cell: np.ndarray) -> dict[str, Any]:
    """A cell's levels by factor, as plain values for JSON."""
    return {name: plain_level(level) for name, level in table.describe(cell).items()}
