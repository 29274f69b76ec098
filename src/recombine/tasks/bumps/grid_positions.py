"""The bump task: from the position of a bump to its image, with a hole of combinations held out."""

from __future__ import annotations

import numpy as np

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import Space, centre_hole
from recombine.spaces.holes import Hole, split_by_hole
from recombine.tasks.bumps.bump_images import (
    Order,
    Pixels,
    Polarity,
    blank_value,
    bump_images,
    check_image_settings,
    check_memory,
)
from recombine.tasks.draws import draw_with_replacement
from recombine.tasks.encodings import Encoding, bump_code, encoded
from recombine.tasks.task import Task


def bumps(
    n: int = 28,
    sigma: float = 1.0,
    *,
    hole: Hole = None,
    encoding: Encoding = bump_code,
    polarity: Polarity = "dark",
    pixels: Pixels = "integer",
    order: Order = "yx",
    train: int | None = None,
    canvas: int | None = None,
    allow_unseen_levels: bool = False,
    seed: int = 0,
) -> Task:
    """Every position of one bump on an `n × n` grid: row `i` of the task is cell `i` of the space `x × y`.

    Inputs are encoded positions, targets are images of shape `(n, n)` (see `bump_images`), and `latents`
    are the column and the row of the image at which the bump is centred. The encoding always receives level
    numbers 0 ... n - 1, so that every level has its own unit in a population code.

    This is the task of [Liang et al. (2025)](https://arxiv.org/abs/2501.18797), who train on all positions
    outside the hole; its blank-image error is close to `pi sigma^2 / n^2`.

    **Arguments:**

    - `n`: pixels per side and levels of x and of y.
    - `sigma`: the bump's width in pixels.
    - `hole`: the combinations held out; a function from the space to a mask, a mask, or `None`.
    - `encoding`: `bump_code`, `one_hot`, `ramp`, or a function of your own `(positions, n) -> features`.
    - `polarity`, `pixels`, `order`: see `bump_images`. With `pixels="half"` the centres are `i + 0.5`, which
        draws the same images as `"integer"`.
    - `train`: draw this many training rows with replacement from the seen cells; `None`: every seen cell
        once.
    - `canvas`: see `bumps_on_canvas`; `None`: the canvas is the image.
    - `allow_unseen_levels`: accept a hole that hides a whole level; that does not test composition.
    - `seed`: for `train`; not used otherwise.

    **Returns:**

    A `Task` with one row per cell.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.spaces import centre_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=28, hole=Part(centre_hole, low=6, high=22))
    >>> task.split, task.inputs.shape, task.targets.shape
    (Split(x 28 × y 28: 495 seen, 289 unseen), (784, 56), (784, 28, 28))

    ```
    """
    check_image_settings(n, sigma, polarity=polarity, pixels=pixels, order=order)
    side = n if canvas is None else _checked_canvas(canvas, n)
    check_memory(n, images=side**2)
    offset = (side - n) // 2
    space = Space({"x": side, "y": side})
    split = split_by_hole(space, hole, allow_unseen_levels=allow_unseen_levels)
    centres = space.cells + (0.5 if pixels == "half" else 0.0)
    return Task(
        split,
        inputs=encoded(encoding, space.cells, side),
        targets=bump_images(centres, n, sigma, polarity=polarity, pixels=pixels, order=order, offset=offset),
        train=None if train is None else draw_with_replacement(split, train, seed=seed, field="train"),
        latents=space.cells - float(offset),
        blank=blank_value(polarity),
    )


def bumps_on_canvas(
    n: int = 28,
    sigma: float = 1.0,
    *,
    canvas: int = 40,
    hole: Hole = Part(centre_hole, low=12, high=28),  # noqa: B008 (a Part is immutable)
    encoding: Encoding = bump_code,
    train: int | None = 2000,
    seed: int = 0,
) -> Task:
    """Bumps on a larger canvas of which only the middle `n × n` pixels are drawn.

    Positions run over `canvas × canvas` levels and the hole is given in them; the image starts at level
    `(canvas - n) / 2`, so images of bumps beyond its edge are (nearly) blank. `latents` are positions in the
    image and are negative or beyond `n - 1` there. The authors' scripts for this variant are named after
    stripe augmentation, but it contains no single-factor images: for those see `with_stripes`.

    **Arguments:**

    - `canvas`: levels of x and of y; `canvas - n` must be even.
    - others: as for `bumps`, with the published settings as defaults.

    **Returns:**

    A `Task` with one row per cell of the canvas.

    ```python
    >>> from recombine.tasks import bumps_on_canvas
    >>> task = bumps_on_canvas()
    >>> task.split, task.inputs.shape, task.targets.shape
    (Split(x 40 × y 40: 1311 seen, 289 unseen), (1600, 80), (1600, 28, 28))

    ```
    """
    return bumps(n, sigma, hole=hole, encoding=encoding, train=train, canvas=canvas, seed=seed)


def _checked_canvas(canvas: int, n: int) -> int:
    whole = isinstance(canvas, int | np.integer) and not isinstance(canvas, bool)
    if not whole or not n <= canvas <= 512 or (canvas - n) % 2:
        raise InputError(
            "canvas", canvas, f"a whole number from n = {n} to 512 that exceeds n by an even number"
        )
    return int(canvas)
