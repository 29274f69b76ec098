"""Options and ways of speaking that commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.errors import InputError

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="Folder of results (default: $RECOMBINE_HOME or the user's cache)."),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", help="Processes, each on a core of its own; their number changes no result.")
]
IdleJobsOption = Annotated[
    int, typer.Option("--jobs", help="As for reproduce; this command trains nothing, so it changes nothing.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
ScaleOption = Annotated[str, typer.Option("--scale", help="smoke, quick or paper.")]
OffsetOption = Annotated[int, typer.Option("--seed-offset", help="Added to every random seed.")]


def say(line: str = "") -> None:
    """Prints a line for the reader."""
    typer.echo(line)


def say_json(value: Any) -> None:
    """Prints a value as JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def say_table(table: Any) -> None:
    """Prints a table: on a terminal coloured and as wide as it, elsewhere as plain text."""
    from recombine.report import print_table

    print_table(table)


def check_page_path(out: Path | None, field: str = "out") -> None:
    """Refuses a page that could not be written, before anything is run."""
    if out is None:
        return
    if out.suffix not in {".html", ".md"}:
        raise InputError(field, str(out), "a file name that ends in .html or .md")
    if not out.absolute().parent.is_dir():
        raise InputError(field, str(out), f"a file in a folder that exists; {out.absolute().parent} does not")


@contextmanager
def progress_lines() -> Iterator[Callable[[str, float], None]]:
    """A function to be told what is being done and which share is done; a line appears for what is not done at once."""
    lines: dict[str, Any] = {}
    with ExitStack() as stack:

        def told(what: str, share: float) -> None:
            from recombine.report import progress

            if what not in lines and 0.0 < share < 1.0:
                lines[what] = stack.enter_context(progress()).line(what)
            if what in lines:
                lines[what].update(share)

        yield told
        for line in lines.values():
            line.finish()
