"""A table of examples as cells of a space: which column is a factor, which rows are for training."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from recombine.advice.reading import check_columns, did_you_mean, load
from recombine.errors import InputError
from recombine.spaces import Space

MOST_CELLS = 2**62
"""Cells are numbered in 64 bits."""
MOST_REAL_LEVELS = 30
"""A column of fractional numbers with more different values than this is not a factor unless it is binned."""


@dataclass(frozen=True, eq=False)
class Observations:
    """The rows of a table as cells.

    - `name`: of the table, for messages.
    - `space`: factors with all levels that occur in any row.
    - `cells`: `(rows, factors)` level indices.
    - `seen`: `(rows,)`, true for training rows.
    - `target`: `(rows,)` labels, if there is a target column; missing labels are None or NaN.
    - `cost`: `(rows,)` what a further example of the row's cell would cost, if given.
    - `content`: the columns that are neither factor nor split, as one number per row: equal for equal rows.
    - `bins`: for binned columns the ranges that became levels.
    """

    name: str
    space: Space
    cells: Int[np.ndarray, "rows factors"]
    seen: Bool[np.ndarray, " rows"]
    target: np.ndarray | None
    cost: Float[np.ndarray, " rows"] | None
    content: Int[np.ndarray, " rows"] | None
    bins: Mapping[str, Sequence[str]]

    @cached_property
    def train(self) -> Int[np.ndarray, "train factors"]:
        """The different training cells, in C order."""
        codes = np.unique(self.codes[self.seen])
        return np.stack(np.unravel_index(codes, self.space.shape), axis=1)

    @cached_property
    def codes(self) -> Int[np.ndarray, " rows"]:
        """The cell number of every row."""
        return np.ravel_multi_index(tuple(self.cells.T), self.space.shape)

    def level_index(self, field: str, name: str, level: Any) -> int:
        """The index of a level given by its name; errors speak of `field`."""
        if name not in self.space.names:
            raise InputError(field, name, f"a factor: {', '.join(self.space.names)}")
        levels = [str(known) for known in self.space.factors[self.space.axis(name)].levels]
        if str(level) not in levels:
            raise InputError(field, f"{name}={level}", f"a level of {name}: {', '.join(levels[:12])}")
        return levels.index(str(level))

    def describe(self, cell: Iterable[Any]) -> dict[str, Any]:
        """A cell's levels by factor."""
        return {
            factor.name: factor.levels[int(level)]
            for factor, level in zip(self.space.factors, cell, strict=True)
        }


def observe(
    table: Any,
    *,
    factors: Sequence[str],
    seen: str,
    target: str | None = None,
    cost: str | None = None,
    bins: Mapping[str, int] | None = None,
) -> Observations:
    """Reads a table and checks it.

    **Arguments:**

    - `table`: the path of a CSV or Parquet file, a Polars or pandas data frame, or a mapping of columns.
    - `factors`: columns whose different values are the levels.
    - `seen`: which rows are for training: `"split=train"`, `"split!=test"`, or a column of true and false.
    - `target`: the column of labels.
    - `cost`: a column with what one more example of the row's cell costs.
    - `bins`: for columns of real numbers, into how many ranges with about equally many rows they are cut.
    """
    factors = list(factors)
    if not factors:
        raise InputError("factors", factors, "at least one column")
    twice = sorted({name for name in factors if factors.count(name) > 1})
    if twice:
        raise InputError("factors", twice[0], "each column once")
    column, compare, value = _condition(seen)
    roles: dict[str, Sequence[str | None]] = {
        "factors": factors,
        "seen": [column],
        "target": [target],
        "cost": [cost],
    }
    wanted = {name: role for role, names in roles.items() for name in names if name is not None}
    name, frame = load(table, wanted)
    check_columns(name, frame.columns, wanted)
    if not len(frame):
        raise InputError("table", name, "at least one row")
    for clash in ({column, target} - {None}) & set(factors):
        raise InputError("factors", clash, "columns other than the training mark and the target")
    training = _training(frame, column, compare, value)
    if not training.any():
        raise InputError("seen", seen, f"at least one training row; {name} has none{_values(frame, column)}")
    levels, codes, cut = {}, [], {}
    for factor in factors:
        levels[factor], code, ranges = _levels(frame, factor, (bins or {}).get(factor))
        codes.append(code)
        if ranges is not None:
            cut[factor] = ranges
    for unused in set(bins or {}) - set(factors):
        raise InputError("bins", unused, f"one of the factors: {', '.join(factors)}")
    others = [one for one in frame.columns if one not in {*factors, column, cost}]
    content = None
    if others:
        content = (
            frame.select(pl.struct(others).hash(seed=1))
            .to_series()
            .to_numpy()
            .astype(np.uint64)
            .view(np.int64)
        )
    space = Space(levels)
    combinations = prod(space.shape)
    if combinations >= MOST_CELLS:
        got = f"{len(factors)} factors with {combinations:.0e} combinations"
        raise InputError(
            "factors", got, f"fewer factors or levels, for less than {MOST_CELLS:.0e} combinations"
        )
    return Observations(
        name,
        space,
        np.stack(codes, axis=1),
        training,
        None if target is None else values_of(frame, target),
        None if cost is None else _cost(frame, cost),
        content,
        cut,
    )


def _condition(seen: str) -> tuple[str, str, str]:
    """Column, comparison (`=`, `!=` or nothing) and value."""
    for sign in ("!=", "="):
        column, found, value = seen.partition(sign)
        if found and not column.endswith("!"):
            return column.strip(), sign, value.strip()
    return seen.strip(), "", ""


def _training(frame: pl.DataFrame, column: str, compare: str, value: str) -> Bool[np.ndarray, " rows"]:
    values = frame[column]
    if compare:
        text = values.cast(pl.String).fill_null("")
        known = text.unique().sort().to_list()
        if value not in known:
            near = did_you_mean(value, known, "values")
            raise InputError("seen", f"{column}{compare}{value}", f"a value that column {column!r} has{near}")
        return ((text == value) if compare == "=" else (text != value)).to_numpy()
    if values.dtype == pl.Boolean and not values.null_count():
        return values.to_numpy()
    text = values.cast(pl.String).str.to_lowercase()
    if not text.null_count() and set(text.unique()) <= {"true", "false", "0", "1"}:
        return text.is_in(["true", "1"]).to_numpy()
    example = values[0]
    raise InputError(
        "seen", column, f"COLUMN=VALUE, since column {column!r} is not true or false (it has {example!r})"
    )


def _levels(
    frame: pl.DataFrame, name: str, bins: int | None
) -> tuple[list[Any], Int[np.ndarray, " rows"], list[str] | None]:
    """The sorted levels of a factor, the level of every row, and the ranges if it was binned."""
    values = frame[name]
    missing = values.is_null() | (values.is_nan() if values.dtype.is_float() else False)
    if values.dtype == pl.String:
        missing = missing | (values.str.strip_chars() == "")
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise InputError(f"factor {name!r}", f"no value in row {row + 1}", "a level in every row")
    if bins is not None:
        return _binned(values, name, bins)
    if values.dtype == pl.Object:
        kinds = sorted({type(value).__name__ for value in values.to_list()})
        raise InputError(
            f"factor {name!r}", f"values of mixed types ({', '.join(kinds)})", "levels of one type"
        )
    if values.dtype == pl.String:
        numbers = values.cast(pl.Float64, strict=False)
        share = 1 - numbers.null_count() / len(numbers)
        if 0.5 <= share < 1:
            row = int(numbers.is_null().arg_max() or 0)
            got = f"{values[row]!r} in row {row + 1} among numbers"
            raise InputError(f"factor {name!r}", got, "levels of one type")
        if share == 1:
            values = numbers
    if values.dtype.is_float() and (values == values.round()).all() and values.abs().max() < 2**53:  # type: ignore[operator]
        values = values.cast(pl.Int64)
    levels = values.unique().sort()
    if len(levels) == 1:
        got = f"the one level {levels[0]!r}"
        raise InputError(f"factor {name!r}", got, "at least two levels; leave the column out of the factors")
    if values.dtype.is_float() and len(levels) > MOST_REAL_LEVELS:
        got = f"{len(levels)} different real numbers"
        raise InputError(f"factor {name!r}", got, f"levels; cut it into ranges with bins, such as {name}=5")
    if len(levels) == len(values) and len(values) > 2:
        got = f"as many levels as rows ({len(values)})"
        expected = "a factor whose levels recur; an identifier makes every row a cell of its own"
        raise InputError(f"factor {name!r}", got, expected)
    code = np.searchsorted(levels.to_numpy(), values.to_numpy()) if values.dtype.is_numeric() else None
    if code is None:
        order = pl.DataFrame({"level": levels, "code": np.arange(len(levels))})
        joined = pl.DataFrame({"level": values}).join(order, on="level", how="left", maintain_order="left")
        code = joined["code"].to_numpy()
    return levels.to_list(), code.astype(np.int64), None


def _binned(values: pl.Series, name: str, bins: int) -> tuple[list[Any], Int[np.ndarray, " rows"], list[str]]:
    if not values.dtype.is_numeric():
        values = values.cast(pl.Float64, strict=False)
        if values.null_count():
            raise InputError("bins", name, "a column of numbers")
    if bins < 2:
        raise InputError("bins", f"{name}={bins}", "at least 2 ranges")
    numbers = values.to_numpy().astype(np.float64)
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, bins + 1)))
    if len(edges) < 3:
        raise InputError("bins", f"{name}={bins}", "a column with more than one value in it")
    code = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    return ranges, code, ranges


def values_of(frame: pl.DataFrame, name: str) -> np.ndarray:
    """A column of numbers (float64; also if a file has them as words) or of words (object); missing: NaN or None."""
    values = frame[name]
    if values.dtype == pl.String:
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() == values.null_count():
            values = numbers
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64).to_numpy()
    return np.array(values.cast(pl.String).to_list(), dtype=object)


def _cost(frame: pl.DataFrame, name: str) -> Float[np.ndarray, " rows"]:
    values = frame[name].cast(pl.Float64, strict=False)
    bad = values.is_null() | ~values.is_finite() | (values < 0)
    if bad.fill_null(True).any():
        row = int(bad.fill_null(True).arg_max() or 0)
        raise InputError(f"cost {name!r}", f"{frame[name][row]!r} in row {row + 1}", "numbers of at least 0")
    return values.to_numpy()


def _values(frame: pl.DataFrame, column: str) -> str:
    return f" ({column} is {', '.join(map(str, frame[column].unique().sort().to_list()[:8]))})"
