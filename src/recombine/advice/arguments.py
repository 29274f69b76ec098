"""The arguments of `advise`, checked before anything is read; and the same from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recombine.data.argument_types import check_choice, check_flag, shown
from recombine.data.files import is_path
from recombine.errors import InputError

MAX_PATTERNS = 10_000
"""Patterns of cells that are banned or excluded; each is compared with every cell of interest."""


def checked_orders(orders: Any) -> tuple[int, ...]:
    """Orders as whole numbers: one number, several of them, or text such as `"1,2"`."""
    expected = "whole numbers from 1 on, such as [1, 2]"
    if isinstance(orders, str):
        return parse_orders(orders)
    if isinstance(orders, int | np.integer) and not isinstance(orders, bool):
        orders = [orders]
    if isinstance(orders, np.ndarray):
        orders = orders.tolist()
    if not isinstance(orders, list | tuple | range | set | frozenset) or not len(orders):
        raise InputError("order", shown(orders), expected)
    for order in orders:
        if not isinstance(order, int | np.integer) or isinstance(order, bool) or order < 1:
            raise InputError("order", shown(orders), expected)
    return tuple(int(order) for order in (sorted(orders) if isinstance(orders, set | frozenset) else orders))


def checked_patterns(field: str, patterns: Any) -> tuple[Mapping[str, Any], ...]:
    """Patterns of cells, each a mapping from factors to levels, or text such as `"size=huge"`."""
    expected = "levels by factor, such as [{'size': 'huge'}]"
    if isinstance(patterns, Mapping | str):
        patterns = [patterns]
    if not isinstance(patterns, list | tuple) or len(patterns) > MAX_PATTERNS:
        raise InputError(field, shown(patterns), f"{expected}, at most {MAX_PATTERNS:,} of them")
    checked = []
    for pattern in patterns:
        levels = parse_cells(field, pattern) if isinstance(pattern, str) else pattern
        if not isinstance(levels, Mapping) or not levels:
            raise InputError(field, shown(pattern), expected)
        for level in levels.values():
            if not isinstance(level, str | int | float | np.generic):
                raise InputError(field, shown(level), "a level: a name or a number")
        checked.append(levels)
    return tuple(checked)


def check_settings(*, average: Any, interest: Any, salience: Any, activations: Any) -> None:
    """Refuses other arguments of `advise` that are of the wrong type."""
    check_flag("average", average)
    check_choice("interest", interest, ("unseen", "table"))
    if activations is not None and salience is not None:
        raise InputError(
            "salience", shown(salience), "saliences or activations to estimate them from, not both"
        )
    if isinstance(activations, Mapping) or (is_path(activations) and not str(activations)):
        raise InputError("activations", shown(activations), "an array (rows, units), or the path of a file")


def parse_orders(text: str) -> tuple[int, ...]:
    """`"1,2"` as numbers."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and len(word) < 10 and int(word) > 0 for word in words):
        raise InputError("order", text, "whole numbers from 1 on, such as 1,2")
    return tuple(int(word) for word in words)


def parse_cells(field: str, text: str) -> dict[str, str]:
    """`"size=huge,shape=cat"` as levels by factor."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and sign and level.strip() for name, sign, level in pairs):
        raise InputError(field, text, "FACTOR=LEVEL, or several of them with commas between")
    return {name.strip(): level.strip() for name, _, level in pairs}


def parse_bins(texts: Sequence[str]) -> dict[str, int | str] | str:
    """`["weight=4", "height=auto"]` as numbers of ranges by column; `"auto"` as it is."""
    if list(texts) == ["auto"]:
        return "auto"
    bins: dict[str, int | str] = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        if not name or not (number == "auto" or (number.isdecimal() and len(number) <= 10)):
            raise InputError("bins", text, "COLUMN=NUMBER or COLUMN=auto, such as weight=4; or only auto")
        bins[name] = "auto" if number == "auto" else int(number)
    return bins
