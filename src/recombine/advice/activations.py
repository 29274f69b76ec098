"""Saliences of somebody's layer, from its activity on the rows of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.advice.profile import Profile, from_estimate
from recombine.advice.table import Observations
from recombine.errors import InputError
from recombine.theory import estimate_salience
from recombine.theory.overlap_kernels import overlaps

MOST_CELLS = 600
"""Cells that are compared with each other; of larger tables, those of some levels drawn at random."""
MOST_ROWS = 20
"""Rows of each that are used."""
LEAST_PAIRS = 3
"""Cells with a second row that are needed if rows are not to be compared with themselves."""
_SEED = 0
_BLOCK = 4096


def estimated_profile(activations: Any, table: Observations) -> Profile:
    """The saliences of a layer, with their intervals.

    **Arguments:**

    - `activations`: `(rows, ...)`, a row of activity for every row of the table, or the path of a `.npy` file, or of
        a `.npz` file with one array. Nothing is unpickled.
    """
    activity = _array(activations)
    if activity.shape[0] != len(table.cells):
        got = f"{activity.shape[0]:,} rows"
        raise InputError("activations", got, f"one for each of the {len(table.cells):,} rows of {table.name}")
    _check_numbers(activity)
    rows = _sample(table)
    cells = table.cells[rows]
    _check_overlaps(table, cells)
    _, counts = np.unique(table.codes[rows], return_counts=True)
    alone = int((counts > 1).sum()) < LEAST_PAIRS
    try:
        found = estimate_salience(
            np.asarray(activity[rows], dtype=np.float64), cells, self_pairs=alone, seed=_SEED
        )
    except InputError as error:
        raise InputError("activations", error.got, error.expected) from None
    return from_estimate(found, rows=len(rows), of=len(table.cells))


def _array(activations: Any) -> np.ndarray:
    if isinstance(activations, str | Path):
        activations = _read(Path(activations))
    found = np.asanyarray(activations)
    if not found.ndim or found.dtype.kind not in "fiub" or not found.size:
        got = f"{found.dtype.name} of shape {found.shape}"
        raise InputError("activations", got, "(rows, units) of real numbers")
    return found


def _read(path: Path) -> np.ndarray:
    """The array of a file; of a `.npy` file only the parts that are used are loaded."""
    expected = "a .npy file, or a .npz file with one array, of numbers (nothing is unpickled)"
    if not path.is_file():
        raise InputError("activations", str(path), f"the path of {expected}")
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":
                return np.load(path, mmap_mode="r", allow_pickle=False)
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                names = arrays.files
                if len(names) == 1:
                    return arrays[names[0]]
    except Exception:  # a damaged file can fail anywhere in NumPy, in zlib or in zipfile
        raise InputError("activations", str(path), expected) from None
    listed = f" (it has {', '.join(names[:8])})" if names else ""
    raise InputError("activations", str(path), f"a .npz file with one array{listed}")


def _check_numbers(activity: np.ndarray) -> None:
    for start in range(0, len(activity), _BLOCK):
        block = activity[start : start + _BLOCK]
        finite = np.isfinite(block.reshape(len(block), -1)).all(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            raise InputError("activations", f"a value that is not finite in row {row + 1}", "finite numbers")


def _sample(table: Observations) -> Int[np.ndarray, " rows"]:
    """Rows to use: all, or up to `MOST_ROWS` of each cell of some levels.

    Levels are dropped rather than cells, so that the cells which remain still share levels in every way.
    """
    rng, shape = np.random.default_rng(_SEED), table.space.shape
    codes, cell = np.unique(table.codes, return_inverse=True)
    cells, use = np.stack(np.unravel_index(codes, shape), axis=1), np.ones(len(codes), dtype=bool)
    left = [rng.permutation(size) for size in shape]
    while use.sum() > MOST_CELLS and max(map(len, left)) > 2:
        axis = max(range(len(left)), key=lambda one: len(left[one]))
        few = max(2, len(left[axis]) - max(1, len(left[axis]) // 8))
        use &= ~np.isin(cells[:, axis], left[axis][few:])
        left[axis] = left[axis][:few]
    rows = rng.permutation(len(cell))
    rows = rows[use[cell[rows]]]
    rows = rows[np.argsort(cell[rows], kind="stable")]
    _, starts, counts = np.unique(cell[rows], return_index=True, return_counts=True)
    turn = np.arange(len(rows)) - np.repeat(starts, counts)
    return np.sort(rows[turn < MOST_ROWS])


def _check_overlaps(table: Observations, cells: Int[np.ndarray, "rows factors"]) -> None:
    different, factors = np.unique(cells, axis=0), len(table.space.shape)
    absent = np.setdiff1d(np.arange(2**factors), overlaps(different, different, factors))
    if absent.size:
        names = [name for axis, name in enumerate(table.space.names) if absent[0] >> (factors - 1 - axis) & 1]
        shared = " and ".join(names) + " alone" if names else "no level at all"
        got = f"{len(different)} cells, no two of which share {shared}"
        raise InputError(
            "activations", got, "cells that share levels in every possible way, or fewer factors"
        )
