"""Running a user's model on all rows: its outputs, the mean activity of its layers, its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from recombine.auditing.internals.cell_means import CellMeans
from recombine.auditing.internals.factor_derivatives import (
    FactorDerivatives,
    factor_derivatives,
    factor_inputs,
)
from recombine.auditing.reading import AuditInputs
from recombine.auditing.thresholds import MAX_LAYERS
from recombine.errors import InputError
from recombine.models import Model, ModelError, as_model
from recombine.models.callable_model import callable_name
from recombine.models.dispatch import framework_of
from recombine.models.model_inputs import as_inputs

NO_WEIGHTS = "no chain of weights"
"""How the note of a model without plain layers begins; the finding on connectivity says the same."""


@dataclass(eq=False)
class ModelRun:
    """What running the model gave; `error` is the traceback if it raised."""

    name: str = "the model"
    framework: str = "predictions"
    outputs: np.ndarray | None = None
    classes: tuple[Any, ...] | None = None
    activity: CellMeans | None = None
    layers: tuple[str, ...] = ()
    weights: Any = None
    model: Model | None = None
    notes: list[str] = field(default_factory=list)
    derivatives: FactorDerivatives | None = None
    error: str = ""


def run_model(
    model: Any,
    data: AuditInputs,
    layers: Any,
    output: str | int | None,
    batch: int | None,
    unordered: Sequence[str],
    progress: Callable[[str, float], None],
) -> ModelRun:
    """Runs the model on all rows. If it raises, the traceback is kept and the rest of the audit goes on."""
    if data.inputs is None:
        raise InputError("inputs", None, "the model's inputs, a row for each row of the table")
    rows, inputs = len(data.table.cells), _inputs(data.inputs, model)
    run = ModelRun(callable_name(model), framework_of(model, as_inputs(inputs)))
    try:
        adapted = as_model(model, inputs, layers=layers, output=output, batch=batch)
        if adapted.rows != rows:
            raise InputError("inputs", f"{adapted.rows} rows", f"as many as the table has, {rows}")
        run.model, run.name, run.framework = adapted, adapted.name, adapted.framework
        chosen = adapted.layers if layers is not None else _spread(adapted.layers, run.notes)
        cell_index = np.unique(data.table.codes, return_inverse=True)[1]
        activity = CellMeans(cell_index, int(cell_index.max()) + 1, len(chosen) + 2)
        outputs = []
        for chunk in adapted.run(chosen, batch=batch):
            outputs.append(chunk.outputs)
            activity.add(chunk.rows, chunk.activities)
            progress("running the model", chunk.rows.stop / rows)
        run.outputs = np.concatenate(outputs)
        run.activity, run.layers, run.classes = activity, tuple(chosen), adapted.classes
        if chosen:
            run.derivatives = _derivatives(adapted, chosen, data, cell_index, unordered, run.notes)
        matrices = adapted.weights()
        run.weights = None if matrices is None else list(matrices.values())
    except ModelError as error:
        run.error = error.trace
        run.notes.append(f"the model raised an error {error.stage}; what needs its predictions was left out")
    if run.model is not None:
        kept = [note for note in run.model.notes if not note.startswith(NO_WEIGHTS)]
        run.notes = [*kept, *run.notes]
    return run


def _derivatives(
    model: Model,
    layers: Sequence[str],
    data: AuditInputs,
    cell_index: Int[np.ndarray, " rows"],
    unordered: Sequence[str],
    notes: list[str],
) -> FactorDerivatives | None:
    """Derivatives of layers along factors that are inputs; an error there leaves out nothing else."""
    inputs = factor_inputs(data, model.inputs, cell_index, unordered)
    if not inputs:
        return None
    listed = " and ".join(data.table.space.names[axis] for axis in inputs)
    try:
        derivatives = factor_derivatives(model, layers, inputs, cell_index)
    except ModelError as error:
        notes.append(f"layers could not be differentiated along {listed} ({error.words})")
        return None
    how = "automatic derivatives" if derivatives.automatic else "differences between nearby inputs"
    are = "is an input" if len(inputs) == 1 else "are inputs"
    notes.append(f"{listed} {are} of the model: the geometry of its layers is measured by {how}")
    return derivatives


def _inputs(inputs: Any, model: Any) -> Any:
    """Columns of a table in the form the model takes: a frame if it was fitted to named columns, else numbers."""
    if not isinstance(inputs, pl.DataFrame):
        return inputs
    if not inputs.columns:
        raise InputError(
            "inputs", "a frame without columns", "inputs of the model, a row for each row of the table"
        )
    columns = {name: inputs[name].to_numpy() for name in inputs.columns}
    if hasattr(model, "feature_names_in_") or any(column.dtype == object for column in columns.values()):
        return inputs
    return np.stack(list(columns.values()), axis=1)


def _spread(layers: Sequence[str], notes: list[str]) -> tuple[str, ...]:
    """At most `MAX_LAYERS` layers, evenly spread, including the last."""
    if len(layers) <= MAX_LAYERS:
        return tuple(layers)
    chosen = np.unique(np.linspace(0, len(layers) - 1, MAX_LAYERS).round().astype(int))
    notes.append(f"{MAX_LAYERS} of {len(layers)} layers were examined; layers=[...] selects others")
    return tuple(layers[i] for i in chosen)
