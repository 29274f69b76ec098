"""Layers to look into: from the model's run or from activations, with input and output around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.advice.table import values_of
from recombine.auditing.answers import Answers
from recombine.auditing.cells import Cells
from recombine.auditing.layers import Layers, look_inside
from recombine.auditing.reading import Given, plain_array
from recombine.auditing.running import View
from recombine.auditing.tally import Tally
from recombine.errors import InputError
from recombine.modularity.reading import read_arrays


def inner_layers(
    given: Given,
    cells: Cells,
    view: View,
    activations: Mapping[str, Any] | str | Path | None,
    answers: Answers | None,
    unordered: Sequence[str],
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
            array = plain_array(f"activations {name!r}", activity)
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
    shown = _one_array(given.inputs)
    if shown is not None:
        around.add(slice(0, rows), {"input": shown})
    first = {name: mean for name, mean in around.means().items() if np.isfinite(mean).all()}
    samples = around.samples() | tally.samples()
    wide = {name: units for name, units in tally.sketched.items() if name in means}
    if wide:
        name, units = max(wide.items(), key=lambda item: item[1])
        notes.append(
            f"wide layers ({name!r} has {units:,} units) were projected at random to fewer dimensions, which keeps "
            "distances to about 2 %"
        )
    means = _hidden(means, answers, cells)
    last = (
        {"output": cells.answers.astype(np.float32)}
        if answers is not None and cells.answers.shape[1] > 1
        else {}
    )
    if last and answers is not None:
        samples["output"] = answers.answers[tally.rows]
    return look_inside(
        first | means | last,
        cells,
        samples=samples,
        sample_cells=place[tally.rows],
        numeric=_ordered(given, unordered, notes),
        slopes=view.slopes,
        seed=seed,
    )


def _one_array(inputs: Any) -> np.ndarray | None:
    """Inputs as one array of numbers `(rows, ...)`, if they are that."""
    if inputs is None or isinstance(inputs, list | tuple | dict):
        return None
    if isinstance(inputs, pl.DataFrame):
        columns = [values_of(inputs, name) for name in inputs.columns]
        return None if any(one.dtype == object for one in columns) else np.stack(columns, axis=1)
    found = plain_array("inputs", inputs)
    return found if found.dtype.kind in "fiub" and found.ndim > 1 else None


def check_names(unordered: Sequence[str], names: Sequence[str]) -> None:
    """Refuses names that are no factors."""
    for name in unordered:
        if name not in names:
            raise InputError("unordered", name, f"one of the factors: {', '.join(names)}")


def _ordered(given: Given, unordered: Sequence[str], notes: list[str]) -> list[bool]:
    """Which factors have levels that are numbers or ranges of them, so that some are neighbours."""
    factors = given.table.space.factors
    found = [
        f.name in given.table.bins
        or (
            f.name not in {*unordered, *given.words}
            and all(isinstance(level, int | float) for level in f.levels)
        )
        for f in factors
    ]
    names = [f.name for f, ordered in zip(factors, found, strict=True) if ordered]
    if names:
        listed = " and ".join(names)
        notes.append(f"levels of {listed} are numbers and were taken as ordered (unordered=[...] for labels)")
    return found


def _hidden(means: dict[str, np.ndarray], answers: Answers | None, cells: Cells) -> dict[str, np.ndarray]:
    """Leaves out layers that repeat the one before (reshaped, or dropout), and the model's answers at the end."""
    found: dict[str, np.ndarray] = {}
    before = None
    for name, mean in means.items():
        if before is None or not _same(mean, before):
            found[name] = mean
        before = mean
    while found and answers is not None:
        name, last = list(found.items())[-1]
        scores = len(answers.classes) > 0 and last.shape[1] in {
            len(answers.classes),
            1 if len(answers.classes) == 2 else 0,
        }
        if not scores and not _same(last, cells.answers):
            break
        del found[name]
        if scores:
            break
    return found


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    size = float(np.abs(b).max(initial=0.0))
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-5 * size)
