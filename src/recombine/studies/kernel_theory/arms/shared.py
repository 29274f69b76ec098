"""What all arms share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.parts import Part
from recombine.studies.claims import Scale
from recombine.training.losses import logistic

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": tuple(range(6))}
LOGISTIC = Part(logistic)


def some(scale: Scale, values: Sequence[Any]) -> Sequence[Any]:
    """All values; at scale smoke only the first."""
    return values[:1] if scale == "smoke" else values
