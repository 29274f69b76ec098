"""What a split alone says about unseen combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.advice.activations import estimated_profile
from recombine.advice.additions import Additions, minimal_additions
from recombine.advice.coverage import coverage, partners
from recombine.advice.flips import fewest_to_flip
from recombine.advice.forecasts import loss_forecast, slope_forecast
from recombine.advice.interest import (
    MOST_TARGETS,
    cells_of_interest,
    costs,
    helpers,
    matching,
    n_targets,
)
from recombine.advice.labels import additivity, cell_labels, contradiction, shortcuts
from recombine.advice.leak import Leak, feature_order, is_exact, retention
from recombine.advice.lint import lint
from recombine.advice.memory import check_factors, check_memory
from recombine.advice.profile import Profile, profile_of
from recombine.advice.result import Advice, OrderAdvice
from recombine.advice.table import Observations, observe
from recombine.errors import InputError
from recombine.theory import Conjunctions, Determinacy, OverlapKernel, SalienceEstimate, cell_verdicts


def advise(
    table: Any,
    *,
    factors: Sequence[str],
    seen: str,
    orders: Sequence[int] = (1, 2),
    target: str | None = None,
    average: bool = False,
    salience: str | OverlapKernel | SalienceEstimate | None = None,
    activations: Any = None,
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
    - `salience`: of the model's representation, as `"relu:3"`, a kernel, or what `estimate_salience` found.
    - `activations`: instead, the activity `(rows, ...)` of a layer on all rows of the table, from which saliences
        are estimated; an array, or the path of a `.npy` file, or of a `.npz` file with one array.
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
    n_factors = len(found.space.shape)
    orders = tuple(dict.fromkeys(min(int(order), n_factors) for order in orders))
    if not orders or min(orders) < 1:
        raise InputError("order", orders, f"whole numbers from 1 to the {n_factors} factors")
    check_factors(n_factors)
    if activations is not None and salience is not None:
        raise InputError("salience", salience, "saliences or activations to estimate them from, not both")
    profile = profile_of(salience, n_factors)
    if activations is not None:
        profile = estimated_profile(activations, found)
    return advice_on(found, Wishes(orders, profile, average, ban, exclude, interest))


@dataclass(frozen=True, eq=False)
class Wishes:
    """What was asked about a table, as the arguments of `advise` say it."""

    orders: tuple[int, ...]
    profile: Profile
    average: bool
    ban: Sequence[Mapping[str, Any]]
    exclude: Sequence[Mapping[str, Any]]
    interest: str


def advice_on(found: Observations, wishes: Wishes) -> Advice:
    """The advice on a table that has been read."""
    sizes, n_factors, orders = found.space.shape, len(found.space.shape), wishes.orders
    train = found.train
    check_memory(train, n_targets(found, wishes.interest), sizes, orders)
    targets, excluded = cells_of_interest(found, train, wishes.interest, wishes.exclude)
    labels = None
    if found.target is not None:
        labels = cell_labels(
            found.codes, found.cells, found.seen, found.target, found.describe, average=wishes.average
        )
    wanted = np.ravel_multi_index(tuple(targets.T), sizes)
    first = np.lexsort((~np.isin(wanted, found.codes), costs(found, wanted)))
    banned, spare = None, None
    if wishes.ban:
        banned = matching(found, targets, wishes.ban, "ban")
        spare = train[:0]
        if found.space.n_cells <= MOST_TARGETS:
            spare = helpers(found, train, targets, wishes.ban, wishes.exclude)
    kernel = wishes.profile.kernel
    kept, *band = retention([kernel, *wishes.profile.band()], train, targets, sizes)
    # Labels of cells with a level that training lacks say nothing about composition.
    familiar = ~Conjunctions.of(train, sizes, order=1).missing(targets).any(axis=1)
    interesting = np.isin(wanted[:0] if labels is None else labels.codes, wanted[familiar])
    return Advice(
        table=found,
        train=train,
        targets=targets,
        excluded=excluded,
        warnings=lint(found),
        coverage=coverage(found, targets, sizes, max(orders)),
        orders={
            order: _at_order(order, train, targets, sizes, first=first, banned=banned, helpers=spare)
            for order in orders
        },
        profile=wishes.profile,
        leak=_leak(found, kept, band, wishes.profile.name) if len(targets) else None,
        retention=kept,
        labels=labels,
        additivity={} if labels is None else {k: additivity(labels, sizes, order=k) for k in orders},
        shortcuts=[] if labels is None or n_factors < 2 else shortcuts(labels, interesting, sizes, kernel),
        slope=None if labels is None else slope_forecast(labels, interesting, kernel),
        losses=None if labels is None else loss_forecast(labels, interesting, kernel),
        flip=None if labels is None else fewest_to_flip(labels, interesting, kernel),
        contradiction=None if labels is None else contradiction(labels, interesting, sizes),
    )


def _at_order(
    order: int, train: np.ndarray, targets: np.ndarray, sizes: Sequence[int], **choice: Any
) -> OrderAdvice:
    if order == len(sizes):
        return _whole_cells(order, targets, choice["banned"])
    known = Determinacy.of(train, sizes, order)
    verdicts = cell_verdicts(train, targets, sizes, order=order, known=known)
    return OrderAdvice(**vars(verdicts), additions=minimal_additions(known, targets, **choice))


def _whole_cells(order: int, targets: np.ndarray, banned: np.ndarray | None) -> OrderAdvice:
    """If every cell may have an effect of its own, all cells of interest are open, and each has to be added."""
    allowed = np.ones(len(targets), dtype=bool) if banned is None else ~banned
    complete = bool(allowed.all())
    added = Additions(targets[allowed], len(targets), optimal=complete, complete=complete)
    return OrderAdvice(order, np.zeros_like(allowed), np.ones_like(allowed), certain=True, additions=added)


def _leak(table: Observations, kept: np.ndarray, band: Sequence[np.ndarray], profile: str) -> Leak:
    return Leak(
        profile,
        float(np.median(kept)),
        float(kept.min()),
        float(kept.max()),
        (float(np.median(band[0])), float(np.median(band[1]))) if band else None,
        partners(table, table.train),
        None if is_exact(len(table.train), len(kept)) else feature_order(table.train, table.space.shape),
    )
