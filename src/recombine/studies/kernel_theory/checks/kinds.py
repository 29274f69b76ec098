"""How much each kind of conjunction contributes to a network's predictions on context dependence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recombine.metrics import additive_fit
from recombine.studies.claims import Arm
from recombine.studies.kernel_theory.predictions import kind_sizes
from recombine.tasks import context_dependence


def kind_shares(arm: Arm, hidden: int) -> np.ndarray:
    """The share of each kind of conjunction, `(5,)`: coefficients are averaged over seeds, then their sizes by kind."""
    table = context_dependence(hidden=hidden)
    cells, seen = table.split.space.cells, table.split.seen
    frame = additive_fit(np.zeros(len(cells)), cells, seen)
    ends = np.cumsum([len(values) for values in frame.values.values()])[:-1]
    pieces = np.split(arm["coefficients"].mean(axis=0), ends)
    sizes = kind_sizes(replace(frame, values=dict(zip(frame.values, pieces, strict=True))))
    return sizes / sizes.sum()
