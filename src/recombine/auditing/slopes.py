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
from recombine.auditing.models import Model
from recombine.auditing.models.inputs import Column, Inputs
from recombine.auditing.reading import Given
from recombine.auditing.tally import Tally, spread_rows

MOST_COLUMNS = 64
"""Inputs with more columns than this are codes or pictures."""
LEAST_LEVELS = 3
"""Two levels say nothing about what lies between them."""
SAME = 1e-6
"""Share of a column's variance that a line on the factor may leave."""
MOST_ROWS = 2000
"""Rows at which derivatives are taken."""
STEP = 5e-3
"""Half-width of differences, as a share of the column's standard deviation."""


@dataclass(frozen=True)
class FactorInput:
    """A factor that is an input: the column, how much it changes by one level of the factor, and a small step of it."""

    column: Column
    by_level: float
    step: float


@dataclass(frozen=True, eq=False)
class Slopes:
    """Change of every layer by one level of some factors.

    - `cells`: those at which it was measured, among the cells of the table.
    - `by_factor`: for a factor's number and a layer, `(cells of the table, units)`, means over rows; zero elsewhere.
    - `automatic`: whether derivatives are automatic, or differences.
    """

    cells: Int[np.ndarray, " measured"]
    by_factor: Mapping[int, Mapping[str, Float[np.ndarray, "cells units"]]]
    automatic: bool


def factor_inputs(
    given: Given, inputs: Inputs, place: Int[np.ndarray, " rows"], unordered: Sequence[str]
) -> dict[int, FactorInput]:
    """The factors that are inputs by themselves: one column goes with the factor, and no other changes with it."""
    columns = {
        Column(part, number): values
        for part, array in enumerate(inputs.parts)
        for number, values in _columns(array)
    }
    if not columns or len(columns) > MOST_COLUMNS:
        return {}
    found = {}
    for axis, factor in enumerate(given.table.space.factors):
        numbers = given.numbers.get(factor.name)
        if numbers is None or factor.name in unordered or factor.size < LEAST_LEVELS:
            continue
        fits = {column: _line(values, numbers) for column, values in columns.items()}
        own = [column for column, slope in fits.items() if slope is not None]
        others = [values for column, values in columns.items() if column not in own]
        if len(own) == 1 and not _changes(others, given.table.cells, axis, place):
            slope = fits[own[0]]
            assert slope is not None
            ranges = factor.size if factor.name in given.table.bins else factor.size - 1
            width = float(numbers.max() - numbers.min()) / ranges
            found[axis] = FactorInput(own[0], slope * width, STEP * float(columns[own[0]].std()))
    return found


def take_slopes(
    model: Model, layers: Sequence[str], found: Mapping[int, FactorInput], place: Int[np.ndarray, " rows"]
) -> Slopes:
    """Derivatives at rows of as many cells as possible."""
    rows, cells = spread_rows(place, MOST_ROWS, 0), int(place.max()) + 1
    automatic = all(model.differentiable(one.column, layers, one.step) for one in found.values())
    by_factor = {}
    for axis, one in found.items():
        tally = Tally(place[rows], cells, len(layers) + 2)
        for chunk in model.slopes(one.column, layers, rows, step=None if automatic else one.step):
            moved = {name: change * one.by_level for name, change in chunk.activities.items()}
            tally.add(chunk.rows, moved)
        by_factor[axis] = _of_input(model.inputs, one, cells) | tally.means()
    return Slopes(np.unique(place[rows]), by_factor, automatic)


def _of_input(inputs: Inputs, one: FactorInput, cells: int) -> dict[str, Float[np.ndarray, "cells columns"]]:
    """How the input itself changes, if it is one array."""
    if len(inputs.parts) > 1 or one.column.number is None:
        return {}
    change = np.zeros((cells, np.shape(inputs.parts[0])[1]), dtype=np.float32)
    change[:, one.column.number] = one.by_level
    return {"input": change}


def _columns(part: Any) -> list[tuple[int | None, Float[np.ndarray, " rows"]]]:
    """The columns of an array of real numbers `(rows,)` or `(rows, columns)`; none of anything else."""
    if not hasattr(part, "dtype") or "float" not in str(part.dtype) or not 1 <= np.ndim(part) <= 2:
        return []
    if np.ndim(part) == 2 and np.shape(part)[1] > MOST_COLUMNS:
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
    return slope if float(left @ left) <= SAME * varied else None


def _changes(
    columns: Sequence[Float[np.ndarray, " rows"]],
    cells: Int[np.ndarray, "rows factors"],
    axis: int,
    place: Int[np.ndarray, " rows"],
) -> bool:
    """Whether columns differ between cells that differ in one factor alone, more than rows of one cell do (F test)."""
    if not columns:
        return False
    values = np.stack(columns, axis=1)
    values = (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-30)
    _, group = np.unique(np.delete(cells, axis, axis=1), axis=0, return_inverse=True)
    within, apart = (values - _own_mean(values, index) for index in (place, group.ravel()))
    few, many = (len(values) - len(np.unique(index)) for index in (place, group.ravel()))
    if many <= few:
        return True
    inside, between = (within**2).sum(axis=0), (apart**2).sum(axis=0) - (within**2).sum(axis=0)
    chance = inside / few if few else np.zeros(values.shape[1])
    return bool((between / (many - few) > LARGE * chance + SAME).any())


LARGE = 4.0
"""Ratio of variances beyond which columns change with a factor."""


def _own_mean(values: np.ndarray, index: Int[np.ndarray, " rows"]) -> np.ndarray:
    found = means_by_cell(values, index.ravel(), int(index.max()) + 1)
    return found[index.ravel()]
