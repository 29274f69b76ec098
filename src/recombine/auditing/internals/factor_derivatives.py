"""Factors that are inputs of the model: how its layers change with them, by derivatives.

Where a factor is a number that the model reads as it is, up to a factor and an offset, neighbouring levels are not
needed to see in which direction the factor moves a layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import means_by_cell
from recombine.auditing.internals.cell_means import CellMeans, spread_rows
from recombine.auditing.reading import AuditInputs
from recombine.auditing.thresholds import (
    COLUMN_CHANGES,
    DIFFERENCE_STEP,
    MAX_DERIVATIVE_ROWS,
    MAX_FACTOR_COLUMNS,
    MIN_ORDERED_LEVELS,
    SAME_LINE,
)
from recombine.models import Model
from recombine.models.model_inputs import InputColumn, Inputs


@dataclass(frozen=True)
class FactorInput:
    """A factor that is an input: its column, the column's change per level of the factor, and a small step of it."""

    column: InputColumn
    by_level: float
    step: float


@dataclass(frozen=True, eq=False)
class FactorDerivatives:
    """The change of every layer per level of some factors.

    **Attributes:**

    - `cells`: those at which it was measured, among the cells of the table.
    - `by_factor`: for a factor's number and a layer, means over the rows of every cell; zero where not measured.
    - `automatic`: automatic derivatives, or differences.
    """

    cells: Int[np.ndarray, " measured"]
    by_factor: Mapping[int, Mapping[str, Float[np.ndarray, "cells units"]]]
    automatic: bool


def factor_inputs(
    data: AuditInputs, inputs: Inputs, cell_index: Int[np.ndarray, " rows"], unordered: Sequence[str]
) -> dict[int, FactorInput]:
    """The factors that are inputs themselves: one column is a line on the factor, and no other changes with it."""
    columns = {
        InputColumn(part, number): values
        for part, array in enumerate(inputs.parts)
        for number, values in _columns(array)
    }
    if not columns or len(columns) > MAX_FACTOR_COLUMNS:
        return {}
    result = {}
    for axis, factor in enumerate(data.table.space.factors):
        numbers = data.numbers.get(factor.name)
        if numbers is None or factor.name in unordered or factor.size < MIN_ORDERED_LEVELS:
            continue
        fits = {column: _line(values, numbers) for column, values in columns.items()}
        own = [column for column, slope in fits.items() if slope is not None]
        others = [values for column, values in columns.items() if column not in own]
        if len(own) == 1 and not _changes(others, data.table.cells, axis, cell_index):
            slope = fits[own[0]]
            assert slope is not None
            ranges = factor.size if factor.name in data.table.bins else factor.size - 1
            width = float(numbers.max() - numbers.min()) / ranges
            step = DIFFERENCE_STEP * float(columns[own[0]].std())
            result[axis] = FactorInput(own[0], slope * width, step)
    return result


def factor_derivatives(
    model: Model,
    layers: Sequence[str],
    inputs: Mapping[int, FactorInput],
    cell_index: Int[np.ndarray, " rows"],
) -> FactorDerivatives:
    """Derivatives of layers along factors, at rows from as many cells as possible."""
    rows, cells = spread_rows(cell_index, MAX_DERIVATIVE_ROWS, 0), int(cell_index.max()) + 1
    automatic = all(model.differentiable(one.column, layers, one.step) for one in inputs.values())
    by_factor = {}
    for axis, one in inputs.items():
        means = CellMeans(cell_index[rows], cells, len(layers) + 2)
        for chunk in model.slopes(one.column, layers, rows, step=None if automatic else one.step):
            moved = {name: change * one.by_level for name, change in chunk.activities.items()}
            means.add(chunk.rows, moved)
        by_factor[axis] = _input_change(model.inputs, one, cells) | means.means()
    return FactorDerivatives(np.unique(cell_index[rows]), by_factor, automatic)


def _input_change(
    inputs: Inputs, one: FactorInput, cells: int
) -> dict[str, Float[np.ndarray, "cells columns"]]:
    """The change of the input itself, if it is one array."""
    if len(inputs.parts) > 1 or one.column.number is None:
        return {}
    change = np.zeros((cells, np.shape(inputs.parts[0])[1]), dtype=np.float32)
    change[:, one.column.number] = one.by_level
    return {"input": change}


def _columns(part: Any) -> list[tuple[int | None, Float[np.ndarray, " rows"]]]:
    """The columns of an array of real numbers `(rows,)` or `(rows, columns)`; none of anything else."""
    if not hasattr(part, "dtype") or "float" not in str(part.dtype) or not 1 <= np.ndim(part) <= 2:
        return []
    if np.ndim(part) == 2 and np.shape(part)[1] > MAX_FACTOR_COLUMNS:
        return []
    values = np.asarray(part.detach().cpu() if hasattr(part, "detach") else part).astype(np.float64)
    return [(None, values)] if values.ndim == 1 else list(enumerate(values.T))


def _line(values: Float[np.ndarray, " rows"], numbers: Float[np.ndarray, " rows"]) -> float | None:
    """The slope of a column on a factor's numbers, if it is a line."""
    own, other = values - values.mean(), numbers - numbers.mean()
    spread, varied = float(other @ other), float(own @ own)
    if spread <= 0 or varied <= 0:
        return None
    slope = float(own @ other) / spread
    left = own - slope * other
    return slope if float(left @ left) <= SAME_LINE * varied else None


def _changes(
    columns: Sequence[Float[np.ndarray, " rows"]],
    cells: Int[np.ndarray, "rows factors"],
    axis: int,
    cell_index: Int[np.ndarray, " rows"],
) -> bool:
    """Whether columns vary between cells that differ in one factor only, more than within cells (an F test)."""
    if not columns:
        return False
    values = np.stack(columns, axis=1)
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-30)
    _, group = np.unique(np.delete(cells, axis, axis=1), axis=0, return_inverse=True)
    within, apart = (values - _own_mean(values, index) for index in (cell_index, group.ravel()))
    few, many = (len(values) - len(np.unique(index)) for index in (cell_index, group.ravel()))
    if many <= few:
        return True
    inside, between = (within**2).sum(axis=0), (apart**2).sum(axis=0) - (within**2).sum(axis=0)
    chance = inside / few if few else np.zeros(values.shape[1])
    return bool((between / (many - few) > COLUMN_CHANGES * chance + SAME_LINE).any())


def _own_mean(values: np.ndarray, index: Int[np.ndarray, " rows"]) -> np.ndarray:
    means = means_by_cell(values, index.ravel(), int(index.max()) + 1)
    return means[index.ravel()]
