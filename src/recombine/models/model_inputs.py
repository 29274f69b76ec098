"""The inputs of a model: one array, several, or a data frame, all cut into rows the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine.errors import InputError


@dataclass(frozen=True)
class InputColumn:
    """One number of every row: `number` among the columns of `part`, or `None` if that array is `(rows,)` itself."""

    part: int
    number: int | None


@dataclass(frozen=True, eq=False)
class Inputs:
    """Arrays with the same rows, passed to a model in order or, with `names`, as keywords."""

    parts: tuple[Any, ...]
    names: tuple[str, ...] | None
    rows: int

    def take(self, index: slice | np.ndarray) -> Inputs:
        """Some rows, in the same kind of array."""
        parts = tuple(_rows_of(part, index) for part in self.parts)
        return replace(self, parts=parts, rows=_row_count(parts[0]))

    def spread(self, count: int) -> Inputs:
        """`count` rows, evenly spread, with repetition if there are fewer."""
        return self.take(np.linspace(0, self.rows - 1, count).round().astype(int))

    def convert(self, function: Callable[[Any], Any]) -> Inputs:
        """The same with every array turned into another."""
        return replace(self, parts=tuple(function(part) for part in self.parts))

    def moved(self, column: InputColumn, by: float) -> Inputs:
        """The same with a number added to one column, in the same kind of array."""
        part, change = self.parts[column.part], by * self.direction(column)
        change = part.new_tensor(change) if hasattr(part, "new_tensor") else change.astype(part.dtype)
        return replace(self, parts=self.with_part(column, part + change))

    def direction(self, column: InputColumn) -> np.ndarray:
        """One in one column and zero in the others of its array."""
        shape = np.shape(self.parts[column.part])
        if column.number is None:
            return np.ones(shape)
        direction = np.zeros(shape)
        direction[:, column.number] = 1.0
        return direction

    def with_part(self, column: InputColumn, part: Any) -> tuple[Any, ...]:
        """All arrays, with the one that holds a column replaced."""
        return tuple(part if number == column.part else own for number, own in enumerate(self.parts))

    def row(self, number: int) -> Inputs:
        """One row without its first axis, for functions of one example."""
        return replace(self, parts=tuple(_rows_of(part, number) for part in self.parts), rows=1)

    def feed(self, function: Callable[..., Any]) -> Any:
        """The function's result for these inputs."""
        if self.names is None:
            return function(*self.parts)
        return function(**dict(zip(self.names, self.parts, strict=True)))

    @property
    def row_bytes(self) -> int:
        """Approximate memory of one row."""
        return sum(_bytes(part) for part in self.parts) // max(self.rows, 1)


def as_inputs(inputs: Any) -> Inputs:
    """Inputs as rows: an array `(rows, ...)`, a data frame, or a tuple, list or mapping of arrays.

    ```python
    >>> import numpy as np
    >>> from recombine.models.model_inputs import as_inputs
    >>> several = as_inputs({"x": np.zeros((5, 2)), "t": np.arange(5)})
    >>> several.rows, several.take(slice(1, 3)).feed(lambda x, t: (x.shape, t.tolist()))
    (5, ((2, 2), [1, 2]))

    ```
    """
    names: tuple[str, ...] | None = None
    parts: tuple[Any, ...]
    if isinstance(inputs, Mapping):
        names = tuple(str(name) for name in inputs)
        parts = tuple(_as_array(part) for part in inputs.values())
    elif isinstance(inputs, tuple | list) and inputs and all(hasattr(part, "shape") for part in inputs):
        parts = (
            tuple(inputs) if all(np.ndim(part) for part in inputs) else (np.asarray(inputs),)
        )  # scalars are rows
    else:
        parts = (_as_array(inputs),)
    if not parts:
        raise InputError("inputs", "none", "an array with a row for every example, or several")
    labels = names or tuple(str(number) for number in range(len(parts)))
    counts = {label: _row_count(part) for label, part in zip(labels, parts, strict=True)}
    rows = next(iter(counts.values()))
    odd = [label for label, count in counts.items() if count != rows]
    if odd:
        got = f"{rows} rows in {labels[0]!r} and {counts[odd[0]]} in {odd[0]!r}"
        raise InputError("inputs", got, "the same number of rows in all of them")
    if not rows:
        raise InputError("inputs", "no rows", "at least one")
    return Inputs(parts, names, rows)


def _as_array(part: Any) -> Any:
    if hasattr(part, "shape"):
        return part
    try:
        array = np.asarray(part)
    except Exception:  # ragged lists, or objects that refuse
        array = np.asarray(None)
    if array.dtype == object:
        raise InputError("inputs", type(part).__name__, "an array (rows, ...), several, or a data frame")
    return array


def _row_count(part: Any) -> int:
    if not len(part.shape):
        raise InputError("inputs", "a single number", "an array with a row for every example")
    return int(part.shape[0])


def _rows_of(part: Any, index: slice | int | np.ndarray) -> Any:
    return part.iloc[index] if hasattr(part, "iloc") else part[index]


def _bytes(part: Any) -> int:
    size = getattr(part, "nbytes", None)
    return int(size) if isinstance(size, int | np.integer) else 8 * int(np.prod(part.shape))
