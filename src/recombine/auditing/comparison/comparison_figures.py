"""Figures of a comparison: errors by model, error maps side by side, and maps of the cells that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.report.error_section import positive_errors
from recombine.auditing.thresholds import MAX_COMPARED_MAPS, MAX_MAP_LEVELS, MAX_POINTS
from recombine.auditing.wrong_cells import is_wrong
from recombine.report import (
    SEEN,
    UNSEEN,
    Picture,
    cell_maps,
    new_figure,
    outline_unseen,
    seed_points,
    status_grids,
)

if TYPE_CHECKING:
    from recombine.auditing.comparison.comparison import AuditComparison, ModelPair
    from recombine.report.figures.style import Figure


def errors_by_model(comparison: AuditComparison) -> Iterator[Picture]:
    """The errors of unseen and seen cells, model by model."""
    cells = comparison.first_report.by_cell
    if not comparison.errors or not len(cells.outside):
        return

    def draw() -> Figure:
        log = cells.kind == "regression"
        kinds = {"unseen": cells.outside} | ({"seen": cells.inside} if len(comparison.errors) <= 6 else {})
        rng = np.random.default_rng(0)
        groups, estimates = {}, {}
        for name, errors in comparison.errors.items():
            for kind, index in kinds.items():
                if not len(index):
                    continue
                some = index if len(index) <= MAX_POINTS else rng.choice(index, MAX_POINTS, replace=False)
                group = f"{name}, {kind}" if len(kinds) > 1 else name
                groups[group] = {kind: positive_errors(errors[some], cells) if log else errors[some]}
                estimates[group] = comparison.unseen[name] if kind == "unseen" else comparison.seen[name]
        figure, panels = new_figure(aspect=max(0.25, 0.06 * len(groups) + 0.12))
        seed_points(
            panels[0, 0],
            groups,
            log=log,
            estimates=estimates,
            palette={"unseen": UNSEEN, "seen": SEEN},
            title="Errors of every model, cell by cell",
            label=_measure(comparison),
        )
        return figure

    yield Picture(
        "errors-by-model",
        draw,
        f"One point per cell (at most {MAX_POINTS} of each kind); the stroke is the mean and the bar its 95% interval. "
        "Bars of two models can overlap although they differ: differences are taken cell by cell.",
        "Errors of unseen and seen cells by model",
    )


def error_maps(comparison: AuditComparison) -> Iterator[Picture]:
    """A map of the errors of every model on one scale, for two factors."""
    report = comparison.first_report
    space, cells = report.table.space, report.by_cell
    if len(space.shape) != 2 or max(space.shape) > MAX_MAP_LEVELS or not len(cells.outside):
        return
    names = list(comparison.errors)[:MAX_COMPARED_MAPS]
    log = cells.kind == "regression"
    unseen = np.zeros(space.shape, dtype=bool)
    unseen[tuple(cells.cells[cells.outside].T)] = True
    maps = {}
    known = np.flatnonzero(cells.known & cells.familiar)
    for name in names:
        grid = np.full(space.shape, np.nan)
        errors = comparison.errors[name][known]
        grid[tuple(cells.cells[known].T)] = positive_errors(errors, cells) if log else errors
        maps[name] = (grid, unseen)
    more = (
        f" The first {len(names)} of {len(comparison.errors)} models."
        if len(comparison.errors) > len(names)
        else ""
    )
    levels = tuple([str(level) for level in factor.levels] for factor in space.factors)
    yield Picture(
        "error-maps",
        lambda: cell_maps(
            maps,
            factors=dict.fromkeys(names, (space.names[0], space.names[1])),
            levels=dict.fromkeys(names, (levels[0], levels[1])),
            label=_measure(comparison),
            log=log,
            title="The same cells, model by model",
        ),
        "Every square is one combination; the dashed line surrounds those that training did not show. Bright is "
        f"wrong.{more}",
        "Maps of errors, one per model",
    )


def change_maps(comparison: AuditComparison, pairs: Sequence[ModelPair]) -> Iterator[Picture]:
    """For two factors, the cells in which only one of two models is right, or in which errors changed."""
    report = comparison.first_report
    space = report.table.space
    if len(space.shape) != 2 or max(space.shape) > MAX_MAP_LEVELS:
        return
    changing = [pair for pair in pairs if (pair.changed.worse | pair.changed.better).any()]
    for number, pair in enumerate(changing, start=1):
        yield Picture(
            f"changed-cells-{number}",
            lambda pair=pair: _change_map(comparison, pair),  # type: ignore[misc]
            f"From {pair.first} to {pair.second}; the dashed line surrounds combinations that training did not show.",
            f"Map of the cells that changed from {pair.first} to {pair.second}",
        )


def _change_map(comparison: AuditComparison, pair: ModelPair) -> Figure:
    report = comparison.first_report
    space, cells, changed = report.table.space, report.by_cell, pair.changed
    known = np.flatnonzero(cells.known & cells.familiar)
    kind = np.zeros(len(cells.cells), dtype=int)
    if cells.kind == "classification":
        kinds = [
            "right in both",
            f"right only in {pair.second}",
            f"right only in {pair.first}",
            "wrong in both",
        ]
        kind[is_wrong(comparison.reports[pair.first].by_cell)] = 3
    else:
        kinds = [
            "no change beyond noise",
            f"smaller error in {pair.second}",
            f"larger error in {pair.second}",
        ]
    kind[changed.better], kind[changed.worse] = 1, 2
    grid = np.full(space.shape, -1)
    grid[tuple(cells.cells[known].T)] = kind[known]
    unseen = np.zeros(space.shape, dtype=bool)
    unseen[tuple(cells.cells[cells.outside].T)] = True
    figure = status_grids(
        {"": grid},
        [one if len(one) <= 40 else f"{one[:39]}…" for one in kinds],
        factors=space.names,
        levels=[[str(level) for level in factor.levels] for factor in space.factors],
        title=f"What changed from {pair.first} to {pair.second}",
    )
    outline_unseen(figure.axes[0], unseen)
    return figure


def _measure(comparison: AuditComparison) -> str:
    return next(
        (one.scores.measure for one in comparison.reports.values() if one.scores is not None), "error"
    )
