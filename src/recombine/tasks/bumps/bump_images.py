"""Images of one Gaussian bump, and of its single factors, as in the forced-rendering study."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Float32

from recombine.errors import InputError

Polarity = Literal["dark", "bright"]
"""`"dark"`: a dark bump on white (background 1, centre 0). `"bright"`: a bright bump on black."""

Pixels = Literal["integer", "half", "linspace"]
"""Coordinates of pixels 0 ... n - 1: `k`, `k + 0.5`, or `linspace(0, n, n)`, whose spacing is n / (n - 1)."""

Order = Literal["yx", "xy"]
"""`"yx"`: the row is y and the column is x. `"xy"`: the row is x and the column is y."""

MAX_BYTES = 4 * 2**30
"""Upper limit on the memory of the images of one task."""


def bump_images(
    positions: np.ndarray,
    n: int,
    sigma: float = 1.0,
    *,
    polarity: Polarity = "dark",
    pixels: Pixels = "integer",
    order: Order = "yx",
    offset: float = 0.0,
) -> Float32[np.ndarray, "rows n n"]:
    """One `n × n` image per row with a Gaussian bump at `(x, y)`.

    Bright: `I[r, c] = g(c - x) g(r - y)` with `g(d) = exp(-d^2 / (2 sigma^2))`; dark: one minus that.

    A NaN position means that the factor is absent. Its `g` is then left out, and the image is a *stripe*:
    a one-dimensional Gaussian in the other factor, constant along the absent one. With both factors absent
    the image is blank.

    **Arguments:**

    - `positions`: `(rows, 2)` centres `(x, y)` in the coordinates that `pixels` sets, real or whole.
    - `n`: pixels per side, 4 to 512.
    - `sigma`: the bump's width in pixels.
    - `polarity`, `pixels`, `order`: see `Polarity`, `Pixels`, `Order`.
    - `offset`: the coordinate of the image's first pixel; a larger canvas cropped to `n × n` pixels that
        start at pixel 6 has `offset=6`.

    **Returns:**

    `(rows, n, n)` float32 grey values between 0 and 1.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import bump_images
    >>> bump_images(np.array([[2, 1]]), 4)[0].round(1)                 # x = 2 is the column, y = 1 the row
    array([[0.9, 0.6, 0.4, 0.6],
           [0.9, 0.4, 0. , 0.4],
           [0.9, 0.6, 0.4, 0.6],
           [1. , 0.9, 0.9, 0.9]], dtype=float32)
    >>> bump_images(np.array([[2, np.nan]]), 4)[0, :2].round(1)        # the stripe of x = 2
    array([[0.9, 0.4, 0. , 0.4],
           [0.9, 0.4, 0. , 0.4]], dtype=float32)

    ```
    """
    check_image_settings(n, sigma, polarity=polarity, pixels=pixels, order=order)
    positions = np.asarray(positions, dtype=np.float64)
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise InputError("positions", f"shape {positions.shape}", "shape (rows, 2): x and y of every bump")
    if np.isinf(positions).any():
        raise InputError(
            "positions", float(positions[np.isinf(positions)][0]), "finite numbers, or NaN for absent"
        )
    absent = np.isnan(positions)
    distance = pixel_coordinates(n, pixels) + offset - positions[:, :, None]  # (rows, 2, n)
    profile = np.exp(-(distance**2) / (2 * sigma**2))
    profile[absent] = 1.0
    profile[absent.all(axis=1)] = 0.0
    x, y = profile.astype(np.float32).transpose(1, 0, 2)  # (rows, n) each
    rows, columns = (y, x) if order == "yx" else (x, y)
    bright = rows[:, :, None] * columns[:, None, :]
    return np.float32(1) - bright if polarity == "dark" else bright


def pixel_coordinates(n: int, pixels: Pixels = "integer") -> Float[np.ndarray, " n"]:
    """The coordinates of the `n` pixels of a row.

    ```python
    >>> from recombine.tasks.bumps.bump_images import pixel_coordinates
    >>> [pixel_coordinates(4, kind).round(2).tolist() for kind in ("integer", "half", "linspace")]
    [[0.0, 1.0, 2.0, 3.0], [0.5, 1.5, 2.5, 3.5], [0.0, 1.33, 2.67, 4.0]]

    ```
    """
    if pixels == "linspace":
        return np.linspace(0, n, n)
    return np.arange(n) + (0.5 if pixels == "half" else 0.0)


def blank_value(polarity: Polarity) -> float:
    """The grey value of an empty image.

    ```python
    >>> from recombine.tasks.bumps.bump_images import blank_value
    >>> blank_value("dark"), blank_value("bright")
    (1.0, 0.0)

    ```
    """
    return 1.0 if polarity == "dark" else 0.0


def check_image_settings(
    n: int, sigma: float, *, polarity: str = "dark", pixels: str = "integer", order: str = "yx"
) -> None:
    """Raises an `InputError` for invalid settings of bump images.

    ```python
    >>> from recombine.tasks.bumps.bump_images import check_image_settings
    >>> check_image_settings(2, 1.0)
    Traceback (most recent call last):
    recombine.errors.InputError: n: got 2, expected a whole number of pixels from 4 to 512

    ```
    """
    if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 4 <= n <= 512:
        raise InputError("n", n, "a whole number of pixels from 4 to 512")
    if not isinstance(sigma, int | float | np.number) or not 0 < sigma <= n:
        raise InputError("sigma", sigma, f"a positive number of pixels, at most n = {n}")
    for field, got, choices in (
        ("polarity", polarity, get_args(Polarity)),
        ("pixels", pixels, get_args(Pixels)),
        ("order", order, get_args(Order)),
    ):
        if got not in choices:
            raise InputError(field, got, "one of " + ", ".join(map(repr, choices)))


def check_memory(n: int, *, images: int) -> None:
    """Raises an `InputError` if this many images would not fit into `MAX_BYTES`.

    ```python
    >>> from recombine.tasks.bumps.bump_images import check_memory
    >>> check_memory(512, images=512**2)
    Traceback (most recent call last):
    recombine.errors.InputError: n: got 512, expected fewer: 262144 images would take 256 GiB (at most 4)

    ```
    """
    needed = 4 * images * int(n) ** 2
    if needed > MAX_BYTES:
        size, limit = f"{needed / 2**30:.0f} GiB", f"at most {MAX_BYTES / 2**30:.0f}"
        raise InputError("n", n, f"fewer: {images} images would take {size} ({limit})")
