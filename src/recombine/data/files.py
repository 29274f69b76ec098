"""Paths that users give: of a file that exists, and of which kind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recombine.errors import InputError


def is_path(value: Any) -> bool:
    """Whether a value is meant as the path of a file."""
    return isinstance(value, str | os.PathLike)


def existing_file(field: str, path: Any, expected: str) -> Path:
    """The path of a file that exists; any other is refused, also one that no file system could hold."""
    try:
        file = Path(path)
        if file.is_file():
            return file
    except (OSError, ValueError, TypeError):  # a name that is too long, a null byte, a path of bytes
        pass
    shown = str(path)
    raise InputError(field, shown if len(shown) <= 200 else f"{shown[:200]}…", expected)
