"""What a user brings to an audit: a table and columns, or arrays; from memory or from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from recombine.auditing.error_measure import MEASURES
from recombine.auditing.probabilities.score_measures import ranked_lists
from recombine.data.argument_types import check_choice, check_count, check_progress, is_count, shown
from recombine.data.array_files import read_arrays
from recombine.data.arrays import as_array
from recombine.data.files import is_path
from recombine.data.levels import MISSING
from recombine.data.limits import MAX_AUDIT_FACTORS
from recombine.data.tables import DataTable, did_you_mean, read_table
from recombine.data.text import as_texts
from recombine.errors import InputError
from recombine.spaces.observations import Names, Observations, column_names, observe, table_and_factors

INPUT_NAMES = ("inputs", "x", "X")
TARGET_NAMES = ("targets", "target", "y", "Y")
SEEN_NAMES = ("seen", "train", "training")
PREDICTION_NAMES = ("prediction", "predictions")


@dataclass(frozen=True, eq=False)
class AuditInputs:
    """A table of cells with its training rows, and the columns or arrays that go with it.

    **Attributes:**

    - `score_names`: the names of several columns of predictions.
    - `numbers`: `(rows,)` the values of factors that are numbers, before they were cut into ranges.
    - `slices`: `(rows,)` the values of further columns that may separate right from wrong cells.
    """

    table: Observations
    target: np.ndarray | None
    prediction: np.ndarray | None
    inputs: Any
    score_names: tuple[str, ...]
    numbers: Mapping[str, Float[np.ndarray, " rows"]]
    slices: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class AuditOptions:
    """The arguments of `audit` that are names, numbers and functions, once they have been checked."""

    layers: Sequence[str] | Mapping[str, Callable[..., Any]] | None
    classes: Sequence[Any] | None
    unordered: tuple[str, ...]


def read_audit_inputs(
    table: Any,
    *,
    factors: Names | Mapping[str, Any] | None,
    seen: Any,
    target: Any = None,
    prediction: Any = None,
    inputs: Any = None,
    slices: Any = (),
    bins: Mapping[str, int | str] | str | None = None,
    missing: str = "error",
    text: bool = False,
) -> AuditInputs:
    """Reads a table, and the columns or arrays that go with it, and checks that all have the same rows.

    **Arguments:**

    - `table`, `factors`, `seen`, `bins`, `missing`: as `recombine.spaces.observations.observe` takes them.
    - `target`, `prediction`, `inputs`: names of columns, or arrays with a row for each row of the table.
    - `slices`: names of columns, or arrays by name.
    - `text`: whether targets and predictions are free text, which is read as it was written.
    """
    if factors is None:
        raise InputError("factors", None, "the names of the factor columns, such as ['colour', 'shape']")
    table, factors = table_and_factors(table, factors)
    if len(factors) < 2:
        raise InputError("factors", factors, "two factors or more, since one has no combinations")
    if len(factors) > MAX_AUDIT_FACTORS:
        expected = f"at most {MAX_AUDIT_FACTORS}, since every pair of factors is tested as an explanation"
        raise InputError("factors", f"{len(factors)} factors", expected)
    if seen is None:
        raise InputError(
            "seen", None, "which rows are for training: 'split=train', a column, or true and false by row"
        )
    if not is_path(table):
        table = read_table(table, {})  # once: a dataset or a lazy frame is converted
    asked = {"target": target, "prediction": prediction, "inputs": inputs}
    if text:  # of which there is one column, so that a list is the texts themselves
        asked |= {
            field: _objects(values)
            for field, values in asked.items()
            if field != "inputs" and isinstance(values, list | tuple)
        }
    asked = {field: _unless_labels(values, table) for field, values in asked.items()}
    if not isinstance(slices, Mapping):
        slices = {name: name for name in column_names("slices", slices)}
    named = [name for pair in slices.items() for name in pair if isinstance(name, str) and name in factors]
    if named:
        raise InputError(
            "slices", named[0], "columns that are not factors: every level of these is tried anyway"
        )
    sliced = {column: "slices" for column in slices.values() if isinstance(column, str)}
    needed = sliced | {name: field for field, values in asked.items() for name in _names(values)}
    source = read_table(table, dict.fromkeys(factors, "factors") | needed)
    clash = [name for field in ("target", "prediction") for name in _names(asked[field]) if name in factors]
    if clash:
        raise InputError("factors", clash[0], "columns other than targets and predictions")
    observations = observe(source, factors=factors, seen=seen, bins=bins, missing=missing)
    rows = source.rows([*factors, *needed])
    quantities = {name: source.column(f"factor {name!r}", name).quantities() for name in factors}
    levels = {factor.name: factor.levels for factor in observations.space.factors}
    numbers = {
        name: values
        for name, values in quantities.items()
        if values.dtype != object
        and levels[name][-1] != MISSING
        and (name in observations.bins or not isinstance(levels[name][0], str))
    }
    return AuditInputs(
        observations,
        _values(source, "target", asked["target"], rows, text=text),
        _values(source, "prediction", asked["prediction"], rows, text=text),
        _model_inputs(source, asked["inputs"]),
        _names(asked["prediction"]),
        numbers,
        _slices(source, slices, rows),
    )


def check_options(
    *,
    layers: Any,
    output: Any,
    kind: Any,
    metric: Any,
    weigh: Any,
    classes: Any,
    unordered: Any,
    batch: Any,
    slots: Any,
    activations: Any,
    name: Any,
    seed: Any,
    progress: Any,
) -> AuditOptions:
    """Refuses arguments of `audit` that are of the wrong type, before anything is read."""
    if kind is not None:
        check_choice("kind", kind, ("regression", "classification"))
    if metric is not None and not callable(metric):
        check_choice("metric", metric, tuple(MEASURES))
    check_choice("weigh", weigh, ("cells", "rows"))
    if isinstance(output, bool) or not isinstance(output, str | int | np.integer | None):
        raise InputError("output", shown(output), "the name or the number of an output")
    if batch is not None:
        check_count("batch", batch, "a whole number of rows, 1 or more", minimum=1)
    check_count("seed", seed, "a whole number of at least 0")
    if name is not None and not isinstance(name, str):
        raise InputError("name", shown(name), "the model's name")
    check_progress(progress, "reading the data", 0.0)
    if activations is not None and not is_path(activations) and not isinstance(activations, Mapping):
        expected = "arrays by layer's name, or the path of an .npz file"
        raise InputError("activations", shown(activations), expected)
    _check_slots(slots)
    if layers is not None and not isinstance(layers, Mapping):
        layers = column_names("layers", layers)
    elif layers is not None and not all(
        isinstance(key, str) and callable(one) for key, one in layers.items()
    ):
        raise InputError("layers", shown(layers), "names of layers, or functions of the inputs by name")
    if isinstance(classes, str):
        classes = column_names("classes", classes)
    elif classes is not None:
        classes = _classes(classes)
    return AuditOptions(layers, classes, tuple(column_names("unordered", unordered)))


def _check_slots(slots: Any) -> None:
    expected = "numbers of inputs such as [[0, 1], [2, 3]], or how many equal blocks"
    if slots is None or (is_count(slots) and slots >= 1):
        return
    blocks = slots.tolist() if isinstance(slots, np.ndarray) else slots
    if not isinstance(blocks, list | tuple) or not blocks:
        raise InputError("slots", shown(slots), expected)
    for block in blocks:
        members = block.tolist() if isinstance(block, np.ndarray) else block
        if not isinstance(members, list | tuple) or not members or not all(map(is_count, members)):
            raise InputError("slots", shown(slots), expected)


def _classes(classes: Any) -> list[Any]:
    if not isinstance(classes, list | tuple | np.ndarray | range | pl.Series):
        raise InputError(
            "classes", shown(classes), "the labels that columns of scores stand for, such as ['cat', 'dog']"
        )
    listed = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    if not isinstance(listed, list) or not all(
        isinstance(one, str | int | float | np.generic) for one in listed
    ):
        raise InputError("classes", shown(classes), "labels: names or numbers")
    return listed


def _unless_labels(values: Any, table: DataTable | Any) -> Any:
    """A list of text with an entry for every row is labels, not names of columns."""
    names = _names(values)
    if isinstance(values, str) or len(names) < 2 or is_path(table):
        return values
    if all(name in table.names for name in names) or len(names) != table.rows([]):
        return values
    return np.array(values, dtype=object)


def _names(values: Any) -> tuple[str, ...]:
    """The columns that an argument names; none if it is an array."""
    if isinstance(values, str):
        return (values,)
    if isinstance(values, list | tuple) and values and all(isinstance(one, str) for one in values):
        return tuple(values)
    return ()


def _values(table: DataTable, field: str, values: Any, rows: int, *, text: bool = False) -> np.ndarray | None:
    """Columns by name as one array; arrays as they are, if they have the table's rows."""
    if values is None:
        return None
    names = _names(values)
    if text:
        return _texts(field, table, names, values, rows)
    ranked = ranked_lists(field, table.sources[names[0]] if len(names) == 1 else values)
    if ranked is not None and field == "prediction":
        if len(ranked) != rows:
            raise InputError(field, f"{len(ranked)} rows", f"as many as the table has, {rows}")
        return ranked
    if not names:
        array = as_array(field, values)
        if array.ndim < 1 or len(array) != rows:
            got = f"{len(array)} rows" if array.ndim else "a single value"
            raise InputError(field, got, f"as many as the table has, {rows}")
        return array
    if len(names) == 1 and _is_nested(table.sources[names[0]]):
        return _stacked(field, table.sources[names[0]])
    columns = [table.column(field, name).quantities() for name in names]
    if len(columns) == 1:
        return columns[0]
    if any(column.dtype == object for column in columns):
        raise InputError(field, list(names), "columns of numbers, if there are several")
    return np.stack(columns, axis=1)


def _slices(table: DataTable, slices: Mapping[Any, Any], rows: int) -> dict[str, np.ndarray]:
    """Columns by name as arrays; arrays as they are, if they have the table's rows."""
    values = {}
    for name, column in slices.items():
        if not isinstance(name, str):
            raise InputError("slices", shown(name), "names of columns, or arrays by name")
        array = _values(table, "slices", column, rows)
        if array is None or array.ndim != 1:
            got = None if array is None else f"shape {array.shape}"
            raise InputError("slices", got, "one value for every row")
        values[name] = array
    return values


def _texts(field: str, table: DataTable, names: Sequence[str], values: Any, rows: int) -> np.ndarray:
    """One column of text, however long, `None` where there is none."""
    listed = as_texts(field, table.sources[names[0]] if names else values)
    if len(listed) != rows:
        raise InputError(field, f"{len(listed)} rows", f"as many as the table has, {rows}")
    return _objects(listed)


def _objects(values: Sequence[Any]) -> np.ndarray:
    """A list as an array with one object per entry, whatever these are."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def _is_nested(column: Any) -> bool:
    """Whether a column holds an array in every row: a nested Polars column, or an array with more axes."""
    if isinstance(column, pl.Series):
        return column.dtype.is_nested() and not isinstance(column.dtype, pl.Struct)
    return np.ndim(column) > 1 if isinstance(column, np.ndarray) else False


def _stacked(field: str, column: Any) -> np.ndarray:
    return as_array(field, column.to_list() if isinstance(column, pl.Series) else column)


def _model_inputs(table: DataTable, values: Any) -> Any:
    """Columns by name as a frame of numbers and text; other inputs as they are."""
    names = _names(values)
    if not names:
        return values
    columns = {name: table.column("inputs", name).quantities() for name in names}
    return pl.DataFrame(
        {
            name: pl.Series(column.tolist()) if column.dtype == object else column
            for name, column in columns.items()
        }
    )


def read_audit_file(
    path: Path | str,
    *,
    inputs: str | None = None,
    target: str | None = None,
    prediction: str | None = None,
    seen: str | None = None,
    factors: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """An `.npz` file as arguments of `audit`, and the arrays that are left over.

    Arrays go by the names that are passed. The default names are `inputs` or `x` (not needed next to a `prediction`),
    `targets` or `y` (may be missing), and `seen` or `train`; every other array with one entry per row is a factor, in
    the file's order. Text must be stored as fixed-width strings, since nothing is unpickled.
    """
    asked_for = (
        factors,
        (inputs, target, prediction, seen),
        INPUT_NAMES,
        TARGET_NAMES,
        SEEN_NAMES,
        PREDICTION_NAMES,
    )
    needed_names = None if factors is None else [name for names in asked_for for name in names or () if name]
    arrays = read_arrays("data", path, needed_names)

    def take(field: str, asked: str | None, names: Sequence[str], what: str) -> np.ndarray | None:
        for name in names if asked is None else [asked]:
            if name in arrays:
                return arrays.pop(name)
        if asked is not None:
            raise InputError(field, asked, f"an array of {Path(path).name}{_near(asked, arrays)}")
        if what:
            listed = ", ".join(arrays) or "nothing"
            expected = f"an array {' or '.join(names)} ({what})"
            raise InputError("data", f"{Path(path).name} with {listed}", expected)
        return None

    predictions = take("prediction", prediction, PREDICTION_NAMES, "")
    needed = "the model's inputs, a row each" if predictions is None else ""
    model_inputs = take("inputs", inputs, INPUT_NAMES, needed)
    targets = take("target", target, TARGET_NAMES, "")
    training = take("seen", seen, SEEN_NAMES, "true for training rows")
    first = predictions if model_inputs is None else model_inputs
    assert first is not None
    if first.ndim < 1:
        raise InputError("data", "a single value", "inputs or predictions with a row for each example")
    rows = len(first)
    for name, array in (("seen", training), ("targets", targets)):
        if array is not None and (array.ndim < 1 or len(array) != rows):
            what = "predictions" if model_inputs is None else "inputs"
            raise InputError("data", f"{name} of shape {array.shape}", f"a row for each of the {rows} {what}")
    columns = {name: array for name, array in arrays.items() if array.shape == (rows,)}
    if not columns:
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        expected = f"factors: arrays with an entry for each of the {rows} rows"
        raise InputError("data", f"other arrays: {listed}", expected)
    for name in factors or ():
        if name not in columns:
            raise InputError("factors", name, f"an array with an entry per row{_near(name, arrays)}")
    chosen = {name: columns[name] for name in (columns if factors is None else factors)}
    arguments = {
        "factors": chosen,
        "seen": training,
        "target": targets,
        "prediction": predictions,
        "inputs": model_inputs,
    }
    return arguments, [name for name in arrays if name not in chosen]


def _near(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, list(known), "arrays")
