"""Options that commands share, and how commands print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.destinations import check_destinations
from recombine.cli.interrupts import on_interrupt
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.report import Report

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="FOLDER", help="Folder of results (default: $RECOMBINE_HOME or the user's cache)."
    ),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Worker processes, one core each (0: this process). Results do not depend on it.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Worker processes, one core each (default: 2; on a cluster all its cores). Results do not depend on it.",
    ),
]
OnOption = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="PLACE",
        help="local, ray (the cluster of the environment, else this machine), host:port or ray://host:port.",
    ),
]
SharedStoreOption = Annotated[
    bool, typer.Option("--shared-store", help="Workers of a cluster write to the store, which they all see.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
ScaleOption = Annotated[
    str, typer.Option("--scale", metavar="SCALE", help="The size of a run: smoke, quick or paper.")
]
BinsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--bins",
        metavar="COLUMN=N",
        help="Cut a column of numbers into N ranges: weight=4, or weight=auto; auto for all columns of real numbers.",
    ),
]
MissingOption = Annotated[
    str,
    typer.Option(
        "--missing", metavar="error|level", help="What rows without a value of a factor are; level: a level."
    ),
]
OffsetOption = Annotated[int, typer.Option("--seed-offset", metavar="N", help="Added to every random seed.")]


def words(text: str) -> list[str]:
    """The words of a list with commas, such as names of columns."""
    return [word.strip() for word in text.split(",") if word.strip()]


def say(line: str = "") -> None:
    """Prints a line for the reader."""
    typer.echo(line)


def say_json(value: Any) -> None:
    """Prints a value as JSON; numbers that are not finite, which JSON does not have, become null."""
    typer.echo(_json_text(_finite(value)))


def _json_text(value: Any, margin: str = "") -> str:
    """JSON with two spaces of indentation; lists of plain values are on one line, since there are long ones."""
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_plain_text(str(key))}: {_json_text(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list | tuple) and any(isinstance(one, dict | list | tuple) for one in value):
        return "[\n" + ",\n".join(inner + _json_text(one, inner) for one in value) + f"\n{margin}]"
    return _plain_text(value)


_plain_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def say_report(report: Report, html: Path | None, *, as_json: bool) -> None:
    """Writes a report's page, if asked for, and prints the report as text or as JSON."""
    if html is not None:
        report.page().write(html)
    if as_json:
        say_json(report.to_dict())
        return
    say(str(report))
    if html is not None:
        say(f"\nPage: {html}")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value


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
    check_destinations([(field, out)])


@contextmanager
def progress_lines(*, quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A function that shows what is being done, and which share of it is done.

    A line appears only for work that reports a share between 0 and 1, so what is done at once shows nothing.

    **Arguments:**

    - `quiet`: show nothing at all.
    """
    lines: dict[str, Any] = {}
    with ExitStack() as stack:

        def show(label: str, share: float) -> None:
            from recombine.report import progress

            if label not in lines and 0.0 < share < 1.0:
                lines[label] = stack.enter_context(progress(quiet=quiet)).line(label)
            if label in lines:
                lines[label].update(share)

        yield show
        for line in lines.values():
            line.finish()


def workers(jobs: int | None, on: str) -> int:
    """The number of workers that was asked for, or else what is usual in that place."""
    if jobs is not None:
        return jobs
    return 2 if on == "local" else 0


def keeps_results(store: Path | None) -> None:
    """To be called by a command that runs trials: Ctrl-C then says how many results it has added to the store."""
    from recombine.report import count
    from recombine.runs import Store

    kept = Store(store)
    before = kept.count()

    def what_is_kept() -> str:
        new = kept.count() - before
        verb = "is" if new == 1 else "are"
        return f"{count(new, 'new result')} {verb} kept in {kept.path}; the same command continues from there"

    on_interrupt(what_is_kept)
