"""Drawing a training set from the seen cells of a split."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError
from recombine.spaces import Split


def generator(seed: int) -> np.random.Generator:
    """A fresh NumPy generator; equal seeds give equal draws and no global state is touched.

    ```python
    >>> from recombine.tasks.draws import generator
    >>> bool(generator(7).random() == generator(7).random())
    True

    ```
    """
    return np.random.default_rng(checked_seed(seed))


def checked_seed(seed: object) -> int:
    """A seed as a whole number; an `InputError` if it is none, or negative."""
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError("seed", seed, "a whole number that is not negative")
    return int(seed)


def draw_with_replacement(
    split: Split, count: int, *, seed: int = 0, field: str = "count"
) -> Int[np.ndarray, " count"]:
    """Cell numbers of `count` independent uniform draws from the seen cells; repeats are likely.

    Of `c` seen cells, `c (1 - (1 - 1/c)^count)` are covered on average: 486 of 495 by 2000 draws.
    `field` is what an error message calls `count`.

    ```python
    >>> from recombine.spaces import Space, Split
    >>> from recombine.tasks import draw_with_replacement
    >>> draw_with_replacement(Split(Space({"a": 2, "b": 2}), [0, 1, 2]), 6, seed=0).tolist()
    [2, 1, 1, 0, 0, 0]

    ```
    """
    _check_count(field, count, low=1)
    return generator(seed).choice(np.flatnonzero(split.seen), size=count, replace=True)


def draw_without_replacement(
    split: Split, count: int, *, seed: int = 0, field: str = "count"
) -> Int[np.ndarray, " count"]:
    """Cell numbers of `count` different seen cells in random order.

    With one seed, a smaller draw is the beginning of a larger one, so that a sweep over `count` only ever
    adds cells.

    ```python
    >>> from recombine.spaces import Space, Split
    >>> from recombine.tasks import draw_without_replacement
    >>> split = Split(Space({"a": 3, "b": 3}), range(8))
    >>> large = draw_without_replacement(split, 5, seed=1)
    >>> bool((large[:3] == draw_without_replacement(split, 3, seed=1)).all())
    True

    ```
    """
    _check_count(field, count, low=0, high=int(split.seen.sum()))
    return generator(seed).permutation(np.flatnonzero(split.seen))[:count]


def _check_count(field: str, count: int, *, low: int, high: int | None = None) -> None:
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not whole or count < low or (high is not None and count > high):
        at_most = "" if high is None else f" and at most {high}, the number of seen cells"
        raise InputError(field, count, f"a whole number of at least {low}{at_most}")
