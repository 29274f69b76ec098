"""Seen cells as starting points: the model's own answers for them, or what would be right."""

from __future__ import annotations

import numpy as np

from recombine.auditing.cells import Cells
from recombine.auditing.extrapolation import FromSeen


def answers_of_seen(cells: Cells) -> FromSeen:
    """The model's own answers for seen cells, from which rules explain its answers for others."""
    return _from(cells, np.flatnonzero(cells.seen), cells.answers)


def targets_of_seen(cells: Cells) -> FromSeen:
    """The targets of seen cells, which baselines know."""
    return _from(cells, cells.inside, cells.targets)


def _from(cells: Cells, rows: np.ndarray, values: np.ndarray) -> FromSeen:
    return FromSeen(
        cells.kind,
        cells.sizes,
        cells.cells[rows],
        values[rows].astype(np.float64),
        np.maximum(cells.training_rows[rows], 1),
    )
