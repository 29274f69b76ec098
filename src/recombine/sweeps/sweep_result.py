"""The result of a sweep: its frame, its best point, its figure and its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.errors import InputError
from recombine.report import Document, Report, count
from recombine.runs import Failed, Result, Store
from recombine.runs.result_table import write_frame
from recombine.sweeps.summary import (
    Best,
    best_point,
    endings,
    estimate_dict,
    main_value,
    point_summary,
)
from recombine.sweeps.sweep_frame import SweepFrame, read_frame
from recombine.sweeps.sweep_plan import SweepPlan

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Report):
    """What a sweep measured. `print(sweep)` shows a table; `frame`, `plot`, `best` and `page` give its other forms.

    Results stay in the store. The frame is read from it when first asked for.

    **Attributes:**

    - `plan`: which trials there are; `store`: where their results are.
    - `failures`: trials without a result, and in one line each why.
    - `seconds`, `ran`: how long the call took that made this, and how many trials it had to run.
    """

    plan: SweepPlan
    store: Store
    failures: tuple[Failed, ...]
    seconds: float
    ran: int

    @cached_property
    def table(self) -> SweepFrame:
        """The frame, with which of its columns are settings and which are values."""
        return read_frame(self.plan, self.store, {one.trial.key: one.error for one in self.failures})

    def frame(self) -> pl.DataFrame:
        """One row per trial and seed: swept settings, seed, status, error, measured numbers, all other settings.

        `status` is `finished`, `stopped`, `diverged` or `failed`; `error` says why a seed diverged or failed, and is
        null otherwise. Settings have the names of `recombine.runs.Result.to_rows`. Where whole parts are swept, their
        column tells them apart, such as `mlp(width=64)`. Arrays are left out; `results` has them. The order of the rows
        is that of the plan, however the trials were run.
        """
        return self.table.frame

    def results(self) -> Iterator[Result]:
        """The results, one by one, in the order of the plan; trials without a result are left out."""
        for trial in self.plan.trials():
            result = self.store.get(trial)
            if result is not None:
                yield result

    def best(self, value: str | None = None, *, lowest: bool = True, with_failures: bool = False) -> Best:
        """The settings with the best median over seeds.

        **Arguments:**

        - `value`: what is compared; default: the error on unseen cells, or the first value.
        - `lowest`: whether low values are good.
        - `with_failures`: consider also points with failed or diverged seeds, by their other seeds.
        """
        name = main_value(self.table, value)
        point = best_point(self.table, name, lowest=lowest, with_failures=with_failures)
        estimate = point_summary(self.table, point, [name])[name]
        return Best(self.plan.grid[point], name, estimate, next(self.plan.trials_of(point)))

    def plot(self, value: str | None = None, x: str | None = None) -> Figure:
        """A value against a swept setting: a point per seed, and a line through the medians.

        There is a line for each combination of the other swept settings. Axes are logarithmic where values span
        decades.

        **Arguments:**

        - `value`: default: the error on unseen cells, or the first value.
        - `x`: a swept setting; default: that with the most values, numbers before anything else.
        """
        from recombine.sweeps.sweep_figure import plot_sweep

        return plot_sweep(self.table, main_value(self.table, value), x)

    def figure(self) -> Figure:
        """The main figure: `plot()`."""
        return self.plot()

    def to_parquet(self, path: str | Path) -> Path:
        """Writes the frame, whole or not at all."""
        return self.write(path, {".parquet"})

    def write(self, path: str | Path, endings: set[str] | None = None) -> Path:
        """Writes the frame (`.parquet`, `.csv`) or the page (`.html`, `.md`), by the ending of the name."""
        path = Path(path)
        check_ending(path, endings or OUTPUTS)
        if path.suffix in {".html", ".md"}:
            return self.page().write(path)
        return write_frame(self.frame(), path)

    def document(self) -> Document:
        """The table of points, what failed, and the figure."""
        from recombine.sweeps.sweep_document import sweep_document

        return sweep_document(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: for every point its settings, its medians with intervals, and what went wrong."""
        table, statuses = self.table, self.table.status()
        values = table.numeric()
        return {
            "name": self.plan.name,
            "version": __version__,
            "trials": self.plan.n_trials,
            "ran": self.ran,
            "failed_trials": len(self.failures),
            "seeds": list(self.plan.seeds),
            "swept": list(table.swept),
            "values": list(table.values),
            "points": [
                {
                    "settings": table.settings(i),
                    **endings(statuses[i]),
                    "values": {
                        name: estimate_dict(one) for name, one in point_summary(table, i, values).items()
                    },
                }
                for i in range(len(self.plan.grid))
            ],
            "failures": [{"key": one.trial.key, "error": one.error} for one in self.failures],
        }

    def __repr__(self) -> str:
        named = f"{self.plan.name!r}: " if self.plan.name else ""
        failed = f"; {len(self.failures):,} failed" if self.failures else ""
        points = count(len(self.plan.grid), "point")
        return f"Sweep({named}{count(self.plan.n_trials, 'trial')}, {points}{failed})"


OUTPUTS = {".parquet", ".csv", ".html", ".md"}
"""What a sweep can be written as."""


def check_ending(path: Path, endings: set[str], field: str = "path") -> None:
    """Refuses a file name with another ending."""
    if path.suffix not in endings:
        raise InputError(field, str(path), f"a file name that ends in {' or '.join(sorted(endings))}")
