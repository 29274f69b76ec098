"""What `advise` gives back, and the forms in which it can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from recombine.advice.additions import Additions
from recombine.advice.coverage import Coverage
from recombine.advice.flips import Flip
from recombine.advice.forecasts import LossForecast, SlopeForecast
from recombine.advice.labels import Additivity, CellLabels, Shortcut
from recombine.advice.leak import Leak
from recombine.advice.lint import Finding
from recombine.advice.profile import Profile
from recombine.advice.table import Observations
from recombine.theory import CellVerdicts, Determinacy


@dataclass(frozen=True, eq=False)
class OrderAdvice(CellVerdicts):
    """What is known of the cells of interest at one order, and the cells to add so that all are determined."""

    additions: Additions


@dataclass(frozen=True, eq=False)
class Wishes:
    """What was asked about a table, as the arguments of `advise` say it."""

    orders: tuple[int, ...]
    profile: Profile
    average: bool
    ban: Sequence[Mapping[str, Any]]
    exclude: Sequence[Mapping[str, Any]]
    interest: str


@dataclass(frozen=True, eq=False)
class Basis:
    """What advice on more training can build on: row spaces by order, and retentions by kernel."""

    known: Mapping[int, Determinacy]
    kept: Sequence[Float[np.ndarray, " targets"]]


@dataclass(frozen=True, eq=False)
class Advice:
    """Everything that `advise` found. `print(advice)` is the report; `to_dict`, `cells` and `page` give it otherwise.

    - `table`: the rows as cells; `train`: the different training cells; `targets`: the cells of interest.
    - `excluded`: how many cells were left out as impossible.
    - `wishes`: what was asked; `basis`: what `with_cells` builds on.
    - `slope`, `losses`, `flip`: what exact kernel machines would answer on labelled cells of interest; `None` where
        the labels do not allow it, and `flip` also where nothing has to be turned.
    - `contradiction`: cells of interest whose labels no compositionally structured model can have together; `None`
        without labels, or if it was not looked for because cells or factors are too many.
    - `coverage`: by order, which conjunctions of the cells of interest are unseen.
    """

    table: Observations
    wishes: Wishes
    basis: Basis
    train: Int[np.ndarray, "train factors"]
    targets: Int[np.ndarray, "targets factors"]
    excluded: int
    warnings: Sequence[Finding]
    coverage: Mapping[int, Coverage]
    orders: Mapping[int, OrderAdvice]
    leak: Leak | None
    retention: Float[np.ndarray, " targets"]
    labels: CellLabels | None
    additivity: Mapping[int, Additivity]
    shortcuts: Sequence[Shortcut]
    slope: SlopeForecast | None
    losses: LossForecast | None
    flip: Flip | None
    contradiction: Int[np.ndarray, "cells factors"] | None

    @property
    def profile(self) -> Profile:
        """The saliences that the forecasts assume."""
        return self.wishes.profile

    def with_cells(self, cells: Any) -> Advice:
        """The advice if training had these cells too; this one stays as it is.

        Rows of the table that show them become training rows; a cell without rows gets one. Most is taken over, so
        that this takes a small part of the time that advice from scratch takes.

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
        from recombine.advice.growth import with_cells

        return with_cells(self, cells)

    def __str__(self) -> str:
        from recombine.advice.words import text

        return text(self)

    def page(self) -> Any:
        """The report with a picture, as a `recombine.report.Page`."""
        from recombine.advice.page import page

        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """One object of plain values, as `--json` prints it."""
        from recombine.advice.plain import as_dict

        return as_dict(self)

    def cells(self) -> pl.DataFrame:
        """One row per cell of interest: its levels, its verdict at every order, what remains of its answer."""
        columns: dict[str, Any] = {
            factor.name: pl.Series(factor.levels).gather(self.targets[:, axis])
            for axis, factor in enumerate(self.table.space.factors)
        }
        for order, found in self.orders.items():
            verdict = np.where(found.norm_completed, "norm_completed", "undetermined")
            columns[f"order_{order}"] = np.where(found.determined, "determined", verdict)
        columns["retention"] = self.retention
        return pl.DataFrame(columns)

    def additions(self) -> pl.DataFrame:
        """One row per cell to add, with the order that needs it."""
        rows = [
            {"order": order, **self.table.describe(cell)}
            for order, found in self.orders.items()
            for cell in found.additions.cells
        ]
        return pl.DataFrame(rows, schema=None if rows else ["order", *self.table.space.names])
