"""Which settings a function or a settings class takes, and which values its annotations allow."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from recombine.errors import InputError
from recombine.parts import Part

_PLAIN: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "True or False",
    type(None): "None",
}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
MAX_NAMES = 30
"""Known settings that a message lists."""


@dataclass(frozen=True)
class Accepted:
    """The settings of one function or settings class.

    **Attributes:**

    - `names`: in the order of the signature; `annotations`: those that could be read; `defaults`: where there are some.
    - `anything`: whether other names are taken too (`**kwargs`, or a signature that cannot be read).
    """

    names: tuple[str, ...]
    annotations: Mapping[str, Any]
    defaults: Mapping[str, Any]
    anything: bool

    def check_name(self, prefix: str, name: str) -> None:
        """Refuses a setting that does not exist, and names the nearest that does."""
        if name in self.names or self.anything:
            return
        known = [f"{prefix}.{one}" for one in self.names]
        raise InputError(
            "over",
            f"{prefix}.{name}",
            f"a setting of {prefix}{did_you_mean(name, self.names, prefix)}{_listed(known)}",
        )

    def check_value(self, path: str, name: str, value: Any) -> None:
        """Refuses a value of another type than a plain annotation (`int`, `str`, `Literal[...]`, ...) allows."""
        expected = _refusal(self.annotations.get(name, Any), value)
        if expected is not None:
            raise InputError(path, value, expected)

    def required(self) -> list[str]:
        """The settings without a default."""
        return [name for name in self.names if name not in self.defaults]


def did_you_mean(name: str, known: Sequence[str], prefix: str = "") -> str:
    """The nearest of some names, as the end of a sentence; empty if none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    dotted = f"{prefix}.{near[0]}" if near and prefix else "".join(near)
    return f"; did you mean {dotted!r}?" if near else ""


def accepted(value: Any) -> Accepted:
    """The settings of a part's function, or of a settings object's class."""
    cls: Any = type(value)
    return _of_function(value.name) if isinstance(value, Part) else _of_class(cls)


def _listed(known: Sequence[str]) -> str:
    if not known:
        return " (it has none)"
    more = ", ..." if len(known) > MAX_NAMES else ""
    return f" (known: {', '.join(known[:MAX_NAMES])}{more})"


@cache
def _of_function(name: str) -> Accepted:
    function = Part(name).function
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return Accepted((), {}, {}, anything=True)
    named = {key: one for key, one in parameters.items() if one.kind in _NAMED}
    return Accepted(
        names=tuple(named),
        annotations=_evaluated(function, {key: one.annotation for key, one in named.items()}),
        defaults={
            key: one.default for key, one in named.items() if one.default is not inspect.Parameter.empty
        },
        anything=any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()),
    )


@cache
def _of_class(cls: Any) -> Accepted:
    fields = [one for one in dataclasses.fields(cls) if one.init]
    defaults = {one.name: one.default for one in fields if one.default is not dataclasses.MISSING}
    annotations = _evaluated(cls, {one.name: one.type for one in fields})
    return Accepted(tuple(one.name for one in fields), annotations, defaults, anything=False)


def _evaluated(owner: Callable[..., Any], annotations: Mapping[str, Any]) -> dict[str, Any]:
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


def _refusal(annotation: Any, value: Any) -> str | None:
    """What would be accepted, if the annotation is plain and the value does not fit it."""
    options = _options(annotation)
    if options is None or any(_fits(option, value) for option in options):
        return None
    words = [_PLAIN.get(option) or repr(option) for option in options]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _options(annotation: Any) -> list[Any] | None:
    """The plain types and literal values that an annotation allows; `None` if it allows anything else."""
    if annotation is None:
        return [type(None)]
    if annotation in _PLAIN:
        return [annotation]
    origin = typing.get_origin(annotation)
    if origin is Literal:
        return list(typing.get_args(annotation))
    if origin in (typing.Union, types.UnionType):
        members = [_options(member) for member in typing.get_args(annotation)]
        return None if any(one is None for one in members) else [o for one in members if one for o in one]
    return None


def _fits(option: Any, value: Any) -> bool:
    if not isinstance(option, type):  # a literal value
        return type(option) is type(value) and bool(option == value)
    if isinstance(value, bool):
        return option is bool
    return isinstance(value, int | float) if option is float else isinstance(value, option)
