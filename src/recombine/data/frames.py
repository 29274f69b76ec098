"""Tables in memory: data frames, Arrow tables, Hugging Face datasets, lists of rows, mappings of columns.

None of the packages is imported: a table is recognised by what it can do. A Hugging Face dataset is read as it is
stored, so the levels of a `ClassLabel` column are its numbers. In a `DatasetDict`, the split becomes a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from recombine.data.json_lines import columns_of_records
from recombine.data.limits import short_name
from recombine.errors import InputError

SPLIT = "split"
"""The column that holds the split of a row, if a dataset comes in several."""
_EXPECTED = "a path, a data frame, a dataset, a list of rows, or a mapping of columns"


def columns_in_memory(table: Any) -> dict[str, Any]:
    """The columns of a table, by name, without a look at what is in them.

    **Arguments:**

    - `table`: a Polars frame (also a lazy one), a pandas frame, an Arrow table, a Hugging Face `Dataset` or
        `DatasetDict`, a list of dictionaries, a mapping of names to columns, or a NumPy array with named fields.

    ```python
    >>> from recombine.data.frames import columns_in_memory
    >>> columns_in_memory([{"colour": "red", "size": 1}, {"colour": "blue", "size": 2}])
    {'colour': ['red', 'blue'], 'size': [1, 2]}

    ```
    """
    try:
        pairs = _pairs(table)
    except InputError:
        raise
    except Exception as error:  # somebody's class may raise anything
        raise InputError("table", type(table).__name__, _EXPECTED) from error
    names = [str(name) for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError("table", short_name(twice[0]), "columns with different names")
    return dict(zip(names, (column for _, column in pairs), strict=True))


def _pairs(table: Any) -> list[tuple[Any, Any]]:
    """Names and columns, whatever the table is."""
    if isinstance(table, np.ndarray):
        if table.dtype.names is None:
            way = "a mapping of columns: advise(factors={'colour': array[:, 0], ...}, seen=...)"
            raise InputError("table", f"an array of shape {table.shape} without names", way)
        return [(name, table[name]) for name in table.dtype.names]
    if hasattr(table, "iloc") and hasattr(table, "columns"):  # pandas
        return [(name, table.iloc[:, number]) for number, name in enumerate(table.columns)]
    if isinstance(table, list | tuple):
        return list(_records(table).items())
    if isinstance(table, Mapping):
        splits = dict(table)
        if not splits or not all(_is_dataset(one) for one in splits.values()):
            return list(splits.items())
        frame = _with_splits(splits)
    elif _is_dataset(table):
        frame = _from_dataset(table)
    elif isinstance(table, pl.LazyFrame):
        frame = table.collect()
    elif isinstance(table, pl.DataFrame):
        frame = table
    elif hasattr(table, "__arrow_c_stream__"):
        frame = pl.DataFrame(table)
    else:
        raise InputError("table", type(table).__name__, _EXPECTED)
    return [(name, frame[name]) for name in frame.columns]


def _records(rows: list[Any] | tuple[Any, ...]) -> dict[str, list[Any]]:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            expected = "a mapping of names to values in every row, such as {'colour': 'red', 'size': 1}"
            raise InputError("table", f"{type(row).__name__} as row {number} of a list", expected)
    return columns_of_records("table", rows, "rows")


def _is_dataset(table: Any) -> bool:
    """Whether this is a Hugging Face dataset, of which Polars frames know nothing."""
    return hasattr(table, "features") and hasattr(table, "column_names") and hasattr(table, "to_polars")


def _from_dataset(dataset: Any) -> pl.DataFrame:
    if not hasattr(dataset, "__len__"):  # it is streamed, and nobody knows how long it is
        expected = "a dataset with a known number of rows: load it without streaming, or Dataset.from_list(list(...))"
        raise InputError("table", type(dataset).__name__, expected)
    frame = dataset.to_polars()
    return frame if isinstance(frame, pl.DataFrame) else pl.concat(frame)


def _with_splits(splits: Mapping[Any, Any]) -> pl.DataFrame:
    """Datasets by the name of their split, as one table."""
    names = {str(split): sorted(map(str, dataset.column_names)) for split, dataset in splits.items()}
    first, *others = names
    for other in others:
        if names[other] != names[first]:
            got = f"columns {', '.join(names[other][:8])} in split {other!r}"
            raise InputError("table", got, f"the columns of split {first!r}: {', '.join(names[first][:8])}")
    if SPLIT in names[first]:
        expected = "datasets without it, since it holds the names of the splits: rename_column('split', ...)"
        raise InputError("table", f"a column {SPLIT!r} in every split", expected)
    frames = [_from_dataset(dataset) for dataset in splits.values()]
    marked = [
        frame.select(frames[0].columns).with_columns(pl.lit(split).alias(SPLIT))
        for split, frame in zip(names, frames, strict=True)
    ]
    try:
        return pl.concat(marked)
    except pl.exceptions.PolarsError as error:
        reason = " ".join(str(error).split())[:120]
        expected = f"columns of the same type in every split ({reason})"
        raise InputError("table", f"splits {', '.join(names)[:80]}", expected) from None
