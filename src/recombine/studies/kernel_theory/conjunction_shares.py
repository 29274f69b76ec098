"""How much each kind of conjunction contributes to a network's predictions on context dependence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from recombine.metrics import additive_fit
from recombine.studies.evidence import Arm
from recombine.studies.kernel_theory.predictions import KINDS, kind_sizes
from recombine.tasks import context_dependence


def kind_shares(arm: Arm, hidden: int) -> Float[np.ndarray, "seeds kinds"]:
    """The share of each of the five `KINDS` of conjunctions in every seed's predictions.

    **Arguments:**

    - `arm`: has `coefficients` from `symbol_probes.conjunctions`.
    - `hidden`: 3, 2 or 1, for CD-3, CD-2 or CD-1.
    """
    table = context_dependence(hidden=hidden)
    cells, seen = table.split.space.cells, table.split.seen
    frame = additive_fit(np.zeros(len(cells)), cells, seen)  # which coefficient belongs to which conjunction
    ends = np.cumsum([len(values) for values in frame.values.values()])[:-1]
    shares = []
    for coefficients in arm["coefficients"]:
        pieces = np.split(coefficients, ends)
        sizes = kind_sizes(replace(frame, values=dict(zip(frame.values, pieces, strict=True))))
        shares.append(sizes / sizes.sum())
    return np.array(shares)


def share_of(kind: str, arm: Arm, hidden: int) -> Float[np.ndarray, " seeds"]:
    """The share of one kind, such as `"context"`."""
    return kind_shares(arm, hidden)[:, KINDS.index(kind)]
