"""The command that advises on a data split."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.destinations import check_destinations
from recombine.cli.shared import (
    BinsOption,
    JsonOption,
    MissingOption,
    QuietOption,
    check_page_path,
    progress_lines,
    say,
    say_json,
    words,
)


def advise(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="A CSV, JSON-lines or Parquet file with one row per example; - reads from standard input.",
        ),
    ],
    factors: Annotated[
        str, typer.Option("--factors", metavar="COLUMNS", help="The factor columns: colour,shape,size.")
    ],
    seen: Annotated[
        str,
        typer.Option(
            "--seen",
            metavar="CONDITION",
            help="Which rows are for training: COLUMN=VALUE, COLUMN!=VALUE or COLUMN.",
        ),
    ],
    order: Annotated[
        str,
        typer.Option(
            "--order",
            metavar="NUMBERS",
            help="How many factors may interact: 1 for additive factors, 2 for pairs.",
        ),
    ] = "1,2",
    target: Annotated[
        str | None, typer.Option("--target", metavar="COLUMN", help="The column of labels.")
    ] = None,
    average: Annotated[
        bool,
        typer.Option("--average", help="Average the labels of rows that belong to the same cell."),
    ] = False,
    salience: Annotated[
        str | None,
        typer.Option(
            "--salience",
            metavar="NAME:DEPTH",
            help="The representation that forecasts assume: a random network, such as relu:3.",
        ),
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option(
            "--activations",
            metavar="FILE",
            help="Or measure it in a layer: .npy, or .npz with one array; one row of activity per row of the table.",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option("--cost", metavar="COLUMN", help="The column with the cost of adding a row's cell."),
    ] = None,
    ban: Annotated[
        list[str] | None,
        typer.Option("--ban", metavar="LEVELS", help="Cells that cannot be added: size=huge,shape=cat."),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="LEVELS", help="Cells that cannot exist: size=huge,shape=ant."),
    ] = None,
    interest: Annotated[
        str,
        typer.Option(
            "--interest", metavar="WHICH", help="unseen: all unseen cells; table: only those that have rows."
        ),
    ] = "unseen",
    bins: BinsOption = None,
    missing: MissingOption = "error",
    cells: Annotated[
        Path | None,
        typer.Option("--cells", metavar="FILE", help="Write one row per unseen cell (.csv or .parquet)."),
    ] = None,
    additions: Annotated[
        Path | None,
        typer.Option("--additions", metavar="FILE", help="Write the cells to add (.csv or .parquet)."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a figure (.html or .md).")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="What the report calls the table.")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="CONDITIONS",
            help="A gate for continuous integration: exit with status 1 if one of these holds: errors (a lint error), "
            "L1 to L7 (this lint code), undetermined (training does not determine every unseen cell), shortcut, leak "
            "(predictions shrink below 60%).",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say from a data split alone which unseen combinations are determined, what to expect, and what to add."""
    from recombine.advice import advise as run
    from recombine.advice.arguments import parse_bins, parse_cells, parse_orders
    from recombine.advice.result import check_conditions
    from recombine.data.export import check_table_path, write_table

    check_page_path(html, "html")
    check_table_path("cells", cells)
    check_table_path("additions", additions)
    files = [("html", html), ("cells", cells), ("additions", additions)]
    check_destinations(files, inputs=(table, activations))
    conditions = [word for text in fail_on or () for word in words(text)]
    check_conditions(conditions, labels=target is not None)
    with progress_lines(quiet=quiet) as show_progress:
        advice = run(
            table,
            factors=words(factors),
            seen=seen,
            orders=parse_orders(order),
            target=target,
            average=average,
            salience=salience,
            activations=activations,
            cost=cost,
            ban=[parse_cells("ban", text) for text in ban or ()],
            exclude=[parse_cells("exclude", text) for text in exclude or ()],
            interest=interest,
            bins=parse_bins(bins or ()),
            missing=missing,
            progress=show_progress,
        )
    if name is not None:
        advice = replace(advice, table=replace(advice.table, name=name))
    failures = advice.failures(conditions)
    for path, frame in ((cells, advice.cells), (additions, advice.additions)):
        if path is not None:
            write_table(frame(), path)
    if html is not None:
        advice.page().write(html)
    if as_json:
        say_json(advice.to_dict())
    else:
        from recombine.report import print_document

        print_document(advice.document(figures=False))
        for what, path in (("Cells", cells), ("Additions", additions), ("Page", html)):
            if path is not None:
                say(f"{what}: {path}")
    if failures:
        typer.echo(f"failed: {', '.join(failures)} (--fail-on)", err=True)
        raise typer.Exit(1)
