"""Sets of cell numbers: which numbers occur, where, and which of some numbers are among them.

NumPy's `unique` and `isin` hash whole numbers, which takes half a second for a million of them. Sorting, or a table of
marks where the numbers are small, gives the same result many times faster.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

MARKS_TO_LIST, MARKS_TO_COMPARE = 8, 64
"""A table of marks is used if it has at most this many marks for each number; beyond, sorting is faster (measured)."""
FEW = 8
"""Known numbers that are compared one by one."""
MAX_MARKS = 2**27
"""Bytes that a table of marks may take, one for each mark."""


def distinct_numbers(
    numbers: Int[np.ndarray, " numbers"], bound: int | None = None
) -> Int[np.ndarray, " distinct"]:
    """The different numbers, sorted: what `numpy.unique` returns.

    **Arguments:**

    - `bound`: if given, all numbers are from 0 to less than this.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces.cell_numbers import distinct_numbers
    >>> distinct_numbers(np.array([7, 2, 7]), bound=10)
    array([2, 7])

    ```
    """
    if bound is not None and bound <= min(MAX_MARKS, MARKS_TO_LIST * len(numbers)):
        return np.flatnonzero(_marks(numbers, bound))
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def are_among(
    numbers: Int[np.ndarray, " numbers"], known: Int[np.ndarray, " known"], bound: int
) -> Bool[np.ndarray, " numbers"]:
    """Whether each number is among the known ones: what `numpy.isin` returns.

    **Arguments:**

    - `bound`: all numbers are from 0 to less than this.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces.cell_numbers import are_among
    >>> are_among(np.array([1, 2, 3]), np.array([3, 2]), bound=4)
    array([False,  True,  True])

    ```
    """
    if not len(known) or not len(numbers):
        return np.zeros(len(numbers), dtype=bool)
    if len(known) <= FEW:
        among = np.zeros(len(numbers), dtype=bool)
        for number in known.tolist():
            among |= numbers == number
        return among
    if bound <= min(MAX_MARKS, MARKS_TO_COMPARE * (len(numbers) + len(known))):
        return _marks(known, bound)[numbers]
    ordered = np.sort(known)
    position = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
    return ordered[position] == numbers


def numbered(
    numbers: Int[np.ndarray, " numbers"], bound: int
) -> tuple[Int[np.ndarray, " distinct"], Int[np.ndarray, " numbers"]]:
    """The different numbers, sorted, and the position of each number among them: `numpy.unique` with its inverse.

    **Arguments:**

    - `bound`: all numbers are from 0 to less than this.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces.cell_numbers import numbered
    >>> numbered(np.array([7, 2, 7]), bound=10)
    (array([2, 7]), array([1, 0, 1]))

    ```
    """
    if bound <= min(MAX_MARKS, MARKS_TO_LIST * len(numbers)):
        marks = _marks(numbers, bound)
        return np.flatnonzero(marks), (np.cumsum(marks) - 1)[numbers]
    distinct, position = np.unique(numbers, return_inverse=True)
    return distinct, position


def _marks(numbers: Int[np.ndarray, " numbers"], bound: int) -> Bool[np.ndarray, " bound"]:
    marks = np.zeros(bound, dtype=bool)
    marks[numbers] = True
    return marks
