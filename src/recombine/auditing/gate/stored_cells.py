"""The errors of single cells in JSON, so that a later audit can be compared with this one cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.thresholds import MAX_STORED_CELLS
from recombine.auditing.wrong_cells import is_wrong
from recombine.errors import InputError
from recombine.report import plain_level
from recombine.spaces.factors import Space

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


@dataclass(frozen=True, eq=False)
class StoredCells:
    """Cells of an earlier audit that this table has, too.

    **Attributes:**

    - `codes`: their numbers in this table's space; `seen`, `familiar`, `error`, `wrong`: as they were then.
    - `strange`: how many cells of the earlier audit have a level that this table lacks.
    """

    codes: Int[np.ndarray, " cells"]
    seen: Bool[np.ndarray, " cells"]
    familiar: Bool[np.ndarray, " cells"]
    error: Float[np.ndarray, " cells"]
    wrong: Bool[np.ndarray, " cells"]
    strange: int


def cells_to_store(report: AuditReport) -> dict[str, Any] | None:
    """Columns of plain values: level numbers by factor, rows, what training has, errors; `None` if there are too many
    cells, or no errors."""
    cells = report.by_cell
    if report.outputs is None or len(cells.cells) > MAX_STORED_CELLS:
        return None
    return {
        "levels": {name: cells.cells[:, axis].tolist() for axis, name in enumerate(report.table.space.names)},
        "rows": cells.rows.tolist(),
        "seen": cells.seen.astype(int).tolist(),
        "familiar": cells.familiar.astype(int).tolist(),
        "error": [float(f"{one:.9g}") if np.isfinite(one) else None for one in cells.error.tolist()],
        "wrong": is_wrong(cells).astype(int).tolist(),
        "outputs": list(outputs_judged(report)),
    }


def outputs_judged(report: AuditReport) -> tuple[str, ...]:
    """The outputs that the errors of cells are about, if there are several quantities."""
    outputs = report.by_output
    return tuple(outputs.names[index] for index in outputs.judged)


def read_cells(field: str, stored: Any, factors: Mapping[str, Any], space: Space) -> StoredCells:
    """Stored cells by their numbers in the space of another table, which has the same factors."""
    damaged = InputError(field, "cells that cannot be read", "a file as --json or to_dict() wrote it")
    if not isinstance(stored, Mapping) or not isinstance(stored.get("levels"), Mapping):
        raise damaged
    try:
        error = np.array([np.nan if one is None else one for one in stored["error"]], dtype=np.float64)
        flags = [np.array(stored[name], dtype=np.float64) == 1 for name in ("seen", "familiar", "wrong")]
        codes = np.zeros(len(error), dtype=np.int64)
        for factor in space.factors:
            known = {_level_key(plain_level(level)): i for i, level in enumerate(factor.levels)}
            number = np.array([known.get(_level_key(level), -1) for level in factors[factor.name]])
            index = np.array(stored["levels"][factor.name], dtype=np.int64)
            if index.shape != error.shape or (
                len(index) and not 0 <= index.min() <= index.max() < len(number)
            ):
                raise damaged
            here = number[index] if len(index) else index
            codes = np.where((codes < 0) | (here < 0), -1, codes * factor.size + here)
    except (TypeError, ValueError, KeyError, OverflowError):
        raise damaged from None
    if error.ndim != 1 or any(flag.shape != error.shape for flag in flags) or np.isinf(error).any():
        raise damaged
    common = codes >= 0
    if len(np.unique(codes[common])) != common.sum():
        raise damaged
    seen, familiar, wrong = (flag[common] for flag in flags)
    return StoredCells(codes[common], seen, familiar, error[common], wrong, int((~common).sum()))


def _level_key(level: Any) -> tuple[bool, Any]:
    """Text and numbers are different levels; 1 and 1.0 are the same."""
    return isinstance(level, str), level if isinstance(level, str | int | float) else repr(level)
