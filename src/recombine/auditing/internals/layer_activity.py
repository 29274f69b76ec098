"""The activity of layers, from running the model or from the user's activations, with input and output around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.auditing.cells import Cells
from recombine.auditing.internals.cell_means import CellMeans
from recombine.auditing.internals.layer_measures import Layers, measure_layers
from recombine.auditing.internals.model_run import ModelRun
from recombine.auditing.outputs import Outputs
from recombine.auditing.reading import AuditInputs
from recombine.data.array_files import read_arrays
from recombine.data.arrays import as_array
from recombine.data.levels import MISSING
from recombine.errors import InputError


def model_layers(
    data: AuditInputs,
    cells: Cells,
    run: ModelRun,
    activations: Mapping[str, Any] | str | Path | None,
    outputs: Outputs | None,
    unordered: Sequence[str],
    notes: list[str],
    seed: int,
) -> Layers | None:
    """Measures all layers; `None` if there are none. Assumptions are added to `notes`."""
    rows = len(data.table.cells)
    cell_index = np.unique(data.table.codes, return_inverse=True)[1]
    activity = run.activity
    if activations is not None:
        if isinstance(activations, str | Path):
            activations = read_arrays("activations", activations)
        activity = activity or CellMeans(cell_index, len(cells.cells), len(activations) + 2)
        for name, values in activations.items():
            array = as_array(f"activations {name!r}", values)
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
                activity.add(slice(start, min(rows, start + step)), {name: array[start : start + step]})
    if activity is None:
        return None
    means = activity.means()
    if not means:
        return None
    broken = [name for name, mean in means.items() if not np.isfinite(mean).all()]
    for name in broken:
        notes.append(f"layer {name!r} has values that are not finite and was left out")
        del means[name]
    around = CellMeans(cell_index, len(cells.cells), 1)
    inputs = _one_array(data.inputs)
    if inputs is not None:
        around.add(slice(0, rows), {"input": inputs})
    first = {name: mean for name, mean in around.means().items() if np.isfinite(mean).all()}
    samples = around.samples() | activity.samples()
    wide = {name: units for name, units in activity.sketched.items() if name in means}
    if wide:
        name, units = max(wide.items(), key=lambda item: item[1])
        notes.append(
            f"wide layers ({name!r} has {units:,} units) were projected at random to fewer dimensions, which keeps "
            "distances to about 2%"
        )
    means = _hidden(means, outputs, cells)
    last = (
        {"output": cells.predictions.astype(np.float32)}
        if outputs is not None and cells.predictions.shape[1] > 1
        else {}
    )
    if last and outputs is not None:
        samples["output"] = outputs.predictions[activity.rows]
    return measure_layers(
        first | means | last,
        cells,
        samples=samples,
        sample_cells=cell_index[activity.rows],
        ordered=_ordered(data, unordered, notes),
        derivatives=run.derivatives,
        seed=seed,
    )


def _one_array(inputs: Any) -> np.ndarray | None:
    """Inputs as one array of numbers `(rows, ...)`, if they are that."""
    if inputs is None or isinstance(inputs, list | tuple | dict):
        return None
    if isinstance(inputs, pl.DataFrame):
        columns = [inputs[name].to_numpy() for name in inputs.columns]
        return None if any(one.dtype == object for one in columns) else np.stack(columns, axis=1)
    array = as_array("inputs", inputs)
    return array if array.dtype.kind in "fiub" and array.ndim > 1 else None


def check_names(unordered: Sequence[str], names: Sequence[str]) -> None:
    """Raises an error for a name that is not a factor."""
    for name in unordered:
        if name not in names:
            raise InputError("unordered", name, f"one of the factors: {', '.join(names)}")


def _ordered(data: AuditInputs, unordered: Sequence[str], notes: list[str]) -> list[bool]:
    """Which factors have levels that are numbers, or ranges of numbers, and so have neighbours."""
    factors = data.table.space.factors
    ordered = [
        (f.name in data.table.bins and f.levels[-1] != MISSING)
        or (f.name not in unordered and all(isinstance(level, int | float) for level in f.levels))
        for f in factors
    ]
    names = [f.name for f, is_ordered in zip(factors, ordered, strict=True) if is_ordered]
    if names:
        listed = " and ".join(names)
        notes.append(f"levels of {listed} are numbers and were read as ordered (unordered=[...] for labels)")
    return ordered


def _hidden(means: dict[str, np.ndarray], outputs: Outputs | None, cells: Cells) -> dict[str, np.ndarray]:
    """Leaves out layers that repeat the one before (reshaping, dropout), and the model's outputs at the end."""
    hidden: dict[str, np.ndarray] = {}
    before = None
    for name, mean in means.items():
        if before is None or not _same(mean, before):
            hidden[name] = mean
        before = mean
    while hidden and outputs is not None:
        name, last = list(hidden.items())[-1]
        scores = len(outputs.classes) > 0 and last.shape[1] in {
            len(outputs.classes),
            1 if len(outputs.classes) == 2 else 0,
        }
        if not scores and not _same(last, cells.predictions):
            break
        del hidden[name]
        if scores:
            break
    return hidden


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    size = float(np.abs(b).max(initial=0.0))
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-5 * size)
