"""What the split alone would have predicted, beside what happened, cell by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from recombine.advice import Advice, Observations
from recombine.advice.assembly import advice_on
from recombine.advice.profile import profile_of
from recombine.advice.result import Wishes
from recombine.auditing.cells import Cells
from recombine.auditing.extrapolation import orders_below
from recombine.auditing.seen_cells import targets_of_seen
from recombine.errors import InputError

SMALL = 0.6
"""Cells whose answers are forecast to shrink below this share are at risk."""
ADDITIVE = 0.99
"""Seen targets of which sums explain this share are additive."""
WRONG = 0.1
"""A cell is wrong if its error is above this share of a constant's, and above almost all seen cells; for classes, if
most of its rows have the wrong label."""
MANY_CELLS = 20_000
"""Beyond this many cells with rows the advice is about single factors only, as pairs would take long."""
HOPELESS = 0.5
"""Above this share of a constant's error a cell is wrong even if seen cells are no better."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Unseen cells by what was to be expected and what was observed.

    - `cells`: their numbers among the cells of the table; `order`: at which the seen targets are sums, `None` if at
        none below the number of factors; `supposed`: whether there are no seen targets, and sums are a mere guess.
    - `determined`: whether training determines the cell at that order; `retention`: what the kernel theory expects to
        remain of its answer; `misled`: whether a shortcut that training rewards is wrong about it; `at_risk`: any of
        these says that it may go wrong.
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
        found = self.advice.orders.get(self.order or 1)
        return [] if found is None else [self.advice.table.describe(cell) for cell in found.additions.cells]

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
    table: Observations, cells: Cells, target: np.ndarray | None, *, judged: bool = True
) -> Forecast | str:
    """The advice on the split, laid beside the errors; a sentence if it cannot be had.

    - `judged`: whether there are errors at all, or only targets.
    """
    orders = (1, 2) if len(cells.cells) <= MANY_CELLS else (1,)
    wishes = Wishes(orders[: len(cells.sizes)], profile_of(None, len(cells.sizes)), True, (), (), "table")
    try:
        advice = advice_on(replace(table, target=target), wishes)
    except InputError as problem:
        if target is None:
            return f"The advice on the split was left out: {problem}."
        return forecast(table, cells, None, judged=judged)
    order = additive_order(cells)
    codes = np.ravel_multi_index(tuple(cells.cells.T), cells.sizes)
    place = np.searchsorted(codes, np.ravel_multi_index(tuple(advice.targets.T), cells.sizes))
    verdicts = advice.orders.get(order) if order is not None else None
    determined = np.zeros(len(place), dtype=bool) if verdicts is None else verdicts.determined
    kept = advice.retention
    error = cells.error[place] if judged else np.full(len(place), np.nan)
    misled = _misled(advice, cells, place)
    at_risk = ~determined | (kept < SMALL) | misled
    wrong = is_wrong(cells)[place] & np.isfinite(error)
    supposed = not len(cells.inside)
    return Forecast(advice, order, supposed, place, determined, kept, misled, at_risk, error, wrong)


def _misled(advice: Advice, cells: Cells, place: Int[np.ndarray, " unseen"]) -> Bool[np.ndarray, " unseen"]:
    """Cells for which a shortcut that training rewards and unseen labels refute gives the wrong answer."""
    rule = next((one for one in advice.shortcuts if one.misleads), None)
    if rule is None or cells.kind != "classification":
        return np.zeros(len(place), dtype=bool)
    seen = targets_of_seen(cells)
    said = seen.given(rule.factors, cells.cells[place], by_rows=True)
    return np.nan_to_num((said * cells.targets[place]).sum(axis=1), nan=1.0) < 0.5


def additive_order(cells: Cells) -> int | None:
    """The lowest order at which sums of effects explain the seen targets."""
    if not len(cells.inside):
        return 1
    seen = targets_of_seen(cells)
    values = seen.values
    spread = ((values - values.mean(axis=0)) ** 2).sum()
    for order in orders_below(cells.sizes, most=2):
        if not seen.can_add(order):
            continue
        fit = seen.additive(order, seen.cells)
        if cells.kind == "classification":
            fits = (fit * values).sum(axis=1).mean() >= ADDITIVE
        else:
            fits = ((fit - values) ** 2).sum() <= (1 - ADDITIVE) * spread
        if fits:
            return order
    return None


def is_wrong(cells: Cells) -> Bool[np.ndarray, " cells"]:
    """Which cells the model gets wrong."""
    if cells.kind == "classification":
        return np.nan_to_num(cells.error) > 0.5
    usual = float(np.quantile(cells.error[cells.inside], 0.95)) if len(cells.inside) else 0.0
    known = cells.known & cells.familiar
    if not known.any():
        return np.zeros(len(cells.error), dtype=bool)
    constant = float(cells.error_of_constant[known].mean())
    bound = max(min(usual, HOPELESS * constant), WRONG * constant)
    return np.nan_to_num(cells.error) > bound
