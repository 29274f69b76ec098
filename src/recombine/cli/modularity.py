"""The command that reports on the modularity of a net."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.cli.shared import JsonOption, QuietOption, check_page_path, progress_lines, say_report
from recombine.errors import InputError


def modularity(
    weights: Annotated[
        Path,
        typer.Argument(
            metavar="WEIGHTS",
            help="An .npz or .safetensors file: a matrix for every layer (W1, W2, ...), and biases (b1, ...) if known.",
        ),
    ],
    modules: Annotated[
        int | None,
        typer.Option(
            "--modules", metavar="N", help="How many modules; by default as many as the weights show."
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            metavar="NUMBERS",
            help="The module of every input, if known: 0,0,1,1; or own, if every input is a separate module.",
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option("--outputs", metavar="NUMBERS", help="The same for outputs, together with --inputs."),
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option(
            "--activations",
            metavar="FILE",
            help="An .npz file: activity (rows, units) of every hidden layer, to find dead units.",
        ),
    ] = None,
    orientation: Annotated[
        str | None,
        typer.Option(
            "--orientation",
            metavar="ORDER",
            help="Axes of a matrix: inputs-first, or outputs-first as in PyTorch; by default inferred.",
        ),
    ] = None,
    activation: Annotated[
        str | None,
        typer.Option(
            "--activation",
            metavar="NAME",
            help="The activation, to run the net: relu, tanh, sigmoid, linear, leaky_relu:0.1.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="An .npz file with x and y, to run the net on."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="TEXT", help="What the report calls the net (default: the file's name)."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a figure (.html or .md).")
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Report whether a net's weights fall into modules, layer by layer, and how far that is from chance."""
    from recombine.data.array_files import read_xy
    from recombine.modularity import modularity_report

    check_page_path(html, "html")
    x, y = (None, None) if data is None else read_xy(data)
    with progress_lines() as show_progress:
        report = modularity_report(
            weights,
            modules=modules,
            inputs=_module_numbers("inputs", inputs),
            outputs=_module_numbers("outputs", outputs),
            activations=activations,
            orientation=orientation,  # type: ignore[arg-type]  # it is checked there
            name=name,
            activation=activation,
            x=x,
            y=y,
            progress=None if quiet else partial(show_progress, "finding modules"),
        )
    say_report(report, html, as_json=as_json)


def _module_numbers(field: str, text: str | None) -> Any:
    if text is None or text.strip() == "own":
        return None if text is None else "own"
    try:
        return [int(piece) for piece in text.split(",")]
    except ValueError:
        raise InputError(field, text, "module numbers such as 0,0,1,1, or own") from None
