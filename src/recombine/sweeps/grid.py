"""The points of a sweep: the product of lists of values, or points that are given one by one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.runs.trial import as_part
from recombine.sweeps.paths import steps_of

Point = dict[str, Any]
"""Values by path."""

MAX_POINTS = 1_000_000
"""More points are refused: the keys of their trials alone would take minutes to compute."""


@dataclass(frozen=True)
class Axis:
    """Paths that change together, and the values that they take in turn."""

    paths: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Grid:
    """All points: the product of the axes, the last of which changes fastest.

    ```python
    >>> from recombine.sweeps.grid import grid
    >>> points = grid({"net.width": [8, 16], ("net.depth", "recipe.steps"): [(1, 100), (2, 200)]})
    >>> len(points), points[1]
    (4, {'net.width': 8, 'net.depth': 2, 'recipe.steps': 200})

    ```
    """

    axes: tuple[Axis, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that are swept, in the order given."""
        return tuple(path for axis in self.axes for path in axis.paths)

    def __len__(self) -> int:
        return math.prod(len(axis) for axis in self.axes)

    def __getitem__(self, index: int) -> Point:
        if not 0 <= index < len(self):
            raise IndexError(index)
        point: Point = {}
        for axis in reversed(self.axes):
            index, i = divmod(index, len(axis))
            point = dict(zip(axis.paths, axis.values[i], strict=True)) | point
        return point

    def values(self, path: str) -> list[Any]:
        """The values of one path in turn, each once."""
        axis = next(axis for axis in self.axes if path in axis.paths)
        listed = [values[axis.paths.index(path)] for values in axis.values]
        return list({identity(value): value for value in listed}.values())


def grid(over: object) -> Grid:
    """Reads `over`: a dictionary of lists, or a list of dictionaries with the same paths."""
    if over is None:
        return Grid(())
    if isinstance(over, Mapping):
        axes = tuple(_axis(key, values) for key, values in over.items())
    elif isinstance(over, Sequence) and not isinstance(over, str):
        axes = (_explicit(over),)
    else:
        raise InputError("over", over, "a dictionary of lists by path, or a list of dictionaries")
    paths = [path for axis in axes for path in axis.paths]
    twice = sorted({path for path in paths if paths.count(path) > 1})
    if twice:
        raise InputError("over", ", ".join(twice), "every path once")
    size = math.prod(len(axis) for axis in axes)
    if size > MAX_POINTS:
        raise InputError("over", f"{size:,} points", f"at most {MAX_POINTS:,}; sweep fewer values at once")
    return Grid(axes)


def identity(value: Any) -> tuple[bool, Any]:
    """Equal for values that a frame could not tell apart: 1 and 1.0, but not 1 and True."""
    return isinstance(value, bool), value


def _axis(key: object, values: object) -> Axis:
    paths: tuple[Any, ...] = key if isinstance(key, tuple) else (key,)
    for path in paths:
        steps_of(path)
    if not paths:
        raise InputError("over", key, "paths such as 'net.width', or tuples of them")
    name = ", ".join(paths)
    if isinstance(values, str | bytes | Mapping | set | frozenset) or not isinstance(values, Iterable):
        raise InputError(name, values, "a list of values")
    listed = list(islice(values, MAX_POINTS + 1))
    if len(listed) > MAX_POINTS:
        raise InputError(name, f"more than {MAX_POINTS:,} values", f"at most {MAX_POINTS:,}")
    rows = [_row(value, paths, name) if isinstance(key, tuple) else (plain_value(value),) for value in listed]
    return _checked(Axis(paths, tuple(rows)), name)


def _row(value: object, paths: tuple[str, ...], name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) != len(paths):
        raise InputError(name, value, f"a tuple of {len(paths)} values, one for each path")
    return tuple(plain_value(one) for one in value)


def _explicit(points: Sequence[Any]) -> Axis:
    for i, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise InputError(f"over[{i}]", point, "a dictionary of values by path")
        if set(point) != set(points[0]):
            odd = ", ".join(sorted(map(str, set(point) ^ set(points[0]))))
            raise InputError(f"over[{i}]", odd, "the same paths in every dictionary")
    paths = tuple(points[0]) if points else ()
    for path in paths:
        steps_of(path)
    rows = tuple(tuple(plain_value(point[path]) for path in paths) for point in points)
    if not paths:
        raise InputError(
            "over", points, "at least one path in every dictionary" if points else "at least one point"
        )
    return _checked(Axis(paths, rows), "over")


def _checked(axis: Axis, name: str) -> Axis:
    if not axis.values:
        raise InputError(name, [], "at least one value")
    known: set[Any] = set()
    for row in axis.values:
        got = row[0] if len(row) == 1 else row
        if any(isinstance(value, float) and not math.isfinite(value) for value in row):
            raise InputError(name, got, "finite numbers")
        try:
            key = tuple(identity(value) for value in row)
            is_known = key in known
        except TypeError as error:
            raise InputError(name, got, "plain values, Parts or settings such as Penalty(...)") from error
        if is_known:
            raise InputError(name, got, "every value once")
        known.add(key)
    return axis


def plain_value(value: Any) -> Any:
    """A value as trials hold it: functions as parts, lists as tuples, NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return tuple(plain_value(item) for item in value)
    return as_part(value)
