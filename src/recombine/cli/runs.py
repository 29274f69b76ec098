"""Commands on the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.shared import IdleJobsOption, JsonOption, StoreOption, say, say_json, say_table
from recombine.errors import InputError

app = typer.Typer(help="What the store holds.", no_args_is_help=True)


@app.command("list")
def runs_list(store: StoreOption = None, jobs: IdleJobsOption = 1, as_json: JsonOption = False) -> None:
    """List the finished trials."""
    from recombine.runs import Store
    from recombine.studies.display import runs_table

    kept = Store(store)
    entries = list(kept.entries())
    if as_json:
        say_json([entry.to_dict() for entry in entries])
    elif not entries:
        say(f"The store is empty: {kept.path}")
    else:
        say_table(runs_table(entries))
        say(f"\n{len(entries)} results in {kept.path}")


@app.command("show")
def runs_show(
    key: Annotated[str, typer.Argument(help="A trial's key, or its first letters.")],
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Show one trial: its settings and its numbers."""
    from recombine.runs import Store
    from recombine.studies.display import result_heading, result_table

    result = Store(store).find(key)
    if as_json:
        say_json(result.to_dict())
    else:
        say(result_heading(result))
        say()
        say_table(result_table(result))


@app.command("export")
def runs_export(
    path: Annotated[Path, typer.Argument(help="A .parquet or .csv file.")],
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Write one row per trial and seed to a table file."""
    from recombine.runs import Store, export

    results = list(Store(store).results())
    written = export(results, path)
    if as_json:
        say_json({"path": str(written), "trials": len(results)})
    else:
        say(f"{len(results)} trials written to {written}")


@app.command("clear")
def runs_clear(
    key: Annotated[str, typer.Argument(help="Only keys that begin with this.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    store: StoreOption = None,
    jobs: IdleJobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Delete results from the store."""
    from recombine.runs import Store

    kept = Store(store)
    count = sum(entry.key.startswith(key) for entry in kept.entries())
    if count and not yes:
        if as_json:
            raise InputError("yes", False, "--yes together with --json, since nothing can be asked")
        typer.confirm(f"Delete {count} results from {kept.path}?", abort=True)
    removed = kept.clear(key)
    if as_json:
        say_json({"removed": removed})
    else:
        say(f"{removed} results deleted from {kept.path}")
