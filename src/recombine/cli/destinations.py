"""The files that a command will write, all of them checked before it does any work: bad input leaves none behind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recombine.durable import why_not_writable
from recombine.errors import InputError

Asked = Sequence[tuple[str, Path | None]]
"""Options with the paths that they name; `None` if an option is not used."""


def check_destinations(files: Asked, *, folders: Asked = (), inputs: Sequence[Path | None] = ()) -> None:
    """Refuses files that could not be written, that would replace each other, or that the command reads.

    **Arguments:**

    - `folders`: places to which something is added under a new name, so that two options may name the same.
    - `inputs`: files that the command reads.

    ```python
    >>> from pathlib import Path
    >>> from recombine.cli.destinations import check_destinations
    >>> check_destinations([("cells", Path("a.csv"))], inputs=[Path("a.csv")])
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: cells: got 'a.csv', expected another file: this one is read

    ```
    """
    read = {_real(path) for path in inputs if path is not None}
    taken: dict[Path, tuple[str, Path]] = {}
    for field, path in files:
        if path is None:
            continue
        for file in _files(path):
            whole = _real(file)
            if whole in read:
                raise InputError(field, str(path), "another file: this one is read")
            if whole in taken:
                raise InputError(field, str(path), f"another file: {taken[whole][0]} writes this one")
            taken[whole] = field, path
            _check_writable(field, str(path), file)
    for field, path in folders:
        if path is not None:
            _check_writable(field, str(path), path / "run")
            taken.setdefault(_real(path) / "run", (field, path))
    for whole, (field, path) in taken.items():
        for folder in whole.parents:
            if folder in taken:
                expected = f"another place: {taken[folder][0]} writes a file {folder.name}"
                raise InputError(field, str(path), expected)


def _files(path: Path) -> list[Path]:
    """The files of one destination: a Markdown page has a folder of pictures next to it."""
    return [path, path.with_suffix("") / "picture.png"] if path.suffix == ".md" else [path]


def _real(path: Path) -> Path:
    """The path without links, also if it does not exist."""
    return Path(os.path.realpath(path))


def _check_writable(field: str, got: str, path: Path) -> None:
    reason = why_not_writable(path)
    if reason is not None:
        raise InputError(field, got, f"a place that can be written ({reason})")
