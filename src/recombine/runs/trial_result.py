"""The result of a trial: what was measured for every seed."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs.trial import Trial, as_part, canonical_json


@dataclass(frozen=True, eq=False)
class Result:
    """Named values and curves of one trial, each with a leading seed axis.

    **Arguments:**

    - `trial`: what was asked for.
    - `status`: for each seed `"finished"`, `"stopped"` (early, as the recipe allows) or `"diverged"`.
    - `values`: what the probes measured, shape `(seeds, ...)`. A diverged seed was not probed: its values are
        NaN, and if all seeds diverged there are none.
    - `curves`: what training recorded, shape `(seeds, records)`.
    - `seconds`: wall time of the whole trial: tasks, training and probes.
    - `version`: of this package.
    - `machine`: processor and libraries, without names of hosts or people.
    - `created`: when, in UTC (ISO 8601).
    - `key`: of the trial *when it was run*. A stored result keeps its key when the code has changed since, so
        this may differ from `trial.key`.
    """

    trial: Trial
    status: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    curves: Mapping[str, np.ndarray]
    seconds: float
    version: str
    machine: str
    created: str
    key: str = ""

    def __post_init__(self) -> None:
        n_seeds = len(self.trial.seeds)
        if len(self.status) != n_seeds:
            raise InputError("status", self.status, f"one for each of the {n_seeds} seeds")
        object.__setattr__(self, "status", tuple(self.status))
        for field in ("values", "curves"):
            arrays = {name: _frozen(f"{field} {name!r}", a) for name, a in getattr(self, field).items()}
            for name, array in arrays.items():
                if array.shape[:1] != (n_seeds,):
                    raise InputError(f"{field} {name!r}", array.shape, f"a leading axis of {n_seeds} seeds")
            object.__setattr__(self, field, arrays)
        if not self.key:
            object.__setattr__(self, "key", self.trial.key)

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per seed: `key`, `seed`, `status`, `seconds`, the settings, and every scalar value.

        Settings have dotted names: `task` is the function's name, `task.n` its setting, `task.hole.low` a
        setting of a part in a setting; `recipe.penalties.0` is the first of several. Arrays are left out. A
        value whose name is already taken appears as `value.<name>`.
        """
        settings = dict(_settings_of(self.trial))
        scalars = {name: array for name, array in self.values.items() if array.ndim == 1}
        rows = []
        for i, seed in enumerate(self.trial.seeds):
            row = {
                "key": self.key,
                "seed": seed,
                "status": self.status[i],
                "seconds": self.seconds,
            } | settings
            names = {name: f"value.{name}" if name in row else name for name in scalars}
            rows.append(row | {names[name]: array[i].item() for name, array in scalars.items()})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: how it was made, the trial, and every value that is one number per seed."""
        return {
            "key": self.key,
            "status": list(self.status),
            "seconds": round(self.seconds, 3),
            "version": self.version,
            "machine": self.machine,
            "created": self.created,
            "trial": json.loads(canonical_json(self.trial)),
            "values": {name: array.tolist() for name, array in self.values.items() if array.ndim == 1},
            "arrays": {name: list(array.shape) for name, array in self.values.items() if array.ndim > 1},
        }

    def __repr__(self) -> str:
        status = ", ".join(f"{n} {status}" for status, n in Counter(self.status).items())
        names = ", ".join([*self.values, *(f"{name} (curve)" for name in self.curves)])
        return f"Result({self.key[:8]}: {self.trial}; {status}; {self.seconds:.1f} s; {names or 'no values'})"


def _frozen(field: str, values: Any) -> np.ndarray:
    array = np.array(values)
    if array.dtype.kind == "V" and array.dtype.names is None:  # bfloat16 and its kin, which npz cannot hold
        array = array.astype(np.float32)
    if array.dtype.kind not in "biufcU":
        raise InputError(field, array.dtype, "numbers, booleans or strings")
    array.setflags(write=False)
    return array


def _settings_of(trial: Trial) -> Iterator[tuple[str, Any]]:
    for field in ("task", "net", "recipe"):
        value = getattr(trial, field)
        if value is not None:
            yield from _flatten(field, value)


def _flatten(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    value = as_part(value)
    if isinstance(value, Part):
        yield name, value.name.rpartition(":")[2]
        for key, setting in value.settings:
            yield from _flatten(f"{name}.{key}", setting)
    elif dataclasses.is_dataclass(value):
        yield name, type(value).__name__
        for field in dataclasses.fields(value):
            yield from _flatten(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple) and any(isinstance(v, tuple) or dataclasses.is_dataclass(v) for v in value):
        for i, item in enumerate(value):
            yield from _flatten(f"{name}.{i}", item)
    elif isinstance(value, tuple):
        yield name, ", ".join(str(item) for item in value)
    else:
        yield name, value
