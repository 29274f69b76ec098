"""Which settings a function or a settings class takes, and which values its annotations allow."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from recombine.errors import InputError
from recombine.parts import Part
from recombine.sweeps.annotations import evaluated, refusal

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
SET_BY_TRIALS = ("task.seed", "net.key")
"""Settings that trials pass themselves."""
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
        known = [path for one in self.names if (path := f"{prefix}.{one}") not in SET_BY_TRIALS]
        raise InputError(
            "over",
            f"{prefix}.{name}",
            f"a setting of {prefix}{did_you_mean(name, self.names, prefix)}{_listed(known)}",
        )

    def check_value(self, path: str, name: str, value: Any) -> None:
        """Refuses a value that the annotation of its setting does not allow."""
        expected = refusal(self.annotations.get(name, Any), value)
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
    return _of_function(value.function) if isinstance(value, Part) else _of_class(cls)


def _listed(known: Sequence[str]) -> str:
    if not known:
        return " (it has none)"
    more = ", ..." if len(known) > MAX_NAMES else ""
    return f" (known: {', '.join(known[:MAX_NAMES])}{more})"


@cache  # by the function itself: in a notebook its name may get another meaning
def _of_function(function: Callable[..., Any]) -> Accepted:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return Accepted((), {}, {}, anything=True)
    named = {key: one for key, one in parameters.items() if one.kind in _NAMED}
    return Accepted(
        names=tuple(named),
        annotations=evaluated(function, {key: one.annotation for key, one in named.items()}),
        defaults={
            key: one.default for key, one in named.items() if one.default is not inspect.Parameter.empty
        },
        anything=any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()),
    )


@cache
def _of_class(cls: Any) -> Accepted:
    fields = [one for one in dataclasses.fields(cls) if one.init]
    defaults = {one.name: one.default for one in fields if one.default is not dataclasses.MISSING}
    annotations = evaluated(cls, {one.name: one.type for one in fields})
    return Accepted(tuple(one.name for one in fields), annotations, defaults, anything=False)
