"""The result of `advise`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from recombine._version import __version__
from recombine.advice.additions.corrective_cells import CorrectiveCells
from recombine.advice.additions.determining_cells import OrderAdvice
from recombine.advice.cells_of_interest import plain_cell
from recombine.advice.coverage import Coverage
from recombine.advice.forecasts.kernel_forecasts import LossForecast, SlopeForecast
from recombine.advice.forecasts.leak_forecast import LeakForecast
from recombine.advice.forecasts.salience_profile import SalienceProfile
from recombine.advice.forecasts.shortcut_forecast import Shortcut
from recombine.advice.labels import Additivity, CellLabels, additive_order
from recombine.advice.lint import CODES, LintFinding, unchecked
from recombine.errors import InputError
from recombine.report import Document, Report, plain_level
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions, Determinacy, GrowingRetention

if TYPE_CHECKING:
    import polars as pl


CONDITIONS = ("errors", *CODES, "undetermined", "shortcut", "leak")
"""What `--fail-on` accepts; see `Advice.failures`."""


@dataclass(frozen=True, eq=False)
class AdviceSettings:
    """What was asked about a table; see the arguments of [`recombine.advise`][]."""

    orders: tuple[int, ...]
    salience: SalienceProfile
    average: bool
    ban: Sequence[Mapping[str, Any]]
    exclude: Sequence[Mapping[str, Any]]
    interest: str


@dataclass(frozen=True, eq=False)
class Reusable:
    """What advice on more training cells can start from: row spaces by order, retentions, and seen conjunctions."""

    row_spaces: Mapping[int, Determinacy]
    retentions: GrowingRetention
    seen: Conjunctions


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Report):
    """What a split determines before any training; `print(advice)` is the report.

    **Attributes:**

    - `table`: the rows as cells; `train`: the distinct training cells; `targets`: the cells of interest, all unseen.
    - `excluded`: how many unseen cells were excluded as impossible.
    - `settings`: what was asked; `reusable`: what `with_cells` starts from.
    - `lint`: problems with the split; `coverage`: by order, which conjunctions of the cells of interest are unseen.
    - `orders`: by order, which cells training determines, and the fewest cells to add.
    - `leak`: the forecast of the memorisation leak; `retention`: the same for every cell of interest.
    - `labels`, `additivity`, `shortcuts`: what the labels say; empty without a target.
    - `slope`, `losses`, `corrective_cells`: forecasts of exact kernel machines on labelled unseen cells; `None` where
        the labels do not allow them, and `corrective_cells` also where nothing has to be corrected.
    - `contradiction`: unseen cells whose labels no compositionally structured model can have together; `None` without
        labels, or if there are too many cells or factors to check.

    ```python
    >>> from recombine import advise
    >>> rows = {"colour": ["red", "red", "blue", "blue"], "shape": ["cat", "dog", "cat", "dog"]}
    >>> advise(rows | {"train": [True, True, True, False]}, factors=["colour", "shape"], seen="train")
    <Advice on the table: 4 cells, 3 seen, 1 unseen; order 1 determines 1, order 2 determines 0>

    ```
    """

    table: Observations
    settings: AdviceSettings
    reusable: Reusable
    train: Int[np.ndarray, "train factors"]
    targets: Int[np.ndarray, "targets factors"]
    excluded: int
    lint: Sequence[LintFinding]
    coverage: Mapping[int, Coverage]
    orders: Mapping[int, OrderAdvice]
    leak: LeakForecast | None
    retention: Float[np.ndarray, " targets"]
    labels: CellLabels | None
    additivity: Mapping[int, Additivity]
    shortcuts: Sequence[Shortcut]
    slope: SlopeForecast | None
    losses: LossForecast | None
    corrective_cells: CorrectiveCells | None
    contradiction: Int[np.ndarray, "cells factors"] | None

    @property
    def salience(self) -> SalienceProfile:
        """The saliences that the forecasts assume."""
        return self.settings.salience

    @property
    def main_order(self) -> int:
        """The order to act on: the first at which the labels are additive, else the lowest."""
        return additive_order(self.additivity) or min(self.orders)

    def with_cells(self, cells: Any) -> Advice:
        """The advice if training also had these cells; this advice stays as it is.

        Rows of the table in these cells become training rows; a cell without rows gets one. Most results are updated
        rather than computed again, so this is much faster than advice from scratch.

        **Arguments:**

        - `cells`: each by its levels, `{"colour": "red", "shape": "cat"}`, or all as an array of level indices, such
            as `advice.orders[1].additions.cells`.

        ```python
        >>> from recombine import advise
        >>> rows = {"a": [0, 0, 1, 2], "b": [0, 1, 1, 2], "train": [True] * 4}
        >>> advice = advise(rows, factors=["a", "b"], seen="train", orders=[1])
        >>> int(advice.orders[1].determined.sum())
        1
        >>> more = advice.with_cells([{"a": 2, "b": 0}])
        >>> int(more.orders[1].determined.sum()), len(more.targets)
        (4, 4)

        ```
        """
        from recombine.advice.analysis import analyse_more_training

        return analyse_more_training(self, cells)

    def failures(self, conditions: Sequence[str]) -> list[str]:
        """Which of some conditions hold, for use as a gate (`--fail-on`).

        **Arguments:**

        - `conditions`: `"errors"` (a lint error), a lint code such as `"L2"`, `"undetermined"` (training does not
            determine every unseen cell at the labels' order, or at the lowest one), `"shortcut"` (a shortcut misleads)
            or `"leak"` (predictions shrink below 60% of their true size).

        ```python
        >>> from recombine import advise
        >>> rows = {"a": [0, 0, 1, 2], "b": [0, 1, 0, 1], "train": [True, True, True, False]}
        >>> advise(rows, factors=["a", "b"], seen="train").failures(["errors", "L1", "undetermined"])
        ['errors', 'undetermined']

        ```
        """
        check_conditions(conditions, labels=self.labels is not None)
        holds = {
            "errors": any(problem.severity == "error" for problem in self.lint),
            **{code: any(problem.code == code for problem in self.lint) for code in CODES},
            "undetermined": not self.orders[self.main_order].determined.all(),
            "shortcut": any(rule.misleads for rule in self.shortcuts),
            "leak": self.leak is not None and self.leak.is_large,
        }
        return [condition for condition in dict.fromkeys(conditions) if holds[condition]]

    def document(self, *, figures: bool = True) -> Document:
        """The report; without `figures`, which only pages show, it is built faster."""
        from recombine.advice.report import advice_document

        return advice_document(self, figures=figures)

    def __str__(self) -> str:
        return self.document(figures=False).text()

    def __repr__(self) -> str:
        cells = f"{self.table.space.n_cells:,} cells, {len(self.train):,} seen, {len(self.targets):,} unseen"
        orders = ", ".join(
            f"order {order} determines {int(advice.determined.sum()):,}"
            for order, advice in self.orders.items()
        )
        return f"<Advice on {self.table.name}: {cells}; {orders}>"

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        table, names = self.table, self.table.space.names
        return {
            "table": table.name,
            "version": __version__,
            "rows": len(table.cells),
            "factors": {
                factor.name: [plain_level(level) for level in factor.levels] for factor in table.space.factors
            },
            "bins": {name: list(ranges) for name, ranges in table.bins.items()},
            "cells": {
                "all": table.space.n_cells,
                "seen": len(self.train),
                "interest": len(self.targets),
                "excluded": self.excluded,
            },
            "coverage": {str(order): coverage.to_dict() for order, coverage in self.coverage.items()},
            "orders": {str(order): advice.to_dict(table) for order, advice in self.orders.items()},
            "salience": self.salience.to_dict(names),
            "leak": None if self.leak is None else self.leak.to_dict(),
            "shortcuts": [rule.to_dict(names) for rule in self.shortcuts],
            "slope": None if self.slope is None else self.slope.to_dict(),
            "losses": None if self.losses is None else self.losses.to_dict(),
            "flip": None if self.corrective_cells is None else self.corrective_cells.to_dict(table),
            "out_of_reach": None
            if self.contradiction is None
            else [plain_cell(table, cell) for cell in self.contradiction],
            "additivity": {str(order): fit.to_dict(table) for order, fit in self.additivity.items()},
            "warnings": [problem.to_dict() for problem in self.lint],
            "unchecked": unchecked(table),
            "notes": list(table.notes),
        }

    def cells(self) -> pl.DataFrame:
        """One row per cell of interest: its levels, its verdict at every order, and its retention."""
        import polars as pl

        columns: dict[str, Any] = {
            factor.name: pl.Series(factor.levels).gather(self.targets[:, axis])
            for axis, factor in enumerate(self.table.space.factors)
        }
        for order, advice in self.orders.items():
            verdict = np.where(advice.norm_completed, "norm_completed", "undetermined")
            columns[f"order_{order}"] = np.where(advice.determined, "determined", verdict)
        columns["retention"] = self.retention
        return pl.DataFrame(columns)

    def additions(self) -> pl.DataFrame:
        """One row per cell to add, with the order that needs it."""
        import polars as pl

        rows = [
            {"order": order, **self.table.describe(cell)}
            for order, advice in self.orders.items()
            for cell in advice.additions.cells
        ]
        return pl.DataFrame(rows, schema=None if rows else ["order", *self.table.space.names])


def check_conditions(conditions: Sequence[str], *, labels: bool) -> None:
    """Refuses conditions that do not exist, and those about labels if there are none."""
    for condition in conditions:
        if condition not in CONDITIONS:
            raise InputError("fail-on", condition, f"one of {', '.join(CONDITIONS)}")
        if condition == "shortcut" and not labels:
            raise InputError("fail-on", condition, "labels (--target), because shortcuts are about them")
