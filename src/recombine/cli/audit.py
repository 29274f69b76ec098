"""The command that audits a model."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from recombine.cli.shared import JsonOption, check_page_path, progress_lines, say, say_json
from recombine.errors import InputError


def audit(
    table: Annotated[
        Path | None, typer.Argument(help="A CSV or Parquet file with one row per example.")
    ] = None,
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors", help="The factor columns, with commas: colour,shape,size. Needed with a table."
        ),
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option("--seen", help="Which rows were for training: COLUMN=VALUE, COLUMN!=VALUE or COLUMN."),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="What would be right: y, or y1,y2,y3.")
    ] = None,
    prediction: Annotated[
        str | None, typer.Option("--prediction", help="What the model said: p; or scores: p_cat,p_dog.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="A function, module or estimator to be run: package.module:name."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            help="An .npz file for --model: arrays inputs (or x), targets (y), seen (train); others are factors. "
            "--inputs, --target, --seen, --prediction and --factors name others.",
        ),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option("--inputs", help="Columns of the table that are the model's inputs.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            help="A .safetensors or .npz file with the model's weights: loaded into a PyTorch --model (.eqx into an "
            "Equinox one), and otherwise looked through for modules.",
        ),
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option("--activations", help="An .npz file: activity (rows, ...) of layers by name."),
    ] = None,
    layers: Annotated[str | None, typer.Option("--layers", help="Layers to look at: conv1,conv2.")] = None,
    slots: Annotated[
        str | None, typer.Option("--slots", help="For decoders, which inputs belong together: 0,1;2,3.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", help="Which of several outputs is the answer, by name or number."),
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="regression or classification.")] = None,
    classes: Annotated[
        str | None, typer.Option("--classes", help="What columns of scores stand for.")
    ] = None,
    bins: Annotated[
        list[str] | None, typer.Option("--bins", help="Cut a column of numbers into ranges: weight=4.")
    ] = None,
    unordered: Annotated[
        str | None, typer.Option("--unordered", help="Factors whose levels are numbers but mere labels.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the resampling behind intervals.")] = 0,
    cells: Annotated[
        Path | None, typer.Option("--cells", help="Write one row per cell (.csv or .parquet).")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page with pictures.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a model handles unseen combinations, why not, and what to try."""
    from recombine.advice.arguments import check_table_path, parse_bins, write_table
    from recombine.auditing import audit as run
    from recombine.auditing.reading import read_data

    spare: list[str] = []
    check_page_path(html, "html")
    check_table_path("cells", cells)
    if (table is None) == (data is None):
        way = (
            "a table (recombine audit p.csv --factors a,b --seen split=train --target y --prediction p), or "
        )
        raise InputError(
            "table", str(table) if table else None, f"{way}--data FILE.npz with --model, not both"
        )
    opened, left = _model(model, weights)
    given: dict[str, Any] = {}
    if data is not None:
        given, spare = read_data(
            data, inputs=inputs, target=target, prediction=prediction, seen=seen, factors=_words(factors)
        )
        if opened is None and given["prediction"] is not None:
            given["inputs"] = None
    else:
        given = {
            "factors": _words(factors),
            "seen": seen,
            "target": _columns(target),
            "prediction": _columns(prediction),
            "inputs": _words(inputs),
        }
    # What a model prints goes elsewhere: the report, or the JSON, stands alone.
    with progress_lines() as told, redirect_stdout(sys.stderr):
        found = run(
            table,
            **given,
            model=opened,
            layers=_words(layers),
            activations=activations,
            weights=left,
            slots=_slots(slots),
            output=int(output) if output is not None and output.lstrip("-").isdecimal() else output,
            kind=kind,  # type: ignore[arg-type]  # it is checked there
            classes=_words(classes),
            bins=parse_bins(bins or ()),
            unordered=_words(unordered) or (),
            seed=seed,
            progress=told,
        )
    if data is not None:
        noted = [f"arrays of {data.name} that were not used: {', '.join(spare)}"] if spare else []
        table_name = replace(found.table, name=data.name)
        found = replace(found, table=table_name, notes=(*found.notes, *noted))
    if cells is not None:
        write_table(found.cells(), cells)
    if html is not None:
        found.page().write(html)
    if as_json:
        say_json(found.to_dict())
        return
    say(str(found))
    for what, path in (("Cells", cells), ("Page", html)):
        if path is not None:
            say(f"{what}: {path}")


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _columns(text: str | None) -> str | list[str] | None:
    words = _words(text)
    return words[0] if words and len(words) == 1 else words


def _model(name: str | None, weights: Path | None) -> tuple[Any, Path | None]:
    """The model, with its weights if they can be loaded; otherwise they are left for the report on modules."""
    if name is None:
        return None, weights
    from recombine.auditing.models import ModelError, import_model, load_weights, takes_weights

    try:
        with redirect_stdout(sys.stderr):
            model = import_model(name)
            if weights is None or not takes_weights(model):
                return model, weights
            return load_weights(model, weights), None
    except ModelError as error:
        if "No module named 'torch'" in error.words:
            expected = 'a model whose imports are installed; PyTorch is with pip install "recombine[torch]"'
            raise InputError("model", name, expected) from None
        typer.echo(error.trace.rstrip(), err=True)
        raise InputError("model", name, f"one that can be imported and made ({error.words})") from None


def _slots(text: str | None) -> Any:
    if text is None:
        return None
    if text.strip().isdecimal():
        return int(text)
    try:
        return [[int(one) for one in part.split(",")] for part in text.split(";")]
    except ValueError:
        raise InputError(
            "slots", text, "numbers of inputs such as 0,1;2,3, or how many equal blocks"
        ) from None
