"""The picture of the page: every cell by what is known about it, for as many cells as can be shown."""

from __future__ import annotations

from math import prod
from textwrap import wrap

import numpy as np

from recombine.advice.result import Advice
from recombine.report import Picture, count, percent, status_grid, status_grids

MOST_LEVELS = 60
"""Levels of a factor that the picture of two factors can show."""
MOST_PANEL_LEVELS = 40
"""The same where there is a panel for every combination of the other factors."""
MOST_PANELS = 12
LEAST_FILLED = 0.05
"""Panels with less than this share of seen cells and cells of interest show nothing but white."""
KINDS = ("seen in training", "determined", "only up to the norm", "undetermined")


def cells_picture(advice: Advice) -> Picture | str:
    """All cells by their verdict, or a sentence that says why there is no picture."""
    shape, names = advice.table.space.shape, advice.table.space.names
    if not len(advice.targets) or len(shape) < 2:
        return ""
    axes = sorted(np.argsort([-size for size in shape], kind="stable")[:2].tolist(), key=lambda a: -shape[a])
    most = MOST_LEVELS if len(shape) == 2 else MOST_PANEL_LEVELS
    if shape[axes[0]] > most:
        return (
            f"There is no picture: {names[axes[0]]} has {count(shape[axes[0]])} levels, and no more than {most} can be "
            "shown. The verdict of every cell is in the table of cells (--cells FILE)."
        )
    return _one_grid(advice) if len(shape) == 2 else _panels(advice, axes)


def shown_order(advice: Advice) -> int:
    """The order of the picture: at which labels are additive, else the first at which something is open."""
    below = [order for order in sorted(advice.orders) if order < len(advice.table.space.shape)]
    fitting = [order for order in below if order in advice.additivity and advice.additivity[order].additive]
    still_open = [order for order in below if not advice.orders[order].determined.all()]
    return [*fitting, *still_open, min(advice.orders)][0]


def _title(advice: Advice) -> str:
    order = shown_order(advice)
    determined = advice.orders[order].determined
    share = "No" if not determined.any() else "Every" if determined.all() else ""
    if share:
        return f"{share} unseen cell is determined at order {order}"
    return f"{percent(float(determined.mean()))} of the unseen cells are determined at order {order}"


def _kinds(advice: Advice) -> np.ndarray:
    found = advice.orders[shown_order(advice)]
    return np.where(found.determined, 1, np.where(found.norm_completed, 2, 3))


def _level_names(advice: Advice, axes: list[int]) -> list[list[str]]:
    return [[str(level) for level in advice.table.space.factors[axis].levels] for axis in axes]


def _one_grid(advice: Advice) -> Picture:
    space = advice.table.space
    status = np.full(space.shape, -1)
    status[tuple(advice.train.T)] = 0
    status[tuple(advice.targets.T)] = _kinds(advice)
    figure = status_grid(
        status, KINDS, factors=space.names, levels=_level_names(advice, [0, 1]), title=_title(advice)
    )
    return Picture(
        "cells",
        figure,
        f"Every square is one combination of {space.names[0]} and {space.names[1]}. Training shows the dark blue ones.",
        f"Grid of cells by verdict at order {shown_order(advice)}",
    )


def _panels(advice: Advice, axes: list[int]) -> Picture | str:
    """A grid of two factors for each combination of the others, those with the most cells of interest first."""
    space = advice.table.space
    others = [axis for axis in range(len(space.shape)) if axis not in axes]
    sizes = [space.shape[axis] for axis in others]
    wanted = np.ravel_multi_index(tuple(advice.targets[:, others].T), sizes)
    seen = np.ravel_multi_index(tuple(advice.train[:, others].T), sizes)
    combinations, counts = np.unique(wanted, return_counts=True)
    chosen = combinations
    if len(combinations) > MOST_PANELS:
        chosen = combinations[np.argsort(-counts, kind="stable")][:MOST_PANELS]
    kinds, panels = _kinds(advice), {}
    for combination in chosen:
        status = np.full([space.shape[axis] for axis in axes], -1)
        status[tuple(advice.train[seen == combination][:, axes].T)] = 0
        status[tuple(advice.targets[wanted == combination][:, axes].T)] = kinds[wanted == combination]
        at = np.unravel_index(int(combination), sizes)
        named = [
            f"{space.names[axis]} = {space.factors[axis].levels[int(level)]}"
            for axis, level in zip(others, at, strict=True)
        ]
        panels["\n".join(wrap(", ".join(named), 34))] = status
    first, second = (space.names[axis] for axis in axes)
    if np.mean([(status >= 0).mean() for status in panels.values()]) < LEAST_FILLED:
        return (
            f"There is no picture: for given levels of the other factors, there are too few cells of {first} and "
            f"{second} to see a pattern. The verdict of every cell is in the table of cells (--cells FILE)."
        )
    figure = status_grids(
        panels, KINDS, factors=(first, second), levels=_level_names(advice, axes), title=_title(advice)
    )
    rest = " and ".join(space.names[axis] for axis in others)
    left = prod(sizes) - len(chosen)
    most = " with the most unseen cells" if len(combinations) > len(chosen) else " that have unseen cells"
    shown = f" These are the {len(chosen)} of {count(prod(sizes))} panels{most}." if left else ""
    blank = any((status < 0).any() for status in panels.values())
    white = "; white squares are neither trained nor asked about" if blank else ""
    return Picture(
        "cells",
        figure,
        f"Every panel is one combination of {rest}, every square in it one combination of {first} and {second}. "
        f"Training shows the dark blue ones{white}.{shown}",
        f"Grids of cells by verdict at order {shown_order(advice)}, a panel for each combination of {rest}",
    )
