"""Cells that are asked about, and cells that may be added: by code, by pattern, by cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.advice.table import Observations
from recombine.errors import InputError

MOST_TARGETS = 10_000_000
"""Unseen cells up to which all of them are looked at; beyond, those that the table has."""


def n_targets(table: Observations, interest: str) -> int:
    """How many cells of interest there will be at most."""
    unseen = table.space.n_cells - len(table.train)
    return unseen if interest == "unseen" and unseen <= MOST_TARGETS else min(unseen, len(table.codes))


def cells_of_interest(
    table: Observations, train: np.ndarray, interest: str, exclude: Sequence[Mapping[str, Any]]
) -> tuple[Int[np.ndarray, "targets factors"], int]:
    """The cells of interest in C order, and how many were left out as impossible."""
    if interest not in {"unseen", "table"}:
        raise InputError("interest", interest, "'unseen' or 'table'")
    sizes = table.space.shape
    trained = np.ravel_multi_index(tuple(train.T), sizes)
    if interest == "unseen" and table.space.n_cells - len(train) <= MOST_TARGETS:
        unseen = np.ones(table.space.n_cells, dtype=bool)
        unseen[trained] = False
        codes = np.flatnonzero(unseen)
    else:
        codes = np.setdiff1d(table.codes[~table.seen], trained)
    targets = np.stack(np.unravel_index(codes, sizes), axis=1)
    impossible = matching(table, targets, exclude, "exclude")
    return targets[~impossible], int(impossible.sum())


def matching(
    table: Observations, cells: np.ndarray, patterns: Sequence[Mapping[str, Any]], field: str
) -> Bool[np.ndarray, " cells"]:
    """Cells that have all the levels of some pattern."""
    found = np.zeros(len(cells), dtype=bool)
    for pattern in patterns:
        match = np.ones(len(cells), dtype=bool)
        for name, level in pattern.items():
            index = table.level_index(field, name, level)
            match &= cells[:, table.space.axis(name)] == index
        found |= match
    return found


def helpers(
    table: Observations,
    train: np.ndarray,
    targets: np.ndarray,
    ban: Sequence[Mapping[str, Any]],
    exclude: Sequence[Mapping[str, Any]],
) -> Int[np.ndarray, "helpers factors"]:
    """Cells that may be added although nobody asked about them: neither trained nor of interest, not banned."""
    sizes = table.space.shape
    free = np.ones(table.space.n_cells, dtype=bool)
    for cells in (train, targets):
        free[np.ravel_multi_index(tuple(cells.T), sizes)] = False
    cells = np.stack(np.unravel_index(np.flatnonzero(free), sizes), axis=1)
    return cells[~(matching(table, cells, ban, "ban") | matching(table, cells, exclude, "exclude"))]


def costs(table: Observations, wanted: Int[np.ndarray, " targets"]) -> Float[np.ndarray, " targets"]:
    """The cost of every cell of interest, given by its number; all the same if there are no costs."""
    if table.cost is None:
        return np.ones(len(wanted))
    codes, inverse = np.unique(table.codes, return_inverse=True)
    cheapest = np.full(len(codes), np.inf)
    np.minimum.at(cheapest, inverse, table.cost)
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[place] == wanted, cheapest[place], table.cost.max())
