"""The audit of a user's model: from its predictions, and from its inside where that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recombine.auditing.cells import Cells, Weighting, gather
from recombine.auditing.comparison import compare_models
from recombine.auditing.findings import FINDINGS, AuditEvidence
from recombine.auditing.internals.finetuning import compare_versions
from recombine.auditing.internals.layer_activity import check_names, model_layers
from recombine.auditing.internals.model_run import ModelRun, run_model
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.output_scores import OutputScores, on_one_scale, score_outputs, some_outputs
from recombine.auditing.outputs import Outputs, measured_by
from recombine.auditing.probabilities.score_measures import is_ranked, measure_scores
from recombine.auditing.probabilities.top_k import TopK, checked_ranks
from recombine.auditing.reading import AuditInputs, check_options, read_audit_inputs
from recombine.auditing.refits import Refits, refit_models
from recombine.auditing.remarks import remarks
from recombine.auditing.remedies import suggest
from recombine.auditing.result import AuditReport
from recombine.auditing.rules import RULES
from recombine.auditing.scores import score
from recombine.auditing.split_forecast import SplitForecast, forecast
from recombine.auditing.text.part_scores import score_parts
from recombine.auditing.text.row_scores import NO_FORECAST, without_outputs
from recombine.auditing.text.text_reading import TextReading, read_text, text_scoring
from recombine.auditing.units import in_target_units
from recombine.auditing.verdict import verdict
from recombine.data.text import TextScoring
from recombine.errors import InputError
from recombine.tasks.task import Kind


def audit(
    table: Any = None,
    *,
    factors: Sequence[str] | Mapping[str, Any] | None = None,
    seen: Any = None,
    target: Any = None,
    prediction: Any = None,
    model: Any = None,
    before: Any = None,
    inputs: Any = None,
    layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None = None,
    activations: Mapping[str, Any] | str | Path | None = None,
    weights: Any = None,
    slots: int | Sequence[Sequence[int]] | None = None,
    output: str | int | None = None,
    kind: Kind | None = None,
    metric: str | Callable[..., Any] | None = None,
    weigh: Weighting = "cells",
    slices: Sequence[str] | Mapping[str, Any] = (),
    classes: Sequence[Any] | None = None,
    bins: Mapping[str, int | str] | str | None = None,
    missing: str = "error",
    text: bool | str | Callable[[str, str], float] | TextScoring | None = None,
    parts: Sequence[str] | Mapping[str, Any] | None = None,
    top_k: int | Sequence[int] | None = None,
    unordered: Sequence[str] = (),
    batch: int | None = None,
    name: str | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> AuditReport:
    """Does a model handle combinations that it was not trained on, if not why not, and what should be tried?

    Predictions alone are enough. A model with its inputs gives more: its layers, weights and derivatives.

    **Arguments:**

    - `table`: a CSV or Parquet file, a data frame or a mapping of columns, one row per example. Or leave it out and
        pass `factors` as a mapping of names to columns.
    - `factors`: the columns that are factors.
    - `seen`: which rows are training rows: `"split=train"`, `"split!=test"`, a column of true and false, or an array.
    - `target`: the correct output: a column, several columns, or an array `(rows, ...)` of quantities or `(rows,)` of
        labels; missing values are left out.
    - `prediction`: what the model outputs: the same, or scores `(rows, classes)`, or for every row a list of labels,
        best first. Of several models, a mapping of names to predictions: they are compared.
    - `model`, `inputs`: instead, a PyTorch module, an Equinox module or JAX function, a scikit-learn estimator or any
        other callable, and its inputs for all rows: an array, several arrays, or columns of the table.
        Several models as a mapping of names to models.
    - `before`: the same model before finetuning, to learn whether it kept, selected or replaced what it knew.
    - `layers`: the layers to examine, by name; or functions of the inputs by name; default: up to 12 of the model's.
    - `activations`: instead, the activity `(rows, ...)` of layers by name, or an `.npz` file.
    - `weights`: matrices from input to output, a mapping, or a `.npz` or `.safetensors` file, for the report on
        modules; default: the weights of the model.
    - `slots`: for decoders, which inputs belong together: `[[0, 1], [2, 3]]`, or a number of equal blocks.
    - `output`: which of several outputs of the model is its prediction, by name or number.
    - `kind`: `"regression"` or `"classification"`; default: inferred from the values. `classes`: the labels that
        columns of scores stand for.
    - `metric`: what an error is: `"squared"` (default), `"absolute"`, `"relative"` (to the target), `"log"` (squares of
        differences of logarithms), or a function of targets and predictions that returns an error for every row.
    - `weigh`: `"cells"` if every cell counts once, `"rows"` if cells count by their rows.
    - `slices`: further columns that may separate right from wrong cells, such as the camera or the country: names of
        columns of the table, or arrays by name.
    - `bins`: for factors that are real numbers, the number of ranges into which they are cut: `{"weight": 4}`,
        `{"weight": "auto"}` for the cube root of the number of rows, or `"auto"` for all of them.
    - `missing`: what a factor without a value in some row is: an `"error"`, or a `"level"` of its own.
    - `text`: if predictions are free text, how they are compared with targets: True for equality after normalisation,
        `"contains"`, a function of a target and a prediction, or a [`recombine.auditing.TextScoring`][] with synonyms.
    - `parts`: factors whose levels answers should name, `["colour", "shape"]`, to learn which of them goes wrong; or a
        mapping from factors to the words for their levels. Without a `target`, an answer is right if all parts are.
    - `top_k`: for scores and ranked lists, among how many of the first classes the target is looked for; default: 1 and
        5, if there are more than five classes.
    - `unordered`: numeric factors whose levels are only labels, such as digits. Other levels that are numbers count
        as neighbours where layers are examined.
    - `batch`: rows that the model gets at a time; `name`: of the model, for the report; `seed`: of
        permutation tests, and of the cells that simple models leave out.
    - `progress`: called with the current step and the share of it that is done.

    **Returns:**

    An [`recombine.auditing.AuditReport`][]: `print` it, or use its `findings`, `page()`, `figure()` and `to_dict()`.
    For several models an [`recombine.auditing.AuditComparison`][], which has a report of each.

    **Raises:**

    [`recombine.InputError`][] if an argument cannot be used. An error inside the model is not raised: the report shows
    its traceback and everything that does not need the model.

    ```python
    >>> import numpy as np
    >>> from recombine import audit
    >>> colour, shape = np.indices((6, 6)).reshape(2, -1)
    >>> seen = (colour + shape) % 3 > 0
    >>> label = (colour + shape) % 2
    >>> report = audit(factors={"colour": colour, "shape": shape}, seen=seen, target=label, prediction=colour % 2)
    >>> report.finding("shortcut").holds, report.finding("shortcut").details["factors"]
    (True, ['colour'])

    ```
    """
    if isinstance(prediction, Mapping) or isinstance(model, Mapping):
        # Declared as the report of one model: a union would burden every other caller.
        return compare_models(audit, locals())  # type: ignore[return-value]
    if prediction is None and model is None and activations is None and weights is None:
        raise InputError(
            "prediction", None, "predictions, or a model with its inputs (--prediction or --model)"
        )
    if model is None:
        needs_model = {
            "before": before,
            "inputs": inputs,
            "layers": layers,
            "output": output,
            "slots": slots,
            "batch": batch,
        }
        for field, got in needs_model.items():
            if got is not None:
                raise InputError(field, _shown(got), "a model to go with it")
    options = check_options(
        layers=layers,
        output=output,
        kind=kind,
        metric=metric,
        weigh=weigh,
        classes=classes,
        unordered=unordered,
        batch=batch,
        slots=slots,
        activations=activations,
        name=name,
        seed=seed,
        progress=progress,
    )
    layers, classes, unordered = options.layers, options.classes, options.unordered
    scoring, ranks = text_scoring(text, parts), checked_ranks(top_k)
    data = read_audit_inputs(
        table,
        factors=factors,
        seen=seen,
        target=target,
        prediction=prediction,
        inputs=inputs,
        slices=slices,
        bins=bins,
        missing=missing,
        text=scoring is not None,
    )
    _check_unseen(data)
    check_names(unordered, data.table.space.names)
    tell = progress or (lambda step, share: None)
    run = ModelRun()
    if model is not None:
        run = run_model(model, data, layers, output, batch, unordered, tell)
        if classes is None and run.classes is not None:
            classes = run.classes
    reuse = None if before is None else compare_versions(before, run, model, layers, seed, tell)
    predictions = run.outputs if data.prediction is None else data.prediction
    notes, outputs, units, as_given, scores = [*data.table.notes, *run.notes], None, None, None, None
    answers: TextReading | None = None
    if predictions is not None:
        if scoring is not None:
            answers = read_text(data.table, data.target, predictions, scoring, parts)
            raw = answers.outputs
            if answers.row_scores is not None and metric is not None:
                raise InputError(
                    "metric", _shown(metric), "none next to scores of answers: the error is 1 - score"
                )
        else:
            words = data.target is not None and data.target.dtype == object
            numbers: Kind | None = (
                "regression" if isinstance(metric, str) and not words and kind is None else kind
            )
            first = predictions[:, 0] if is_ranked(predictions) else predictions
            raw = read_outputs(data.target, first, kind=numbers, classes=classes, columns=data.score_names)
        outputs, units = in_target_units(raw, data.table.seen)
        if units is not None:
            unconverted = score(gather(data.table, measured_by(raw, metric), weigh))
            as_given = (unconverted.seen, unconverted.unseen)
            notes.append(f"predictions are {units} and were converted to the units of the targets")
        outputs = on_one_scale(measured_by(outputs, metric))
        notes += outputs.notes
        if data.prediction is not None and model is not None:
            notes.append(
                "the predictions that were passed are audited; the model was run only to read its layers"
            )
    cells = gather(data.table, outputs, weigh) if outputs is not None else _cells_without_predictions(data)
    by_row = None if answers is None else answers.row_scores
    if by_row is not None:
        cells = by_row.cells(cells)
    notes += remarks(data, outputs, cells)
    tell("examining layers", 0.0)
    measured = model_layers(data, cells, run, activations, outputs, unordered, notes, seed)
    by_output, refits, all_outputs, calibration = OutputScores(), Refits(), outputs, None
    top: tuple[TopK, ...] = ()
    if outputs is not None:
        tell("comparing predictions", 0.0)
        assert predictions is not None
        calibration, top = measure_scores(data.table, cells, outputs, predictions, ranks, seed=seed)
        by_output = score_outputs(data, outputs, weigh, seed=seed)
        if not by_output.all_compose:
            outputs = some_outputs(outputs, by_output.judged)
            cells = gather(data.table, outputs, weigh)
        if by_row is None:
            refits = refit_models(cells, data.table.space.names, seed=seed)
        scores = score(cells, refits)
        scores = scores if by_row is None else by_row.judged(scores, cells)
    evidence = AuditEvidence(
        data,
        cells,
        scores,
        refits,
        run,
        has_model=model is not None,
        layers=measured,
        weights=run.weights if weights is None else weights,
        slots=slots,
        reuse=reuse,
        seed=seed,
        progress=tell,
        rules=RULES if by_row is None else (),
    )
    findings = {id: kind_of_finding.measure(evidence) for id, kind_of_finding in FINDINGS.items()}
    findings = findings if by_row is None else without_outputs(findings)
    tell("forecasting from the split", 0.0)
    expected: SplitForecast | str = NO_FORECAST
    if by_row is None:
        target_of_row = _one_target(data, outputs)
        expected = forecast(data.table, cells, target_of_row, has_predictions=outputs is not None)
    if isinstance(expected, SplitForecast) and len(expected.retention):
        findings["memorisation_leak"].details["retention_forecast"] = float(np.median(expected.retention))
    return AuditReport(
        table=data.table,
        model=name or run.name,
        framework=run.framework,
        verdict=" ".join(filter(None, [verdict(evidence, findings, units), by_output.sentence])),
        findings=tuple(findings.values()),
        remedies=tuple(suggest(evidence, findings, expected, outputs)),
        forecast=expected,
        outputs=outputs,
        by_cell=cells,
        scores=scores,
        refits=refits,
        conditions=evidence.conditions,
        by_output=by_output,
        units=units,
        as_given=as_given,
        failure=evidence.failure,
        cause=evidence.cause,
        layers=measured,
        modularity=None if isinstance(evidence.modularity, str) else evidence.modularity,
        profile=evidence.interaction,
        reuse=None if isinstance(reuse, str) else reuse,
        notes=tuple(dict.fromkeys(notes)),
        model_error=run.error,
        all_outputs=all_outputs,
        text=answers,
        calibration=calibration,
        top_k=top,
        parts=score_parts(data.table, cells, answers.parts) if answers and answers.parts else None,
    )


def _shown(got: Any) -> Any:
    short = isinstance(got, str | int | list | tuple | dict) and len(str(got)) < 80
    return got if short else type(got).__name__


def _check_unseen(data: AuditInputs) -> None:
    table = data.table
    if np.isin(table.codes[~table.seen], np.unique(table.codes[table.seen])).all():
        rows = int((~table.seen).sum())
        got = f"{rows} test rows, none of them an unseen combination" if rows else "only training rows"
        expected = (
            "rows of at least one combination of levels that training lacks (is seen the wrong way round?)"
        )
        raise InputError("seen", got, expected)


def _cells_without_predictions(data: AuditInputs) -> Cells:
    """The cells of a table without predictions; with its targets, on which the forecast is based."""
    if data.target is not None:
        return gather(data.table, read_outputs(data.target, data.target))
    rows = len(data.table.cells)
    nothing = np.zeros((rows, 1), dtype=np.float32)
    no_outputs = Outputs("regression", nothing, nothing, np.zeros(rows, dtype=bool), (), (), ())
    return gather(data.table, no_outputs)


def _one_target(data: AuditInputs, outputs: Outputs | None) -> np.ndarray | None:
    """The targets in the form that `advise` takes: one number or label per row; `None` if there are none."""
    if data.target is None or outputs is None or outputs.targets.shape[1] == 0:
        return None
    if outputs.kind == "classification":
        numbers = outputs.targets.argmax(axis=1).tolist()
        labels = [
            str(outputs.classes[i]) if known else None
            for i, known in zip(numbers, outputs.known, strict=True)
        ]
        return np.array(labels, dtype=object)
    if outputs.targets.shape[1] > 1:
        return None
    return np.where(outputs.known, outputs.targets[:, 0], np.nan).astype(np.float64)
