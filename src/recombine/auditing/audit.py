"""The audit of somebody's model: from its answers, and from its inside where that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recombine.auditing.answers import Answers, Kind, read_answers
from recombine.auditing.behaviour import behaviour
from recombine.auditing.calibration import in_right_units
from recombine.auditing.cells import Cells, gather
from recombine.auditing.finding import Finding, open_finding
from recombine.auditing.forecast import Forecast, forecast
from recombine.auditing.inner_layers import check_names, inner_layers
from recombine.auditing.inside import (
    FAILED,
    NO_LAYERS,
    UNREADABLE,
    cross_interaction,
    mixed_connectivity,
    re_entanglement,
    salience,
    warped_geometry,
)
from recombine.auditing.patterns import PATTERNS
from recombine.auditing.reading import Given, plain_array, read_given
from recombine.auditing.result import AuditReport
from recombine.auditing.running import View, run_model
from recombine.auditing.scores import score
from recombine.auditing.treatment import remedies
from recombine.auditing.verdict import verdict
from recombine.errors import InputError
from recombine.probes.interaction import InteractionProfile


def audit(
    table: Any = None,
    *,
    factors: Sequence[str] | Mapping[str, Any] | None = None,
    seen: Any = None,
    target: Any = None,
    prediction: Any = None,
    model: Any = None,
    inputs: Any = None,
    layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None = None,
    activations: Mapping[str, Any] | str | Path | None = None,
    weights: Any = None,
    slots: int | Sequence[Sequence[int]] | None = None,
    output: str | int | None = None,
    kind: Kind | None = None,
    classes: Sequence[Any] | None = None,
    bins: Mapping[str, int] | None = None,
    unordered: Sequence[str] = (),
    batch: int | None = None,
    name: str | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> AuditReport:
    """Does a model handle combinations that it was not trained on, why not, and what should be tried?

    Predictions alone are enough. A model with its inputs gives more: its layers, weights and derivatives.

    **Arguments:**

    - `table`: a CSV or Parquet file, a data frame or a mapping of columns, one row per example. Or leave it out and
        give `factors` as a mapping of names to columns.
    - `factors`: the columns that are factors.
    - `seen`: which rows were for training: `"split=train"`, `"split!=test"`, a column of true and false, or an array.
    - `target`: what would be right: a column, several columns, or an array `(rows, ...)` of quantities or `(rows,)` of
        labels; missing values are left out.
    - `prediction`: what the model said: the same, or scores `(rows, classes)`.
    - `model`, `inputs`: instead, a PyTorch module, an Equinox module or JAX function, a scikit-learn estimator or any
        other callable, and its inputs for all rows: an array, several arrays, or columns of the table.
    - `layers`: those to be looked at, by name; or functions of the inputs by name; by default up to 12 that are found.
    - `activations`: instead, the activity `(rows, ...)` of layers by name, or an `.npz` file.
    - `weights`: matrices from input to output, a mapping, or a `.npz` or `.safetensors` file, for the report on
        modules; by default those of the model.
    - `slots`: for decoders, which inputs belong together: `[[0, 1], [2, 3]]`, or a number of equal blocks.
    - `output`: which of several outputs of the model is its answer, by name or number.
    - `kind`: `"regression"` or `"classification"`, if it cannot be told from the values; `classes`: what columns of
        scores stand for.
    - `bins`: for factors that are real numbers, into how many ranges they are cut.
    - `unordered`: factors whose levels are numbers but mere labels, such as digits; other levels that are numbers count
        as neighbours where layers are looked at.
    - `batch`: rows that the model is given at a time; `name`: of the model, for the report; `seed`: of resampling.
    - `progress`: called with what is being done and the share that is done.

    ```python
    >>> import numpy as np
    >>> from recombine import audit
    >>> rng = np.random.default_rng(0)
    >>> colour, shape = np.indices((6, 6)).reshape(2, -1)
    >>> seen = (colour + shape) % 3 > 0
    >>> label = (colour + shape) % 2
    >>> report = audit(factors={"colour": colour, "shape": shape}, seen=seen, target=label, prediction=colour % 2)
    >>> report.finding("shortcut").holds, report.finding("shortcut").details["factors"]
    (True, ['colour'])

    ```
    """
    if prediction is None and model is None and activations is None and weights is None:
        raise InputError("prediction", None, "predictions, or a model with its inputs")
    if model is None:
        beside = {"inputs": inputs, "layers": layers, "output": output, "slots": slots, "batch": batch}
        for field, got in beside.items():
            if got is not None:
                raise InputError(field, _shown(got), "a model beside it, which it is for")
    if not isinstance(seed, int) or seed < 0:
        raise InputError("seed", seed, "a whole number of at least 0")
    given = read_given(
        table, factors=factors, seen=seen, target=target, prediction=prediction, inputs=inputs, bins=bins
    )
    _check_unseen(given)
    check_names(unordered, given.table.space.names)
    told = progress or (lambda what, share: None)
    view = View()
    if model is not None:
        view = run_model(model, given, layers, output, batch, unordered, told)
        if classes is None and view.classes is not None:
            classes = view.classes
    said = view.outputs if given.prediction is None else given.prediction
    notes, answers, units, as_given = list(view.notes), None, None, None
    if said is not None:
        raw = read_answers(given.target, said, kind=kind, classes=classes, columns=given.score_names)
        answers, units = in_right_units(raw, given.table.seen)
        if units is not None:
            before = score(gather(given.table, raw), raw.measure, seed=seed)
            as_given = (before.seen, before.unseen)
            notes.append(f"answers are {units} and were brought to the units of the targets")
        notes += answers.notes
        if given.prediction is not None and model is not None:
            notes.append("the predictions that were given are judged; the model was run for its layers only")
    cells = gather(given.table, answers) if answers is not None else _cells_only(given)
    notes += _remarks(given, answers, cells)
    names = given.table.space.names
    scores = failure = cause = None
    if answers is not None:
        told("comparing answers", 0.0)
        scores = score(cells, answers.measure, seed=seed)
        found, failure, cause = behaviour(cells, scores, given.table, seed=seed)
    else:
        why = "There are no answers to judge" + (": the model raised an error." if view.trouble else ".")
        found = [open_finding(id, why) for id in ("composes", *PATTERNS)]
    told("looking into layers", 0.0)
    inside = inner_layers(given, cells, view, activations, answers, unordered, notes, seed)
    slope = failure.slope.value if failure is not None else np.nan
    why_none = NO_LAYERS if model is None else FAILED if view.trouble else UNREADABLE
    found += [
        re_entanglement(inside, names, why_none),
        warped_geometry(inside, names, why_none),
        salience(inside, cells, given.table.train, slope, why_none),
    ]
    connected, modularity = mixed_connectivity(
        view.weights if weights is None else weights, progress=partial(told, "looking for modules")
    )
    crossed, profile = _crossing(view, given, slots, seed)
    found += [connected, crossed]
    told("what the split predicts", 0.0)
    expected = forecast(given.table, cells, _one_target(given, answers), judged=answers is not None)
    by_id = {one.id: one for one in found}
    if isinstance(expected, Forecast) and len(expected.retention):
        by_id["memorisation_leak"].details["retention_forecast"] = float(np.median(expected.retention))
    return AuditReport(
        table=given.table,
        model=name or view.name,
        framework=view.framework,
        verdict=verdict(by_id, scores, failure, cause, names, trouble=view.trouble, units=units),
        findings=tuple(found),
        remedies=tuple(remedies(by_id, cause, scores, expected, answers, names, view.framework)),
        forecast=expected,
        answers=answers,
        by_cell=cells,
        scores=scores,
        units=units,
        as_given=as_given,
        failure=failure,
        cause=cause,
        layers=inside,
        modularity=modularity,
        profile=profile,
        notes=tuple(dict.fromkeys(notes)),
        trouble=view.trouble,
    )


def _shown(got: Any) -> Any:
    return (
        got if isinstance(got, str | int | list | tuple | dict) and len(str(got)) < 80 else type(got).__name__
    )


def _check_unseen(given: Given) -> None:
    table = given.table
    if np.isin(table.codes[~table.seen], np.unique(table.codes[table.seen])).all():
        rows = int((~table.seen).sum())
        got = (
            f"{rows} rows outside training, none of them an unseen combination"
            if rows
            else "only training rows"
        )
        expected = (
            "rows of at least one combination of levels that training lacks (is seen the wrong way round?)"
        )
        raise InputError("seen", got, expected)


def _cells_only(given: Given) -> Cells:
    """The cells of a table without answers; with its targets, which the forecast goes by."""
    if given.target is not None:
        return gather(given.table, read_answers(given.target, given.target))
    rows = len(given.table.cells)
    nothing = np.zeros((rows, 1), dtype=np.float32)
    return gather(
        given.table, Answers("regression", nothing, nothing, np.zeros(rows, dtype=bool), (), (), ())
    )


def _remarks(given: Given, answers: Answers | None, cells: Cells) -> list[str]:
    found = []
    strange = ~cells.familiar & ~cells.seen
    if strange.any():
        found.append(
            f"{int(strange.sum())} cells with a level that training never shows were left out: "
            "they do not test composition"
        )
    if answers is not None and given.target is not None:
        unlabelled = int((~answers.known[given.table.seen]).sum())
        if unlabelled:
            found.append(f"{unlabelled} training rows have no target and were left out of errors")
        lacking = int((~cells.known & ~cells.seen & cells.familiar).sum())
        if lacking:
            found.append(f"{lacking} unseen cells have no target and were left out of errors and findings")
    if answers is not None and given.target is None:
        found.append("there are no targets: findings that need them were left out")
    return found


def _crossing(view: View, given: Given, slots: Any, seed: int) -> tuple[Finding, InteractionProfile | None]:
    """Interaction between parts of the inputs, if the model could be run and parts were named."""
    if view.model is None or slots is None or view.trouble:
        return cross_interaction(None, None, None)
    latents = plain_array("inputs", given.inputs)
    if latents.ndim != 2:
        raise InputError("slots", slots, f"inputs of shape (rows, latents); these are {latents.shape}")
    with view.model.steady():
        return cross_interaction(view.model.function, np.unique(latents, axis=0), slots, seed=seed)


def _one_target(given: Given, answers: Answers | None) -> np.ndarray | None:
    """The targets as `advise` takes them: one number or label per row, or nothing."""
    if given.target is None or answers is None or answers.targets.shape[1] == 0:
        return None
    if answers.kind == "classification":
        numbers = answers.targets.argmax(axis=1).tolist()
        labels = [
            str(answers.classes[i]) if known else None
            for i, known in zip(numbers, answers.known, strict=True)
        ]
        return np.array(labels, dtype=object)
    if answers.targets.shape[1] > 1:
        return None
    return np.where(answers.known, answers.targets[:, 0], np.nan).astype(np.float64)
