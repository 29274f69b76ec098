"""How much a user's data may ask for. Every limit is checked before anything of that size is allocated."""

from __future__ import annotations

import numpy as np

from recombine.errors import InputError

MAX_LEVELS = 10_000
"""Levels of one factor. Determinacy eliminates a matrix with a column per level: 10,000 columns take 1 GB."""
MAX_BINS = 1_000
"""Ranges into which a column is cut; more of them hardly ever hold several rows each."""
MAX_FACTORS = 62
"""Factors of a table. Cells are numbered in 64 bits, so more than 62 binary factors have no numbers."""
MAX_AUDIT_FACTORS = 16
"""Factors of an audit, which tests every pair of them as an explanation, with a permutation test each."""
MAX_CLASSES = 1_000
"""Classes of labels that an audit compares; it keeps a number for every row and class."""
MAX_NAME_LENGTH = 1_000
"""Characters of a level, a label or a factor's name. NumPy and every page store a name at its full width."""
MAX_UNPACKED = 2 * 2**30
"""Bytes that a small archive may unpack to; a file of a few megabytes can claim terabytes."""
MAX_RATIO = 10
"""Larger archives may unpack to this many times their own size."""

MAX_MAGNITUDE = 1e150
"""Size of targets and predictions. Errors are squared and summed, which overflows from about 1e154."""


def check_magnitude(field: str, values: np.ndarray, largest: float = MAX_MAGNITUDE) -> None:
    """Refuses numbers that are not finite, or larger than `largest`: their squares would overflow; names the row."""
    if values.dtype.kind != "f":
        return
    largest = min(largest, float(np.finfo(values.dtype).max))
    bad = ~(np.abs(values) <= values.dtype.type(largest)).reshape(len(values), -1).all(axis=1)
    if bad.any():
        row, number = int(bad.argmax()), int(bad.sum())
        many = f" (and {number - 1} more row{'s' if number > 2 else ''})" if number > 1 else ""
        finite = bool(np.isfinite(values[row]).all())
        what = f"a number beyond {MAX_MAGNITUDE:g}" if finite else "a value that is not finite"
        raise InputError(
            field, f"{what} in row {row + 1}{many}", "finite numbers" + (", rescaled" if finite else "")
        )


def check_name(field: str, name: str) -> None:
    """Refuses a name that is too long, or that cannot be written in UTF-8 (a lone surrogate)."""
    if len(name) > MAX_NAME_LENGTH:
        got = f"{name[:40]}… ({len(name):,} characters)"
        raise InputError(field, got, f"names of at most {MAX_NAME_LENGTH:,} characters")
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(field, name, "text that can be written in UTF-8 (no lone surrogates)") from None


def short_name(name: str) -> str:
    """A name as an error shows it."""
    return name if len(name) <= 100 else f"{name[:100]}…"
