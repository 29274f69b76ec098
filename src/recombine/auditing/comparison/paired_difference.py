"""Two errors of the same cells: by how much they differ on average, and whether that is beyond chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.thresholds import DIFFERS_P_VALUE, SAME_ERROR
from recombine.intervals import (
    UNKNOWN,
    Estimate,
    difference_of,
    mean_over_cells,
    one_of_several,
    paired_p_value,
)
from recombine.report import bracket, count, number, plain_number


@dataclass(frozen=True)
class PairedDifference:
    """How the mean error of a group of cells changed from one model to another.

    **Attributes:**

    - `before`, `after`: the mean errors over these cells.
    - `difference`: `after - before`, negative if the second is better. The interval is over cells. It is extended to
        0 if random signs of the differences (`recombine.intervals.paired_p_value`) do as well too often, so that it
        excludes 0 only if both agree.
    - `cells`: how many; `paired`: whether both errors are of the same cells, so that differences within cells count.
    """

    before: float
    after: float
    difference: Estimate
    cells: int
    paired: bool = True

    @property
    def better(self) -> bool:
        """Whether the second is better, beyond chance."""
        return bool(self.difference.high < 0)

    @property
    def worse(self) -> bool:
        """Whether the second is worse, beyond chance."""
        return bool(self.difference.low > 0)

    @property
    def differs(self) -> bool:
        """Whether one is better, beyond chance."""
        return self.better or self.worse

    @property
    def same(self) -> bool:
        """Whether no cell differs."""
        return self.paired and self.difference.pair == (0.0, 0.0)

    @property
    def size(self) -> str:
        """The size of the difference with its interval."""
        one = self.difference
        sign = -1.0 if one.value < 0 else 1.0
        low, high = sorted((sign * one.low, sign * one.high))
        return bracket(Estimate(sign * one.value, low, high), apart_from=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        ends = [plain_number(end) for end in self.difference.pair]
        return {
            "before": plain_number(self.before),
            "after": plain_number(self.after),
            "difference": plain_number(self.difference.value),
            "interval": None if None in ends else ends,
            "level": self.difference.level,
            "better": self.better,
            "worse": self.worse,
            "cells": self.cells,
            "paired": self.paired,
        }


def paired_difference(
    before: Float[np.ndarray, " cells"],
    after: Float[np.ndarray, " cells"],
    *,
    scale: float,
    comparisons: int = 1,
    weights: Float[np.ndarray, " cells"] | None = None,
    units: Int[np.ndarray, " cells"] | None = None,
    seed: int = 0,
) -> PairedDifference:
    """The difference of two errors of the same cells.

    **Arguments:**

    - `scale`: the error of a constant, for what counts as rounding.
    - `comparisons`: how many differences are looked at together; the interval is widened for them.
    - `weights`: how much every cell counts; default: all the same.
    - `units`: equal numbers for cells that are not independent of each other; default: all are.
    - `seed`: of the random signs, see `recombine.intervals.paired_p_value`.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.comparison.paired_difference import paired_difference
    >>> before, after = np.ones(20), np.r_[np.zeros(4), np.ones(16)]
    >>> few = paired_difference(before, after, scale=1.0)
    >>> many = paired_difference(before, 1 - after, scale=1.0)
    >>> few.better, many.better, few.size
    (False, True, '0.20 [0.00, 0.45]')

    ```
    """
    n = len(before)
    if not n:
        return PairedDifference(np.nan, np.nan, UNKNOWN, 0)
    off = after - before
    off = np.where(np.abs(off) <= SAME_ERROR * scale, 0.0, off)
    counted = np.ones(n) if weights is None else weights
    unit = np.arange(n) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    by_unit = np.bincount(unit, weights=off * counted)
    found = one_of_several(mean_over_cells(off, counted, unit), comparisons, len(by_unit))
    excludes_zero = found.low > 0 or found.high < 0
    # Not divided by the comparisons: the signs of a dozen units could never be that unlikely.
    if excludes_zero and paired_p_value(by_unit, seed=seed) > DIFFERS_P_VALUE:
        found = Estimate(found.value, min(found.low, 0.0), max(found.high, 0.0), level=found.level)
    then, now = (float(np.average(one, weights=counted)) for one in (before, after))
    return PairedDifference(then, now, found, n)


def unpaired_difference(before: Estimate, after: Estimate, cells: int) -> PairedDifference:
    """The difference of two errors of which only means and intervals are known."""
    return PairedDifference(before.value, after.value, difference_of(after, before), cells, paired=False)


def change_sentence(unseen: PairedDifference, seen: PairedDifference) -> str:
    """What changed since a baseline, in a sentence without its subject.

    ```python
    >>> from recombine.auditing.comparison.paired_difference import PairedDifference, change_sentence
    >>> from recombine.intervals import Estimate
    >>> rise = PairedDifference(0.1, 0.3, Estimate(0.2, 0.1, 0.3), 18)
    >>> change_sentence(rise, PairedDifference(0.0, 0.0, Estimate(0.0, 0.0, 0.0), 18))
    'worse on unseen combinations: error 0.30, was 0.10 (difference 0.20 [0.10, 0.30]); the same on seen ones'

    ```
    """
    if unseen.same and seen.same:
        return "no cell has changed"
    parts: list[str] = []
    for one, where in ((unseen, "unseen combinations"), (seen, "seen combinations")):
        where = where if not parts else "seen ones"
        if not one.cells or not np.isfinite(one.difference.value):
            parts.append(f"nothing to compare on {where}")
        elif one.same:
            parts.append(f"the same on {where}")
        elif one.differs:
            word = "better" if one.better else "worse"
            parts.append(
                f"{word} on {where}: error {number(one.after)}, was {number(one.before)} (difference {one.size})"
            )
        elif not np.isfinite(one.difference.low):
            parts.append(f"on {where} {count(one.cells, 'cell')} cannot show a difference")
        else:
            parts.append(
                f"no difference beyond noise on {where} (error {number(one.after)}, was {number(one.before)})"
            )
    return "; ".join(parts)
