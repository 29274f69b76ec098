"""Factors and their product, the space of all combinations."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError

MAX_LEVELS = 10**7
"""Levels of a factor that is given by their number; they are kept as a tuple, which takes 0.4 GB."""


@dataclass(frozen=True)
class Factor:
    """One named axis of variation with finitely many levels."""

    name: str
    levels: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        if not self.levels:
            raise InputError(f"factor {self.name!r}", self.levels, "at least one level")
        if not all(isinstance(level, Hashable) for level in self.levels):
            raise InputError(f"factor {self.name!r}", "levels such as lists", "names or numbers")
        if len(set(self.levels)) != len(self.levels):
            twice = next(level for level in self.levels if self.levels.count(level) > 1)
            raise InputError(f"factor {self.name!r}", twice, "levels that are all different")

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.levels)


@dataclass(frozen=True, init=False)
class Space:
    """The product of factors. One cell is one combination of levels, numbered in C order.

    ```python
    >>> from recombine.spaces import Space
    >>> space = Space({"colour": ["red", "blue"], "size": 3})
    >>> space.shape, space.n_cells, space.cells[4].tolist(), space.describe(4)
    ((2, 3), 6, [1, 1], {'colour': 'blue', 'size': 1})

    ```
    """

    factors: tuple[Factor, ...]

    def __init__(self, factors: Mapping[str, int | Iterable[Hashable]]) -> None:
        """**Arguments:**

        - `factors`: for every factor its number of levels, or the levels themselves.
        """
        if not isinstance(factors, Mapping) or not factors:
            raise InputError(
                "factors", factors, "at least one factor, such as {'colour': ['red', 'blue'], 'size': 3}"
            )
        built = []
        for name, levels in factors.items():
            field, expected = (
                f"factor {name!r}",
                f"a positive number of levels up to {MAX_LEVELS:,}, or the levels",
            )
            if isinstance(levels, int | np.integer) and not isinstance(levels, bool):
                if not 1 <= levels <= MAX_LEVELS:
                    raise InputError(field, int(levels) if levels < 2**64 else "2^64 or more", expected)
                levels = range(int(levels))
            if isinstance(levels, str | bytes | bool) or not isinstance(levels, Iterable):
                raise InputError(field, levels, expected)
            built.append(Factor(name, tuple(levels)))
        object.__setattr__(self, "factors", tuple(built))

    @property
    def names(self) -> tuple[str, ...]:
        """The factors' names, in order."""
        return tuple(factor.name for factor in self.factors)

    @property
    def shape(self) -> tuple[int, ...]:
        """The factors' sizes, in order."""
        return tuple(factor.size for factor in self.factors)

    @property
    def n_cells(self) -> int:
        """How many combinations there are."""
        return prod(self.shape)  # exact, where NumPy's product would overflow

    @cached_property
    def cells(self) -> Int[np.ndarray, "cells factors"]:
        """The level index of every factor in every cell, in C order (the last factor runs fastest)."""
        cells = np.indices(self.shape).reshape(len(self.shape), -1).T
        cells.setflags(write=False)
        return cells

    def index(self, levels: Int[np.ndarray, "rows factors"]) -> Int[np.ndarray, " rows"]:
        """Cell numbers of rows of level indices; the inverse of `cells`."""
        levels = np.asarray(levels)
        if levels.ndim != 2 or levels.shape[1] != len(self.shape):
            raise InputError("levels", levels.shape, f"(rows, {len(self.shape)}) level indices")
        if levels.size and ((levels < 0) | (levels >= self.shape)).any():
            row = levels[((levels < 0) | (levels >= self.shape)).any(axis=1)][0].tolist()
            raise InputError("levels", row, f"indices from 0 to below {self.shape}")
        return np.ravel_multi_index(tuple(levels.T), self.shape)

    def axis(self, name: str) -> int:
        """The position of a factor."""
        if name not in self.names:
            raise InputError("factor", name, f"one of {', '.join(self.names)}")
        return self.names.index(name)

    def describe(self, cell: int) -> dict[str, Any]:
        """The levels of one cell by factor name."""
        return {f.name: f.levels[i] for f, i in zip(self.factors, self.cells[cell], strict=True)}

    def grid(self, values: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Per-cell values, shape `(cells, ...)`, as an array with one axis per factor, `(*shape, ...)`."""
        values = np.asarray(values)
        if values.shape[:1] != (self.n_cells,):
            raise InputError("values", values.shape, f"one row for each of the {self.n_cells} cells")
        return values.reshape(self.shape + values.shape[1:])
