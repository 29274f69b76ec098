"""Figures of an audit: errors by cell, the forecast and what happened, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.rules.superposition import superposed
from recombine.auditing.scores import baseline_name
from recombine.auditing.seen_cells import seen_predictions
from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.thresholds import RETENTION_AT_RISK
from recombine.report import (
    SEEN,
    UNSEEN,
    Picture,
    cell_maps,
    count,
    image_figure,
    image_grid,
    new_figure,
    percent,
    seed_points,
    status_grid,
)

if TYPE_CHECKING:
    from recombine.auditing.cells import Cells
    from recombine.auditing.result import AuditReport
    from recombine.auditing.scores import Scores

MAX_POINTS = 300
"""Points of each kind in the figure of errors."""
MAX_LEVELS = 60
"""Levels up to which a map is legible."""
MAX_PAIRS = 6
"""Pairs of factors with a map."""
EXAMPLES = 6
"""Cells shown as images."""
MIN_SIDE = 4
"""Outputs with a shorter side than this are not shown as images."""
OUTCOMES = (
    "seen in training",
    "unseen, right",
    "unseen, wrong as the split predicts",
    "unseen, wrong unexpectedly",
)
FORECASTS = ("seen in training", "unseen, not at risk", "unseen, at risk")


def error_figures(report: AuditReport) -> Iterator[Picture]:
    """The errors of single cells next to the baselines, and a map of them."""
    cells, scores = report.by_cell, report.scores
    if scores is None or not scores.cells_unseen:
        return
    log = cells.kind == "regression"
    rng = np.random.default_rng(0)
    groups = {}
    for name, rows in (("seen cells", cells.inside), ("unseen cells", cells.outside)):
        some = rows if len(rows) <= MAX_POINTS else rng.choice(rows, MAX_POINTS, replace=False)
        groups[name] = {name.split()[0]: _positive(cells.error[some], cells) if log else cells.error[some]}
    figure, panels = new_figure(aspect=0.3)
    baselines = {baseline_name(name): one.value for name, one in scores.baselines.items()}
    if log:
        floor = float(_positive(np.zeros(1), cells)[0])
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
        "table. Thin lines are the errors of simple predictors on the unseen cells: one prediction for everything, the "
        "target of the nearest seen cell, and the best sum of effects of single factors or pairs.",
        "Errors of seen and unseen cells, with the errors of baselines",
    )
    shape = cells.sizes
    if len(shape) >= 2 and max(shape) <= MAX_LEVELS:
        yield _map(report, cells, log)


def error_title(scores: Scores) -> str:
    """A sentence; it names the larger error only if the intervals do not overlap."""
    if scores.unseen.low > scores.seen.high:
        return "Unseen cells have larger errors than seen ones"
    if scores.composes:
        return "Unseen cells have errors like seen ones"
    return "Errors of seen and unseen cells"


def _positive(errors: np.ndarray, cells: Cells) -> np.ndarray:
    """Errors that a logarithmic axis can show."""
    scale = float(np.nanmean(cells.error_of_constant)) or 1.0
    return np.maximum(errors, 1e-5 * scale)


def _map(report: AuditReport, cells: Cells, log: bool) -> Picture:
    space = report.table.space
    assert report.scores is not None
    pairs = list(combinations(range(len(space.shape)), 2))[:MAX_PAIRS]
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
        maps[name] = (np.maximum(grid, _positive(np.zeros(1), cells)[0]) if log else grid, unseen)
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
        marks={
            name: one.value for name, one in report.scores.baselines.items() if name == "constant"
        },  # there is none where targets overflow
        title="Where the errors are" if len(pairs) == 1 else "Mean error of unseen cells, by pairs of levels",
    )
    one = (
        "Every square is one combination; the dashed line surrounds those that training did not show. "
        if len(pairs) == 1
        else "Every square is the mean over the unseen cells with these two levels; white where there are none. "
    )
    return Picture(
        "error-map",
        figure,
        f"{one}Bright is wrong; the mark on the bar is the error of a constant.",
        "Map of errors",
    )


def forecast_figure(report: AuditReport) -> Picture | None:
    """For two factors: which cells are right, wrong as expected, and wrong unexpectedly."""
    forecast, space = report.forecast, report.table.space
    if not isinstance(forecast, SplitForecast) or len(space.shape) != 2 or max(space.shape) > MAX_LEVELS:
        return None
    status = np.full(space.shape, -1)
    status[tuple(forecast.advice.train.T)] = 0
    known = forecast.known
    if known.any():
        outcome = np.where(~forecast.wrong, 1, np.where(forecast.at_risk, 2, 3))
        status[tuple(forecast.advice.targets[known].T)] = outcome[known]
    else:
        status[tuple(forecast.advice.targets.T)] = np.where(forecast.at_risk, 2, 1)
    figure = status_grid(
        status,
        OUTCOMES if known.any() else FORECASTS,
        factors=space.names,
        levels=[[str(level) for level in factor.levels] for factor in space.factors],
        title=_forecast_title(forecast),
    )
    return Picture(
        "forecast",
        figure,
        "Every square is one combination. A cell is at risk if training does not determine it, if kernel theory "
        f"expects its prediction to shrink below {percent(RETENTION_AT_RISK)} of its size, or if a shortcut that "
        "training rewards is wrong about it.",
        "Grid of cells by forecast and outcome",
    )


def _forecast_title(forecast: SplitForecast) -> str:
    known = forecast.known
    risky, wrong = forecast.at_risk[known], forecast.wrong[known]
    cells = count(len(forecast.cells))
    if not known.any():
        return f"{count(int(forecast.at_risk.sum()))} of {cells} unseen cells are at risk; there are no predictions"
    if not wrong.any():
        return "No unseen cell is wrong"
    if risky.all():
        return f"The split puts all {cells} unseen cells at risk; {count(int(wrong.sum()))} are wrong"
    predicted = percent(float((wrong & risky).sum() / wrong.sum()))
    return f"The split alone predicts {predicted} of the {count(int(wrong.sum()))} wrong cells"


def example_figure(report: AuditReport) -> Picture | None:
    """For images: targets and outputs of the worst unseen cells, and the sum of related seen outputs."""
    cells, outputs = report.by_cell, report.outputs
    if outputs is None or outputs.kind != "regression" or not len(cells.outside):
        return None
    shape = image_shape(outputs.shape)
    if shape is None:
        return None
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:EXAMPLES]]
    sums = superposed(seen_predictions(cells), cells.cells[worst])
    shown = _worst_rows(report, cells.cells[worst])
    rows = {"target": outputs.targets[shown], "output": outputs.predictions[shown]}
    low, high = float(np.nanmin(rows["target"])), float(np.nanmax(rows["target"]))
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    spread = np.ptp(sums, axis=1, keepdims=True)
    if report.finding("composes").holds is not True:
        related = (sums - sums.min(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
        rows["sum of related\nseen outputs"] = low + (high - low) * related
    images = {label: as_images((row - low) / (high - low), shape) for label, row in rows.items()}
    dark = float(np.median(rows["target"])) > (low + high) / 2
    space = report.table.space
    labels = [
        "\n".join(f"{f.name} {f.levels[level]}" for f, level in zip(space.factors, cell, strict=True))
        for cell in cells.cells[worst]
    ]
    text = "the target and the model's output."
    if len(rows) > 2:
        text = (
            "the target, the model's output, and the sum of the (mean) seen outputs that share a level with it, scaled "
            "to the same contrast. If the model superposes, the middle row looks like the last one."
        )
    figure = image_figure(len(worst), len(images))
    image_grid(
        figure,
        images,
        columns=labels,
        shades="dark" if dark else "bright",
        limits=(0.0, 1.0),
        unseen=np.ones(len(worst), dtype=bool),
        title="The worst unseen cells",
    )
    return Picture(
        "examples",
        figure,
        f"The worst examples of the unseen combinations with the largest errors: {text}",
        "Targets, outputs and superpositions of the worst unseen cells",
        "image",
    )


def _worst_rows(report: AuditReport, cells: np.ndarray) -> np.ndarray:
    """For every cell the row with the largest error."""
    assert report.outputs is not None
    errors = np.nan_to_num(report.outputs.row_errors(), nan=-1.0)
    codes = np.ravel_multi_index(tuple(cells.T), report.table.space.shape)
    rows = [np.flatnonzero(report.table.codes == code) for code in codes]
    return np.array([of_cell[errors[of_cell].argmax()] for of_cell in rows])


def image_shape(shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """An output's shape as `(height, width)`, `(3, height, width)` or `(height, width, 3)`; `None` if not an image.

    Axes of length one, such as a single colour channel, do not count.

    ```python
    >>> from recombine.auditing.figures import image_shape
    >>> image_shape((1, 8, 9)), image_shape((3, 8, 9)), image_shape((5,))
    ((8, 9), (3, 8, 9), None)

    ```
    """
    shape = tuple(size for size in shape if size != 1)
    if len(shape) == 2 and min(shape) >= MIN_SIDE:
        return shape
    if len(shape) == 3 and shape[0] == 3 and min(shape[1:]) >= MIN_SIDE:
        return shape
    if len(shape) == 3 and shape[2] == 3 and min(shape[:2]) >= MIN_SIDE:
        return shape
    return None


def as_images(rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Rows of numbers as `(n, height, width)` or `(n, height, width, 3)`."""
    images = rows.reshape(len(rows), *shape)
    return np.moveaxis(images, 1, -1) if len(shape) == 3 and shape[0] == 3 and shape[2] != 3 else images
