"""Worlds of images, and a generator that superposes what it has seen."""

from __future__ import annotations

import numpy as np
from tests.auditing.planted.checks import relative_error, varies
from tests.auditing.planted.construction import Planted, construct
from tests.auditing.planted.designs import Design, Grid, draw_design, draw_grid
from tests.auditing.planted.forms import as_images
from tests.auditing.planted.redraw import insist

MAX_CELLS = 150
PATTERNS = (
    "111101111",
    "010111010",
    "101010101",
    "111010010",
    "100100111",
    "110011110",
    "001011111",
    "111000111",
)
"""Shapes of 3x3 pixels."""


def draw_world(rng: np.random.Generator, *, additive: bool = True) -> tuple[Grid, np.ndarray, str]:
    """A grid of two or three factors, images `(cells, height, width)` with values from 0 to 1, and the world's name.

    - `additive`: worlds whose images are sums of parts may be drawn, too.
    """
    grid = draw_grid(rng, factors=(2, 3), max_cells=MAX_CELLS)
    worlds = {"bump": _bump, "shape": _shape, "window": _window, "bars": _bars}
    name = str(rng.choice(list(worlds)[: 4 if additive else 3]))
    smallest = max(8, 3 + max(grid.sizes))
    height, width = rng.integers(smallest, 17, size=2)
    parts = np.zeros((3, len(grid.cells)))
    for axis, size in enumerate(grid.sizes):
        parts[axis] = grid.cells[:, axis] / (size - 1)
    vertical, horizontal = np.mgrid[:height, :width]
    return grid, worlds[name](rng, grid, parts, vertical, horizontal), name


def _at(positions: np.ndarray, pixels: np.ndarray, width: float | np.ndarray) -> np.ndarray:
    """A profile along one direction with its peak at `positions`, from 0 (one end) to 1."""
    peak = 1 + positions[:, None, None] * (pixels.max() - 2)
    return np.exp(-((pixels - peak) ** 2) / (2 * np.asarray(width) ** 2))


def _bump(
    rng: np.random.Generator, grid: Grid, parts: np.ndarray, vertical: np.ndarray, horizontal: np.ndarray
) -> np.ndarray:
    """A bump in two directions; the third factor is its width or its brightness."""
    width: float | np.ndarray = rng.uniform(0.6, 1.3)
    bright: float | np.ndarray = 1.0
    if len(grid.sizes) == 3 and rng.random() < 0.5:
        width = (0.6 + 1.4 * parts[2])[:, None, None]
    elif len(grid.sizes) == 3:
        bright = (0.3 + 0.7 * parts[2])[:, None, None]
    return bright * _at(parts[0], vertical, width) * _at(parts[1], horizontal, width)


def _shape(
    rng: np.random.Generator, grid: Grid, parts: np.ndarray, vertical: np.ndarray, horizontal: np.ndarray
) -> np.ndarray:
    """A pattern moves along one direction; the third factor is its place along the other."""
    images = np.zeros((len(grid.cells), *vertical.shape))
    patterns = rng.permutation([[int(pixel) for pixel in pattern] for pattern in PATTERNS]).reshape(-1, 3, 3)
    middle = rng.integers(vertical.max() - 1)
    for image, cell, position in zip(images, grid.cells, parts.T, strict=True):
        top = round(position[2] * (vertical.max() - 2)) if len(grid.sizes) == 3 else middle
        left = round(position[1] * (horizontal.max() - 2))
        image[top : top + 3, left : left + 3] = patterns[cell[0]]
    return images


def _window(
    rng: np.random.Generator, grid: Grid, parts: np.ndarray, vertical: np.ndarray, horizontal: np.ndarray
) -> np.ndarray:
    """Stripes of some frequency, seen through a window; the third factor turns them."""
    turned = (np.pi / 2 * parts[2])[:, None, None]
    along = np.cos(turned) * vertical + np.sin(turned) * horizontal
    frequency = (0.15 + 0.33 * parts[0])[:, None, None]
    return _at(parts[1], horizontal, rng.uniform(1, 2)) * (0.5 + 0.5 * np.cos(2 * np.pi * frequency * along))


def _bars(
    rng: np.random.Generator, grid: Grid, parts: np.ndarray, vertical: np.ndarray, horizontal: np.ndarray
) -> np.ndarray:
    """One bar per factor, which add up: across, down, and across once more in another brightness."""
    width = rng.uniform(0.4, 0.9)
    images = 0.4 * _at(parts[0], vertical, width) + 0.4 * _at(parts[1], horizontal, width)
    return images + 0.2 * _at(parts[2], vertical, width) if len(grid.sizes) == 3 else images


def superposition(rng: np.random.Generator) -> Planted:
    """Right on seen cells; on unseen ones a weighted sum of seen images that share levels."""
    grid, target, world = draw_world(rng, additive=False)
    design = draw_design(rng, grid)
    insist(varies(design, target))
    predictions, how = superposed(rng, design, target)
    insist(relative_error(design, target, predictions) >= 0.3)
    rows = as_images(rng, target[design.cell], predictions[design.cell])
    return construct("superposition", "superposition", design, *rows[:2], world, how, rows[2])


def superposed(rng: np.random.Generator, design: Design, target: np.ndarray) -> tuple[np.ndarray, str]:
    """One partner per factor, which has its level (or all levels but its own), or the mean of all such partners."""
    cells, predictions = design.grid.cells, target.copy()
    count = cells.shape[1]
    all_but_one = count > 2 and rng.random() < 0.5
    of_all = rng.random() < 0.35
    weights = rng.dirichlet(np.full(count, 20.0)) if rng.random() < 0.5 else np.full(count, 1 / count)
    weights = weights * rng.choice([1, count, rng.uniform(0.8, count)])
    clipped = bool(rng.random() < 0.3)
    for index in np.flatnonzero(~design.seen):
        same = cells == cells[index]
        total = np.zeros_like(target[index])
        for axis in range(count):
            near = same.sum(axis=1) == count - 1
            share = near & ~same[:, axis] if all_but_one else same[:, axis]
            partners = np.flatnonzero(design.seen & share)
            insist(len(partners) > 0)
            total += weights[axis] * target[partners if of_all else rng.choice(partners, size=1)].mean(axis=0)
        predictions[index] = np.clip(total, 0, 1) if clipped else total
    partners = "all but one level" if all_but_one else "one level"
    how = f"{'mean of all' if of_all else 'one'} sharing {partners} each, weights {np.round(weights, 2).tolist()}"
    return predictions, how + (", clipped" if clipped else ", not clipped")
