"""Bump images computed from their formula, independently of `recombine.tasks`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest


class Bumps(NamedTuple):
    images: np.ndarray  # (cells, row = y, column = x)
    levels: np.ndarray  # (cells, 2): x, y
    seen: np.ndarray  # (cells,)


def draw(n: int, sigma: float, low: int, high: int, polarity: str = "dark") -> Bumps:
    levels = np.array([(x, y) for x in range(n) for y in range(n)])
    r, c = np.mgrid[:n, :n]
    x, y = levels[:, 0, None, None], levels[:, 1, None, None]
    bright = np.exp(-((c - x) ** 2 + (r - y) ** 2) / (2 * sigma**2))
    hole = ((levels >= low) & (levels <= high)).all(axis=1)
    return Bumps(bright if polarity == "bright" else 1 - bright, levels, ~hole)


@pytest.fixture(scope="session")
def draw_bumps() -> Callable[..., Bumps]:
    return draw


@pytest.fixture(scope="session")
def donut() -> Bumps:
    """28 × 28, sigma 1, dark, hole from 6 to 22: 495 seen and 289 unseen cells."""
    return draw(28, 1.0, 6, 22)


@pytest.fixture(scope="session")
def codes() -> dict[str, np.ndarray]:
    """The three disentangled codes of 28 × 28 cells, as grids (x, y, units)."""
    k = np.arange(28)
    x, y = np.mgrid[:28, :28]

    def bump(level: np.ndarray) -> np.ndarray:
        return np.exp(-((k - level[..., None]) ** 2) / 2)

    return {
        "one_hot": np.concatenate([np.eye(28)[x], np.eye(28)[y]], axis=-1),
        "bump": np.concatenate([bump(x), bump(y)], axis=-1),
        "ramp": np.stack([x, y], axis=-1).astype(float),
    }
