"""Rows of the table of results, without building trials and results.

A table of 100,000 results needs their settings and their scalar values. Reading every trial anew and building a
`Result` would take most of the time, though trials of a sweep share most of their settings. Here every distinct task,
net and recipe is read once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from recombine.parts import Part
from recombine.runs.store.file_format import decode, verified
from recombine.runs.trial import Trial, decode_value, from_json

# The keys of all trials depend on every line of that file, so its private functions stay where they are.
from recombine.runs.trial_result import Result, _flatten, _settings_of

_KINDS = "biufcU"


RUN_COLUMNS = ("key", "seed", "status", "seconds")
"""Columns that are neither settings nor measured values."""


@dataclass(frozen=True, slots=True)
class ResultRows:
    """What a table shows of one result, a row per seed.

    **Arguments:**

    - `settings`: by dotted name; results with the same settings share the dictionary.
    - `scalars`: the values that are one number per seed.
    """

    key: str
    seeds: Sequence[int]
    status: Sequence[str]
    seconds: float
    settings: Mapping[str, Any]
    scalars: Mapping[str, Sequence[Any]]

    def named_scalars(self) -> dict[str, Sequence[Any]]:
        """The values by the names of their columns, as `Result.to_rows` names them."""
        return {
            f"value.{name}" if name in self.settings or name in RUN_COLUMNS else name: items
            for name, items in self.scalars.items()
        }


def rows_of_result(result: Result) -> ResultRows:
    """The same of a result that has been read whole."""
    scalars = {name: array.tolist() for name, array in result.values.items() if array.ndim == 1}
    settings = dict(_settings_of(result.trial))
    return ResultRows(result.key, result.trial.seeds, result.status, result.seconds, settings, scalars)


def rows_of_data(key: str, data: bytes) -> ResultRows | Result:
    """The rows of a result, from the bytes of its file.

    **Raises:**

    `DamagedError` if the bytes are not what was written; `recombine.InputError` if this version does not know the
    settings of the trial.
    """
    record, arrays = verified(data, key=key)
    if any(array.shape[:1] != (len(record["status"]),) or array.dtype.kind not in _KINDS for array in arrays):
        return decode(data, key=key)  # which says what is wrong
    rows = _rows(key, record["trial"], record["status"], record["seconds"], _scalars(record, arrays))
    return decode(data, key=key) if rows is None else rows


def rows_text(record: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> str | None:
    """The same as text, from which `rows_of_text` makes the rows: a line of JSON, then the trial.

    **Returns:**

    `None` if JSON cannot hold the values exactly.
    """
    n_seeds = len(record["status"])
    if any(array.shape[:1] != (n_seeds,) or array.dtype.kind not in "biufU" for array in arrays):
        return None
    scalars = _scalars(record, arrays)
    if any(type(item) not in {bool, int, float, str} for items in scalars.values() for item in items):
        return None  # numpy.longdouble
    return f"{json.dumps([record['status'], record['seconds'], scalars])}\n{record['trial']}"


def rows_of_text(key: str, text: str) -> ResultRows | None:
    """The inverse of `rows_text`."""
    numbers, _, trial = text.partition("\n")
    status, seconds, scalars = json.loads(numbers)
    return _rows(key, trial, status, seconds, scalars)


def _scalars(record: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> dict[str, list[Any]]:
    n_values = len(record["values"])
    named = zip(record["values"], arrays[:n_values], strict=True)
    return {name: array.tolist() for name, array in named if array.ndim == 1}


def _rows(
    key: str, trial: str, status: Sequence[str], seconds: float, scalars: Mapping[str, Sequence[Any]]
) -> ResultRows | None:
    seeds, settings = _trial_settings(trial)
    return ResultRows(key, seeds, status, seconds, settings, scalars) if len(seeds) == len(status) else None


def _trial_settings(text: str) -> tuple[Sequence[int], Mapping[str, Any]]:
    """The seeds and the flat settings of a trial in canonical JSON.

    **Raises:**

    `recombine.InputError` if it is not a trial that this version knows.
    """
    try:
        # A quote inside a string is escaped. So what occurs once, outside of what comes before, is a field's label.
        net, rest = text.split(',"probes":')
        probes, rest = rest.split(',"recipe":')
        recipe, rest = rest.split(',"seeds":')
        seeds, task = rest.split(',"task":')
        return _seeds(seeds), _settings(net.removeprefix('{"net":'), probes, recipe, task.removesuffix("}"))
    except (ValueError, TypeError, KeyError):  # also an InputError, where the next line says more
        trial = from_json(text)
        return trial.seeds, dict(_settings_of(trial))


@lru_cache(maxsize=8192)
def _settings(net: str, probes: str, recipe: str, task: str) -> Mapping[str, Any]:
    """The flat settings of the trials with these fields, which are checked as `Trial` does it."""
    Trial(_value(task), _value(probes), (0,), _value(net), _value(recipe))
    flat = [_flat(name, text) for name, text in (("task", task), ("net", net), ("recipe", recipe))]
    return {name: value for settings in flat for name, value in settings}


@lru_cache(maxsize=8192)
def _seeds(text: str) -> Sequence[int]:
    any_part = Part("types:SimpleNamespace")
    return Trial(any_part, (any_part,), _value(text)).seeds


@lru_cache(maxsize=8192)
def _value(text: str) -> Any:
    return decode_value(json.loads(text))


@lru_cache(maxsize=8192)
def _flat(field: str, text: str) -> tuple[tuple[str, Any], ...]:
    """The flat settings of a task, net or recipe; none for `null`."""
    value = _value(text)
    return () if value is None else tuple(_flatten(field, value))
