"""Which values a type annotation allows. Whatever cannot be decided from the annotation alone is allowed."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from recombine.parts import Part

_PLAIN: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "True or False",
    type(None): "None",
    Part: "a Part",
}
_LISTS = (
    list,
    tuple,
    np.ndarray,
    collections.abc.Sequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)
_UNIONS = (typing.Union, types.UnionType)


def refusal(annotation: Any, value: Any) -> str | None:
    """What would be accepted, if a value does not fit an annotation.

    Values are as trials hold them: lists as tuples, and functions as parts.

    ```python
    >>> from recombine.sweeps.annotations import refusal
    >>> refusal(int | None, 3), refusal(int | None, "3"), refusal(int | tuple[int, ...], (3, "4"))
    (None, 'a whole number or None', 'a whole number or a list (each entry: a whole number)')

    ```
    """
    if fits(annotation, value):
        return None
    options = list(dict.fromkeys(_words(option) for option in _members(annotation)))
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"


def fits(annotation: Any, value: Any) -> bool:
    """Whether a value is allowed."""
    return any(_fits_one(option, value) for option in _members(annotation))


def evaluated(owner: Callable[..., Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Annotations as types; those that are strings and cannot be evaluated are left out."""
    module = inspect.getmodule(owner)
    space = {**vars(typing), **(vars(module) if module else {})}
    known = {}
    for name, annotation in annotations.items():
        try:
            known[name] = eval(annotation, dict(space)) if isinstance(annotation, str) else annotation
        except Exception:  # names that only type checkers import
            continue
    return known


def _members(annotation: Any) -> list[Any]:
    """The alternatives of a union or of literal values."""
    if annotation is None:
        return [type(None)]
    origin = typing.get_origin(annotation)
    if origin in _UNIONS:
        return [one for member in typing.get_args(annotation) for one in _members(member)]
    if origin is typing.Annotated:
        return _members(typing.get_args(annotation)[0])
    if origin is Literal:
        return [Literal[one] for one in typing.get_args(annotation)]
    return [annotation]


def _fits_one(option: Any, value: Any) -> bool:
    origin = typing.get_origin(option)
    if origin is Literal:
        (only,) = typing.get_args(option)
        return type(only) is type(value) and bool(only == value)
    if option in _PLAIN:
        return _fits_plain(option, value)
    is_plain = value is None or isinstance(value, bool | int | float | str)
    if _is_list(option):
        if not isinstance(value, tuple):
            return not is_plain
        entries = _entries(option, len(value))
        return entries is None or (
            len(entries) == len(value)
            and all(fits(one, item) for one, item in zip(entries, value, strict=True))
        )
    if _is_callable(option) or _is_settings(option):
        return not is_plain and not isinstance(value, tuple)
    return True


def _fits_plain(option: Any, value: Any) -> bool:
    if isinstance(value, bool):
        return option is bool
    return isinstance(value, int | float) if option is float else isinstance(value, option)


def _is_list(option: Any) -> bool:
    return option in _LISTS or typing.get_origin(option) in _LISTS


def _entries(option: Any, n: int) -> list[Any] | None:
    """The annotation of every entry of a list; `None` if they can be anything."""
    inner = typing.get_args(option)
    if not inner:
        return None
    if typing.get_origin(option) is not tuple:
        return [inner[0]] * n
    if len(inner) == 2 and inner[1] is Ellipsis:
        return [inner[0]] * n
    return list(inner)


def _is_callable(option: Any) -> bool:
    callables = (collections.abc.Callable, typing.Callable)
    return option in callables or typing.get_origin(option) is collections.abc.Callable


def _is_settings(option: Any) -> bool:
    return isinstance(option, type) and dataclasses.is_dataclass(option)


def _words(option: Any) -> str:
    if option in _PLAIN:
        return _PLAIN[option]
    if typing.get_origin(option) is Literal:
        return repr(typing.get_args(option)[0])
    if _is_list(option):
        inner = typing.get_args(option)
        if not inner:
            return "a list"
        if typing.get_origin(option) is tuple and inner[-1] is not Ellipsis:
            return f"a tuple of {len(inner)} values"
        known = [_words(one) for one in _members(inner[0])]
        return f"a list (each entry: {' or '.join(known)})"
    if _is_callable(option):
        return "a function"
    name = getattr(option, "__name__", str(option))
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"
