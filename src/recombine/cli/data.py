"""Commands on data sets."""

from __future__ import annotations

from typing import Annotated

import typer

from recombine.cli.shared import JsonOption, say, say_json, say_table

app = typer.Typer(
    help="List, download and verify data sets; everything also works without them.", no_args_is_help=True
)


@app.command("list")
def data_list(as_json: JsonOption = False) -> None:
    """List the data sets, and which of them are on this machine."""
    from recombine.cli.store_tables import data_table
    from recombine.tasks import datasets

    entries = datasets.available()
    if as_json:
        say_json([entry.to_dict() for entry in entries])
    else:
        say_table(data_table(entries))


@app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="mnist or cifar10.")],
    as_json: JsonOption = False,
) -> None:
    """Download a data set and check it."""
    from recombine.tasks import datasets

    folder = datasets.fetch(name, say=lambda line: typer.echo(line, err=True))
    say_json({"name": name, "folder": str(folder)}) if as_json else say(f"{name} is in {folder}")


@app.command("verify")
def data_verify(
    name: Annotated[str, typer.Argument(metavar="NAME", help="mnist or cifar10.")],
    as_json: JsonOption = False,
) -> None:
    """Check the files of a data set against their published hashes."""
    from recombine.tasks import datasets

    folder = datasets.verify(name)
    say_json({"name": name, "folder": str(folder), "verified": True}) if as_json else say(
        f"{folder}: as published"
    )
