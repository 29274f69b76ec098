"""A user's table as cells of a space: which columns are factors, and which rows are for training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from recombine.data.argument_types import check_choice, shown
from recombine.data.clusters import is_cluster
from recombine.data.columns import DataColumn, as_column, number_in_any_notation
from recombine.data.levels import MISSING, Levels, binned, including_missing, levels_of
from recombine.data.limits import MAX_FACTORS, check_name
from recombine.data.tables import DataTable, read_table
from recombine.errors import InputError
from recombine.spaces.cell_numbers import distinct_numbers
from recombine.spaces.factors import Space
from recombine.spaces.training_rows import parse_condition, training_rows

MAX_CELLS = 2**62
"""Cells are numbered in 64 bits."""
MAX_REAL_LEVELS = 30
"""A column of fractional numbers with more different values than this is not a factor unless it is binned."""

Names = str | Sequence[str]
"""Names of columns: `["colour", "shape"]`, or `"colour,shape"` as on the command line."""


@dataclass(frozen=True, eq=False)
class Observations:
    """The rows of a table as cells.

    **Attributes:**

    - `name`: of the table, for messages.
    - `space`: factors with all levels that occur in any row.
    - `cells`: `(rows, factors)` level indices.
    - `seen`: `(rows,)`, true for training rows.
    - `target`: `(rows,)` labels, if there are any; missing labels are None or NaN.
    - `cost`: `(rows,)` what one more example of the row's cell would cost, if known.
    - `content`: the other columns as one number per row, which is equal for equal rows; `None` if there are no other
        columns, or some that cannot be compared.
    - `bins`: for binned columns, the ranges that became levels.
    - `not_compared`: the other columns whose values cannot be compared.
    - `notes`: how factors were read, where the user left that open or where it limits what a report can say.
    """

    name: str
    space: Space
    cells: Int[np.ndarray, "rows factors"]
    seen: Bool[np.ndarray, " rows"]
    target: np.ndarray | None
    cost: Float[np.ndarray, " rows"] | None
    content: Int[np.ndarray, " rows"] | None
    bins: Mapping[str, Sequence[str]]
    not_compared: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def train(self) -> Int[np.ndarray, "train factors"]:
        """The different training cells, in C order."""
        return np.stack(np.unravel_index(self.train_codes, self.space.shape)).T  # columns are contiguous

    @cached_property
    def train_codes(self) -> Int[np.ndarray, " train"]:
        """The numbers of the different training cells, sorted."""
        return distinct_numbers(self.codes[self.seen], self.space.n_cells)

    @cached_property
    def test_codes(self) -> Int[np.ndarray, " test"]:
        """The numbers of the different cells of test rows, sorted."""
        return distinct_numbers(self.codes[~self.seen], self.space.n_cells)

    @cached_property
    def codes(self) -> Int[np.ndarray, " rows"]:
        """The cell number of every row."""
        return np.ravel_multi_index(tuple(self.cells.T), self.space.shape)

    def level_index(self, field: str, name: str, level: Any) -> int:
        """The index of a level of a factor; errors speak of `field`.

        A level is found by its value, or by its text as on the command line; a number in any notation.
        """
        if not isinstance(name, str) or name not in self.space.names:
            raise InputError(field, name, f"a factor: {', '.join(self.space.names)}")
        levels = self.space.factors[self.space.axis(name)].levels
        text = [str(known) for known in levels]
        if str(level) in text:
            return text.index(str(level))
        if not isinstance(levels[0], str | bool):
            number = number_in_any_notation(level)
            if number is not None and number in levels:
                return levels.index(number)
        raise InputError(field, f"{name}={level}"[:200], f"a level of {name}: {', '.join(text[:12])}")

    def describe(self, cell: Iterable[Any]) -> dict[str, Any]:
        """A cell's levels by factor."""
        return {
            factor.name: factor.levels[int(level)]
            for factor, level in zip(self.space.factors, cell, strict=True)
        }


def observe(
    table: Any = None,
    *,
    factors: Names | Mapping[str, Any] | None,
    seen: Any,
    target: Any = None,
    cost: Any = None,
    bins: Mapping[str, int | str] | str | None = None,
    missing: str = "error",
) -> Observations:
    """Reads a table and checks it.

    **Arguments:**

    - `table`: whatever `recombine.data.read_table` reads: a file, a data frame, a mapping of columns. Or `None`, with
        `factors` as a mapping of names to columns.
    - `factors`: columns whose different values are the levels.
    - `seen`: which rows are for training: `"split=train"`, `"split!=test"`, a column of true and false, or an array
        with true or false for each row.
    - `target`: the column of labels, or an array `(rows,)`.
    - `cost`: a column with what one more example of the row's cell costs, or an array `(rows,)`.
    - `bins`: for columns of real numbers, into how many ranges with about equally many rows they are cut; `"auto"` for
        the cube root of the number of rows. `bins="auto"` cuts all columns of real numbers that are not levels.
    - `missing`: what a factor without a value in some row is: an `"error"`, or a `"level"` of its own.

    ```python
    >>> from recombine.spaces.observations import observe
    >>> rows = observe(factors={"colour": ["red", "red", "blue"], "size": [1, 2, 1]}, seen=[True, True, False])
    >>> rows.space.factors[0].levels, rows.cells.tolist()
    (('blue', 'red'), [[1, 0], [1, 1], [0, 0]])

    ```
    """
    check_choice("missing", missing, ("error", "level"))
    table, names = table_and_factors(table, factors)
    condition = parse_condition(seen) if isinstance(seen, str) else None
    columns = [(names, "factors"), ([] if condition is None else [condition[0]], "seen")]
    columns += [
        ([value], field) for field, value in (("target", target), ("cost", cost)) if isinstance(value, str)
    ]
    needed = {name: field for listed, field in columns for name in listed}
    source = read_table(table, needed)
    rows = source.rows(list(needed))
    marked = {value for value in (condition and condition[0], target) if isinstance(value, str)}
    for clash in sorted(marked & set(names)):
        raise InputError("factors", clash, "columns other than the training mark and the target")
    training = training_rows(source, condition, seen, rows)
    levels, notes = _levels(source, names, bins, missing)
    used = {*names, *(value for value in (condition and condition[0], cost) if isinstance(value, str))}
    content, not_compared = source.content([name for name in source.names if name not in used], rows)
    return Observations(
        source.name,
        _space(levels),
        np.stack([factor.codes for factor in levels.values()]).T,  # columns are contiguous
        training,
        None if target is None else _target(source, target, rows),
        None if cost is None else _cost(source, cost, rows),
        content,
        {name: factor.ranges for name, factor in levels.items() if factor.ranges is not None},
        not_compared,
        tuple(notes),
    )


def cells_and_training_rows(
    table: Any, factors: Any, seen: Any
) -> tuple[dict[str, list[Any]], Int[np.ndarray, "rows factors"], Bool[np.ndarray, " rows"]]:
    """The levels of every factor, the level indices of every row, and the training rows: no more than a split needs.

    Unlike `observe`, this takes factors with one level, and factors with a level for every row.
    """
    table, names = table_and_factors(table, factors)
    condition = parse_condition(seen) if isinstance(seen, str) else None
    needed = dict.fromkeys(names, "factors") | ({} if condition is None else {condition[0]: "seen"})
    source = read_table(table, needed)
    training = training_rows(source, condition, seen, source.rows(list(needed)))
    levels = {name: levels_of(source.column(f"factor {name!r}", name)) for name in names}
    codes = np.stack([factor.codes for factor in levels.values()], axis=1)
    return {name: factor.levels for name, factor in levels.items()}, codes, training


def table_and_factors(table: Any, factors: Any) -> tuple[Any, list[str]]:
    """The table and the names of its factors; without a table, `factors` holds the columns themselves."""
    if table is None:
        columns = factors if isinstance(factors, Mapping) else getattr(factors, "columns", None)
        if columns is None:
            raise InputError("table", None, "a table, or factors as a mapping of names to columns")
        names = [str(name) for name in columns]
        table, factors = factors, names
    elif isinstance(factors, Mapping):
        raise InputError("factors", "columns next to a table", "names of columns, or no table")
    names = column_names("factors", factors)
    if not names:
        raise InputError("factors", names, "at least one column")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError("factors", twice[0], "each column once")
    if len(names) > MAX_FACTORS:
        raise InputError("factors", f"{len(names):,} factors", f"at most {MAX_FACTORS}")
    return table, names


def column_names(field: str, names: Any) -> list[str]:
    """Names of columns from a list, or from a text with commas between them.

    ```python
    >>> from recombine.spaces.observations import column_names
    >>> column_names("factors", "colour, shape")
    ['colour', 'shape']

    ```
    """
    if isinstance(names, str):
        return [name.strip() for name in names.split(",") if name.strip()]
    if isinstance(names, np.ndarray):
        names = names.tolist()
    if not isinstance(names, Sequence | set | frozenset | pl.Series) or isinstance(names, bytes):
        shown = names if names is None or isinstance(names, int | float) else type(names).__name__
        raise InputError(field, shown, "names of columns, such as ['colour', 'shape']")
    for name in names:
        if not isinstance(name, str):
            shown = name if isinstance(name, int | float) or name is None else type(name).__name__
            raise InputError(field, shown, "names of columns, such as ['colour', 'shape']")
        check_name(field, name)
    return [str(name) for name in (sorted(names) if isinstance(names, set | frozenset) else names)]


def _space(levels: Mapping[str, Levels]) -> Space:
    combinations = prod(len(factor.levels) for factor in levels.values())
    if combinations >= MAX_CELLS:
        got = f"{len(levels)} factors with {combinations:.0e} combinations"
        expected = f"fewer factors or levels, for less than {MAX_CELLS:.0e} combinations"
        raise InputError("factors", got, expected)
    return Space({name: factor.levels for name, factor in levels.items()})


def _levels(
    table: DataTable, names: Sequence[str], bins: Any, missing: str
) -> tuple[dict[str, Levels], list[str]]:
    """The levels of every factor, and notes on how they came about."""
    every = isinstance(bins, str) and bins == "auto"
    if bins is not None and not every and not isinstance(bins, Mapping):
        expected = (
            "numbers of ranges by factor, such as {'weight': 4} or {'weight': 'auto'}, or 'auto' for all"
        )
        raise InputError("bins", shown(bins), expected)
    asked: Mapping[str, Any] = bins if isinstance(bins, Mapping) else {}
    for name in asked:
        if name not in names:
            raise InputError("bins", shown(name), f"one of the factors: {', '.join(names)}")
    levels: dict[str, Levels] = {}
    notes: list[str] = []
    for name in names:
        column = table.column(f"factor {name!r}", name)
        number = asked.get(name, "auto" if every and _is_continuous(column) else None)
        read = _recurring if number is None else partial(binned, bins=number)
        one = levels[name] = including_missing(column, read) if missing == "level" else read(column)
        if len(one.levels) == 1:
            got = f"the one level {one.levels[0]!r}"
            expected = "at least two levels; leave the column out of the factors"
            raise InputError(f"factor {name!r}", got, expected)
        notes += _notes(name, one, automatic=number == "auto", missing=missing == "level")
    return levels, notes


def _notes(name: str, factor: Levels, *, automatic: bool, missing: bool) -> Iterator[str]:
    """What a reader must know about the levels of a factor."""
    without = int((factor.codes == len(factor.levels) - 1).sum()) if factor.levels[-1] == MISSING else 0
    if automatic:
        ranges = len(factor.levels) - (missing and without > 0)
        yield (
            f"{name} was cut into {ranges} ranges with about equally many rows, the cube root of the number of rows "
            f"(bins={{{name!r}: N}} or --bins {name}=N sets another number)"
        )
    if missing and without:
        yield f"{without:,} rows have no value of {name}; they count as a level of their own, {MISSING}"
    if all(is_cluster(level) for level in factor.levels):
        yield (
            f"levels of {name} were found by clustering and are not annotated: findings about {name} are about these "
            "clusters"
        )


def _is_continuous(column: DataColumn) -> bool:
    """Whether a column holds real numbers, too many different ones to be levels."""
    numbers = column.quantities()
    if numbers.dtype == object:
        return False
    known = np.unique(numbers[np.isfinite(numbers)])
    return len(known) > MAX_REAL_LEVELS and bool((known != np.round(known)).any())


def _recurring(column: DataColumn) -> Levels:
    """The levels of a column that can be a factor, because some of them recur."""
    field, levels = f"factor {column.name!r}", levels_of(column)
    if isinstance(levels.levels[0], float) and len(levels.levels) > MAX_REAL_LEVELS:
        got = f"{len(levels.levels)} different real numbers"
        raise InputError(
            field, got, f"levels; cut it into ranges with bins, such as {column.name}=5 or =auto"
        )
    if len(levels.levels) == len(column) and len(column) > 2:
        got = f"as many levels as rows ({len(column)})"
        expected = "a factor whose levels recur; an identifier makes every row a cell of its own"
        raise InputError(field, got, expected)
    return levels


def _target(table: DataTable, target: Any, rows: int) -> np.ndarray:
    if isinstance(target, str):
        return table.column("target", target).quantities()
    return _per_row("target", target, rows).quantities()


def _cost(table: DataTable, cost: Any, rows: int) -> Float[np.ndarray, " rows"]:
    column = table.column("cost", cost) if isinstance(cost, str) else _per_row("cost", cost, rows)
    field = f"cost {cost!r}" if isinstance(cost, str) else "cost"
    numbers = column.quantities()
    if numbers.dtype == object:
        words = [str(value) for value in numbers.tolist()]
        row = next((row for row, word in enumerate(words) if number_in_any_notation(word) is None), 0)
        raise InputError(field, f"{column.values[row]!r} in row {row + 1}", "numbers of at least 0")
    bad = ~np.isfinite(numbers) | (numbers < 0)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(field, f"{column.values[row]!r} in row {row + 1}", "numbers of at least 0")
    return numbers


def _per_row(field: str, values: Any, rows: int) -> DataColumn:
    column = as_column(field, values, name=field)
    if len(column) != rows:
        raise InputError(
            field, f"{len(column)} values", f"one for each of the {rows} rows, or a column's name"
        )
    return column
