"""The results of a sweep as one frame, read from the store one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.runs import Result, Store, Trial
from recombine.runs.result_table import column
from recombine.sweeps.grid import identity
from recombine.sweeps.labels import labels
from recombine.sweeps.sweep_plan import SweepPlan

if TYPE_CHECKING:
    import polars as pl

FAILED, DIVERGED = "failed", "diverged"
NO_RESULT = "it has no result in the store"


@dataclass(frozen=True)
class SweepFrame:
    """One row per trial and seed: point by point, and for every point in the order of the seeds.

    **Attributes:**

    - `swept`, `values`: the columns of swept settings and of measured scalars.
    - `seeds`: rows per point.
    """

    frame: pl.DataFrame
    swept: tuple[str, ...]
    values: tuple[str, ...]
    seeds: int

    def by_point(self, name: str) -> np.ndarray:
        """A measured value, shape `(points, seeds)`; NaN where there is none."""
        import polars as pl

        numbers = self.frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return np.asarray(numbers).reshape(-1, self.seeds)

    def status(self) -> np.ndarray:
        """Strings, shape `(points, seeds)`."""
        return np.array(self.frame["status"].to_list(), dtype=object).reshape(-1, self.seeds)

    def settings(self, point: int) -> dict[str, Any]:
        """The swept settings of a point, as the frame shows them."""
        return {name: self.frame[name][point * self.seeds] for name in self.swept}

    def numeric(self) -> list[str]:
        """The values that are numbers, and that were measured at least once, in the order of the probes."""
        numbers = [name for name in self.values if self.frame[name].dtype.is_numeric()]
        return [name for name in numbers if np.isfinite(self.by_point(name)).any()]


def read_frame(plan: SweepPlan, store: Store, failures: Mapping[str, str]) -> SweepFrame:
    """Reads the results of a plan; `failures` are the reasons of failed trials by key."""
    import polars as pl

    columns: dict[str, list[Any]] = {}
    order: dict[str, str] = {}  # of every column: what it holds
    n_rows = 0
    for row, kinds in _rows(plan, store, failures):
        order |= kinds
        for name, value in row.items():
            known = columns.setdefault(name, [])
            known.extend([None] * (n_rows - len(known)))
            known.append(value)
        n_rows += 1
    swept = plan.grid.paths
    for known in columns.values():
        known.extend([None] * (n_rows - len(known)))
    by_kind = [
        [name for name in columns if order[name] == kind] for kind in ("run", "value", "time", "setting")
    ]
    names = [*swept, *(name for kind in by_kind for name in kind if name not in swept)]
    frame = pl.DataFrame({name: column(columns[name]) for name in names})
    frame = frame.with_columns(pl.col("error").cast(pl.String))  # also if nothing went wrong
    return SweepFrame(frame, swept, tuple(by_kind[1]), len(plan.seeds))


def _rows(
    plan: SweepPlan, store: Store, failures: Mapping[str, str]
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Every row, and for each of its columns what it holds."""
    named = {}
    for path in plan.grid.paths:
        values = plan.grid.values(path)
        named[path] = dict(zip(map(identity, values), labels(values), strict=True))
    for index in range(len(plan.grid)):
        point = plan.grid[index]
        swept = {path: named[path][identity(value)] for path, value in point.items()}
        for trial in plan.trials_of(index):
            result = None if trial.key in failures else store.get(trial)
            reason = failures.get(trial.key, NO_RESULT)
            for row, kinds in _rows_of(trial, result, reason):
                yield row | swept, kinds | dict.fromkeys(swept, "setting")


def _rows_of(
    trial: Trial, result: Result | None, reason: str
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    n_values = 0
    if result is None:
        result = Result(trial, (FAILED,) * len(trial.seeds), {}, {}, float("nan"), "", "", "")
    else:
        n_values = sum(array.ndim == 1 for array in result.values.values())
    for status, row in zip(result.status, result.to_rows(), strict=True):
        names = list(row)
        values = {  # measured values come last
            f"value.{name}" if name == "error" else name: row.pop(name)
            for name in names[len(names) - n_values :]
        }
        head = {"seed": row.pop("seed"), "status": row.pop("status"), "error": _error(status, trial, reason)}
        seconds = row.pop("seconds")
        tail = {"seconds": None if status == FAILED else seconds, "key": row.pop("key")}
        kinds = (
            dict.fromkeys(head, "run")
            | dict.fromkeys(values, "value")
            | dict.fromkeys(tail, "time")
            | dict.fromkeys(row, "setting")
        )
        yield head | values | tail | row, kinds


def _error(status: str, trial: Trial, reason: str) -> str | None:
    if status == FAILED:
        return reason
    if status == DIVERGED and trial.recipe is not None:
        return f"the training loss was not finite, or above {trial.recipe.diverge_above:g}"
    return None
