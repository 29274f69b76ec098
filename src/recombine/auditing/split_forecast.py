"""What the split alone predicts, compared with what happened, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from recombine.advice import Advice, AdviceSettings
from recombine.advice.analysis import analyse_split
from recombine.advice.forecasts.salience_profile import salience_profile
from recombine.auditing.cells import Cells
from recombine.auditing.seen_cells import orders_below, seen_targets
from recombine.auditing.thresholds import (
    ADDITIVE_TARGETS,
    MAX_FORECAST_CELLS,
    MAX_FORECAST_LEVELS,
    RETENTION_AT_RISK,
    WRONG_LABELS,
)
from recombine.auditing.wrong_cells import is_wrong
from recombine.errors import InputError
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False)
class SplitForecast:
    """The unseen cells: what the split predicts for them, and what was observed.

    **Attributes:**

    - `cells`: their numbers among the cells of the table.
    - `order`: the order at which the seen targets are sums of effects; `None` if they are not below the number of
        factors; `supposed`: there are no seen targets, so that order is a guess.
    - `determined`: whether training determines the cell at that order; `retention`: the share of its prediction's size
        that kernel theory expects to remain; `misled`: whether a shortcut that training rewards is wrong about it;
        `at_risk`: whether any of these says that the model may fail there.
    - `error`, `wrong`: what was observed; NaN and false without a target.
    """

    advice: Advice
    order: int | None
    supposed: bool
    cells: Int[np.ndarray, " unseen"]
    determined: Bool[np.ndarray, " unseen"]
    retention: Float[np.ndarray, " unseen"]
    misled: Bool[np.ndarray, " unseen"]
    at_risk: Bool[np.ndarray, " unseen"]
    error: Float[np.ndarray, " unseen"]
    wrong: Bool[np.ndarray, " unseen"]

    @property
    def known(self) -> Bool[np.ndarray, " unseen"]:
        """Cells with a target."""
        return np.isfinite(self.error)

    def to_dict(self) -> dict[str, Any]:
        """Counts, and the cells to add, as plain values."""
        known = self.known
        plain = self.advice.to_dict()
        return {
            "order": None if self.supposed else self.order,
            "unseen": len(self.cells),
            "at_risk": int(self.at_risk.sum()),
            "misled_by_shortcut": int(self.misled.sum()),
            "wrong": int(self.wrong[known].sum()),
            "at_risk_and_wrong": int((self.at_risk & self.wrong)[known].sum()),
            "neither": int((~self.at_risk & ~self.wrong)[known].sum()),
            "additions": self.additions(),
            "split": plain,
        }

    def additions(self) -> list[dict[str, Any]]:
        """The fewest cells that would determine all others at that order, by their levels."""
        verdicts = self.advice.orders.get(self.order or 1)
        if verdicts is None:
            return []
        return [self.advice.table.describe(cell) for cell in verdicts.additions.cells]

    def table(self) -> pl.DataFrame:
        """One row per unseen cell: levels, forecast, and what was observed."""
        space = self.advice.table.space
        levels = self.advice.targets
        columns: dict[str, Any] = {
            factor.name: pl.Series(factor.levels).gather(levels[:, axis])
            for axis, factor in enumerate(space.factors)
        }
        return pl.DataFrame(
            columns
            | {
                "determined": self.determined,
                "retention": self.retention,
                "misled": self.misled,
                "at_risk": self.at_risk,
                "error": self.error,
                "wrong": self.wrong,
            }
        )


def forecast(
    table: Observations, cells: Cells, target: np.ndarray | None, *, has_predictions: bool = True
) -> SplitForecast | str:
    """The advice on the split, compared with the errors; a sentence that says why if there is none.

    **Arguments:**

    - `has_predictions`: whether there are predictions, and so errors, or only targets.
    """
    if sum(cells.sizes) > MAX_FORECAST_LEVELS:
        limit = f"an audit forecasts up to {MAX_FORECAST_LEVELS:,} in all"
        many = f"the factors have {sum(cells.sizes):,} levels"
        return f"There is no forecast from the split: {many}, and {limit}; `recombine advise` takes more."
    orders = (1, 2) if len(cells.cells) <= MAX_FORECAST_CELLS else (1,)
    profile = salience_profile(None, len(cells.sizes))
    settings = AdviceSettings(orders[: len(cells.sizes)], profile, True, (), (), "table")
    try:
        advice = analyse_split(replace(table, target=target), settings)
    except InputError as problem:
        if target is None:
            return f"There is no forecast from the split: {problem}."
        return forecast(table, cells, None, has_predictions=has_predictions)
    order = additive_order(cells)
    codes = np.ravel_multi_index(tuple(cells.cells.T), cells.sizes)
    index = np.searchsorted(codes, np.ravel_multi_index(tuple(advice.targets.T), cells.sizes))
    verdicts = advice.orders.get(order) if order is not None else None
    determined = np.zeros(len(index), dtype=bool) if verdicts is None else verdicts.determined
    retention = advice.retention
    error = cells.error[index] if has_predictions else np.full(len(index), np.nan)
    misled = _misled(advice, cells, index)
    at_risk = ~determined | (retention < RETENTION_AT_RISK) | misled
    wrong = is_wrong(cells)[index] & np.isfinite(error)
    supposed = not len(cells.inside)
    return SplitForecast(advice, order, supposed, index, determined, retention, misled, at_risk, error, wrong)


def _misled(advice: Advice, cells: Cells, index: Int[np.ndarray, " unseen"]) -> Bool[np.ndarray, " unseen"]:
    """Cells about which a shortcut is wrong that training rewards and unseen labels contradict."""
    rule = next((one for one in advice.shortcuts if one.misleads), None)
    if rule is None or cells.kind != "classification":
        return np.zeros(len(index), dtype=bool)
    predicted = seen_targets(cells).given_levels(rule.factors, cells.cells[index], by_rows=True)
    return np.nan_to_num((predicted * cells.targets[index]).sum(axis=1), nan=1.0) < WRONG_LABELS


def additive_order(cells: Cells) -> int | None:
    """The lowest order at which sums of effects explain the seen targets; `None` if none does."""
    if not len(cells.inside):
        return 1
    seen = seen_targets(cells)
    values = seen.values
    for order in orders_below(cells.sizes, max_order=2):
        if not seen.can_add(order):
            continue
        fit = seen.additive(order, seen.cells)
        if cells.kind == "classification":
            fits = np.einsum("cu,cu->c", fit, values).mean() >= ADDITIVE_TARGETS
        else:
            spread = ((values - values.mean(axis=0)) ** 2).sum()
            fits = ((fit - values) ** 2).sum() <= (1 - ADDITIVE_TARGETS) * spread
        if fits:
            return order
    return None
