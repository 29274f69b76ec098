"""Which cells are independent evidence: cells that differ only in a factor that changes nothing count as one.

If neither targets nor predictions nor errors depend on a factor, say the number of the run, the cells that differ only
in it are copies of each other. Ten copies of a wrong prediction are one piece of evidence, not ten: tests that count
each by itself find patterns in chance, and intervals are too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.auditing.thresholds import COPIED_CELLS, ROUNDING_ERROR, SAME_IN_COPIES


def copied_factors(
    cells: Int[np.ndarray, "cells factors"],
    seen: Bool[np.ndarray, " cells"],
    values: Sequence[Float[np.ndarray, "cells outputs"]],
    index: Int[np.ndarray, " some"],
) -> tuple[int, ...]:
    """The factors on which none of several values of cells depend, by their axis.

    Seen cells are compared with seen ones only, and unseen cells with unseen ones: a model may know the former.

    **Arguments:**

    - `values`: those that do not vary at all say nothing; `index`: the cells that are compared.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.independent_units import copied_factors
    >>> cells = np.indices((3, 3, 4)).reshape(3, -1).T
    >>> run_is_ignored = np.array([[0.0, 2.0, 1.0], [5.0, 3.0, 9.0], [4.0, 7.0, 6.0]])[cells[:, 0], cells[:, 1]]
    >>> copied_factors(cells, cells[:, 0] > 0, [run_is_ignored[:, None]], np.arange(36))
    (2,)

    ```
    """
    copied: list[int] = []
    while len(index) > 1 and len(copied) < cells.shape[1] - 1:
        rest = [axis for axis in range(cells.shape[1]) if axis not in copied]
        # the factor on which they depend least, because several can be copied only together
        within = {
            axis: _within(units_without(cells, [*copied, axis], seen)[index], seen[index], values, index)
            for axis in rest
        }
        least = min(rest, key=within.__getitem__)
        if within[least] > SAME_IN_COPIES:
            break
        copied.append(least)
    return tuple(sorted(copied))


def units_without(
    cells: Int[np.ndarray, "cells factors"], copied: Sequence[int], seen: Bool[np.ndarray, " cells"]
) -> Int[np.ndarray, " cells"]:
    """The number of the unit that every cell belongs to: cells that differ only in copied factors, seen ones and unseen
    ones apart."""
    if not copied:
        return np.arange(len(cells))
    code = seen.astype(np.int64)
    for axis in range(cells.shape[1]):
        if axis not in copied:
            # numbered anew after each factor, so that products of many sizes do not overflow
            code = np.unique(
                code * (int(cells[:, axis].max(initial=0)) + 1) + cells[:, axis], return_inverse=True
            )[1]
    return code


def one_of_each(
    index: Int[np.ndarray, " some"], unit: Int[np.ndarray, " cells"]
) -> Int[np.ndarray, " units"]:
    """Of some cells the first of every unit."""
    return index[np.sort(np.unique(unit[index], return_index=True)[1])]


def _within(
    unit: Int[np.ndarray, " some"],
    seen: Bool[np.ndarray, " some"],
    values: Sequence[Float[np.ndarray, "cells outputs"]],
    index: Int[np.ndarray, " some"],
) -> float:
    """The largest share of a variance that is within units; infinite if few unseen cells have a counterpart, or if
    nothing varies."""
    _, group, counts = np.unique(unit, return_inverse=True, return_counts=True)
    unseen = counts[group][~seen]
    if not len(unseen) or (unseen > 1).mean() < COPIED_CELLS:
        return float("inf")
    average = sparse.csr_array((1.0 / counts[group], (group, np.arange(len(group)))))
    shares = []
    for every in values:
        some = every[index].astype(np.float64)
        some /= float(np.abs(some).max(initial=0.0)) or 1.0  # large errors have squares that overflow
        spread = float(((some - some.mean(axis=0)) ** 2).sum()) / (len(some) - 1)
        if not spread > ROUNDING_ERROR:
            continue
        within = float(((some - (average @ some)[group]) ** 2).sum()) / max(1, len(some) - len(counts))
        shares.append(within / spread)
        if shares[-1] > SAME_IN_COPIES:  # the common case, and other values may be pictures
            break
    return max(shares, default=float("inf"))
