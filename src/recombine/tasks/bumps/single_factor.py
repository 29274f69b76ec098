"""Images of one factor alone: data that teach a net to render each factor separately.

For bumps these are the stripes of [Liang et al. (2025)](https://arxiv.org/abs/2501.18797), which restore
composition: 2n images of one factor each, and few combinations. The idea is not specific to bumps. It needs
a renderer and an encoding that accept an *absent* factor, written as a position of NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import Space, fraction_hole
from recombine.spaces.holes import Hole, split_by_hole
from recombine.tasks.bumps.bump_images import Order, Pixels, Polarity, bump_images
from recombine.tasks.bumps.grid_positions import bumps as bump_task
from recombine.tasks.draws import draw_without_replacement
from recombine.tasks.encodings import Encoding, bump_code, encoded
from recombine.tasks.task import Task

Render = Callable[[np.ndarray], Any]
"""A function from positions `(rows, factors)`, NaN where a factor is absent, to targets `(rows, ...)`."""


def single_factor_positions(positions: Sequence[Any]) -> Float[np.ndarray, "rows factors"]:
    """Rows in which one factor has a position and all others are absent (NaN).

    **Arguments:**

    - `positions`: for every factor a list of positions, or a number of levels `n` for `0 ... n - 1`.

    **Returns:**

    `(rows, factors)`: all positions of the first factor, then of the second, and so on.

    ```python
    >>> from recombine.tasks import single_factor_positions
    >>> single_factor_positions([2, [0.5]])
    array([[0. , nan],
           [1. , nan],
           [nan, 0.5]])

    ```
    """
    if len(positions) < 2:
        raise InputError("positions", positions, "at least two factors, since one of them is shown alone")
    lists = [np.arange(p) if np.ndim(p) == 0 else np.asarray(p, dtype=np.float64) for p in positions]
    rows = np.full((sum(map(len, lists)), len(lists)), np.nan)
    start = 0
    for factor, values in enumerate(lists):
        rows[start : start + len(values), factor] = values
        start += len(values)
    return rows


def single_factor_rows(
    render: Render, encode: Callable[[np.ndarray], Any], positions: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets that show one factor at a time, for any renderer that accepts absent factors.

    **Arguments:**

    - `render`: positions `(rows, factors)` to targets `(rows, ...)`; NaN means that a factor is absent.
    - `encode`: the same positions to inputs `(rows, features)`; `Part(bump_code, n=28)`, for example.
    - `positions`: for every factor a list of positions, or a number of levels.

    **Returns:**

    Inputs and targets, ready for `Task.with_rows`.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.tasks import bump_images
    >>> from recombine.tasks import one_hot, single_factor_rows
    >>> inputs, targets = single_factor_rows(Part(bump_images, n=28), Part(one_hot, n=28), [28, 28])
    >>> inputs.shape, targets.shape, bool((targets[14] == targets[14][0]).all())  # x alone: all rows equal
    ((56, 56), (56, 28, 28), True)

    ```
    """
    rows = single_factor_positions(positions)
    inputs, targets = np.asarray(encode(rows)), np.asarray(render(rows))
    for field, values in (("encode", inputs), ("render", targets)):
        if values.shape[:1] != (len(rows),):
            raise InputError(
                field, f"an output of shape {values.shape}", f"one row for each of {len(rows)} positions"
            )
        if not np.isfinite(values).all():
            raise InputError(
                field, "a value that is not finite", "finite numbers also where a factor is absent (NaN)"
            )
    return inputs, targets


def single_factor_renderings(
    levels: Mapping[str, Any] | Sequence[tuple[str, Any]],
    *,
    render: Render,
    encode: Callable[[np.ndarray], Any],
    hole: Hole = None,
    combinations: int | None = None,
    alone: bool = True,
    blank: float = 0.0,
    seed: int = 0,
) -> Task:
    """A task from your own renderer: its combinations, and each of its factors alone.

    **Arguments:**

    - `levels`: every factor's name with its number of levels or its levels, as a mapping or as pairs.
    - `render`: level numbers `(rows, factors)` to targets `(rows, ...)`; NaN means that a factor is absent.
    - `encode`: level numbers to inputs `(rows, features)`.
    - `hole`: the combinations held out; as for `bumps`.
    - `combinations`: the number of seen combinations to train on, drawn without replacement; `None`: all, 0:
        none.
    - `alone`: also train on every level of every factor alone. `False` is the control.
    - `blank`: the target of an empty image.
    - `seed`: for the draw of combinations.

    **Returns:**

    A `Task` with one row per cell and then, with `alone`, one row of cell -1 per level of every factor.
    `latents` are level numbers.

    ```python
    >>> import numpy as np
    >>> from recombine.parts import Part
    >>> from recombine.tasks import one_hot, single_factor_renderings
    >>> def flag(positions):                   # a pole of some height, a cloth of some colour, side by side
    ...     height, colour = np.nan_to_num(positions + 1, nan=0.0).T
    ...     return np.stack([height, height, colour], axis=1)
    >>> task = single_factor_renderings(
    ...     {"height": 3, "colour": ["red", "blue"]},
    ...     render=flag, encode=Part(one_hot, n=(3, 2)), hole=[[0, 0], [0, 0], [0, 1]],
    ... )
    >>> task.split, len(task.train)                                  # 5 combinations, 3 heights, 2 colours
    (Split(height 3 × colour 2: 5 seen, 1 unseen), 10)
    >>> task.inputs[-1].tolist(), task.targets[-1].tolist()          # blue alone
    ([0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0])

    ```
    """
    space = Space(dict(levels))
    positions = space.cells.astype(np.float64)
    cells = Task(
        split_by_hole(space, hole),
        inputs=np.asarray(encode(positions)),
        targets=np.asarray(render(positions)),
        latents=positions,
        blank=blank,
    )
    rows = single_factor_rows(render, encode, space.shape) if alone else None
    return _mixture(cells, _drawn(cells, combinations, seed, "combinations"), rows)


def with_stripes(
    n: int = 28,
    sigma: float = 1.0,
    *,
    hole: Hole = Part(fraction_hole, p=0.5, where="corner"),  # noqa: B008 (a Part is immutable)
    bumps: int | None = None,
    stripes: bool = True,
    encoding: Encoding = bump_code,
    polarity: Polarity = "dark",
    pixels: Pixels = "integer",
    order: Order = "yx",
    seed: int = 0,
) -> Task:
    """Bumps outside a hole together with all 2n stripes, the images of x alone and of y alone.

    An x-stripe is the 1-D Gaussian `1 - exp(-(c - x)^2 / (2 sigma^2))` in every row, with input `[b(x) ;
    0]`; a y-stripe likewise. The encoding must be able to represent an absent factor: a population code,
    or `ramp_with_presence`.

    **Arguments:**

    - `hole`: the default is the corner of large x and y, half as wide as the image.
    - `bumps`: the number of seen positions to train on, drawn without replacement, so that with one seed a larger
        draw contains a smaller one; `None`: all, 0: stripes only.
    - `stripes`: `False` is the control with the same bumps and no stripes.
    - others: as for `recombine.tasks.bumps`.

    **Returns:**

    A `Task` with one row per cell and then, with `stripes`, 2n rows of cell -1, first x, then y.

    ```python
    >>> from recombine.tasks import with_stripes
    >>> task = with_stripes(n=28, bumps=196)
    >>> task.split, len(task.train), len(task.inputs)
    (Split(x 28 × y 28: 588 seen, 196 unseen), 252, 840)

    ```
    """
    cells = bump_task(n, sigma, hole=hole, encoding=encoding, polarity=polarity, pixels=pixels, order=order)
    draw = partial(bump_images, n=n, sigma=sigma, polarity=polarity, pixels=pixels, order=order)
    half = 0.5 if pixels == "half" else 0.0
    rows = None
    if stripes:
        rows = single_factor_rows(lambda p: draw(p + half), lambda p: encoded(encoding, p, n), [n, n])
    return _mixture(cells, _drawn(cells, bumps, seed, "bumps"), rows)


def _drawn(task: Task, count: int | None, seed: int, field: str) -> Int[np.ndarray, " rows"]:
    """The training rows of a task whose row `i` is cell `i`."""
    if count is None:
        return np.flatnonzero(task.split.seen)
    return draw_without_replacement(task.split, count, seed=seed, field=field)


def _mixture(
    task: Task, combinations: Int[np.ndarray, " rows"], alone: tuple[np.ndarray, np.ndarray] | None
) -> Task:
    """`task` trained on these combinations and, where given, on the rows of single factors."""
    if alone is None:
        return task.trained_on(combinations)
    extended = task.with_rows(*alone, train=False)
    extra = np.arange(len(task.inputs), len(extended.inputs))
    positions = single_factor_positions(task.split.space.shape)
    return replace(
        extended,
        train=np.concatenate([combinations, extra]),
        latents=np.concatenate([task.latents, positions]),
    )
