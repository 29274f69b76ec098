"""Parts: a function together with the plain settings it will be called with.

A trial must be hashable and must survive the way through JSON to another process, so it cannot hold closures.
It holds parts: the importable name of a function or class, and keyword values made of numbers, strings, booleans,
`None`, tuples and further parts. Any importable function will do, so a user's own task or net needs no registration.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recombine.errors import InputError
from recombine.source_imports import public_name

Plain = Any
"""A number, string, boolean, `None`, a tuple of plain values, or a `Part`."""


def plain(value: object, field: str) -> Plain:
    """Returns `value` with lists frozen to tuples, or raises if it is not made of plain values."""
    if isinstance(value, list | tuple):
        return tuple(plain(item, f"{field}[{i}]") for i, item in enumerate(value))
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(field, value, "a finite number")
    if value is None or isinstance(value, bool | int | float | str | Part):
        return value
    raise InputError(field, value, "a number, string, boolean, None, tuple or Part")


@dataclass(frozen=True, init=False)
class Part:
    """A function by its importable name, with settings: `Part(bumps, n=28)` stands for `bumps(n=28, ...)`.

    Two parts are equal if they name the same function with the same settings. Functions of this package are stored
    under their public names, so that moving a file changes no part. Calling a part calls the function; further
    arguments may be given at the call.

    ```python
    >>> from recombine.parts import Part
    >>> part = Part("math:isclose", rel_tol=0.5)
    >>> part(1.0, 1.4), part.to_dict()
    (True, {'call': 'math:isclose', 'with': {'rel_tol': 0.5}})
    >>> Part("recombine.tasks.bumps.grid_positions:bumps", n=20).name
    'recombine.tasks:bumps'

    ```
    """

    name: str
    settings: tuple[tuple[str, Plain], ...]

    def __init__(self, function: Callable[..., Any] | str, /, **settings: Plain) -> None:
        name = function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
        if name.count(":") != 1 or "<" in name:
            raise InputError("function", name, "something importable, as 'package.module:name' (no lambda)")
        name = public_name(name)
        object.__setattr__(self, "name", name)
        frozen = tuple(sorted((key, plain(value, f"{name} {key}")) for key, value in settings.items()))
        object.__setattr__(self, "settings", frozen)

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, imported on demand."""
        module, _, qualname = self.name.partition(":")
        try:
            value: Any = importlib.import_module(module)
            for step in qualname.split("."):
                value = getattr(value, step)
        except (ImportError, AttributeError) as error:
            raise InputError("function", self.name, f"an importable name ({error})") from error
        return value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with the settings and these further arguments."""
        return self.function(*args, **dict(self.settings), **kwargs)

    def __getitem__(self, key: str) -> Plain:
        return dict(self.settings)[key]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON; `Part.from_dict` turns it back."""
        return {"call": self.name, "with": {key: to_json(value) for key, value in self.settings}}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Part:
        """The inverse of `to_dict`."""
        return Part(data["call"], **{key: from_json(value) for key, value in data["with"].items()})


def to_json(value: Plain) -> Any:
    """Plain values as JSON values: tuples become lists, parts become objects."""
    if isinstance(value, Part):
        return value.to_dict()
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    return value


def from_json(value: Any) -> Plain:
    """The inverse of `to_json`."""
    if isinstance(value, Mapping):
        return Part.from_dict(value)
    if isinstance(value, list):
        return tuple(from_json(item) for item in value)
    return value
