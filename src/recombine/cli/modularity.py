"""The command that reports on the modularity of a net."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.cli.shared import JsonOption, check_page_path, progress_lines, say, say_json
from recombine.errors import InputError


def modularity(
    weights: Annotated[
        Path,
        typer.Argument(
            help="An .npz or .safetensors file: a matrix for every layer (W1, W2, ...), and maybe biases (b1, ...)."
        ),
    ],
    modules: Annotated[
        int | None, typer.Option("--modules", help="How many; by default as many as the weights show.")
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option("--inputs", help="The module of every input, if known: 0,0,1,1; or own: one each."),
    ] = None,
    outputs: Annotated[
        str | None, typer.Option("--outputs", help="The same for outputs, together with --inputs.")
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option(
            "--activations",
            help="An .npz file: activity (rows, units) of every hidden layer, to find dead units.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option("--rows", help="What a row of a matrix is: inputs; or outputs, as in PyTorch."),
    ] = "inputs",
    activation: Annotated[
        str | None,
        typer.Option("--activation", help="To run the net: relu, tanh, sigmoid, linear, leaky_relu:0.1."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="An .npz file with x and y, to run the net on.")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with a picture.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a net's weights fall into modules, layer by layer, and how far that is from chance."""
    from recombine.modularity import modularity_report
    from recombine.modularity.reading import read_data

    check_page_path(html, "html")
    x, y = (None, None) if data is None else read_data(data)
    with progress_lines() as told:
        found = modularity_report(
            weights,
            modules=modules,
            inputs=_numbers("inputs", inputs),
            outputs=_numbers("outputs", outputs),
            activations=activations,
            rows=rows,  # type: ignore[arg-type]  # it is checked there
            activation=activation,
            x=x,
            y=y,
            progress=partial(told, "looking for modules"),
        )
    if html is not None:
        found.page().write(html)
    if as_json:
        say_json(found.to_dict())
        return
    say(str(found))
    if html is not None:
        say(f"Page: {html}")


def _numbers(field: str, text: str | None) -> Any:
    if text is None or text.strip() == "own":
        return None if text is None else "own"
    try:
        return [int(piece) for piece in text.split(",")]
    except ValueError:
        raise InputError(field, text, "module numbers such as 0,0,1,1, or own") from None
