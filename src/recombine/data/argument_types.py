"""Checks of plain arguments that `advise`, `audit` and `modularity_report` share: counts, seeds, flags, callbacks."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

import numpy as np

from recombine.errors import InputError

MAX_SHOWN = 80
"""Characters up to which an error shows a bad value; of longer ones it shows the type."""


def shown(value: Any) -> Any:
    """A bad value as an error shows it: itself if it is plain and short, otherwise its type."""
    plain = value is None or isinstance(value, str | int | float | list | tuple | dict)
    try:
        return value if plain and len(repr(value)) < MAX_SHOWN else type(value).__name__
    except Exception:  # a list may hold objects whose repr raises
        return type(value).__name__


def is_count(value: Any) -> bool:
    """Whether a value is a whole number from 0 to 2^63 - 1; true and false are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(0 <= value < 2**63)


def is_number(value: Any) -> bool:
    """Whether a value is one real number; true and false are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_count(field: str, value: Any, expected: str, *, minimum: int = 0, maximum: int = 2**63 - 1) -> None:
    """Refuses what is not a whole number in a range."""
    if not is_count(value) or not minimum <= value <= maximum:
        raise InputError(field, shown(value), expected)


def check_flag(field: str, value: Any) -> None:
    """Refuses what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(field, shown(value), "True or False")


def check_choice(field: str, value: Any, choices: Collection[str]) -> None:
    """Refuses a value that is not one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(field, shown(value), " or ".join(repr(choice) for choice in choices))


def check_progress(progress: Any, *example: Any) -> None:
    """Refuses a callback that does not take the arguments of an example; it is not called."""
    if progress is None:
        return
    expected = f"a function of {len(example)} argument{'s' if len(example) > 1 else ''}, or None"
    if not callable(progress) or isinstance(progress, type):
        raise InputError("progress", shown(progress), expected)
    try:
        inspect.signature(progress).bind(*example)
    except TypeError:
        raise InputError("progress", shown(progress), expected) from None
    except ValueError:  # some built-in functions have no signature
        return
