"""Advice on a table with some cells more in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.advice.assembly import advice_on
from recombine.advice.result import Advice
from recombine.advice.table import Observations
from recombine.errors import InputError


def with_cells(advice: Advice, cells: Any) -> Advice:
    """See [`recombine.advice.Advice.with_cells`][]."""
    table = _with_training(advice.table, _indices(advice.table, cells))
    return advice_on(table, advice.wishes, before=advice)


def _indices(table: Observations, cells: Any) -> Int[np.ndarray, "cells factors"]:
    names, shape = table.space.names, table.space.shape
    expected = f"level indices ({len(names)} for each cell), or levels by factor: {', '.join(names)}"
    if not isinstance(cells, np.ndarray):
        rows = list(cells)
        if not all(isinstance(row, Mapping) for row in rows):
            raise InputError("cells", cells, expected)
        cells = np.array([_index(table, row) for row in rows], dtype=int).reshape(len(rows), len(names))
    if cells.ndim != 2 or cells.shape[1] != len(names) or cells.dtype.kind not in "iu":
        raise InputError("cells", f"{cells.dtype.name} of shape {cells.shape}", expected)
    beyond = ((cells < 0) | (cells >= shape)).any(axis=1)
    if beyond.any():
        raise InputError("cells", cells[beyond][0].tolist(), f"level indices below {shape}")
    return cells


def _index(table: Observations, cell: Mapping[str, Any]) -> list[int]:
    if set(cell) != set(table.space.names):
        raise InputError("cells", dict(cell), f"a level for each of {', '.join(table.space.names)}")
    return [table.level_index("cells", name, cell[name]) for name in table.space.names]


def _with_training(table: Observations, cells: Int[np.ndarray, "cells factors"]) -> Observations:
    """The table with all rows of some cells in training, and a row for each of them that has none.

    Cells that training has already stay as they are, with their test rows.
    """
    codes = np.setdiff1d(np.ravel_multi_index(tuple(cells.T), table.space.shape), table.codes[table.seen])
    fresh = codes[~np.isin(codes, table.codes)]
    moved = np.isin(table.codes, codes)
    if table.target is not None:
        _check_labels(table, codes, moved)
    if not len(fresh):
        return replace(table, seen=table.seen | moved)
    added = np.stack(np.unravel_index(fresh, table.space.shape), axis=1)
    cost, content = table.cost, table.content
    return replace(
        table,
        cells=np.concatenate([table.cells, added]),
        seen=np.concatenate([table.seen | moved, np.ones(len(fresh), dtype=bool)]),
        cost=None if cost is None else np.append(cost, np.full(len(fresh), cost.max())),
        content=None if content is None else np.append(content, np.arange(len(fresh))),
    )


def _check_labels(table: Observations, codes: np.ndarray, moved: np.ndarray) -> None:
    assert table.target is not None
    labelled = np.array(
        [value is not None and value == value for value in table.target[moved].tolist()], dtype=bool
    )
    lacking = np.setdiff1d(codes, table.codes[moved][labelled])
    unlabelled = table.codes[moved][~labelled]
    if len(lacking) or len(unlabelled):
        cell = np.unravel_index(int([*lacking, *unlabelled][0]), table.space.shape)
        expected = "cells whose rows all have a label; to try others, ask for advice without a target"
        raise InputError("cells", table.describe(cell), expected)
