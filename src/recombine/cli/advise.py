"""The command that advises on a data split."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.shared import JsonOption, check_page_path, say, say_json


def advise(
    table: Annotated[Path, typer.Argument(help="A CSV or Parquet file with one row per example.")],
    factors: Annotated[str, typer.Option("--factors", help="The factor columns: colour,shape,size.")],
    seen: Annotated[
        str,
        typer.Option("--seen", help="Which rows are for training: COLUMN=VALUE, COLUMN!=VALUE or COLUMN."),
    ],
    order: Annotated[
        str, typer.Option("--order", help="Largest combinations whose effects are allowed to matter.")
    ] = "1,2",
    target: Annotated[str | None, typer.Option("--target", help="The column of labels.")] = None,
    average: Annotated[
        bool, typer.Option("--average", help="Average the labels of rows that show one and the same cell.")
    ] = False,
    salience: Annotated[
        str | None, typer.Option("--salience", help="Of the model's representation, such as relu:3.")
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option(
            "--activations",
            help="Estimate them from a layer: .npy, or .npz with one array, a row for each row.",
        ),
    ] = None,
    cost: Annotated[
        str | None, typer.Option("--cost", help="A column with the cost of adding a row's cell.")
    ] = None,
    ban: Annotated[
        list[str] | None, typer.Option("--ban", help="Cells that cannot be added: size=huge,shape=cat.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Cells that cannot exist, in the same form.")
    ] = None,
    interest: Annotated[
        str, typer.Option("--interest", help="unseen: all cells that training lacks; table: those with rows.")
    ] = "unseen",
    bins: Annotated[
        list[str] | None, typer.Option("--bins", help="Cut a column of numbers into ranges: weight=4.")
    ] = None,
    cells: Annotated[
        Path | None, typer.Option("--cells", help="Write one row per cell of interest (.csv or .parquet).")
    ] = None,
    additions: Annotated[
        Path | None,
        typer.Option("--additions", help="Write the cells to add, for every order (.csv or .parquet)."),
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with a picture.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say from a data split alone which unseen combinations a model can know, and which samples to add."""
    from recombine.advice import advise as run
    from recombine.advice.arguments import (
        check_table_path,
        parse_bins,
        parse_cells,
        parse_orders,
        write_table,
    )

    check_page_path(html, "html")
    check_table_path("cells", cells)
    check_table_path("additions", additions)
    found = run(
        table,
        factors=[name.strip() for name in factors.split(",") if name.strip()],
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
    )
    for path, content in ((cells, found.cells), (additions, found.additions)):
        if path is not None:
            write_table(content(), path)
    if html is not None:
        found.page().write(html)
    if as_json:
        say_json(found.to_dict())
        return
    say(str(found))
    for what, path in (("Cells", cells), ("Additions", additions), ("Page", html)):
        if path is not None:
            say(f"{what}: {path}")
