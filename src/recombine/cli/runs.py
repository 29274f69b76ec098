"""Commands on the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.shared import JsonOption, StoreOption, say, say_json, say_table
from recombine.errors import InputError

app = typer.Typer(help="List, show, export, compact and delete stored results.", no_args_is_help=True)


@app.command("list")
def runs_list(store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the finished trials."""
    from recombine.cli.store_tables import runs_listing
    from recombine.report import count
    from recombine.runs import Store

    kept = Store(store)
    entries = list(kept.entries())
    if as_json:
        say_json([entry.to_dict() for entry in entries])
    elif not entries:
        say(f"The store is empty: {kept.path}")
    else:
        say("\n".join(runs_listing(entries)))
        say(f"\n{count(len(entries), 'result')} in {kept.path}")


@app.command("show")
def runs_show(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A trial's key, or its beginning.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one trial: its settings and its numbers."""
    from recombine.cli.store_tables import result_heading, result_table
    from recombine.runs import Store

    result = Store(store).find(key)
    if as_json:
        say_json(result.to_dict())
    else:
        say(result_heading(result))
        say()
        say_table(result_table(result))


@app.command("export")
def runs_export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A .parquet or .csv file.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write one row per trial and seed to a table file."""
    from recombine.report import count
    from recombine.runs import Store, export

    rows = list(Store(store).rows())
    written = export(rows, path)
    if as_json:
        say_json({"path": str(written), "trials": len(rows)})
    else:
        say(f"{count(len(rows), 'trial')} written to {written}")


@app.command("compact")
def runs_compact(
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="DAYS", help="Only results at least so many days old.")
    ] = 0.0,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move results into one Parquet file, which is much faster to list and to export.

    Results are found, listed, exported and cleared as before. Other processes may use the store meanwhile.
    """
    from recombine.report import count
    from recombine.runs import Store

    kept = Store(store)
    compaction = kept.compact(older_than=older_than)
    if as_json:
        say_json(compaction.to_dict())
        return
    moved, files = count(compaction.moved, "result"), count(compaction.files, "result")
    say(
        f"{moved} compacted in {kept.path}; {files} left as files, {count(compaction.segments, 'compacted file')}"
    )


@app.command("clear")
def runs_clear(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Only results whose keys begin with this.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete results from the store."""
    from recombine.report import count
    from recombine.runs import Store

    kept = Store(store)
    stored_keys = kept.keys()
    matching = sum(stored.startswith(key) for stored in stored_keys)
    if matching and not yes:
        if as_json:
            raise InputError("yes", False, "--yes together with --json, since nothing can be asked")
        if not typer.confirm(f"Delete {count(matching, 'result')} from {kept.path}?"):
            say("Nothing removed.")
            return
    removed = kept.clear(key)
    if as_json:
        say_json({"removed": removed})
    else:
        say(f"{count(removed, 'result')} deleted from {kept.path}")
