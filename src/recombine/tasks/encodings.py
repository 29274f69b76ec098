"""Encodings: how factor positions become a net's input vector.

An encoding is any function `(positions, n) -> features` from an array `(rows, factors)` to an array `(rows,
features)`. Positions are counted in levels, `0 <= position <= n`, and need not be whole; `n` is the number
of levels of every factor, or one number per factor. Every factor is encoded on its own and the results are
put side by side, so each encoding here is perfectly factorised.

A position of NaN means that the factor is *absent* (see `recombine.tasks.single_factor_rows`). Population
codes write it as zeros, which no position does; a single scalar cannot express it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

Encoding = Callable[..., Any]
"""A function `(positions (rows, factors), n) -> features (rows, features)`."""


def one_hot(positions: np.ndarray, n: int | Sequence[int]) -> Float[np.ndarray, "rows features"]:
    """One unit per level and factor: `[e_x ; e_y ; ...]`, with `e_k` the k-th unit vector.

    **Arguments:**

    - `positions`: `(rows, factors)` whole numbers from 0 to `n - 1`; NaN gives zeros.
    - `n`: levels per factor.

    **Returns:**

    `(rows, sum of n)` zeros and ones.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import one_hot
    >>> one_hot(np.array([[2, 0], [1, np.nan]]), 3)
    array([[0., 0., 1., 1., 0., 0.],
           [0., 1., 0., 0., 0., 0.]])

    ```
    """
    positions, sizes = _checked(positions, n)
    present = ~np.isnan(positions)
    whole = np.where(present, positions, 0)
    bad = (whole != np.floor(whole)) | (whole >= sizes)
    if bad.any():
        got = float(positions[bad][0])
        raise InputError(
            "positions", got, "whole level numbers below n (use bump_code for positions between)"
        )
    units = [np.arange(size) == column[:, None] for size, column in zip(sizes, positions.T, strict=True)]
    return np.concatenate(units, axis=1).astype(np.float64)


def bump_code(
    positions: np.ndarray, n: int | Sequence[int], *, width: float = 1.0, sigma: float = 1.0
) -> Float[np.ndarray, "rows features"]:
    """A population code: unit `k` of a factor at `x` has activity `exp(-(k - x)^2 / (2 width sigma^2))`.

    **Arguments:**

    - `positions`: `(rows, factors)` real positions in levels; NaN gives zeros.
    - `n`: units per factor, at 0, 1, ..., n - 1.
    - `width`: multiplies the *variance*, so a bump is `sqrt(width)` times as wide.
    - `sigma`: the width in levels at `width=1`.

    **Returns:**

    `(rows, sum of n)` activities between 0 and 1.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import bump_code
    >>> bump_code(np.array([[1, np.nan]]), 3).round(4)
    array([[0.6065, 1.    , 0.6065, 0.    , 0.    , 0.    ]])

    ```
    """
    for name, value in (("width", width), ("sigma", sigma)):
        if not (np.isfinite(value) and value > 0):
            raise InputError(name, value, "a positive number")
    positions, sizes = _checked(positions, n)
    codes = [
        np.exp(-((np.arange(size) - column[:, None]) ** 2) / (2 * width * sigma**2))
        for size, column in zip(sizes, positions.T, strict=True)
    ]
    return np.nan_to_num(np.concatenate(codes, axis=1), nan=0.0)


def ramp(positions: np.ndarray, n: int | Sequence[int]) -> Float[np.ndarray, "rows factors"]:
    """The positions themselves, in levels (pixels), without normalisation.

    A scalar cannot represent an absent factor, since 0 is a position like any other. NaN is refused; use
    `ramp_with_presence` instead.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import ramp
    >>> ramp(np.array([[3, 4.5]]), 28)
    array([[3. , 4.5]])

    ```
    """
    positions, _ = _checked(positions, n)
    if np.isnan(positions).any():
        raise InputError(
            "positions",
            "NaN (an absent factor)",
            "numbers only: ramp cannot represent an absent factor, use ramp_with_presence",
        )
    return positions


def ramp_with_presence(positions: np.ndarray, n: int | Sequence[int]) -> Float[np.ndarray, "rows features"]:
    """`ramp` followed by one bit per factor: 1 if it is present, 0 (and a position of 0) if it is absent.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import ramp_with_presence
    >>> ramp_with_presence(np.array([[3, np.nan]]), 28)
    array([[3., 0., 1., 0.]])

    ```
    """
    positions, _ = _checked(positions, n)
    return np.concatenate([np.nan_to_num(positions, nan=0.0), ~np.isnan(positions)], axis=1)


def angle_scalar(degrees: np.ndarray, n: int | None = None) -> Float[np.ndarray, "rows factors"]:
    """Angles as `degrees / 180 - 1`: from -1 at 0° to nearly 1 at 360°, with a jump where the circle closes.

    **Arguments:**

    - `degrees`: `(rows, factors)` angles.
    - `n`: not used; encodings take it.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import angle_scalar
    >>> angle_scalar(np.array([[0.0], [90.0], [180.0]])).ravel()
    array([-1. , -0.5,  0. ])

    ```
    """
    return _as_rows(degrees, "degrees", allow_nan=False) / 180 - 1


def angle_cos_sin(degrees: np.ndarray, n: int | None = None) -> Float[np.ndarray, "rows features"]:
    """Angles as points on the unit circle, `(cos, sin)`, without a jump. Arguments as for `angle_scalar`.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import angle_cos_sin
    >>> angle_cos_sin(np.array([[0.0], [90.0]])).round(6)
    array([[1., 0.],
           [0., 1.]])

    ```
    """
    radians = np.deg2rad(_as_rows(degrees, "degrees", allow_nan=False))
    return np.stack([np.cos(radians), np.sin(radians)], axis=2).reshape(len(radians), -1)


def super_inputs(
    inputs: np.ndarray, train_inputs: np.ndarray, *, keep: int, factors: int = 2
) -> Float[np.ndarray, "rows features"]:
    """Inputs that show one factor and the training average of all others, for the superposition test.

    For two factors in bump codes `b`, keeping the first gives `[b(x) ; mean over training of b(y)]`.

    **Arguments:**

    - `inputs`: `(rows, features)` codes made of one block of equal size per factor.
    - `train_inputs`: `(samples, features)` the codes trained on, with their repeats.
    - `keep`: the factor whose block is kept.
    - `factors`: the number of blocks.

    **Returns:**

    `(rows, features)`.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import super_inputs
    >>> super_inputs(np.array([[1.0, 0.0, 0.0, 1.0]]), np.array([[0, 1, 1, 0], [1, 0, 0, 1]]), keep=0)
    array([[1. , 0. , 0.5, 0.5]])

    ```
    """
    inputs = _as_rows(inputs, "inputs", allow_nan=False)
    train_inputs = _as_rows(train_inputs, "train_inputs", allow_nan=False)
    if inputs.shape[1] != train_inputs.shape[1] or not len(train_inputs):
        raise InputError(
            "train_inputs", train_inputs.shape, f"at least one row of {inputs.shape[1]} features"
        )
    if factors < 1 or inputs.shape[1] % factors:
        raise InputError("factors", factors, f"a number that divides the {inputs.shape[1]} features")
    if not 0 <= keep < factors:
        raise InputError("keep", keep, f"a factor from 0 to {factors - 1}")
    block = inputs.shape[1] // factors
    mean = np.broadcast_to(train_inputs.mean(axis=0), inputs.shape).copy()
    mean[:, keep * block : (keep + 1) * block] = inputs[:, keep * block : (keep + 1) * block]
    return mean


def encoded(encoding: Encoding, positions: np.ndarray, n: int | Sequence[int]) -> np.ndarray:
    """Applies an encoding and checks the shape of the result, since it may be a user's own function.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.encodings import encoded, one_hot
    >>> encoded(one_hot, np.array([[0, 1]]), 2)
    array([[1., 0., 0., 1.]])

    ```
    """
    if not callable(encoding):
        raise InputError("encoding", encoding, "a function (positions, n) -> features, or a Part of one")
    features = np.asarray(encoding(positions, n))
    if features.ndim != 2 or len(features) != len(positions):
        raise InputError(
            "encoding", f"features of shape {features.shape}", f"shape ({len(positions)}, features)"
        )
    return features


def _checked(positions: np.ndarray, n: int | Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    positions = _as_rows(positions, "positions")
    sizes = np.broadcast_to(np.asarray(n), positions.shape[1:]) if np.ndim(n) == 0 else np.asarray(n)
    if sizes.shape != positions.shape[1:] or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 1).any():
        raise InputError("n", n, f"a positive whole number, or one for each of {positions.shape[1]} factors")
    outside = (positions < 0) | (positions > sizes)
    if outside.any():
        raise InputError(
            "positions", float(positions[outside][0]), f"positions from 0 to n = {n}, or NaN for absent"
        )
    return positions, sizes


def _as_rows(values: np.ndarray, name: str, *, allow_nan: bool = True) -> Float[np.ndarray, "rows columns"]:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise InputError(name, f"shape {values.shape}", "two dimensions, (rows, factors)")
    if not allow_nan and not np.isfinite(values).all():
        raise InputError(name, float(values[~np.isfinite(values)][0]), "finite numbers")
    return values
