"""The command that runs a sweep, or says what it would take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.destinations import check_destinations
from recombine.cli.imported_sweeps import imported_plan
from recombine.cli.shared import (
    JsonOption,
    OnOption,
    QuietOption,
    SharedStoreOption,
    StoreOption,
    WorkersOption,
    keeps_results,
    say,
    say_json,
    workers,
)
from recombine.cli.standard_output import prints_to_standard_error
from recombine.errors import InputError


def sweep(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A Python file with a plan named `sweep` (sweep = recombine.sweeps.plan(...)), or module:name.",
        ),
    ],
    on: OnOption = "local",
    jobs: WorkersOption = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Run nothing: say how many trials and compiled programs there are, and about how long they take.",
        ),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "--output",
            metavar="FILE",
            help="Also write the frame (.parquet or .csv) or a page with a figure (.html or .md); can be repeated.",
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option("--retries", metavar="N", help="How often a trial that fails is tried again.")
    ] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what the store already has.")] = False,
    store: StoreOption = None,
    shared_store: SharedStoreOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train and measure every combination of the settings in a plan; what is stored is not run again."""
    from recombine.report import print_document
    from recombine.runs import Store, check_on

    check_on(on)
    _check_outputs(output or [], dry_run=dry_run)
    kept = Store(store)
    # Parts may print: what they say must not end up in the report, or in JSON.
    with prints_to_standard_error():
        planned = imported_plan(plan)
        if dry_run:
            estimate = planned.dry_run(on=on, jobs=workers(jobs, on), store=kept, fresh=fresh, quiet=quiet)
        else:
            keeps_results(kept.path)
            result = planned.run(
                on=on,
                jobs=workers(jobs, on),
                store=kept,
                retries=retries,
                fresh=fresh,
                quiet=quiet,
                shared_store=shared_store,
            )
            for path in output or []:
                result.write(path)
    if dry_run:
        say_json(estimate.to_dict()) if as_json else say(str(estimate))
        return
    if as_json:
        say_json(result.to_dict())
    else:
        print_document(result.document())
        if output:
            say(f"\nWritten: {', '.join(map(str, output))}")
    if result.failures:
        raise typer.Exit(1)


def _check_outputs(paths: list[Path], *, dry_run: bool) -> None:
    from recombine.sweeps.sweep_result import OUTPUTS, check_ending

    if paths and dry_run:
        raise InputError("--out", str(paths[0]), "no file together with --dry-run, which makes no results")
    for path in paths:
        check_ending(path, set(OUTPUTS), "--out")
        if not path.absolute().parent.is_dir():
            raise InputError("--out", str(path), "a file in a folder that exists")
    check_destinations([("--out", path) for path in paths])
