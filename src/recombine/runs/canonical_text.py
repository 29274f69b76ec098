"""Plain values, parts and settings as canonical JSON, written in one pass for trials by the hundred thousand.

`recombine.runs.trial` defines what the text is; this gives the same text about ten times faster, for the types that
trials are made of, and leaves all else to it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring_ascii as quoted
from operator import attrgetter
from types import FunctionType
from typing import Any, NamedTuple

from recombine.parts import Part
from recombine.source_imports import public_name


class UnusualValueError(Exception):
    """The value is to be written, or refused with a reason, by the slower code."""


def write(value: Any, names: set[str]) -> str:
    """The canonical JSON of a value.

    **Arguments:**

    - `names`: the names of all parts and classes in the value are added to it.

    **Raises:**

    `UnusualValueError` for anything but exact built-in types, parts and frozen dataclasses of this package.
    """
    # Exact types only: a subclass, such as numpy.float64, may be written in another way.
    kind = type(value)
    if kind is int:
        return repr(value)
    if kind is float:
        text = repr(value)
        if text[-1] in "fn":  # inf, nan
            raise UnusualValueError
        return text if value else "0.0"
    if kind is str:
        return quoted(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is tuple:
        return f"[{','.join([write(item, names) for item in value])}]"
    if kind is FunctionType:
        return write(Part(value), names)
    known = _WRITTEN.get(id(value))
    if known is None:
        inside: set[str] = set()
        text = _write_part(value, inside) if kind is Part else _write_settings(value, inside)
        if len(_WRITTEN) >= _MAX_WRITTEN:
            _WRITTEN.clear()
        known = _WRITTEN[id(value)] = _Written(value, text, inside)
    names |= known.names
    return known.text


class _Written(NamedTuple):
    value: object
    text: str
    names: set[str]


_WRITTEN: dict[int, _Written] = {}
_MAX_WRITTEN = 4096
"""The parts and settings that were written last, by identity: the trials of a sweep share most of theirs. Not by value,
because `1` and `1.0` are equal. What is written without an error cannot change; kept here, it keeps its identity."""


def _write_part(part: Part, names: set[str]) -> str:
    names.add(part.name)
    items = [f"{quoted(key)}:{write(item, names)}" for key, item in part.settings]  # sorted by key
    return f'{{"call":{quoted(part.name)},"with":{{{",".join(items)}}}}}'


def _write_settings(value: Any, names: set[str]) -> str:
    name, values_of, fields = _class_plan(type(value))  # type: ignore[arg-type] # typeshed: a type is not Hashable
    name = public_name(name)
    names.add(name)
    texts = []
    for item, (label, default, text, default_names) in zip(values_of(value), fields, strict=True):
        if item is not default:
            text = label + write(item, names)
        elif default_names:
            names.update(default_names)
        texts.append(text)
    return f'{{"class":{quoted(name)},"fields":{{{",".join(texts)}}}}}'


class _Field(NamedTuple):
    """A field of a class of settings.

    - `label`: its name in JSON, with a colon.
    - `text`: the label and the default; most fields of a recipe have their defaults.
    - `names`: those of the parts and classes in the default.
    """

    label: str
    default: object
    text: str
    names: frozenset[str]


@cache
def _class_plan(kind: type) -> tuple[str, Callable[[Any], tuple[Any, ...]], tuple[_Field, ...]]:
    """The full name of a class of settings, a function that reads its fields, and these, in alphabetical order."""
    is_ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    if not is_ours or not dataclasses.is_dataclass(kind):
        raise UnusualValueError
    fields = sorted(dataclasses.fields(kind), key=lambda field: field.name)
    is_frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not is_frozen or len(fields) < 2 or not all(field.init for field in fields):
        raise UnusualValueError  # of one field, attrgetter would not return a tuple
    values_of = attrgetter(*(field.name for field in fields))
    return f"{kind.__module__}:{kind.__qualname__}", values_of, tuple(map(_field_plan, fields))


def _field_plan(field: dataclasses.Field[Any]) -> _Field:
    label, names = f"{quoted(field.name)}:", set[str]()
    try:
        return _Field(label, field.default, label + write(field.default, names), frozenset(names))
    except UnusualValueError:  # also a field without a default
        return _Field(label, object(), "", frozenset())


def forget() -> None:
    """Forgets all that was computed; for tests that change files."""
    _WRITTEN.clear()
    _class_plan.cache_clear()
