"""The bump task with real-valued positions, drawn uniformly inside and outside a square hole."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.spaces import Space
from recombine.spaces.holes import split_by_hole
from recombine.tasks.bumps.bump_images import (
    Order,
    Polarity,
    blank_value,
    bump_images,
    check_image_settings,
    check_memory,
)
from recombine.tasks.draws import generator
from recombine.tasks.encodings import Encoding, bump_code, encoded
from recombine.tasks.task import Task


def bumps_real(
    n: int = 28,
    sigma: float = 1.0,
    *,
    p: float | None = 0.4,
    where: Literal["centre", "corner"] = "centre",
    train: int = 1000,
    test_in: int = 0,
    test_out: int | Literal["grid"] = 500,
    encoding: Encoding = bump_code,
    polarity: Polarity = "dark",
    order: Order = "yx",
    seed: int = 0,
) -> Task:
    """Bumps at real-valued positions, uniform on `[0, n)`, with exactly the requested number of rows.

    The hole is the square `low <= x, y < low + K` with `K = floor(p n)` and `low = n/2 - K/2` in the centre
    or `n - K` in the corner. Its borders are multiples of half a pixel, so the space has `2n` levels of
    half a pixel for x and for y, named by their lower edges, and every cell lies wholly inside or outside.
    Draws are exact: first a cell, then a point in it; nothing is rejected.

    Errors decrease with `n` like the bump's share of the image; compare them across `n` only after dividing
    by the error of the blank image.

    **Arguments:**

    - `n`, `sigma`, `encoding`, `polarity`, `order`: as for `bumps`; pixels are at whole coordinates.
    - `p`: the hole's side as a fraction of `n`; `None`: no hole, and then `test_out` must be 0 or
        `"grid"`.
    - `where`: `"centre"` or `"corner"` (the one at large x and y).
    - `train`: training rows in the seen region.
    - `test_in`: further rows in the seen region that are not trained on.
    - `test_out`: rows in the hole; `"grid"`: every whole position in the hole once, so that nets which were
        trained on different data are tested on the same images (without a hole: every whole position).
    - `seed`: for all draws.

    **Returns:**

    A `Task` with the training rows first, then `test_in`, then `test_out`; `latents` are the positions.

    ```python
    >>> from recombine.tasks import bumps_real
    >>> task = bumps_real(n=28, p=0.3, train=510, test_out=81)
    >>> task.split, len(task.train), len(task.rows_out)
    (Split(x 56 × y 56: 2880 seen, 256 unseen), 510, 81)

    ```
    """
    check_image_settings(n, sigma, polarity=polarity, order=order)
    n_out = 0 if test_out == "grid" else test_out
    for field, count in (("train", train), ("test_in", test_in), ("test_out", n_out)):
        if not isinstance(count, int | np.integer) or count < (field == "train"):
            raise InputError(field, count, "a whole number of rows" + (", at least 1" * (field == "train")))
    if p is None and n_out:
        raise InputError("test_out", test_out, "0 or 'grid', since p=None leaves no hole to draw from")
    on_grid = test_out == "grid"
    check_memory(n, images=train + test_in + n_out + (n * n if on_grid else 0))
    space = Space({name: (np.arange(2 * n) / 2).tolist() for name in ("x", "y")})
    split = split_by_hole(space, None if p is None else half_pixel_hole(n, p=p, where=where))
    rng = generator(seed)
    cell = rng.choice(np.flatnonzero(split.seen), size=train + test_in)
    if n_out:
        cell = np.concatenate([cell, rng.choice(np.flatnonzero(split.unseen), size=n_out)])
    positions = _points_in(space.cells[cell] / 2, rng)
    if on_grid:
        whole = np.flatnonzero((space.cells % 2 == 0).all(axis=1) & (split.unseen | (p is None)))
        cell = np.concatenate([cell, whole])
        positions = np.concatenate([positions, space.cells[whole] / 2])
    return Task(
        split,
        inputs=encoded(encoding, positions, n),
        targets=bump_images(positions, n, sigma, polarity=polarity, order=order),
        cell=cell,
        train=np.arange(train),
        latents=positions,
        blank=blank_value(polarity),
    )


def half_pixel_hole(n: int, *, p: float, where: str = "centre") -> Bool[np.ndarray, "x y"]:
    """The square hole of `bumps_real` as a mask over its `2n × 2n` half-pixel cells.

    ```python
    >>> from recombine.tasks import half_pixel_hole
    >>> hole = half_pixel_hole(24, p=0.3)              # K = 7, so 8.5 <= x, y < 15.5
    >>> int(hole.sum()), (hole[24].nonzero()[0][[0, -1]] / 2).tolist()
    (196, [8.5, 15.0])

    ```
    """
    if where not in {"centre", "corner"}:
        raise InputError("where", where, "'centre' or 'corner'")
    if not isinstance(p, int | float) or not 0 < p < 1 or p * n < 1:
        raise InputError("p", p, f"a fraction below 1 that is at least one pixel of {n}")
    side = math.floor(p * n + 1e-9)  # 0.29 * 100 is 28.999999999999996
    low = n - side if where == "centre" else 2 * (n - side)
    level = np.arange(2 * n)
    inside = (level >= low) & (level < low + 2 * side)
    return inside[:, None] & inside[None, :]


def _points_in(lower: Float[np.ndarray, "rows 2"], rng: np.random.Generator) -> Float[np.ndarray, "rows 2"]:
    """Uniform points in the half-pixel squares with these lower edges, never rounded up to the upper edge."""
    return np.minimum(lower + rng.random(lower.shape) / 2, np.nextafter(lower + 0.5, 0))
