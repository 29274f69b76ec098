"""All parts of the advice on a table: from scratch, or from the advice on fewer training cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Int

from recombine.advice.additions.corrective_cells import find_corrective_cells
from recombine.advice.additions.determining_cells import order_advice
from recombine.advice.cells_of_interest import cells_of_interest, matching_cells, max_cells_of_interest
from recombine.advice.coverage import coverage
from recombine.advice.forecasts.kernel_forecasts import loss_forecast, slope_forecast
from recombine.advice.forecasts.leak_forecast import leak_forecast
from recombine.advice.forecasts.shortcut_forecast import shortcuts
from recombine.advice.labels import CellLabels, additivity, cell_labels, contradiction, has_label
from recombine.advice.lint import lint
from recombine.advice.memory_use import check_memory
from recombine.advice.result import Advice, AdviceSettings, Reusable
from recombine.advice.thresholds import LARGE_MACHINE, LARGE_TABLE, SECONDS_BEFORE_PROGRESS
from recombine.errors import InputError
from recombine.spaces.cell_numbers import are_among, distinct_numbers
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions, Determinacy, GrowingRetention
from recombine.theory.cooccurrence import cooccurrence
from recombine.theory.retention import FEATURE_ORDER, feature_order, uses_features

T = TypeVar("T")
Progress = Callable[[str, float], None]
"""Called with the current step and the share of it that is done."""


def analyse_split(
    table: Observations,
    settings: AdviceSettings,
    *,
    previous: Advice | None = None,
    progress: Progress | None = None,
) -> Advice:
    """The advice on a table that has been read.

    **Arguments:**

    - `previous`: advice on the same table with fewer training cells and the same settings, to start from.
    - `progress`: called with a label and the share that is done, if the table is large or the advice takes long.
    """
    sizes, n_factors, orders = table.space.shape, len(table.space.shape), settings.orders
    train = table.train
    if previous is None:
        seen = Conjunctions.of(train, sizes, order=max(*orders, min(FEATURE_ORDER, n_factors)))
    else:
        added = train[~are_among(table.train_codes, previous.table.train_codes, table.space.n_cells)]
        seen = previous.reusable.seen.also_of(added)
    check_memory(train, max_cells_of_interest(table, settings.interest), sizes, orders, seen=seen)
    targets, excluded = cells_of_interest(table, settings.interest, settings.exclude)
    labels = cell_labels(table, average=settings.average)
    steps = _Steps(progress, 7 + len(orders), large=_is_large(train, targets, labels))
    kernel = settings.salience.kernel
    features = counts = None
    if (previous is None or labels is not None) and uses_features(len(train), len(targets), sizes):
        features = seen.of_orders(feature_order(train, sizes, seen), min_order=1)
        counts = cooccurrence(train, features)
    if previous is None:
        kernels = [kernel, *settings.salience.band()]
        retentions = steps.done(
            GrowingRetention.of(kernels, train, targets, sizes, seen=features, counts=counts)
        )
        row_spaces = {
            order: steps.done(Determinacy.of(train, sizes, order, seen=features, counts=counts))
            for order in orders
            if order < n_factors
        }
    else:
        retentions = previous.reusable.retentions.with_cells(train, targets)
        row_spaces = {order: space.copy() for order, space in previous.reusable.row_spaces.items()}
        for space in row_spaces.values():
            space.add(added)
    codes = np.ravel_multi_index(tuple(targets.T), sizes)
    # Labels of cells with a level that training lacks say nothing about composition.
    familiar = ~seen.of_orders(1).missing(targets).any(axis=1)
    interesting = are_among(
        codes[:0] if labels is None else labels.codes, codes[familiar], table.space.n_cells
    )
    banned = None if labels is None else matching_cells(table, labels.cells, settings.ban, "ban")
    verdicts = order_advice(
        table, settings, targets, row_spaces, seen, previous=None if previous is None else previous.orders
    )
    steps.done(verdicts)
    return Advice(
        table=table,
        settings=settings,
        reusable=Reusable(row_spaces, retentions, seen),
        train=train,
        targets=targets,
        excluded=excluded,
        lint=lint(table, seen),
        coverage=steps.done(coverage(table, targets, seen, max(orders))),
        orders=verdicts,
        leak=leak_forecast(table, retentions.values, settings.salience, seen) if len(targets) else None,
        retention=retentions.values[0],
        labels=labels,
        additivity={}
        if labels is None
        else {k: additivity(labels, sizes, order=k, seen=features, counts=counts) for k in orders},
        shortcuts=[] if labels is None or n_factors < 2 else shortcuts(labels, interesting, sizes, kernel),
        slope=None if labels is None else steps.done(slope_forecast(labels, interesting, kernel)),
        losses=None if labels is None else steps.done(loss_forecast(labels, interesting, kernel)),
        corrective_cells=None
        if labels is None
        else steps.done(find_corrective_cells(labels, interesting, kernel, banned=banned)),
        contradiction=None if labels is None else steps.done(contradiction(labels, interesting, sizes)),
    )


class _Steps:
    """Counts the steps of an analysis; reports them from the start if it is large, else once it takes long."""

    def __init__(self, progress: Progress | None, total: int, *, large: bool) -> None:
        self._progress, self._total, self._count = progress, total, 0
        self._from = time.monotonic() + (0.0 if large else SECONDS_BEFORE_PROGRESS)
        self._report(0.5)  # something above 0, so that the line appears before the first step is done

    def done(self, result: T) -> T:
        """Passes on what a step has computed."""
        self._count += 1
        self._report(self._count)
        return result

    def _report(self, steps: float) -> None:
        if self._progress is not None and time.monotonic() >= self._from:
            self._progress("analysing the split", min(steps / self._total, 0.99))


def _is_large(train: np.ndarray, targets: np.ndarray, labels: CellLabels | None) -> bool:
    machines = labels is not None and len(train) > LARGE_MACHINE
    return len(train) + len(targets) > LARGE_TABLE or machines


def analyse_more_training(advice: Advice, cells: Any) -> Advice:
    """See [`recombine.advice.Advice.with_cells`][]."""
    table = _with_training(advice.table, _level_indices(advice.table, cells))
    return analyse_split(table, advice.settings, previous=advice)


def _level_indices(table: Observations, cells: Any) -> Int[np.ndarray, "cells factors"]:
    names, shape = table.space.names, table.space.shape
    expected = f"level indices ({len(names)} for each cell), or levels by factor: {', '.join(names)}"
    if not isinstance(cells, np.ndarray):
        listed = list(cells) if isinstance(cells, Iterable) else [cells]
        if not all(isinstance(cell, Mapping) for cell in listed):
            raise InputError("cells", cells, expected)
        indices = [_level_index(table, cell) for cell in listed]
        cells = np.array(indices, dtype=int).reshape(len(indices), len(names))
    if cells.ndim != 2 or cells.shape[1] != len(names) or cells.dtype.kind not in "iu":
        raise InputError("cells", f"{cells.dtype.name} of shape {cells.shape}", expected)
    beyond = ((cells < 0) | (cells >= shape)).any(axis=1)
    if beyond.any():
        raise InputError("cells", cells[beyond][0].tolist(), f"level indices below {shape}")
    return cells


def _level_index(table: Observations, cell: Mapping[str, Any]) -> list[int]:
    if set(cell) != set(table.space.names):
        raise InputError("cells", dict(cell), f"a level for each of {', '.join(table.space.names)}")
    return [table.level_index("cells", name, cell[name]) for name in table.space.names]


def _with_training(table: Observations, cells: Int[np.ndarray, "cells factors"]) -> Observations:
    """The table with all rows of some cells in training, and a row for each of them that has none.

    Cells that training already has stay as they are, with their test rows.
    """
    codes, n_cells = (
        distinct_numbers(np.ravel_multi_index(tuple(cells.T), table.space.shape)),
        table.space.n_cells,
    )
    codes = codes[~are_among(codes, table.train_codes, n_cells)]
    without_rows = codes[~are_among(codes, table.test_codes, n_cells)]
    moved = are_among(table.codes, codes, n_cells)
    if table.target is not None:
        _check_labels(table, codes, moved)
    if not len(without_rows):
        return replace(table, seen=table.seen | moved)
    added = np.stack(np.unravel_index(without_rows, table.space.shape), axis=1)
    cost, content, n_added = table.cost, table.content, len(without_rows)
    return replace(
        table,
        cells=np.concatenate([table.cells, added]),
        seen=np.concatenate([table.seen | moved, np.ones(n_added, dtype=bool)]),
        cost=None if cost is None else np.append(cost, np.full(n_added, cost.max())),
        content=None if content is None else np.append(content, np.arange(n_added)),
    )


def _check_labels(table: Observations, codes: np.ndarray, moved: np.ndarray) -> None:
    assert table.target is not None
    labelled = has_label(table.target[moved])
    without_rows = np.setdiff1d(codes, table.codes[moved][labelled])
    unlabelled = table.codes[moved][~labelled]
    if len(without_rows) or len(unlabelled):
        cell = np.unravel_index(int([*without_rows, *unlabelled][0]), table.space.shape)
        expected = "cells whose rows all have a label; to try others, ask for advice without a target"
        raise InputError("cells", table.describe(cell), expected)
