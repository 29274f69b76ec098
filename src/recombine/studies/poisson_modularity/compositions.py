"""Functions of two numbers with an unseen region: a Gaussian bump without two quadrants, and a random composition
without some cells of a grid (Qian et al. 2025, arXiv 2512.13707).

Training and test points are drawn from NumPy's legacy generator; points in the wrong region are dropped.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.tasks.modular import Sines
from recombine.tasks.task import Task

WEDGE_DRAW = 219
COMPOSITION_DRAW = 42


def gaussian_wedge(*, draws: int = 5000, draw: int | None = WEDGE_DRAW, seed: int = 0) -> Task:
    """`exp(-2 (x² + y²))` on the unit disk, seen where x and y have the same sign.

    The factors are the signs of x and y; the two cells with different signs are unseen. `draw` seeds the points, or
    `seed` if it is `None`.

    ```python
    >>> from recombine.studies.poisson_modularity.compositions import gaussian_wedge
    >>> task = gaussian_wedge()
    >>> len(task.rows_in), len(task.rows_out)
    (2038, 1912)

    ```
    """
    _check_draws(draws)
    rng = np.random.RandomState(seed if draw is None else draw)
    seen, unseen = (2 * rng.rand(draws, 2) - 1 for _ in range(2))
    disk = [points[(points**2).sum(axis=1) < 1] for points in (seen, unseen)]
    inside = [
        points[(points.prod(axis=1) > 0) == same] for points, same in zip(disk, (True, False), strict=True)
    ]
    points = np.concatenate(inside)
    split = Split(Space({"sign of x": ("-", "+"), "sign of y": ("-", "+")}), [0, 3])
    cell = 2 * (points[:, 0] > 0) + (points[:, 1] > 0)
    return Task(split, points, gaussian_bump(points)[:, None], cell=cell, latents=points)


def gaussian_bump(points: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, " rows"]:
    """`exp(-r² / (2 s²))` with s = 1/2."""
    return np.exp(-2 * (points**2).sum(axis=1))


def random_composition(
    *,
    side: int = 8,
    shown: float = 0.8,
    draws: int = 5000,
    draw: int | None = COMPOSITION_DRAW,
    seed: int = 0,
) -> Task:
    """`f2(f0(x) + f1(y))` of random sines on [-1, 1]², seen on some cells of a grid.

    The factors are the column (from x) and the row (from y) of the cell. `draw` seeds functions, cells and points,
    or `seed` if it is `None`.

    ```python
    >>> from recombine.studies.poisson_modularity.compositions import random_composition
    >>> task = random_composition()
    >>> len(task.rows_in), len(task.rows_out), int((~task.split.seen).sum())
    (3994, 999, 13)

    ```
    """
    _check_draws(draws)
    if side < 2 or not 0 < shown < 1:
        raise InputError(
            "side and shown", (side, shown), "two cells a side or more, and a share between 0 and 1"
        )
    rng = np.random.RandomState(seed if draw is None else draw)
    shown_cells, outer = _composition(rng, side, shown)
    numbers = [2 * rng.rand(draws, 2) - 1 for _ in range(2)]
    cells = [cell_of(points, side) for points in numbers]
    inside = [np.isin(values, shown_cells) == on for values, on in zip(cells, (True, False), strict=True)]
    points = np.concatenate([p[keep] for p, keep in zip(numbers, inside, strict=True)])
    column, row = cell_of(points, side) % side, cell_of(points, side) // side
    space = Space({"column": side, "row": side})
    seen = np.zeros((side, side), dtype=bool)
    seen[shown_cells % side, shown_cells // side] = True
    return Task(
        Split(space, seen.ravel()), points, outer(points)[:, None], cell=column * side + row, latents=points
    )


class Composition:
    """`f2(f0(x) + f1(y))`; `inner` are f0 and f1 of their own inputs."""

    def __init__(self, sines: Sines) -> None:
        self.sines = sines

    def inner(self, points: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, "rows 2"]:
        """f0(x) and f1(y)."""
        a, w, p = self.sines.amplitude[:2], self.sines.frequency[:2], self.sines.phase[:2]
        return Sines(a, w, p)(points)

    def __call__(self, points: Float[np.ndarray, "rows 2"]) -> Float[np.ndarray, " rows"]:
        """The target."""
        total = self.inner(points).sum(axis=1)
        return self.sines.amplitude[2] * np.sin(self.sines.frequency[2] * total + self.sines.phase[2])


def composition(draw: int = COMPOSITION_DRAW, *, side: int = 8, shown: float = 0.8) -> Composition:
    """The function of `random_composition`, by default the published one.

    ```python
    >>> from recombine.studies.poisson_modularity.compositions import composition
    >>> composition().sines.frequency.round(6).tolist()
    [2.655062, 1.672791, 2.25619]

    ```
    """
    return _composition(np.random.RandomState(draw), side, shown)[1]


def cell_of(points: Float[np.ndarray, "rows 2"], side: int) -> Int[np.ndarray, " rows"]:
    """The published numbering of the cells of [-1, 1]²: column + side · row."""
    column, row = np.clip(((points + 1) * side / 2).astype(int), 0, side - 1).T
    return column + side * row


def _composition(
    rng: np.random.RandomState, side: int, shown: float
) -> tuple[Int[np.ndarray, " shown"], Composition]:
    order = np.arange(side * side)
    rng.shuffle(order)
    return order[: int(shown * side * side)], Composition(Sines.drawn(rng, 3, (0.8, 3.6)))


def _check_draws(draws: int) -> None:
    if draws < 1:
        raise InputError("draws", draws, "a whole number, at least 1")
