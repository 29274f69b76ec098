"""Rotated digits: interpolation over one angle, and a genuine composition of angle and digit."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float32

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.studies.forced_rendering.glyphs import GlyphSource, glyph
from recombine.tasks.encodings import Encoding, angle_cos_sin, encoded, one_hot
from recombine.tasks.task import Task

PathLike = str | os.PathLike[str] | None


def rotated(image: np.ndarray, degrees: np.ndarray) -> Float32[np.ndarray, "rows height width"]:
    """An image rotated by each of several angles, in degrees: bilinear, same size, black outside.

    Equals `scipy.ndimage.rotate(image, angle, reshape=False, order=1, mode="constant", cval=0)` for each
    angle.

    ```python
    >>> import numpy as np
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotated
    >>> rotated(np.array([[0, 1], [0, 0]]), np.array([0, 90])).round(3).tolist()
    [[[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]]

    ```
    """
    from scipy.ndimage import rotate

    image, degrees = np.asarray(image, dtype=np.float64), np.asarray(degrees, dtype=np.float64)
    if image.ndim != 2:
        raise InputError("image", f"shape {image.shape}", "one grey image, (height, width)")
    if degrees.ndim != 1 or not np.isfinite(degrees).all():
        raise InputError("degrees", degrees, "a list of finite angles")
    rotated_images = [rotate(image, a, reshape=False, order=1, mode="constant", cval=0.0) for a in degrees]
    return np.asarray(rotated_images, dtype=np.float32).reshape(-1, *image.shape)


def cross_fade(
    first: np.ndarray, last: np.ndarray, shares: np.ndarray
) -> Float32[np.ndarray, "shares height width"]:
    """Images `(1 - a) first + a last` for every share a: superposition instead of rotation.

    ```python
    >>> import numpy as np
    >>> from recombine.studies.forced_rendering.rotation_tasks import cross_fade
    >>> cross_fade(np.zeros((1, 2)), np.ones((1, 2)), np.array([0.0, 0.25])).tolist()
    [[[0.0, 0.0]], [[0.25, 0.25]]]

    ```
    """
    a = np.asarray(shares, dtype=np.float32)[:, None, None]
    return ((1 - a) * first + a * last).astype(np.float32)


def rotation_circle(
    angles: int = 1000,
    *,
    encoding: Encoding = angle_cos_sin,
    digit: int = 4,
    source: GlyphSource = "auto",
    path: PathLike = None,
    seed: int = 0,
) -> Task:
    """One digit at `angles` angles around the full circle, all seen: from an angle to the rotated image.

    **Arguments:**

    - `encoding`: `angle_cos_sin`, or `angle_scalar`, which jumps at 0° and makes the task hard there.
    - `digit`, `source`, `path`: which image is rotated; see `glyph`.
    - `seed`: not used; nothing is random.

    **Returns:**

    A `Task` over the one factor `angle` (in degrees) with targets `(28, 28)`. Nothing is held out.

    ```python
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_circle
    >>> rotation_circle(100, source="digits")
    Task(regression, 100 rows, inputs (2,), targets (28, 28), 100 in training; angle 100: 100 seen, 0 unseen)

    ```
    """
    _check_angles("angles", angles)
    degrees = np.linspace(0, 360, angles, endpoint=False)
    seen = np.ones(angles, dtype=bool)
    return _one_digit(degrees, seen, encoding, digit, source, path)


def rotation_gap(
    angles: int = 444,
    *,
    gap: tuple[float, float] = (160.0, 200.0),
    gap_angles: int = 40,
    encoding: Encoding = angle_cos_sin,
    digit: int = 4,
    source: GlyphSource = "auto",
    path: PathLike = None,
    seed: int = 0,
) -> Task:
    """One digit at all angles except a gap: interpolation over one factor, *not* a test of composition.

    Training has `angles` angles in `[0, low)` and as many in `[high, 360)`; `gap_angles` angles are unseen in `[low,
    high)`.

    **Arguments:**

    - `gap`: `(low, high)` in degrees.
    - others: as for `rotation_circle`.

    **Returns:**

    A `Task` over the one factor `angle`, in increasing order. Whole levels are unseen, as they must be with
    one factor.

    ```python
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_gap
    >>> rotation_gap(44, gap_angles=4, source="digits")
    Task(regression, 92 rows, inputs (2,), targets (28, 28), 88 in training; angle 92: 88 seen, 4 unseen)

    ```
    """
    low, high = _checked_gap(gap)
    _check_angles("angles", angles)
    _check_angles("gap_angles", gap_angles)
    pieces = [(0.0, low, angles), (low, high, gap_angles), (high, 360.0, angles)]
    degrees = np.concatenate([np.linspace(start, stop, k, endpoint=False) for start, stop, k in pieces])
    seen = (degrees < low) | (degrees >= high)
    return _one_digit(degrees, seen, encoding, digit, source, path)


def rotation_digits(
    digits: Sequence[int] = tuple(range(10)),
    angles: int = 100,
    *,
    held_out: int = 4,
    gap: tuple[float, float] = (140.0, 200.0),
    source: GlyphSource = "auto",
    path: PathLike = None,
    seed: int = 0,
) -> Task:
    """Several digits at many angles, with some angles of one digit unseen: a composition of digit and angle.

    The input is the one-hot digit and `(cos, sin)` of the angle; without the digit the task would be
    ill-posed. Every angle and every digit is seen, so the unseen cells are new combinations of familiar
    levels.

    **Arguments:**

    - `digits`: which digits; each is the first of its kind (see `glyph`).
    - `angles`: how many angles around the full circle.
    - `held_out`: the digit whose angles in `gap`, both ends included, are unseen.
    - others: as for `rotation_gap`.

    **Returns:**

    A `Task` over `digit × angle` with one row per cell; inputs `(len(digits) + 2,)`.

    ```python
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_digits
    >>> task = rotation_digits((1, 4, 7), 36, source="digits")
    >>> task.split, task.inputs.shape
    (Split(digit 3 × angle 36: 101 seen, 7 unseen), (108, 5))

    ```
    """
    low, high = _checked_gap(gap)
    _check_angles("angles", angles)
    if held_out not in digits:
        raise InputError("held_out", held_out, f"one of the digits {tuple(digits)}")
    degrees = np.linspace(0, 360, angles, endpoint=False)
    space = Space({"digit": digits, "angle": degrees.tolist()})
    digit_number, angle_number = space.cells.T
    angle = degrees[angle_number]
    hole = (np.asarray(digits)[digit_number] == held_out) & (angle >= low) & (angle <= high)
    images = [rotated(glyph(d, source=source, path=path).image, degrees) for d in digits]
    split = Split(space, ~hole)
    return Task(
        split,
        inputs=np.concatenate(
            [one_hot(digit_number[:, None], len(digits)), angle_cos_sin(angle[:, None])], axis=1
        ),
        targets=np.concatenate(images),
        latents=np.stack([np.asarray(digits)[digit_number], angle], axis=1),
    )


def _one_digit(
    degrees: Float[np.ndarray, " angles"],
    seen: np.ndarray,
    encoding: Encoding,
    digit: int,
    source: GlyphSource,
    path: PathLike,
) -> Task:
    split = Split(Space({"angle": degrees.tolist()}), seen, allow_unseen_levels=True)
    return Task(
        split,
        inputs=encoded(encoding, degrees[:, None], len(degrees)),
        targets=rotated(glyph(digit, source=source, path=path).image, degrees),
        latents=degrees[:, None],
    )


def _checked_gap(gap: tuple[float, float]) -> tuple[float, float]:
    if len(gap) != 2 or not 0 < gap[0] < gap[1] < 360:
        raise InputError("gap", gap, "two angles (low, high) with 0 < low < high < 360")
    return float(gap[0]), float(gap[1])


def _check_angles(field: str, count: int) -> None:
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or not 1 <= count <= 10000:
        raise InputError(field, count, "a whole number from 1 to 10000")
