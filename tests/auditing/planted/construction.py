"""What a construction is, and how predictions per cell become rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.auditing.planted.designs import Design

FINDINGS = ("composes", "memorisation_leak", "shortcut", "superposition", "additive_only")
"""The findings that need behaviour alone."""


@dataclass(frozen=True, eq=False)
class Planted:
    """A table, a model's predictions, and what is true of them.

    - `expected`, `forbidden`: findings that must hold and must not; together all of `FINDINGS`.
    - `table`: factor columns, and `train`, which marks training rows.
    - `target`: numbers or labels `(rows,)`, `(rows, outputs)` or `(rows, height, width)`.
    - `prediction`: of the same shape, or scores `(rows, classes)` with classes in sorted order of their labels.
    - `note`: what was drawn.
    """

    kind: str
    expected: frozenset[str]
    forbidden: frozenset[str]
    table: dict[str, np.ndarray]
    factors: tuple[str, ...]
    target: np.ndarray
    prediction: np.ndarray
    note: str


def construct(
    kind: str,
    finding: str | None,
    design: Design,
    target: np.ndarray,
    prediction: np.ndarray,
    *notes: str,
) -> Planted:
    """From targets and predictions by row."""
    expected = frozenset(() if finding is None else (finding,))
    return Planted(
        kind=kind,
        expected=expected,
        forbidden=frozenset(FINDINGS) - expected,
        table=design.table(),
        factors=design.grid.factors,
        target=target,
        prediction=prediction,
        note="; ".join((design.note, *notes)),
    )
