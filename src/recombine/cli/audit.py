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
    MetricOption,
    PartsOption,
    SlicesOption,
    SynonymsOption,
    TextOption,
    TopKOption,
    WeighOption,
    parse_ranks,
    text_options,
)
from recombine.cli.destinations import check_destinations
from recombine.cli.gate_options import (
    BaselineOption,
    ExportOption,
    FailOnOption,
    JUnitOption,
    StrictOption,
    SummaryOption,
    fail_if_closed,
    read_gate,
)
from recombine.cli.imported_models import earlier_model, imported_model
from recombine.cli.several_models import model_names, named_models, one_or_all
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
    from recombine.auditing import AuditComparison, AuditReport


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
        list[str] | None,
        typer.Option(
            "--prediction",
            metavar="COLUMNS",
            help="The model's output: p; or scores by class: p_cat,p_dog. Several models are compared: --prediction "
            "v1=p1 --prediction v2=p2.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODULE:NAME",
            help="A function, module or estimator to run: package.module:name; several as v1=package.module:name.",
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
    metric: MetricOption = None,
    weigh: WeighOption = "cells",
    slices: SlicesOption = None,
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
        int, typer.Option("--seed", metavar="N", help="Seed of permutation tests and resampling.")
    ] = 0,
    cells: Annotated[
        Path | None,
        typer.Option("--cells", metavar="FILE", help="Write one row per cell (.csv or .parquet)."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with figures (.html or .md).")
    ] = None,
    fail_on: FailOnOption = None,
    strict: StrictOption = False,
    baseline: BaselineOption = None,
    summary: SummaryOption = False,
    junit: JUnitOption = None,
    export: ExportOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say whether a model handles unseen combinations, why not, and what to try.

    Exit status: 0 fine; 1 a condition of --fail-on holds; 2 bad input; 130 interrupted.
    """
    from recombine.advice.arguments import parse_bins
    from recombine.auditing import audit as run
    from recombine.auditing.reading import read_audit_file
    from recombine.data.export import check_table_path, write_table
    from recombine.models import source_files

    check_page_path(html, "html")
    check_table_path("cells", cells)
    predictions, models = named_models("prediction", prediction), named_models("model", model)
    several = len(predictions) > 1 or len(models) > 1
    names = model_names(predictions, models) if several else []
    gate = read_gate(fail_on, strict=strict, baseline=baseline, junit=junit, export=export, models=names)
    files = [("html", html), ("cells", cells), *gate.files]
    sources = [path for one in (*models.values(), before or "") for path in source_files(one)]
    read = [table, data, weights, activations, baseline, synonyms, None if before is None else Path(before)]
    check_destinations(files, folders=gate.folders, inputs=[*read, *sources])
    if (table is None) == (data is None):
        example = "recombine audit p.csv --factors a,b --seen split=train --target y --prediction p"
        expected = f"a table ({example}), or --data FILE.npz with --model, not both"
        raise InputError("table", str(table) if table else None, expected)
    if before is not None and len(models) != 1:
        raise InputError("--before", before, "a --model to go with it" if not models else "one --model")
    if weights is not None and several:
        raise InputError("weights", str(weights), "one model at a time")
    loaded: Any = None
    earlier, other_weights = None, weights
    if several:
        loaded = {one: imported_model(text, None)[0] for one, text in models.items()} or None
    elif models:
        (path,) = models.values()
        earlier = None if before is None else earlier_model(before, path)
        loaded, other_weights = imported_model(path, weights)
    if not several:
        name = name or next((one for one, text in (models or predictions).items() if one != text), None)
    unused: list[str] = []
    arguments: dict[str, Any] = {
        "factors": _words(factors),
        "seen": seen,
        "target": _columns(target),
        "prediction": one_or_all({one: _columns(text) for one, text in predictions.items()}, several),
        "inputs": _words(inputs),
    }
    if data is not None:
        if len(predictions) > 1 and factors is None:
            expected = "names of arrays, since predictions of several models are arrays, too"
            raise InputError("factors", None, expected)
        wanted: dict[str, str | None] = dict(predictions) if predictions else {"": None}
        arrays_of = {
            one: read_audit_file(
                data, inputs=inputs, target=target, prediction=text, seen=seen, factors=_words(factors)
            )
            for one, text in wanted.items()
        }
        arguments, unused = next(iter(arrays_of.values()))
        unused = [one for one in unused if one not in predictions.values()]
        if predictions:
            arrays = {one: found["prediction"] for one, (found, _) in arrays_of.items()}
            arguments["prediction"] = one_or_all(arrays, several)
        if loaded is None and arguments["prediction"] is not None:
            arguments["inputs"] = None
    # What a model prints goes to standard error, so that the report, or the JSON, stands alone.
    with progress_lines(quiet=quiet) as progress, redirect_stdout(sys.stderr):
        report: AuditReport | AuditComparison = run(
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
            metric=metric,
            weigh=weigh,  # type: ignore[arg-type]  # checked there
            slices=_words(slices) or (),
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
        report = _named_after(report, data.name, unused)
    report = gate.apply(report, seed)
    written = gate.write(report)  # first, since it may use a server, which cannot be checked before
    if cells is not None:
        write_table(report.cells(), cells)
        written.append(("Cells", str(cells)))
    if html is not None:
        report.page().write(html)
        written.append(("Page", str(html)))
    if as_json:
        say_json(report.to_dict())
        if summary:
            typer.echo(report.summary, err=True)
    else:
        say(report.summary if summary else str(report))
        for what, where in () if summary else written:
            say(f"{what}: {where}")
    fail_if_closed(report)


def _named_after(
    report: AuditReport | AuditComparison, name: str, unused: list[str]
) -> AuditReport | AuditComparison:
    """The report with the name of its file, and with a note on arrays that were not used."""
    from recombine.auditing import AuditComparison

    notes = [f"arrays of {name} that were not used: {', '.join(unused)}"] if unused else []
    notes = [*report.notes, *notes]
    if isinstance(report, AuditComparison):
        reports = {
            model: replace(one, table=replace(one.table, name=name)) for model, one in report.reports.items()
        }
        return replace(report, reports=reports, notes=notes)
    return replace(report, table=replace(report.table, name=name), notes=tuple(notes))


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
