"""Running somebody's model on all rows: its answers, the mean activity of its layers, its weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from recombine.advice.table import values_of
from recombine.auditing.models import Model, ModelError, as_model
from recombine.auditing.models.callable_model import callable_name
from recombine.auditing.models.inputs import as_inputs
from recombine.auditing.models.opening import framework_of
from recombine.auditing.reading import Given
from recombine.auditing.slopes import Slopes, factor_inputs, take_slopes
from recombine.auditing.tally import Tally
from recombine.errors import InputError

MOST_LAYERS = 12
"""Layers that are looked at if nobody names any; more are spread evenly."""
NO_WEIGHTS = "no chain of weights"
"""How the note of a model without plain layers begins; the finding about connectivity says so itself."""


@dataclass(eq=False)
class View:
    """What running the model gave."""

    name: str = "the model"
    framework: str = "predictions"
    outputs: np.ndarray | None = None
    classes: tuple[Any, ...] | None = None
    tally: Tally | None = None
    layers: tuple[str, ...] = ()
    weights: Any = None
    model: Model | None = None
    notes: list[str] = field(default_factory=list)
    slopes: Slopes | None = None
    trouble: str = ""


def run_model(
    model: Any,
    given: Given,
    layers: Any,
    output: str | int | None,
    batch: int | None,
    unordered: Sequence[str],
    told: Callable[[str, float], None],
) -> View:
    """Runs the model on all rows; what it raises is kept, and nothing else is lost."""
    if given.inputs is None:
        raise InputError("inputs", None, "the model's inputs, a row for each row of the table")
    rows, inputs = len(given.table.cells), _inputs(given.inputs, model)
    view = View(callable_name(model), framework_of(model, as_inputs(inputs)))
    try:
        opened = as_model(model, inputs, layers=layers, output=output, batch=batch)
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
        if chosen:
            view.slopes = _slopes(opened, chosen, given, place, unordered, view.notes)
        matrices = opened.weights()
        view.weights = None if matrices is None else list(matrices.values())
    except ModelError as error:
        view.trouble = error.trace
        view.notes.append(f"the model raised an error {error.stage}; what needs its answers is left out")
    if view.model is not None:
        kept = [note for note in view.model.notes if not note.startswith(NO_WEIGHTS)]
        view.notes = [*kept, *view.notes]
    return view


def _slopes(
    opened: Model,
    layers: Sequence[str],
    given: Given,
    place: Int[np.ndarray, " rows"],
    unordered: Sequence[str],
    notes: list[str],
) -> Slopes | None:
    """Derivatives of layers along factors that are inputs; what goes wrong there costs nothing else."""
    found = factor_inputs(given, opened.inputs, place, unordered)
    if not found:
        return None
    listed = " and ".join(given.table.space.names[axis] for axis in found)
    try:
        slopes = take_slopes(opened, layers, found, place)
    except ModelError as error:
        notes.append(f"layers could not be differentiated along {listed} ({error.words})")
        return None
    how = "automatic derivatives" if slopes.automatic else "differences between nearby inputs"
    are = "is an input" if len(found) == 1 else "are inputs"
    notes.append(f"{listed} {are} of the model: the geometry of its layers rests on {how}")
    return slopes


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
