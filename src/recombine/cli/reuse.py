"""The command that reports what finetuning kept."""

from __future__ import annotations

import copy
import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.cli.imported_models import imported_model
from recombine.cli.shared import (
    JsonOption,
    QuietOption,
    check_page_path,
    progress_lines,
    say_report,
    words,
)
from recombine.errors import InputError


def reuse(
    before: Annotated[
        Path,
        typer.Argument(
            metavar="BEFORE",
            help="Before finetuning: a .safetensors, .npz or .eqx file with weights for --model, or else an .npz file "
            "with the activations (rows, ...) of every layer.",
        ),
    ],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The same after finetuning.")],
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODULE:NAME", help="The model into which both files are loaded."),
    ] = None,
    inputs: Annotated[
        Path | None,
        typer.Option("--inputs", metavar="FILE", help="An .npz or .npy file with inputs for --model."),
    ] = None,
    layers: Annotated[
        str | None,
        typer.Option("--layers", metavar="NAMES", help="Layers to compare: conv1,fc; default: all."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="TEXT", help="What the report calls the model (default: the file's name)."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with a figure (.html or .md).")
    ] = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Report what finetuning kept of a model, layer by layer: lazy, nested or rich, and what to try."""
    from recombine.models import ModelError
    from recombine.reuse import reuse_report

    check_page_path(html, "html")
    versions = _versions(before, after, model, inputs)
    try:
        with progress_lines() as show_progress, redirect_stdout(sys.stderr):
            report = reuse_report(
                *versions,
                layers=None if layers is None else words(layers),
                name=name or after.stem,
                progress=None if quiet else partial(show_progress, "comparing layers"),
            )
    except ModelError as error:
        typer.echo(error.trace.rstrip(), err=True)
        raise InputError("--inputs", str(inputs), f"inputs on which {model} runs ({error.words})") from None
    say_report(report, html, as_json=as_json)


def _versions(before: Path, after: Path, model: str | None, inputs: Path | None) -> tuple[Any, Any, Any]:
    """Two models with their inputs, or two mappings of activations."""
    from recombine.data import read_arrays

    if model is None:
        if inputs is not None:
            raise InputError("--inputs", str(inputs), "a --model that takes them")
        return read_arrays("before", before), read_arrays("after", after), None
    if inputs is None:
        raise InputError("--inputs", None, "a file with the inputs of --model")
    made = []
    for field, path in (("before", before), ("after", after)):
        try:
            loaded, left = imported_model(model, path)
        except InputError as error:
            raise (
                InputError(f"{field}, {path}", error.got, error.expected)
                if error.field == "weights"
                else error
            ) from None
        if left is not None:
            raise InputError("--model", model, "a PyTorch or Equinox module to load weights into")
        made.append(copy.deepcopy(loaded))  # the same object may be named twice
    return made[0], made[1], _inputs(inputs)


def _inputs(path: Path) -> Any:
    from recombine.data import read_array, read_arrays

    if path.suffix.lower() == ".npy":
        return read_array("inputs", path)
    arrays = read_arrays("inputs", path)
    for key in ("inputs", "x"):
        if key in arrays:
            return arrays[key]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    raise InputError("inputs", ", ".join(arrays), "an array named inputs or x")
