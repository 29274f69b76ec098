"""Rows of the table of results, without building trials and results.

A table of 100,000 results needs their settings and their scalar values. Building a `Trial` and a `Result` for each would
take most of the time, though trials of a sweep share most of their settings. Here the settings of each distinct task,
net and recipe are computed once, by the same code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs.trial import decode_value, from_json

# Trial keys depend on every line of that file, so its private functions stay where they are.
from recombine.runs.trial_result import _flatten, _settings_of

_DECODER = json.JSONDecoder()
_LAYOUT = (('{"net":', "net"), (',"probes":', "probes"), (',"recipe":', "recipe"), (',"seeds":', "seeds"))


@dataclass(frozen=True, slots=True)
class ResultRows:
    """What a table shows of one result: `to_rows` gives what `Result.to_rows` gives.

    **Arguments:**

    - `settings`: by dotted name.
    - `scalars`: the values that are one number per seed.
    """

    key: str
    seeds: Sequence[int]
    status: Sequence[str]
    seconds: float
    settings: Mapping[str, Any]
    scalars: Mapping[str, Sequence[Any]]

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per seed."""
        rows = []
        for i, seed in enumerate(self.seeds):
            row = {"key": self.key, "seed": seed, "status": self.status[i], "seconds": self.seconds}
            row.update(self.settings)
            values = {
                f"value.{name}" if name in row else name: items[i] for name, items in self.scalars.items()
            }
            row.update(values)
            rows.append(row)
        return rows


def rows_of_record(record: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> ResultRows | None:
    """The rows of a result whose bytes were verified; `None` if only `decode` can tell whether it is one.

    **Raises:**

    `recombine.InputError` if this version does not know the settings of the trial.
    """
    n_seeds = len(record["status"])
    if any(array.shape[:1] != (n_seeds,) or array.dtype.kind not in "biufcU" for array in arrays):
        return None
    scalars = {
        name: array.tolist() for name, array in zip(record["values"], arrays, strict=False) if array.ndim == 1
    }
    return _rows(record["key"], record["trial"], record["status"], record["seconds"], scalars)


def rows_text(record: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> str | None:
    """The same as JSON, from which `rows_of_text` makes the rows; `None` if JSON cannot hold the values exactly."""
    n_seeds = len(record["status"])
    if any(array.shape[:1] != (n_seeds,) or array.dtype.kind not in "biufU" for array in arrays):
        return None
    scalars = {
        name: array.tolist() for name, array in zip(record["values"], arrays, strict=False) if array.ndim == 1
    }
    if any(type(item) not in {bool, int, float, str} for items in scalars.values() for item in items):
        return None  # numpy.longdouble
    return json.dumps([record["trial"], record["status"], record["seconds"], scalars])


def rows_of_text(key: str, text: str) -> ResultRows | None:
    """The inverse of `rows_text`."""
    return _rows(key, *_DECODER.decode(text))


def _rows(
    key: str, trial: str, status: Sequence[str], seconds: float, scalars: Mapping[str, Sequence[Any]]
) -> ResultRows | None:
    seeds, settings = _trial_settings(trial)
    return ResultRows(key, seeds, status, seconds, settings, scalars) if len(seeds) == len(status) else None


def _trial_settings(text: str) -> tuple[Sequence[int], dict[str, Any]]:
    """The seeds and the flat settings of a trial in canonical JSON.

    **Raises:**

    `recombine.InputError` if it is not a trial that this version knows.
    """
    fields = _split(text)
    if fields is not None:
        net, probes, recipe, seeds, task = fields
        known = [_settings("task", task), _settings("net", net), _settings("recipe", recipe)]
        n_probes = _n_probes(probes)
        is_trial = all(settings is not None for settings in known) and n_probes is not None
        # What `Trial` checks; where something is amiss, it says what.
        is_trial = is_trial and task != "null" and (net == "null") == (recipe == "null")
        is_trial = is_trial and (net != "null" or n_probes != 0)
        is_trial = is_trial and bool(seeds) and len(set(seeds)) == len(seeds)
        if is_trial and all(type(seed) is int and 0 <= seed < 2**32 for seed in seeds):
            return seeds, {name: value for settings in known for name, value in settings or ()}
    trial = from_json(text)
    return trial.seeds, dict(_settings_of(trial))


def _split(text: str) -> tuple[str, str, str, list[Any], str] | None:
    """The JSON texts of the fields of a trial, with the seeds decoded; `None` if it is not laid out as we write it."""
    texts: dict[str, str] = {}
    value: Any = None
    end = 0
    try:
        for label, name in _LAYOUT:
            if not text.startswith(label, end):
                return None
            start = end + len(label)
            value, end = _DECODER.raw_decode(text, start)
            texts[name] = text[start:end]
    except ValueError:
        return None
    is_whole = text.startswith(',"task":', end) and text.endswith("}")
    if not is_whole or not isinstance(value, list):
        return None
    return texts["net"], texts["probes"], texts["recipe"], value, text[end + len(',"task":') : -1]


@lru_cache(maxsize=8192)
def _settings(field: str, text: str) -> tuple[tuple[str, Any], ...] | None:
    """The flat settings of a task, net or recipe; `None` if this version does not know them."""
    try:
        value = decode_value(json.loads(text))
        if value is None:
            return ()
        if field != "recipe" and not isinstance(value, Part):
            return None
        return tuple(_flatten(field, value))
    except (InputError, ValueError, TypeError, KeyError):
        return None


@lru_cache(maxsize=1024)
def _n_probes(text: str) -> int | None:
    try:
        probes = decode_value(json.loads(text))
    except (InputError, ValueError, TypeError, KeyError):
        return None
    is_valid = isinstance(probes, tuple) and all(isinstance(probe, Part) for probe in probes)
    return len(probes) if is_valid else None
