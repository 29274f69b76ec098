"""The command that compares a network with the limit of its training."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from recombine.cli.imported_models import imported_model
from recombine.cli.shared import (
    JsonOption,
    QuietOption,
    check_page_path,
    progress_lines,
    say_report,
)
from recombine.errors import InputError


def bias(
    model: Annotated[
        str,
        typer.Argument(metavar="MODULE:NAME", help="A classifier with a hidden layer of rectified units."),
    ],
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help="An .npz file with the training rows, `inputs` and `targets`, and, if there are any, rows that were "
            "not trained on, `others` and `other_targets`.",
        ),
    ],
    weights: Annotated[
        Path | None,
        typer.Option("--weights", metavar="FILE", help="Weights for the model (.safetensors, .npz or .eqx)."),
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option("--layer", metavar="NAME", help="The hidden layer (default: the last rectified one)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="What the report calls the model.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a figure (.html or .md).")
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Report how far a network is from where its training would end, and what explains its predictions."""
    from recombine.bias import implicit_bias_report
    from recombine.data import read_arrays
    from recombine.models import ModelError

    check_page_path(html, "html")
    arrays = read_arrays("data", data)
    for needed in ("inputs", "targets"):
        if needed not in arrays:
            raise InputError("data", ", ".join(arrays) or "no arrays", f"an array named {needed}")
    loaded, left = imported_model(model, weights)
    if left is not None:
        raise InputError("weights", str(left), f"weights that can be loaded into {model}")
    try:
        with progress_lines() as show_progress, redirect_stdout(sys.stderr):
            report = implicit_bias_report(
                loaded,
                arrays["inputs"],
                arrays["targets"],
                others=arrays.get("others"),
                other_targets=arrays.get("other_targets"),
                layer=layer,
                name=name or model.rpartition(":")[2],
                progress=None if quiet else partial(show_progress, "solving for the limit"),
            )
    except ModelError as error:
        typer.echo(error.trace.rstrip(), err=True)
        raise InputError("--data", str(data), f"inputs on which {model} runs ({error.words})") from None
    say_report(report, html, as_json=as_json)
