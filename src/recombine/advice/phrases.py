"""Cells and numbers as parts of sentences."""

from __future__ import annotations

import numpy as np

from recombine.advice.result import Advice
from recombine.report import count


def cell_name(advice: Advice, cell: np.ndarray) -> str:
    """A cell by its levels, in brackets."""
    return "(" + ", ".join(str(level) for level in advice.table.describe(cell).values()) + ")"


def number_of(number: int, what: str) -> str:
    """A number with what it counts, in the plural if need be."""
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
