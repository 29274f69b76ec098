"""The command that audits a model."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.audit_options import (
    MatchOption,
    PartsOption,
    SynonymsOption,
    TextOption,
    TopKOption,
    parse_ranks,
    text_options,
)
from recombine.cli.imported_models import earlier_model, imported_model
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
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.auditing import AuditReport

NOT_COMPOSING = "does-not-compose"


def audit(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A CSV, Parquet or JSON-lines file with one row per example; - reads from standard input.",
        ),
    ] = None,
    factors: Annotated[
        str | None,
        typer.Option(
            "--factors",
            metavar="COLUMNS",
            help="The factor columns: colour,shape,size. Required with a table.",
        ),
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option(
            "--seen",
            metavar="CONDITION",
            help="Which rows are training rows: COLUMN=VALUE, COLUMN!=VALUE or COLUMN.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="COLUMNS", help="The correct output: y, or y1,y2,y3."),
    ] = None,
    prediction: Annotated[
        str | None,
        typer.Option(
            "--prediction", metavar="COLUMNS", help="The model's output: p; or scores by class: p_cat,p_dog."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="MODULE:NAME",
            help="A function, module or estimator to run: package.module:name.",
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="MODULE:NAME|FILE",
            help="The model before finetuning: package.module:name, or a file with its weights for --model.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="An .npz file for --model: arrays inputs (or x), targets (y), seen (train); others are factors. "
            "--inputs, --target, --seen, --prediction and --factors select other names.",
        ),
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option("--inputs", metavar="COLUMNS", help="Columns of the table that are the model's inputs."),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            metavar="FILE",
            help="A .safetensors or .npz file with the model's weights: loaded into a PyTorch --model (.eqx into an "
            "Equinox one), and otherwise searched for modules.",
        ),
    ] = None,
    activations: Annotated[
        Path | None,
        typer.Option(
            "--activations", metavar="FILE", help="An .npz file: the activity (rows, ...) of layers by name."
        ),
    ] = None,
    layers: Annotated[
        str | None, typer.Option("--layers", metavar="NAMES", help="Layers to examine: conv1,conv2.")
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option("--slots", metavar="NUMBERS", help="For decoders, which inputs form a slot: 0,1;2,3."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", metavar="NAME", help="Which of several outputs is the prediction, by name or number."
        ),
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="regression or classification.")
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option("--classes", metavar="LABELS", help="The labels that columns of scores stand for."),
    ] = None,
    bins: BinsOption = None,
    missing: MissingOption = "error",
    text: TextOption = False,
    match: MatchOption = None,
    synonyms: SynonymsOption = None,
    parts: PartsOption = None,
    top_k: TopKOption = None,
    unordered: Annotated[
        str | None,
        typer.Option("--unordered", metavar="COLUMNS", help="Numeric factors whose levels are only labels."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="What the report calls the model.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the resampling behind intervals.")
    ] = 0,
    cells: Annotated[
        Path | None,
        typer.Option("--cells", metavar="FILE", help="Write one row per cell (.csv or .parquet)."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with figures (.html or .md).")
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="FINDINGS",
            help="A gate for continuous integration: exit with status 1 if one of these holds: does-not-compose, "
            "shortcut, memorisation-leak, superposition, additive-only, or any other finding. Several with commas.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say whether a model handles unseen combinations, why not, and what to try."""
    from recombine.advice.arguments import parse_bins
    from recombine.auditing import audit as run
    from recombine.auditing.reading import read_audit_file
    from recombine.data.export import check_table_path, write_table

    check_page_path(html, "html")
    check_table_path("cells", cells)
    gates = _gates(fail_on or ())
    if (table is None) == (data is None):
        example = "recombine audit p.csv --factors a,b --seen split=train --target y --prediction p"
        expected = f"a table ({example}), or --data FILE.npz with --model, not both"
        raise InputError("table", str(table) if table else None, expected)
    if before is not None and model is None:
        raise InputError("--before", before, "a --model to go with it")
    earlier = None if before is None or model is None else earlier_model(before, model)
    loaded, other_weights = (None, weights) if model is None else imported_model(model, weights)
    unused: list[str] = []
    arguments: dict[str, Any] = {
        "factors": _words(factors),
        "seen": seen,
        "target": _columns(target),
        "prediction": _columns(prediction),
        "inputs": _words(inputs),
    }
    if data is not None:
        arguments, unused = read_audit_file(
            data, inputs=inputs, target=target, prediction=prediction, seen=seen, factors=_words(factors)
        )
        if loaded is None and arguments["prediction"] is not None:
            arguments["inputs"] = None
    # What a model prints goes to standard error, so that the report, or the JSON, stands alone.
    with progress_lines(quiet=quiet) as progress, redirect_stdout(sys.stderr):
        report = run(
            table,
            **arguments,
            model=loaded,
            before=earlier,
            layers=_words(layers),
            activations=activations,
            weights=other_weights,
            slots=_slots(slots),
            output=int(output) if output is not None and output.lstrip("-").isdecimal() else output,
            kind=kind,  # type: ignore[arg-type]  # checked there
            classes=_words(classes),
            bins=parse_bins(bins or ()),
            missing=missing,
            text=text_options(match, synonyms, asked=text or parts is not None),
            parts=_words(parts),
            top_k=parse_ranks(top_k),
            unordered=_words(unordered) or (),
            name=name,
            seed=seed,
            progress=progress,
        )
    if data is not None:
        notes = [f"arrays of {data.name} that were not used: {', '.join(unused)}"] if unused else []
        named = replace(report.table, name=data.name)
        report = replace(report, table=named, notes=(*report.notes, *notes))
    if cells is not None:
        write_table(report.cells(), cells)
    if html is not None:
        report.page().write(html)
    if as_json:
        say_json(report.to_dict())
    else:
        say(str(report))
        for what, path in (("Cells", cells), ("Page", html)):
            if path is not None:
                say(f"{what}: {path}")
    failed = _failed(report, gates)
    if failed:
        typer.echo(f"failed on {', '.join(failed)}", err=True)
        raise typer.Exit(1)


def _gates(texts: list[str] | tuple[str, ...]) -> list[str]:
    """The names that `--fail-on` lists, checked before anything is run."""
    from recombine.auditing.findings import FINDINGS

    accepted = [NOT_COMPOSING, *(id.replace("_", "-") for id in FINDINGS if id != "composes")]
    names = [word.replace("_", "-") for text in texts for word in words(text)]
    for name in names:
        if name not in accepted:
            raise InputError("fail-on", name, f"one of {', '.join(accepted)}")
    return names


def _failed(report: AuditReport, gates: list[str]) -> list[str]:
    holding = {one.id.replace("_", "-") for one in report.findings if one.holds is True}
    if report.finding("composes").holds is False:
        holding.add(NOT_COMPOSING)
    return [gate for gate in dict.fromkeys(gates) if gate in holding]


def _words(text: str | None) -> list[str] | None:
    return None if text is None else words(text)


def _columns(text: str | None) -> str | list[str] | None:
    names = _words(text)
    return names[0] if names and len(names) == 1 else names


def _slots(text: str | None) -> Any:
    if text is None:
        return None
    if text.strip().isdecimal():
        return int(text)
    try:
        return [[int(one) for one in part.split(",")] for part in text.split(";")]
    except ValueError:
        expected = "numbers of inputs such as 0,1;2,3, or how many equal slots"
        raise InputError("slots", text, expected) from None
