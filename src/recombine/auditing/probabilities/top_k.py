"""Ranking: how often the target is among the k classes with the highest scores, on seen and on unseen cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.auditing.cells import Cells
from recombine.auditing.outputs import Outputs
from recombine.auditing.probabilities.counted_rows import CountedRows
from recombine.data.argument_types import is_count, shown
from recombine.errors import InputError
from recombine.intervals import Estimate
from recombine.report import plain_number
from recombine.spaces.observations import Observations

USUAL = (1, 5)
"""Ranks that are reported if the user names none and there are more classes than these."""
MAX_RANKS = 20
"""Ranks that can be asked for at once."""


@dataclass(frozen=True)
class TopK:
    """The share of rows whose target is among the first k; every cell counts once.

    **Attributes:**

    - `chance`: the same for classes in random order; NaN if a ranked list names only some classes.
    """

    k: int
    seen: Estimate
    unseen: Estimate
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        both = {"seen": self.seen, "unseen": self.unseen}
        return {
            "k": self.k,
            **{
                name: {
                    "estimate": plain_number(one.value),
                    "interval": None if not np.isfinite(one.low + one.high) else [one.low, one.high],
                }
                for name, one in both.items()
            },
            "chance": plain_number(self.chance),
        }


def checked_ranks(top_k: Any) -> tuple[int, ...] | None:
    """The ranks that the user asks for, in order; `None` for the usual ones."""
    if top_k is None:
        return None
    ranks = [top_k] if is_count(top_k) else list(top_k) if isinstance(top_k, list | tuple | range) else []
    if not ranks or len(ranks) > MAX_RANKS or not all(is_count(k) and k >= 1 for k in ranks):
        raise InputError(
            "top_k", shown(top_k), f"whole numbers from 1 on, such as (1, 5), at most {MAX_RANKS}"
        )
    return tuple(sorted({int(k) for k in ranks}))


def top_k_accuracy(
    table: Observations,
    cells: Cells,
    outputs: Outputs,
    ranks: Int[np.ndarray, " rows"],
    asked: Sequence[int] | None,
    *,
    classes: int,
    ranked: int | None = None,
) -> tuple[TopK, ...]:
    """How often targets are among the first k.

    **Arguments:**

    - `ranks`: of every row's target, from 1.
    - `asked`: by default 1 and 5, if there are more than five classes.
    - `classes`: how many there are; `ranked`: how many of them a row names, if not all.
    """
    most = classes - 1 if ranked is None else ranked
    if asked is None:
        asked = [k for k in USUAL if k <= most] if most >= max(USUAL) or ranked is not None else []
    for k in asked:
        if k > most:
            what = (
                f"{classes} classes, of which all are among the first {k}"
                if ranked is None
                else f"{most} ranks"
            )
            raise InputError("top_k", k, f"at most {most}; there are {what}")
    rows = CountedRows.of(table, cells, outputs.known)
    by_cell = rows.means(np.stack([ranks <= k for k in asked], axis=1)) if asked else np.empty((0, 0))
    result = []
    for column, k in enumerate(asked):
        seen, unseen = (rows.estimate(group, by_cell[:, column]) for group in (0, 1))
        result.append(TopK(k, seen, unseen, k / classes if ranked is None else np.nan))
    return tuple(result)
