"""All parts of the advice on a table, from scratch or from the advice on less training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

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
from recombine.advice.memory import check_memory
from recombine.advice.result import Advice, Basis, OrderAdvice, Wishes
from recombine.advice.retention_growth import grown_retention
from recombine.advice.table import Observations
from recombine.theory import CellVerdicts, Conjunctions, Determinacy, cell_verdicts


def advice_on(found: Observations, wishes: Wishes, *, before: Advice | None = None) -> Advice:
    """The advice on a table that has been read.

    - `before`: advice on the same table with less training and the same wishes, on which this one can build.
    """
    sizes, n_factors, orders = found.space.shape, len(found.space.shape), wishes.orders
    train = found.train
    check_memory(train, n_targets(found, wishes.interest), sizes, orders)
    targets, excluded = cells_of_interest(found, train, wishes.interest, wishes.exclude)
    labels = None
    if found.target is not None:
        labels = cell_labels(
            found.codes, found.cells, found.seen, found.target, found.describe, average=wishes.average
        )
    kernel = wishes.profile.kernel
    kernels = [kernel, *wishes.profile.band()]
    if before is None:
        kept = retention(kernels, train, targets, sizes)
        known = {order: Determinacy.of(train, sizes, order) for order in orders if order < n_factors}
    else:
        kept = grown_retention(
            kernels, before.basis.kept, before.train, before.targets, train, targets, sizes
        )
        known = {order: one.copy() for order, one in before.basis.known.items()}
        for one in known.values():
            one.show(_difference(train, before.train, sizes))
    wanted = np.ravel_multi_index(tuple(targets.T), sizes)
    # Labels of cells with a level that training lacks say nothing about composition.
    familiar = ~Conjunctions.of(train, sizes, order=1).missing(targets).any(axis=1)
    interesting = np.isin(wanted[:0] if labels is None else labels.codes, wanted[familiar])
    banned = None if labels is None else matching(found, labels.cells, wishes.ban, "ban")
    return Advice(
        table=found,
        wishes=wishes,
        basis=Basis(known, kept),
        train=train,
        targets=targets,
        excluded=excluded,
        warnings=lint(found),
        coverage=coverage(found, targets, sizes, max(orders)),
        orders=_orders(found, wishes, targets, known, before),
        leak=_leak(found, kept, wishes.profile.name) if len(targets) else None,
        retention=kept[0],
        labels=labels,
        additivity={} if labels is None else {k: additivity(labels, sizes, order=k) for k in orders},
        shortcuts=[] if labels is None or n_factors < 2 else shortcuts(labels, interesting, sizes, kernel),
        slope=None if labels is None else slope_forecast(labels, interesting, kernel),
        losses=None if labels is None else loss_forecast(labels, interesting, kernel),
        flip=None if labels is None else fewest_to_flip(labels, interesting, kernel, banned=banned),
        contradiction=None if labels is None else contradiction(labels, interesting, sizes),
    )


def _orders(
    table: Observations,
    wishes: Wishes,
    targets: Int[np.ndarray, "targets factors"],
    known: dict[int, Determinacy],
    before: Advice | None,
) -> dict[int, OrderAdvice]:
    """Verdicts and additions at every order.

    Additions are taken greedily, so those for more training are among those for less: a cell that was spanned by
    training and earlier choices still is.
    """
    sizes, train = table.space.shape, table.train
    banned = matching(table, targets, wishes.ban, "ban") if wishes.ban else None
    spare = None
    if banned is not None:
        small = table.space.n_cells <= MOST_TARGETS
        spare = helpers(table, train, targets, wishes.ban, wishes.exclude) if small else train[:0]
    found: dict[int, OrderAdvice] = {}
    for order in wishes.orders:
        if order == len(sizes):
            found[order] = _whole_cells(order, targets, banned)
            continue
        verdicts = cell_verdicts(train, targets, sizes, order=order, known=known[order])
        if banned is not None:
            first = _cheapest_first(table, targets)
            added = minimal_additions(known[order], targets, first=first, banned=banned, helpers=spare)
        else:
            ground = targets if before is None else before.orders[order].additions.cells
            added = minimal_additions(known[order], ground, first=_cheapest_first(table, ground))
        found[order] = _with_additions(verdicts, added)
    return found


def _cheapest_first(table: Observations, cells: np.ndarray) -> Int[np.ndarray, " cells"]:
    """The order in which cells are added: by cost, and among equals those that have rows, so can be had."""
    codes = np.ravel_multi_index(tuple(cells.T), table.space.shape)
    return np.lexsort((~np.isin(codes, table.codes), costs(table, codes)))


def _with_additions(verdicts: CellVerdicts, additions: Additions) -> OrderAdvice:
    return OrderAdvice(
        verdicts.order, verdicts.determined, verdicts.norm_completed, verdicts.certain, additions=additions
    )


def _whole_cells(
    order: int, targets: Int[np.ndarray, "targets factors"], banned: Bool[np.ndarray, " targets"] | None
) -> OrderAdvice:
    """If every cell may have an effect of its own, all cells of interest are open, and each has to be added."""
    allowed = np.ones(len(targets), dtype=bool) if banned is None else ~banned
    complete = bool(allowed.all())
    added = Additions(targets[allowed], len(targets), optimal=complete, complete=complete)
    return OrderAdvice(order, np.zeros_like(allowed), np.ones_like(allowed), certain=True, additions=added)


def _difference(
    cells: Int[np.ndarray, "cells factors"], without: Int[np.ndarray, "less factors"], sizes: Sequence[int]
) -> Int[np.ndarray, "more factors"]:
    codes = [np.ravel_multi_index(tuple(rows.T), tuple(sizes)) for rows in (cells, without)]
    return cells[~np.isin(*codes)]


def _leak(table: Observations, kept: Sequence[np.ndarray], profile: str) -> Leak:
    answers, *band = kept
    return Leak(
        profile,
        float(np.median(answers)),
        float(answers.min()),
        float(answers.max()),
        (float(np.median(band[0])), float(np.median(band[1]))) if band else None,
        partners(table, table.train),
        None if is_exact(len(table.train), len(answers)) else feature_order(table.train, table.space.shape),
    )
