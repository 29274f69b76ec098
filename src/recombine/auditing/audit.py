"""The audit of somebody's model: from its answers, and from its inside where that can be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.advice.table import values_of
from recombine.auditing.answers import Answers, Kind, read_answers
from recombine.auditing.behaviour import IDS, behaviour
from recombine.auditing.cells import Cells, gather
from recombine.auditing.finding import open_finding
from recombine.auditing.forecast import forecast
from recombine.auditing.inside import (
    cross_interaction,
    mixed_connectivity,
    re_entanglement,
    salience,
    warped_geometry,
)
from recombine.auditing.layers import Layers, look_inside
from recombine.auditing.models import Model, ModelError, as_model
from recombine.auditing.reading import Given, read_given
from recombine.auditing.result import AuditReport
from recombine.auditing.scores import score
from recombine.auditing.tally import Tally
from recombine.auditing.treatment import remedies
from recombine.auditing.verdict import verdict
from recombine.errors import InputError
from recombine.modularity.reading import read_arrays

MOST_LAYERS = 12
"""Layers that are looked at if nobody names any; more are spread evenly."""


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
    batch: int | None = None,
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
    - `batch`: rows that the model is given at a time; `seed`: of resampling.
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
    given = read_given(
        table, factors=factors, seen=seen, target=target, prediction=prediction, inputs=inputs, bins=bins
    )
    _check_unseen(given)
    told = progress or (lambda what, share: None)
    view = _View()
    if model is not None:
        view = _open(model, given, layers, output, batch, told)
        if classes is None and view.classes is not None:
            classes = view.classes
    said = view.outputs if given.prediction is None else given.prediction
    notes, answers, cells = list(view.notes), None, None
    if said is not None:
        answers = read_answers(given.target, said, kind=kind, classes=classes)
        notes += answers.notes
    cells = gather(given.table, answers) if answers is not None else _cells_only(given)
    notes += _remarks(given, answers, cells)
    names = given.table.space.names
    scores = failure = cause = None
    if answers is not None:
        told("comparing answers", 0.0)
        scores = score(cells, answers.measure, seed=seed)
        found, failure, cause = behaviour(cells, scores, names, seed=seed)
    else:
        why = "There are no answers to judge" + (": the model raised an error." if view.trouble else ".")
        found = [open_finding(id, why) for id in ("composes", *IDS)]
    told("looking into layers", 0.0)
    inside = _inside(given, cells, view, activations, answers, notes, seed)
    slope = failure.slope.value if failure is not None else np.nan
    found += [
        re_entanglement(inside, names),
        warped_geometry(inside, names),
        salience(inside, cells, given.table.train, slope),
    ]
    connected, modularity = mixed_connectivity(
        view.weights if weights is None else weights, view.why_no_weights if model is not None else ()
    )
    crossed, profile = _crossing(view, given, slots, seed, notes)
    found += [connected, crossed]
    told("what the split predicts", 0.0)
    expected = forecast(given.table, cells, _one_target(given, answers), judged=answers is not None)
    by_id = {one.id: one for one in found}
    return AuditReport(
        table=given.table,
        model=view.name,
        framework=view.framework,
        verdict=verdict(by_id, scores, failure, cause, names, view.trouble),
        findings=tuple(found),
        remedies=tuple(remedies(by_id, cause, scores, expected, answers, names, view.framework)),
        forecast=expected,
        answers=answers,
        by_cell=cells if answers is not None else None,
        scores=scores,
        failure=failure,
        cause=cause,
        layers=inside,
        modularity=modularity,
        profile=profile,
        notes=tuple(dict.fromkeys(notes)),
        trouble=view.trouble,
    )


@dataclass(eq=False)
class _View:
    """What running the model gave."""

    name: str = "the model"
    framework: str = "predictions"
    outputs: np.ndarray | None = None
    classes: tuple[Any, ...] | None = None
    tally: Tally | None = None
    layers: tuple[str, ...] = ()
    weights: Any = None
    why_no_weights: tuple[str, ...] = ()
    model: Model | None = None
    notes: list[str] = field(default_factory=list)
    trouble: str = ""


def _open(
    model: Any,
    given: Given,
    layers: Any,
    output: str | int | None,
    batch: int | None,
    told: Callable[[str, float], None],
) -> _View:
    """Runs the model on all rows; what it raises is kept, and nothing else is lost."""
    if given.inputs is None:
        raise InputError("inputs", None, "the model's inputs, a row for each row of the table")
    view = _View()
    rows = len(given.table.cells)
    try:
        opened = as_model(model, _inputs(given.inputs, model), layers=layers, output=output, batch=batch)
        if opened.rows != rows:
            raise InputError("inputs", f"{opened.rows} rows", f"as many as the table has, {rows}")
        view.model, view.name, view.framework = opened, opened.name, opened.framework
        chosen = opened.layers if layers is not None else _spread(opened.layers, view.notes)
        place = np.unique(given.table.codes, return_inverse=True)[1]
        tally = Tally(place, int(place.max()) + 1, len(chosen) + 2)
        outputs = []
        for chunk in opened.run(chosen, batch=batch):
            outputs.append(chunk.outputs)
            tally.add(chunk.rows, chunk.activities)
            told("running the model", chunk.rows.stop / rows)
        view.outputs = np.concatenate(outputs)
        view.tally, view.layers, view.classes = tally, tuple(chosen), opened.classes
        matrices = opened.weights()
        view.weights = None if matrices is None else list(matrices.values())
    except ModelError as error:
        view.trouble = error.trace
        view.notes.append(f"the model raised an error {error.stage}; what needs its answers is left out")
    if view.model is not None:
        view.notes = [*view.model.notes, *view.notes]
    return view


def _inputs(inputs: Any, model: Any) -> Any:
    """Columns of a table as the model takes them: a frame if it was fitted to named columns, else numbers."""
    if not isinstance(inputs, pl.DataFrame):
        return inputs
    columns = {name: values_of(inputs, name) for name in inputs.columns}
    if hasattr(model, "feature_names_in_") or any(column.dtype == object for column in columns.values()):
        return pl.DataFrame(columns)
    return np.stack(list(columns.values()), axis=1)


def _spread(layers: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """At most so many layers, evenly spread, the last one included."""
    if len(layers) <= MOST_LAYERS:
        return tuple(layers)
    chosen = np.unique(np.linspace(0, len(layers) - 1, MOST_LAYERS).round().astype(int))
    notes.append(f"{MOST_LAYERS} of {len(layers)} layers were looked at; layers=[...] names others")
    return tuple(layers[i] for i in chosen)


def _check_unseen(given: Given) -> None:
    table = given.table
    if np.isin(table.codes[~table.seen], np.unique(table.codes[table.seen])).all():
        rows = int((~table.seen).sum())
        got = (
            f"{rows} rows outside training, none of them an unseen combination"
            if rows
            else "only training rows"
        )
        raise InputError("seen", got, "rows of at least one combination of levels that training lacks")


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
        lacking = int((~cells.known & ~cells.seen & cells.familiar).sum())
        if lacking:
            found.append(f"{lacking} unseen cells have no target and were left out of errors and findings")
    if answers is not None and given.target is None:
        found.append("there are no targets: findings that need them were left out")
    return found


def _inside(
    given: Given,
    cells: Cells,
    view: _View,
    activations: Mapping[str, Any] | str | Path | None,
    answers: Answers | None,
    notes: list[str],
    seed: int,
) -> Layers | None:
    """Layers from the model's run or from activations, with input and output around them."""
    rows = len(given.table.cells)
    place = np.unique(given.table.codes, return_inverse=True)[1]
    tally = view.tally
    if activations is not None:
        if isinstance(activations, str | Path):
            activations = read_arrays("activations", activations)
        tally = tally or Tally(place, len(cells.cells), len(activations) + 2)
        for name, activity in activations.items():
            array = np.asarray(activity)
            if array.ndim < 2 or len(array) != rows:
                raise InputError(
                    f"activations {name!r}", f"shape {array.shape}", f"({rows}, ...), a row for each row"
                )
            if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
                raise InputError(
                    f"activations {name!r}", "values that are not finite numbers", "finite numbers"
                )
            step = max(1, 2**24 // max(1, array[0].size))
            for start in range(0, rows, step):
                tally.add(slice(start, min(rows, start + step)), {name: array[start : start + step]})
    if tally is None:
        return None
    means = tally.means()
    if not means:
        return None
    broken = [name for name, mean in means.items() if not np.isfinite(mean).all()]
    for name in broken:
        notes.append(f"layer {name!r} has values that are not finite and was left out")
        del means[name]
    around = Tally(place, len(cells.cells), 1)
    if isinstance(given.inputs, np.ndarray) and given.inputs.dtype.kind in "fiub" and given.inputs.ndim > 1:
        around.add(slice(0, rows), {"input": given.inputs})
    first = {name: mean for name, mean in around.means().items() if np.isfinite(mean).all()}
    wide = {name: units for name, units in tally.sketched.items() if name in means}
    if wide:
        name, units = max(wide.items(), key=lambda item: item[1])
        notes.append(
            f"wide layers were sketched ({name!r} has {units:,} units), which keeps their geometry to about 2 %"
        )
    means = _without_output(means, answers, cells)
    last = (
        {"output": cells.answers.astype(np.float32)}
        if answers is not None and cells.answers.shape[1] > 1
        else {}
    )
    numeric = [all(isinstance(level, int | float) for level in f.levels) for f in given.table.space.factors]
    return look_inside(first | means | last, cells, numeric=numeric, seed=seed)


def _without_output(
    means: dict[str, np.ndarray], answers: Answers | None, cells: Cells
) -> dict[str, np.ndarray]:
    """Leaves out a last layer that is the model's answer itself, which stands at the end anyway."""
    if answers is None or not means or answers.kind == "classification":
        return means
    name = list(means)[-1]
    if means[name].shape == cells.answers.shape and np.allclose(
        means[name], cells.answers, rtol=1e-3, atol=1e-5
    ):
        return {key: mean for key, mean in means.items() if key != name}
    return means


def _crossing(view: _View, given: Given, slots: Any, seed: int, notes: list[str]) -> tuple[Any, Any]:
    if view.model is None or slots is None or view.trouble:
        return cross_interaction(None, None, None)
    latents = np.asarray(given.inputs)
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
