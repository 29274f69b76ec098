"""The command line. Every command imports what it needs when it runs, so that `--help` answers at once."""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from recombine._version import __version__
from recombine.cli import advise, audit, data, modularity, runs, studies
from recombine.cli.shared import say
from recombine.errors import DatasetError, InputError, StoreError

app = typer.Typer(
    help="Will a neural network handle combinations of familiar parts that it never saw together?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    studies.demo,
    advise.advise,
    audit.audit,
    modularity.modularity,
    studies.reproduce,
    studies.claims,
    studies.report,
):
    app.command()(command)
app.add_typer(runs.app, name="runs")
app.add_typer(data.app, name="data")


def version(asked: bool) -> None:
    """Prints the version and ends."""
    if asked:
        say(f"recombine {__version__}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Will a neural network handle combinations of familiar parts that it never saw together?"""


def main() -> None:
    """Runs the command line: bad input and an unusable store are one line and exit code 2."""
    try:
        code = app(standalone_mode=False)
    except typer.Abort:
        fail("stopped; what is finished is kept", 1)
    except (InputError, StoreError, DatasetError) as error:
        fail(str(error), 2)
    except Exception as error:
        from recombine.runs import ExecutionError

        if isinstance(error, ExecutionError):
            fail(str(error), 1)
        if not hasattr(error, "format_message"):  # what the option parser raises
            raise
        message = " ".join(error.format_message().split())
        fail(message, 2) if message else sys.exit(2)  # empty: help was shown
    sys.exit(code if isinstance(code, int) else 0)


def fail(line: str, code: int) -> NoReturn:
    """Says in one line what is wrong, and ends."""
    typer.echo(f"error: {line}", err=True)
    sys.exit(code)
