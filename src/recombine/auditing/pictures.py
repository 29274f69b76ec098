"""Pictures of an audit: errors by cell, what was expected and what happened, layers, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.forecast import Forecast
from recombine.auditing.mixtures import superposed
from recombine.auditing.seen_cells import answers_of_seen
from recombine.auditing.words import baseline_name
from recombine.report import (
    SEEN,
    UNSEEN,
    Picture,
    cell_maps,
    count,
    image_figure,
    image_grid,
    layer_curves,
    new_figure,
    percent,
    seed_points,
    status_grid,
)

if TYPE_CHECKING:
    from recombine.auditing.cells import Cells
    from recombine.auditing.result import AuditReport

MOST_POINTS = 300
MOST_LEVELS = 60
MOST_PAIRS = 6
EXAMPLES = 6
KINDS = (
    "seen in training",
    "unseen, right",
    "unseen, wrong as the split predicts",
    "unseen, wrong by surprise",
)
FORECASTS = ("seen in training", "unseen, not at risk", "unseen, at risk")


def pictures_of_errors(report: AuditReport) -> Iterator[Picture]:
    """Errors of single cells beside the baselines, and where they are."""
    cells, scores = report.by_cell, report.scores
    if scores is None or not scores.cells_unseen:
        return
    log = cells.kind == "regression"
    rng = np.random.default_rng(0)
    groups = {}
    for name, rows in (("seen cells", cells.inside), ("unseen cells", cells.outside)):
        some = rows if len(rows) <= MOST_POINTS else rng.choice(rows, MOST_POINTS, replace=False)
        groups[name] = {name.split()[0]: _positive(cells.error[some], cells) if log else cells.error[some]}
    figure, panels = new_figure(aspect=0.3)
    baselines = {baseline_name(name): one.value for name, one in scores.baselines.items()}
    if log:
        least = float(_positive(np.zeros(1), cells)[0])
        baselines = {name: max(value, least) for name, value in baselines.items()}
    seed_points(
        panels[0, 0],
        groups,
        baselines=baselines,
        log=log,
        centre="mean",
        palette={"seen": SEEN, "unseen": UNSEEN},
        title=_error_title(report),
        label=scores.measure,
    )
    yield Picture(
        "errors-by-cell",
        figure,
        "A point for every cell (at most 300 of each kind); the bar is the 95 % interval of the mean. Thin lines are "
        "what simple predictors would get on the unseen cells: one answer for everything, the answer of the nearest "
        "seen cell, and the best sum of effects of single factors or pairs.",
        "Errors of seen and unseen cells beside the errors of baselines",
    )
    shape = cells.sizes
    if len(shape) >= 2 and max(shape) <= MOST_LEVELS:
        yield _map(report, cells, log)


def _error_title(report: AuditReport) -> str:
    holds = report.finding("composes").holds
    if holds:
        return "Unseen cells have errors like seen ones"
    return (
        "Unseen cells have larger errors than seen ones"
        if holds is False
        else "Errors of seen and unseen cells"
    )


def _positive(errors: np.ndarray, cells: Cells) -> np.ndarray:
    """Errors that a logarithmic axis can show."""
    scale = float(np.nanmean(cells.error_of_constant)) or 1.0
    return np.maximum(errors, 1e-5 * scale)


def _map(report: AuditReport, cells: Cells, log: bool) -> Picture:
    space = report.table.space
    assert report.scores is not None
    pairs = list(combinations(range(len(space.shape)), 2))[:MOST_PAIRS]
    maps, factors, levels = {}, {}, {}
    for first, second in pairs:
        name = "" if len(pairs) == 1 else f"{space.names[first]} × {space.names[second]}"
        grid = np.full((space.shape[first], space.shape[second]), np.nan)
        unseen = np.zeros(grid.shape, dtype=bool)
        rows = np.flatnonzero(cells.known & cells.familiar) if len(pairs) == 1 else cells.outside
        place = np.ravel_multi_index((cells.cells[rows, first], cells.cells[rows, second]), grid.shape)
        number = np.bincount(place, minlength=grid.size)
        sums = np.bincount(place, weights=cells.error[rows], minlength=grid.size)
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
        marks={"constant": report.scores.baselines["constant"].value},
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
        f"{one}Bright is wrong; the mark on the bar is a constant answer.",
        "Map of errors",
    )


def picture_of_forecast(report: AuditReport) -> Picture | None:
    """Two factors: which cells are right, wrong as expected, wrong by surprise."""
    found, space = report.forecast, report.table.space
    if not isinstance(found, Forecast) or len(space.shape) != 2 or max(space.shape) > MOST_LEVELS:
        return None
    status = np.full(space.shape, -1)
    status[tuple(found.advice.train.T)] = 0
    observed = bool(found.known.any())
    if observed:
        kinds = np.where(~found.wrong, 1, np.where(found.at_risk, 2, 3))
        status[tuple(found.advice.targets[found.known].T)] = kinds[found.known]
    else:
        status[tuple(found.advice.targets.T)] = np.where(found.at_risk, 2, 1)
    figure = status_grid(
        status,
        KINDS if observed else FORECASTS,
        factors=space.names,
        levels=[[str(level) for level in factor.levels] for factor in space.factors],
        title=_forecast_title(found),
    )
    return Picture(
        "forecast",
        figure,
        "Every square is one combination. A cell is at risk if training does not determine it, if the kernel theory "
        "expects its answer to shrink below 60 %, or if a shortcut that training rewards is wrong about it.",
        "Grid of cells by forecast and outcome",
    )


def _forecast_title(found: Forecast) -> str:
    known, risky, wrong = found.known, found.at_risk[found.known], found.wrong[found.known]
    cells = count(len(found.cells))
    if not known.any():
        return f"{count(int(found.at_risk.sum()))} of {cells} unseen cells are at risk; nothing was observed"
    if not wrong.any():
        return "No unseen cell is wrong"
    if risky.all():
        return f"The split puts all {cells} unseen cells at risk; {count(int(wrong.sum()))} are wrong"
    told = percent(float((wrong & risky).sum() / wrong.sum()))
    return f"The split alone predicts {told} of the {count(int(wrong.sum()))} wrong cells"


def picture_of_layers(report: AuditReport) -> Picture | None:
    """Readability and factorisation over layers."""
    layers = report.layers
    if layers is None or len(layers.layers) < 2:
        return None
    names = [layer.name for layer in layers]
    space = report.table.space
    figure, panels = new_figure(columns=2, aspect=0.72)
    reading = np.array([layer.readable for layer in layers])
    limits = (min(0.0, max(-0.2, float(np.nanmin(reading)))) if np.isfinite(reading).any() else 0.0, 1.05)
    layer_curves(
        panels[0, 0],
        names,
        {name: np.clip(reading[None, :, axis], limits[0], 1) for axis, name in enumerate(space.names)},
        limits=limits,
        title="Can factors be read?",
        label="read right, for cells left out",
    )
    scores = np.array([layer.factorisation.value for layer in layers])
    if np.isfinite(scores).any():
        layer_curves(
            panels[0, 1],
            names,
            {"independence": scores[None]},
            baselines={"the targets": layers.targets.value} if np.isfinite(layers.targets.value) else None,
            limits=(0.48, 1.02),
            title="Do they move a layer in independent directions?",
            label="factorisation score",
        )
    else:
        panels[0, 1].set_visible(False)
    return Picture(
        "layers",
        figure,
        "Left: how well each factor can be read from a layer by a linear readout, for cells that it was not fitted to: "
        "1 is perfectly, 0 no better than a guess (R² of numbers; of other levels the share that is read right, beyond "
        "guessing). Right: 1 if factors move the layer in independent directions, 0.5 if along "
        "the same line. A model that re-entangles keeps the left curves high while the right one falls.",
        "Readability and independence of factors over layers",
    )


def picture_of_room(report: AuditReport) -> Picture | None:
    """Volume of unseen cells beside seen ones, and what tells cells apart, over layers."""
    layers = report.layers
    if layers is None or len(layers.layers) < 2:
        return None
    names = [layer.name for layer in layers]
    gaps = np.array([layer.volume_gap.value for layer in layers])
    factors = len(report.table.space.shape)
    words, nothing = _order_words(factors), np.full(factors, np.nan)
    shares = np.array([nothing if one.salience is None else one.salience.order_shares for one in layers])
    shares = shares * [comb(factors, order) for order in range(1, factors + 1)]
    known = [np.isfinite(one).any() for one in (gaps, shares)]
    if not any(known):
        return None
    figure, panels = new_figure(columns=2, aspect=0.72)
    room, salience = panels[0] if known[0] else panels[0, ::-1]
    if known[0]:
        most = max(0.5, 1.15 * float(np.nanmax(np.abs(gaps))))
        layer_curves(
            room,
            names,
            {"unseen cells": gaps[None]},
            palette={"unseen cells": UNSEEN},
            baselines={"as seen cells": 0.0},
            limits=(-most, most),
            title="How much room do unseen cells get?",
            label="log10 volume, unseen over seen",
        )
    if known[1]:
        layer_curves(
            salience,
            names,
            {what: shares[None, :, order] for order, what in enumerate(words)},
            limits=(min(0.0, float(np.nanmin(shares))) - 0.05, 1.05),
            title="What tells cells apart?",
            label="share of salience",
        )
    for panel, drawn in zip((room, salience), known, strict=True):
        panel.set_visible(bool(drawn))
    return Picture(
        "room",
        figure,
        "How much room a layer gives unseen cells beside seen ones (0 as much, -1 a tenth; compare with the input, "
        "where nothing is learned yet), and what its activity goes by: cells that share a level are alike to the "
        "extent that single factors count, and only identical cells to the extent that whole combinations do. What is "
        "stored for whole combinations does not carry over to new ones.",
        "Volume of unseen cells and saliences over layers",
    )


def _order_words(factors: int) -> list[str]:
    """What conjunctions of every order are called, from 1 to all factors."""
    inner = {2: "pairs", 3: "triples"}
    named = [inner.get(order, f"{order} factors") for order in range(2, factors)]
    return ["single factors", *named, "whole combinations"]


def picture_of_examples(report: AuditReport) -> Picture | None:
    """Pictures: the worst unseen cells, what was wanted, what came out, and the sum of related seen pictures."""
    cells, answers = report.by_cell, report.answers
    if answers is None or answers.kind != "regression" or not len(cells.outside):
        return None
    height, _, colour = picture_shape(answers.shape)
    if not height:
        return None
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:EXAMPLES]]
    sums = superposed(answers_of_seen(cells), cells.cells[worst])
    shown = _worst_rows(report, cells.cells[worst])
    rows = {"target": answers.targets[shown], "output": answers.answers[shown]}
    low, high = float(np.nanmin(rows["target"])), float(np.nanmax(rows["target"]))
    low, high = (low, high) if high > low else (low - 0.5, low + 0.5)
    spread = np.ptp(sums, axis=1, keepdims=True)
    if report.finding("composes").holds is not True:
        related = (sums - sums.min(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1)
        rows["sum of related\nseen outputs"] = low + (high - low) * related
    pictures = {
        label: as_pictures((row.reshape(len(worst), *answers.shape) - low) / (high - low), colour)
        for label, row in rows.items()
    }
    dark = float(np.median(rows["target"])) > (low + high) / 2
    space = report.table.space
    labels = [
        "\n".join(f"{f.name} {f.levels[level]}" for f, level in zip(space.factors, cell, strict=True))
        for cell in cells.cells[worst]
    ]
    words = "what was wanted, and what the model gave."
    if len(rows) > 2:
        words = (
            "what was wanted, what the model gave, and the sum of the (mean) seen outputs that share a level with it, "
            "brought to the same contrast. A model that superposes has a middle row like the last one."
        )
    figure = image_figure(len(worst), len(pictures))
    image_grid(
        figure,
        pictures,
        columns=labels,
        shades="dark" if dark else "bright",
        limits=(0.0, 1.0),
        unseen=np.ones(len(worst), dtype=bool),
        title="The worst unseen cells",
    )
    return Picture(
        "examples",
        figure,
        f"The worst example of the unseen combinations with the largest errors: {words}",
        "Targets, outputs and superpositions of the worst unseen cells",
        "image",
    )


def _worst_rows(report: AuditReport, cells: np.ndarray) -> np.ndarray:
    """For every cell the row with the largest error."""
    assert report.answers is not None
    errors = np.nan_to_num(report.answers.row_errors(), nan=-1.0)
    codes = np.ravel_multi_index(tuple(cells.T), report.table.space.shape)
    rows = [np.flatnonzero(report.table.codes == code) for code in codes]
    return np.array([found[errors[found].argmax()] for found in rows])


def picture_shape(shape: tuple[int, ...]) -> tuple[int, int, str]:
    """Height, width and where colours are ("first", "last" or ""); zeros if it is no picture."""
    if len(shape) == 2 and min(shape) >= 4:
        return shape[0], shape[1], ""
    if len(shape) == 3 and shape[0] in (1, 3) and min(shape[1:]) >= 4:
        return shape[1], shape[2], "first"
    if len(shape) == 3 and shape[2] in (1, 3) and min(shape[:2]) >= 4:
        return shape[0], shape[1], "last"
    return 0, 0, ""


def as_pictures(batch: np.ndarray, colour: str) -> np.ndarray:
    """`(n, height, width)` or `(n, height, width, 3)`."""
    if colour == "first":
        batch = np.moveaxis(batch, 1, -1)
    return batch[..., 0] if colour and batch.shape[-1] == 1 else batch
