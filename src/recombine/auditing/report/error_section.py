"""The errors of seen and unseen cells, next to those of simple predictors: a table and figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from recombine.auditing.refits import refit_title
from recombine.auditing.thresholds import MAX_MAP_LEVELS, MAX_MAPS, MAX_POINTS
from recombine.report import (
    SEEN,
    UNSEEN,
    Block,
    Column,
    Picture,
    Row,
    Table,
    cell_maps,
    count,
    new_figure,
    number,
    seed_points,
)
from recombine.report.figures.short_labels import short_label

if TYPE_CHECKING:
    from recombine.auditing.cells import Cells
    from recombine.auditing.result import AuditReport
    from recombine.auditing.scores import Scores
    from recombine.intervals import Estimate


BASELINE_WIDTH = 28
"""Character cells for the name of a simple model next to its line."""
WEIGHTING = {"cells": "every cell counts once", "rows": "cells count by their rows"}
COMPOSES_WORDS = {True: "yes", False: "no", None: "unclear"}


def error_section(report: AuditReport) -> list[Block]:
    """Errors and baselines in a table, then cell by cell in figures."""
    scores = report.scores
    if scores is None:
        return ["There are no predictions to judge."]
    fresh = " (rows that training did not use)" if scores.held_out else ""
    rows = [
        Row([f"seen cells{fresh}", count(scores.cells_seen), error_text(scores.seen)]),
        Row(["**unseen cells**", count(scores.cells_unseen), f"**{error_text(scores.unseen)}**"]),
    ]
    if np.isfinite(scores.ratio.value):
        rows.append(Row(["unseen / seen", "", ratio_text(scores.ratio)]))
    if report.as_given is not None:
        rows += [
            Row([f"{which} cells, before the conversion of units", "", error_text(one)])
            for which, one in zip(("seen", "unseen"), report.as_given, strict=True)
        ]
    caption = f"The {scores.measure}; {WEIGHTING[scores.weighting]}. 95% intervals over cells."
    columns = [Column(""), Column("cells", "right"), Column("error", "right")]
    return [Table(columns, rows, caption), *_by_output(report), *_error_figures(report)]


def _by_output(report: AuditReport) -> Iterator[Table]:
    """The errors of every output, if there are several quantities."""
    if not report.by_output.names:
        return
    columns = [
        Column("output"),
        *(Column(name, "right") for name in ("seen cells", "unseen cells", "composes")),
    ]
    rows = [
        Row([name, error_text(one.seen), error_text(one.unseen), COMPOSES_WORDS[one.composes]])
        for name, one in zip(report.by_output.names, report.by_output.scores, strict=True)
    ]
    yield Table(columns, rows, "Every output by itself, in its own units")


def error_text(one: Estimate) -> str:
    """An error and its interval; errors are never negative."""
    if not np.isfinite(one.value):
        return "–"
    return ratio_text(one)


def ratio_text(ratio: Estimate) -> str:
    """A ratio of errors and its interval, whose end may be infinite.

    ```python
    >>> from recombine.auditing.report.error_section import ratio_text
    >>> from recombine.intervals import Estimate
    >>> ratio_text(Estimate(2.5, 1.2, float("inf")))
    '2.5 [1.2, ∞]'

    ```
    """
    if np.isnan(ratio.low):
        return number(ratio.value)
    low, high = (number(end) if np.isfinite(end) else "∞" for end in (max(ratio.low, 0.0), ratio.high))
    return f"{number(ratio.value)} [{low}, {high}]"


def _error_figures(report: AuditReport) -> Iterator[Picture]:
    """The errors of single cells next to the baselines, and a map of them."""
    cells, scores = report.by_cell, report.scores
    if scores is None or not scores.cells_unseen:
        return
    log = cells.kind == "regression"
    rng = np.random.default_rng(0)
    groups = {}
    for name, rows in (("seen cells", cells.inside), ("unseen cells", cells.outside)):
        some = rows if len(rows) <= MAX_POINTS else rng.choice(rows, MAX_POINTS, replace=False)
        groups[name] = {
            name.split()[0]: positive_errors(cells.error[some], cells) if log else cells.error[some]
        }
    figure, panels = new_figure(aspect=0.3)
    baselines = {
        short_label(refit_title(name), BASELINE_WIDTH): one.value for name, one in scores.baselines.items()
    }
    if log:
        floor = float(positive_errors(np.zeros(1), cells)[0])
        baselines = {name: max(value, floor) for name, value in baselines.items()}
    seed_points(
        panels[0, 0],
        groups,
        baselines=baselines,
        log=log,
        estimates={"seen cells": scores.seen, "unseen cells": scores.unseen},
        palette={"seen": SEEN, "unseen": UNSEEN},
        title=error_title(scores),
        label=scores.measure,
    )
    yield Picture(
        "errors-by-cell",
        figure,
        f"One point per cell (at most {MAX_POINTS} of each kind); the bar is the 95% interval of the mean, as in the "
        "table. Thin lines are the errors of simple models on the unseen cells (see below).",
        "Errors of seen and unseen cells, with the errors of baselines",
    )
    shape = cells.sizes
    if len(shape) >= 2 and max(shape) <= MAX_MAP_LEVELS:
        yield _map(report, cells, log)


def error_title(scores: Scores) -> str:
    """A sentence; it names the larger error only if the intervals do not overlap."""
    if scores.unseen.low > scores.seen.high:
        return "Unseen cells have larger errors than seen ones"
    if scores.composes:
        return "Unseen cells have errors like seen ones"
    return "Errors of seen and unseen cells"


def positive_errors(errors: np.ndarray, cells: Cells) -> np.ndarray:
    """Errors that a logarithmic axis can show."""
    scale = float(np.nanmean(cells.error_of_constant)) or 1.0
    return np.maximum(errors, 1e-5 * scale)


def _map(report: AuditReport, cells: Cells, log: bool) -> Picture:
    space = report.table.space
    assert report.scores is not None
    pairs = list(combinations(range(len(space.shape)), 2))[:MAX_MAPS]
    maps, factors, levels = {}, {}, {}
    for first, second in pairs:
        name = "" if len(pairs) == 1 else f"{space.names[first]} × {space.names[second]}"
        grid = np.full((space.shape[first], space.shape[second]), np.nan)
        unseen = np.zeros(grid.shape, dtype=bool)
        rows = np.flatnonzero(cells.known & cells.familiar) if len(pairs) == 1 else cells.outside
        index = np.ravel_multi_index((cells.cells[rows, first], cells.cells[rows, second]), grid.shape)
        number = np.bincount(index, minlength=grid.size)
        sums = np.bincount(index, weights=cells.error[rows], minlength=grid.size)
        grid.ravel()[number > 0] = sums[number > 0] / number[number > 0]
        if len(pairs) == 1:
            unseen[tuple(cells.cells[cells.outside].T)] = True
        maps[name] = (np.maximum(grid, positive_errors(np.zeros(1), cells)[0]) if log else grid, unseen)
        factors[name] = (space.names[first], space.names[second])
        levels[name] = (
            [str(one) for one in space.factors[first].levels],
            [str(one) for one in space.factors[second].levels],
        )
    figure = cell_maps(
        maps,
        factors=factors,
        levels=levels,
        label=report.scores.measure,
        log=log,
        dots=_marked(report, pairs),
        marks={
            name: one.value for name, one in report.scores.baselines.items() if name == "constant"
        },  # there is none where targets overflow
        title="Where the errors are" if len(pairs) == 1 else "Mean error of unseen cells, by pairs of levels",
    )
    dots = f" Dots: {report.conditions[0].text}." if _marked(report, pairs) else ""
    one = (
        "Every square is one combination; the dashed line surrounds those that training did not show. "
        if len(pairs) == 1
        else "Every square is the mean over the unseen cells with these two levels; white where there are none. "
    )
    return Picture(
        "error-map",
        figure,
        f"{one}Bright is wrong; the mark on the bar is the error of a constant.{dots}",
        "Map of errors",
    )


def _marked(
    report: AuditReport, pairs: Sequence[tuple[int, int]]
) -> dict[str, Bool[np.ndarray, "first second"]]:
    """By map, the squares most of whose unseen cells satisfy the strongest condition."""
    if not report.conditions or report.conditions[0].kind == "slice":
        return {}
    cells, space, marked = report.by_cell, report.table.space, {}
    true = np.isin(cells.outside, report.conditions[0].index).astype(np.float64)
    for first, second in pairs:
        name = "" if len(pairs) == 1 else f"{space.names[first]} × {space.names[second]}"
        shape = (space.shape[first], space.shape[second])
        square = np.ravel_multi_index(tuple(cells.cells[cells.outside][:, [first, second]].T), shape)
        size = int(np.prod(shape))
        number = np.bincount(square, minlength=size)
        share = np.bincount(square, weights=true, minlength=size) / np.maximum(number, 1)
        marked[name] = (share > 0.5).reshape(shape)
    return marked
