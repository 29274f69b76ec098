"""What a split alone says about unseen combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from recombine.advice.additions import Additions, minimal_additions
from recombine.advice.labels import (
    Additivity,
    CellLabels,
    LossForecast,
    Shortcut,
    additivity,
    cell_labels,
    contradiction,
    loss_forecast,
    shortcuts,
)
from recombine.advice.leak import retention
from recombine.advice.lint import Finding, lint
from recombine.advice.table import Observations, observe
from recombine.errors import InputError
from recombine.theory import (
    CellVerdicts,
    Conjunctions,
    Determinacy,
    OverlapKernel,
    cell_verdicts,
    named_profile,
)

MOST_TARGETS = 10_000_000
"""Unseen cells up to which all of them are looked at; beyond, those that the table has."""
USUAL_PROFILE = "relu:3"
"""Saliences that are assumed if nothing is said: a random ReLU network of three layers."""
EXAMPLES = 20
"""Unseen conjunctions that are named, for every order."""
BAND = ("relu:1", "relu:10")
"""The ends of the band that is shown with it."""


@dataclass(frozen=True, eq=False)
class OrderAdvice(CellVerdicts):
    """What is known of the cells of interest at one order, and the cells to add so that all are determined."""

    additions: Additions


@dataclass(frozen=True)
class Coverage:
    """Conjunctions of one order that cells of interest have: `unseen` of `all` are in no training cell.

    - `of_seen`: those whose single levels all occur in training; `examples`: some of these, by factor and level.
    """

    unseen: int
    of_seen: int
    all: int
    examples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Leak:
    """How much of the truth is expected to remain in answers for unseen cells.

    - `profile`: whose saliences; `median`, `low`, `high`: of the cells' retention.
    - `band`: the median for saliences of random ReLU networks of 1 and of 10 layers, if no profile was given.
    - `partners`: for every factor the levels that were seen with the fewest partners, and with how many.
    """

    profile: str
    median: float
    low: float
    high: float
    band: tuple[float, float] | None
    partners: Mapping[str, Sequence[tuple[Any, int]]]


@dataclass(frozen=True, eq=False)
class Advice:
    """Everything that `advise` found. `print(advice)` is the report; `to_dict`, `cells` and `page` give it otherwise.

    - `table`: the rows as cells; `train`: the different training cells; `targets`: the cells of interest.
    - `excluded`: how many cells were left out as impossible.
    - `contradiction`: cells of interest whose labels no compositionally structured model can have together.
    - `coverage`: by order, which conjunctions of the cells of interest are unseen.
    """

    table: Observations
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
    losses: LossForecast | None
    contradiction: Int[np.ndarray, "cells factors"] | None

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


def advise(
    table: Any,
    *,
    factors: Sequence[str],
    seen: str,
    orders: Sequence[int] = (1, 2),
    target: str | None = None,
    average: bool = False,
    salience: str | OverlapKernel | None = None,
    cost: str | None = None,
    ban: Sequence[Mapping[str, Any]] = (),
    exclude: Sequence[Mapping[str, Any]] = (),
    interest: str = "unseen",
    bins: Mapping[str, int] | None = None,
) -> Advice:
    """Says, before any training, what a model can and cannot know about combinations it will not see.

    **Arguments:**

    - `table`: a CSV or Parquet file, or a data frame, with one row per example; rows may repeat.
    - `factors`: the columns that are factors.
    - `seen`: which rows are for training: `"split=train"`, `"split!=test"`, or a column of true and false.
    - `orders`: up to which order effects of conjunctions are allowed to matter.
    - `target`: the column of labels; `average`: use the mean where a cell has several.
    - `salience`: of the model's representation, as `"relu:3"` or a kernel (`estimate_salience(...).kernel`).
    - `cost`: a column with the cost of adding an example of the row's cell. Cells that the table does not have cost
        as much as the dearest one. Among equals, cells that have rows (so can be had) are added first.
    - `ban`: cells that cannot be added, each by some of its levels: `{"size": "huge"}` bans all huge ones.
    - `exclude`: cells that cannot exist, in the same form; they are no cells of interest either.
    - `interest`: `"unseen"`, all cells that training lacks (if there are at most ten million), or `"table"`, only
        those that have rows.
    - `bins`: for columns of real numbers, into how many ranges they are cut.

    ```python
    >>> from recombine import advise
    >>> table = {"colour": ["red", "red", "blue", "blue"], "shape": ["cat", "dog", "cat", "dog"]}
    >>> advice = advise(table | {"train": [True, True, True, False]}, factors=["colour", "shape"], seen="train")
    >>> advice.orders[1].determined, len(advice.orders[2].additions.cells)
    (array([ True]), 1)

    ```
    """
    found = observe(table, factors=factors, seen=seen, target=target, cost=cost, bins=bins)
    sizes, n_factors = found.space.shape, len(found.space.shape)
    orders = tuple(dict.fromkeys(min(int(order), n_factors) for order in orders))
    if not orders or min(orders) < 1:
        raise InputError("order", orders, f"whole numbers from 1 to the {n_factors} factors")
    train = found.train
    targets, excluded = _targets(found, train, interest, exclude)
    kernel, profile = _kernel(salience, n_factors)
    labels = None
    if target is not None and found.target is not None:
        labels = cell_labels(
            found.codes, found.cells, found.seen, found.target, found.describe, average=average
        )
    wanted = np.ravel_multi_index(tuple(targets.T), sizes)
    first = np.lexsort((~np.isin(wanted, found.codes), _costs(found, wanted)))
    banned = _matching(found, targets, ban, "ban") if ban else None
    helpers = None
    if banned is not None:
        helpers = (
            train[:0] if found.space.n_cells > MOST_TARGETS else _helpers(found, train, targets, ban, exclude)
        )
    ends = [] if profile else [named_profile(name, n_factors) for name in BAND]
    kept, *band = retention([kernel, *ends], train, targets, sizes)
    # Labels of cells with a level that training lacks say nothing about composition.
    familiar = ~Conjunctions.of(train, sizes, order=1).missing(targets).any(axis=1)
    interesting = np.isin(wanted[:0] if labels is None else labels.codes, wanted[familiar])
    return Advice(
        table=found,
        train=train,
        targets=targets,
        excluded=excluded,
        warnings=lint(found),
        coverage=_coverage(found, targets, sizes, max(orders)),
        orders={
            order: _at_order(order, train, targets, sizes, first=first, banned=banned, helpers=helpers)
            for order in orders
        },
        leak=_leak(found, kept, band, profile) if len(targets) else None,
        retention=kept,
        labels=labels,
        additivity={} if labels is None else {k: additivity(labels, sizes, order=k) for k in orders},
        shortcuts=[] if labels is None or n_factors < 2 else shortcuts(labels, interesting, sizes, kernel),
        losses=None if labels is None else loss_forecast(labels, interesting),
        contradiction=None if labels is None else contradiction(labels, interesting, sizes),
    )


def _kernel(salience: str | OverlapKernel | None, factors: int) -> tuple[OverlapKernel, str]:
    if isinstance(salience, OverlapKernel):
        if salience.factors != factors:
            raise InputError(
                "salience", f"a kernel of {salience.factors} factors", f"one of {factors} factors"
            )
        return salience, "given"
    return named_profile(salience or USUAL_PROFILE, factors), salience or ""


def _targets(
    table: Observations, train: np.ndarray, interest: str, exclude: Sequence[Mapping[str, Any]]
) -> tuple[Int[np.ndarray, "targets factors"], int]:
    """The cells of interest in C order, and how many were left out as impossible."""
    if interest not in {"unseen", "table"}:
        raise InputError("interest", interest, "'unseen' or 'table'")
    sizes = table.space.shape
    trained = np.ravel_multi_index(tuple(train.T), sizes)
    if interest == "unseen" and table.space.n_cells - len(train) <= MOST_TARGETS:
        unseen = np.ones(table.space.n_cells, dtype=bool)
        unseen[trained] = False
        codes = np.flatnonzero(unseen)
    else:
        codes = np.setdiff1d(table.codes[~table.seen], trained)
    targets = np.stack(np.unravel_index(codes, sizes), axis=1)
    impossible = _matching(table, targets, exclude, "exclude")
    return targets[~impossible], int(impossible.sum())


def _matching(
    table: Observations, cells: np.ndarray, patterns: Sequence[Mapping[str, Any]], field: str
) -> Bool[np.ndarray, " cells"]:
    """Cells that have all the levels of some pattern."""
    found = np.zeros(len(cells), dtype=bool)
    for pattern in patterns:
        match = np.ones(len(cells), dtype=bool)
        for name, level in pattern.items():
            axis = table.space.axis(name)
            levels = [str(known) for known in table.space.factors[axis].levels]
            if str(level) not in levels:
                raise InputError(field, f"{name}={level}", f"a level of {name}: {', '.join(levels[:12])}")
            match &= cells[:, axis] == levels.index(str(level))
        found |= match
    return found


def _helpers(
    table: Observations,
    train: np.ndarray,
    targets: np.ndarray,
    ban: Sequence[Mapping[str, Any]],
    exclude: Sequence[Mapping[str, Any]],
) -> Int[np.ndarray, "helpers factors"]:
    """Cells that may be added although nobody asked about them: neither trained nor of interest, not banned."""
    sizes = table.space.shape
    free = np.ones(table.space.n_cells, dtype=bool)
    for cells in (train, targets):
        free[np.ravel_multi_index(tuple(cells.T), sizes)] = False
    cells = np.stack(np.unravel_index(np.flatnonzero(free), sizes), axis=1)
    return cells[~(_matching(table, cells, ban, "ban") | _matching(table, cells, exclude, "exclude"))]


def _costs(table: Observations, wanted: Int[np.ndarray, " targets"]) -> Float[np.ndarray, " targets"]:
    """The cost of every cell of interest, given by its number; all the same if there are no costs."""
    if table.cost is None:
        return np.ones(len(wanted))
    codes, inverse = np.unique(table.codes, return_inverse=True)
    cheapest = np.full(len(codes), np.inf)
    np.minimum.at(cheapest, inverse, table.cost)
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return np.where(codes[place] == wanted, cheapest[place], table.cost.max())


def _at_order(
    order: int, train: np.ndarray, targets: np.ndarray, sizes: Sequence[int], **choice: Any
) -> OrderAdvice:
    known = Determinacy.of(train, sizes, order)
    verdicts = cell_verdicts(train, targets, sizes, order=order, known=known)
    return OrderAdvice(**vars(verdicts), additions=minimal_additions(known, targets, **choice))


def _coverage(
    table: Observations, targets: np.ndarray, sizes: Sequence[int], most: int
) -> dict[int, Coverage]:
    found = {}
    familiar = [np.bincount(table.train[:, axis], minlength=size) > 0 for axis, size in enumerate(sizes)]
    for order in range(1, most + 1):
        wanted = Conjunctions.of(targets, sizes, order=order, least=order)
        seen = Conjunctions.of(table.train, sizes, order=order, least=order)
        lacking, of_seen, examples = 0, 0, []
        for subset, codes, known in zip(wanted.subsets, wanted.codes, seen.codes, strict=True):
            missing = np.setdiff1d(codes, known)
            levels = np.stack(np.unravel_index(missing, [sizes[axis] for axis in subset]), axis=1)
            parts = [familiar[axis][column] for axis, column in zip(subset, levels.T, strict=True)]
            fresh = np.all(parts, axis=0) if order > 1 else np.ones(len(missing), dtype=bool)
            lacking, of_seen = lacking + len(missing), of_seen + int(fresh.sum())
            factors = [table.space.factors[axis] for axis in subset]
            for row in levels[fresh][:EXAMPLES]:
                examples.append({f.name: f.levels[int(i)] for f, i in zip(factors, row, strict=True)})
        total = int(sum(map(len, wanted.codes)))
        found[order] = Coverage(lacking, of_seen, total, tuple(examples[:EXAMPLES]))
    return found


def _leak(table: Observations, kept: np.ndarray, band: Sequence[np.ndarray], profile: str) -> Leak:
    return Leak(
        profile or USUAL_PROFILE,
        float(np.median(kept)),
        float(kept.min()),
        float(kept.max()),
        (float(np.median(band[0])), float(np.median(band[1]))) if band else None,
        _partners(table, table.train),
    )


def _partners(table: Observations, train: np.ndarray) -> dict[str, list[tuple[Any, int]]]:
    """For every factor its levels with the number of training cells that have them, fewest first."""
    found = {}
    for axis, factor in enumerate(table.space.factors):
        counts = np.bincount(train[:, axis], minlength=factor.size)
        found[factor.name] = [(factor.levels[i], int(counts[i])) for i in np.argsort(counts, kind="stable")]
    return found
