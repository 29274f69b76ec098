"""The figure of the page: every cell by its verdict, for as many cells as can be shown."""

from __future__ import annotations

from math import prod
from textwrap import wrap

import numpy as np

from recombine.advice.additions.determining_cells import order_name
from recombine.advice.result import Advice
from recombine.report import Picture, count, percent, status_grid, status_grids

MAX_LEVELS = 60
"""Levels of a factor that a grid of two factors can show legibly."""
MAX_PANEL_LEVELS = 40
"""The same where there is one panel for each combination of the other factors."""
MAX_PANELS = 12
"""Panels that fit on a page."""
MIN_FILLED = 0.05
"""Panels with a smaller share of seen cells and cells of interest show almost nothing but white."""
VERDICTS = ("seen in training", "determined", "depends on inductive bias", "undetermined")


def cells_picture(advice: Advice) -> Picture | str:
    """All cells by their verdict, or a sentence that says why there is no figure; empty if nothing is unseen."""
    shape, names = advice.table.space.shape, advice.table.space.names
    if not len(advice.targets) or len(shape) < 2:
        return ""
    axes = sorted(np.argsort([-size for size in shape], kind="stable")[:2].tolist(), key=lambda a: -shape[a])
    limit = MAX_LEVELS if len(shape) == 2 else MAX_PANEL_LEVELS
    if shape[axes[0]] > limit:
        return (
            f"No figure: {names[axes[0]]} has {count(shape[axes[0]])} levels, more than the {limit} that can be shown. "
            "The table of cells (--cells FILE) has the verdict of every cell."
        )
    return _one_grid(advice) if len(shape) == 2 else _panels(advice, axes)


def figure_order(advice: Advice) -> int:
    """The order of the figure: at which the labels are additive, else the first that leaves a cell undetermined."""
    below = [order for order in sorted(advice.orders) if order < len(advice.table.space.shape)]
    additive = [order for order in below if order in advice.additivity and advice.additivity[order].additive]
    incomplete = [order for order in below if not advice.orders[order].determined.all()]
    return [*additive, *incomplete, min(advice.orders)][0]


def _title(advice: Advice) -> str:
    order = figure_order(advice)
    determined = advice.orders[order].determined
    condition = order_name(order)
    if determined.all() or not determined.any():
        return f"Training determines {'every' if determined.any() else 'no'} unseen cell {condition}"
    return f"Training determines {percent(float(determined.mean()))} of the unseen cells {condition}"


def _verdicts(advice: Advice) -> np.ndarray:
    """For every cell of interest its position in `VERDICTS`."""
    verdicts = advice.orders[figure_order(advice)]
    return np.where(verdicts.determined, 1, np.where(verdicts.norm_completed, 2, 3))


def _level_names(advice: Advice, axes: list[int]) -> list[list[str]]:
    return [[str(level) for level in advice.table.space.factors[axis].levels] for axis in axes]


def _one_grid(advice: Advice) -> Picture:
    space = advice.table.space
    status = np.full(space.shape, -1)
    status[tuple(advice.train.T)] = 0
    status[tuple(advice.targets.T)] = _verdicts(advice)
    figure = status_grid(
        status, VERDICTS, factors=space.names, levels=_level_names(advice, [0, 1]), title=_title(advice)
    )
    return Picture(
        "cells",
        figure,
        f"Each square is one combination of {space.names[0]} and {space.names[1]}. The dark blue ones are in training.",
        f"Grid of cells by verdict at order {figure_order(advice)}",
    )


def _panels(advice: Advice, axes: list[int]) -> Picture | str:
    """A grid of two factors for each combination of the others; if there are many, those with the most unseen cells."""
    space = advice.table.space
    others = [axis for axis in range(len(space.shape)) if axis not in axes]
    sizes = [space.shape[axis] for axis in others]
    target_panel = np.ravel_multi_index(tuple(advice.targets[:, others].T), sizes)
    train_panel = np.ravel_multi_index(tuple(advice.train[:, others].T), sizes)
    combinations, counts = np.unique(target_panel, return_counts=True)
    chosen = combinations
    if len(combinations) > MAX_PANELS:
        chosen = combinations[np.argsort(-counts, kind="stable")][:MAX_PANELS]
    verdicts, panels = _verdicts(advice), {}
    for combination in chosen:
        status = np.full([space.shape[axis] for axis in axes], -1)
        status[tuple(advice.train[train_panel == combination][:, axes].T)] = 0
        status[tuple(advice.targets[target_panel == combination][:, axes].T)] = verdicts[
            target_panel == combination
        ]
        levels = np.unravel_index(int(combination), sizes)
        names = [
            f"{space.names[axis]} = {space.factors[axis].levels[int(level)]}"
            for axis, level in zip(others, levels, strict=True)
        ]
        panels["\n".join(wrap(", ".join(names), 34))] = status
    first, second = (space.names[axis] for axis in axes)
    if np.mean([(status >= 0).mean() for status in panels.values()]) < MIN_FILLED:
        return (
            f"No figure: for fixed levels of the other factors there are too few cells of {first} and {second} to see "
            "a pattern. The table of cells (--cells FILE) has the verdict of every cell."
        )
    figure = status_grids(
        panels, VERDICTS, factors=(first, second), levels=_level_names(advice, axes), title=_title(advice)
    )
    rest = " and ".join(space.names[axis] for axis in others)
    which = "with the most unseen cells" if len(combinations) > len(chosen) else "that have unseen cells"
    choice = ""
    if prod(sizes) > len(chosen):
        choice = f" Shown are the {len(chosen)} of {count(prod(sizes))} panels {which}."
    blank = any((status < 0).any() for status in panels.values())
    white = "; white squares are neither in training nor of interest" if blank else ""
    return Picture(
        "cells",
        figure,
        f"Each panel is one combination of {rest}, each square in it one combination of {first} and {second}. "
        f"The dark blue squares are in training{white}.{choice}",
        f"Grids of cells by verdict at order {figure_order(advice)}, one panel for each combination of {rest}",
    )
