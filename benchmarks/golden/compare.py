"""Comparing two outputs: keys, codes and whole numbers exactly, other numbers by tolerance, prose apart."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

IGNORED = {"version", "seconds", "traceback", "text"}
"""Keys whose values are not compared: versions, wall-clock times, tracebacks, whole pages of text."""
LEVELS = {
    "factors",
    "bins",
    "examples",
    "minimal_additions",
    "worst",
    "not_additive_at",
    "additions",
    "cells",
    "files",
}
"""Keys below which strings are levels and names of columns, so exact even with spaces."""
CODES = {"word", "order_word", "field"}
"""Keys whose strings are codes, even with spaces ("partly modular")."""
RENAMED: dict[str, str] = {}
"""Keys that were renamed on purpose, old to new."""
ADDED = {"applicable", "unchecked"}
"""Keys that are new on purpose: ignored where the recording does not have them."""
ABSOLUTE = 1e-9
"""Absolute tolerance for outputs of a case with a relative tolerance of 1e-6; it grows with the latter."""


@dataclass
class Difference:
    """What differs: `changed` lines `path: old -> new`, `texts` (path, old, new) of prose."""

    changed: list[str] = field(default_factory=list)
    texts: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def other_numbers(self) -> int:
        """In how many of the texts the numbers differ, too."""
        return sum(_numbers(old) != _numbers(new) for _, old, new in self.texts)


def difference(old: Any, new: Any, rtol: float) -> Difference:
    """Compares two outputs of a case."""
    result = Difference()
    for path, before, after in _pairs(old, new, ()):
        name = ".".join(map(str, path))
        if _are_prose(path, before, after):
            if before != after:
                result.texts.append((name, before, after))
        elif not _same(before, after, rtol):
            result.changed.append(f"{name}: {_short(before)} -> {_short(after)}")
    return result


def _pairs(old: Any, new: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Leaves of two structures by path; where structures differ, the branches themselves."""
    if isinstance(old, dict) and isinstance(new, dict):
        old = {RENAMED.get(key, key): value for key, value in old.items()}
        for key in [*old, *(key for key in new if key not in old)]:
            if key not in IGNORED and not (key in ADDED and key not in old):
                yield from _pairs(old.get(key, _MISSING), new.get(key, _MISSING), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _pairs(before, after, (*path, number))
    else:
        yield path, old, new


class _Missing:
    def __repr__(self) -> str:
        return "(missing)"


_MISSING = _Missing()


def _are_prose(path: tuple[Any, ...], old: Any, new: Any) -> bool:
    """Two strings, one of them with a space, are for people, unless their key says that they are codes."""
    if not (isinstance(old, str) and isinstance(new, str)) or not any(c.isspace() for c in old + new):
        return False
    return path[-1] not in CODES and not LEVELS & set(path)


def _same(old: Any, new: Any, rtol: float) -> bool:
    kinds = [type(value) for value in (old, new)]
    if set(kinds) <= {int, float} and float in kinds:
        both_nan = math.isnan(old) and math.isnan(new)
        return both_nan or math.isclose(old, new, rel_tol=rtol, abs_tol=ABSOLUTE * rtol / 1e-6)
    return kinds[0] is kinds[1] and old == new


def _numbers(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)


def _short(value: Any) -> str:
    text = f"a list of {len(value)}" if isinstance(value, list) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
