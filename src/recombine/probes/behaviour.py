"""Behaviour: how wrong is the output for every row, and how does that differ between in and out?

Every measure returns one number (or one yes or no) per row; `summarise` turns those into figures for the seen
and the unseen rows. Images are `image[row = y, column = x]`, and positions are pairs `(x, y)` in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Real
from scipy.ndimage import uniform_filter

from recombine.errors import InputError
from recombine.probes.polarity import check_polarity
from recombine.tasks.bump_images import Polarity


def squared_error(
    outputs: Real[np.ndarray, " rows *shape"], targets: Real[np.ndarray, " rows *shape"]
) -> Float[np.ndarray, " rows"]:
    """Mean squared error of every row, `e = mean over pixels of (output - target)^2`.

    **Arguments:**

    - `outputs`, `targets`: of one shape, `(rows, ...)`.

    **Returns:**

    `(rows,)`, the mean over all axes but the first. On a picture that is mostly background a small number
    means little: read it beside [`recombine.probes.baseline_errors`][].

    ```python
    >>> import numpy as np
    >>> from recombine.probes import squared_error
    >>> squared_error(np.zeros((2, 1, 2)), np.array([[[1.0, 1.0]], [[0.0, 1.0]]])).tolist()
    [1.0, 0.5]

    ```
    """
    outputs, targets = _paired(outputs, targets)
    return ((outputs - targets) ** 2).reshape(len(outputs), -1).mean(axis=1)


def summarise(per_row: Real[np.ndarray, "*rows"], seen: Bool[np.ndarray, "*rows"]) -> dict[str, float]:
    """Mean, standard deviation, median and maximum of a per-row measure, for `in` and for `out`.

    A few broken levels can carry most of the error of a net, so means should be read with their medians.

    **Arguments:**

    - `per_row`: one number per row, or per cell in the space's own shape.
    - `seen`: true for the rows of seen cells; of the same shape.

    **Returns:**

    `in_mean`, `in_std`, `in_median`, `in_max` and the same for `out`. The standard deviation is that of the
    rows at hand (divisor: their number). All four are NaN where there are no rows.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import summarise
    >>> found = summarise(np.array([1.0, 3.0, 10.0]), np.array([True, True, False]))
    >>> found["in_mean"], found["in_std"], found["out_max"]
    (2.0, 1.0, 10.0)

    ```
    """
    per_row, seen = np.asarray(per_row, dtype=np.float64), np.asarray(seen, dtype=bool)
    if per_row.shape != seen.shape:
        raise InputError("seen", seen.shape, f"one entry for each value, shape {per_row.shape}")
    summary = {}
    for side, rows in (("in", per_row[seen]), ("out", per_row[~seen])):
        for name, measure in (("mean", np.mean), ("std", np.std), ("median", np.median), ("max", np.max)):
            summary[f"{side}_{name}"] = float(measure(rows)) if rows.size else float("nan")
    return summary


def position(
    images: Real[np.ndarray, "rows height width"], polarity: Polarity = "dark"
) -> Float[np.ndarray, "rows 2"]:
    """Where the bump is: `(row, column)` of the darkest pixel of a dark image, the brightest of a bright one.

    **Arguments:**

    - `images`: `(rows, height, width)`.
    - `polarity`: which extreme to look for.

    **Returns:**

    `(rows, 2)` in pixels; of several equal extremes the first in reading order. An image with a value that is
    not a number has position NaN.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import position
    >>> position(np.array([[[0.0, 0.0, 0.9], [0.1, 0.2, 0.3]]]), "bright").tolist()
    [[0.0, 2.0]]

    ```
    """
    images = np.asarray(images, dtype=np.float64)
    if images.ndim != 3:
        raise InputError("images", images.shape, "shape (rows, height, width)")
    flat = images.reshape(len(images), -1)
    pixel = flat.argmin(axis=1) if check_polarity(polarity) == "dark" else flat.argmax(axis=1)
    where = np.stack(np.unravel_index(pixel, images.shape[1:]), axis=1).astype(np.float64)
    where[np.isnan(flat).any(axis=1)] = np.nan
    return where


def position_accuracy(
    images: Real[np.ndarray, "rows height width"],
    positions_xy: Real[np.ndarray, "rows 2"],
    polarity: Polarity = "dark",
    tolerance: float = 0.0,
) -> Bool[np.ndarray, " rows"]:
    """Is the extreme pixel where it should be: `|column - x| <= tolerance` and `|row - y| <= tolerance`?

    **Arguments:**

    - `images`: `(rows, height, width)`.
    - `positions_xy`: the true `(x, y)` in pixels; x belongs to columns, y to rows.
    - `polarity`: see [`recombine.probes.position`][].
    - `tolerance`: in pixels, per coordinate. Report 0 and 1.

    **Returns:**

    `(rows,)` booleans; their mean is the accuracy. Guessing at random is right in `(2 tolerance + 1)^2` of
    `height * width` cases.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import position_accuracy
    >>> image = np.array([[[0.0, 0.0, 0.9], [0.1, 0.2, 0.3]]])
    >>> position_accuracy(image, np.array([[2, 0]]), "bright").tolist()
    [True]

    ```
    """
    return within(position(images, polarity)[:, ::-1], positions_xy, tolerance)


def position_error(
    images: Real[np.ndarray, "rows height width"],
    positions_xy: Real[np.ndarray, "rows 2"],
    polarity: Polarity = "dark",
) -> Float[np.ndarray, " rows"]:
    """Euclidean distance in pixels between the extreme pixel `(column, row)` and the true `(x, y)`.

    **Arguments:** as for [`recombine.probes.position_accuracy`][].

    **Returns:**

    `(rows,)` in pixels.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import position_error
    >>> position_error(np.eye(5)[None, :1].repeat(5, axis=1), np.array([[3, 4]]), "bright").tolist()
    [5.0]

    ```
    """
    found, true = _paired(position(images, polarity)[:, ::-1], positions_xy)
    return np.linalg.norm(found - true, axis=1)


def within(
    predicted: Real[np.ndarray, "rows factors"],
    true: Real[np.ndarray, "rows factors"],
    tolerance: float = 0.5,
) -> Bool[np.ndarray, " rows"]:
    """Are all coordinates right up to a tolerance, `|predicted - true| <= tolerance` for every factor?

    The measure of encoders that report factor values; half a level is then the natural tolerance.

    **Arguments:**

    - `predicted`, `true`: `(rows, factors)`, in the factors' own units.
    - `tolerance`: the largest error allowed in each coordinate.

    **Returns:**

    `(rows,)` booleans. A prediction that is not a number is wrong.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import within
    >>> within(np.array([[1.4, 2.0], [1.4, 2.6]]), np.array([[1.0, 2.0], [1.0, 2.0]])).tolist()
    [True, False]

    ```
    """
    predicted, true = _paired(predicted, true)
    return (np.abs(predicted - true) <= tolerance).all(axis=1)


def code_accuracy(
    codes: Real[np.ndarray, "rows units"],
    levels: Int[np.ndarray, "rows factors"],
    sizes: Sequence[int] | None = None,
) -> Bool[np.ndarray, " rows"]:
    """Does a population code name the right level of every factor, by the most active unit of each part?

    **Arguments:**

    - `codes`: `(rows, units)`, the parts of the factors one after another.
    - `levels`: the true level of every factor.
    - `sizes`: the number of units of each part; default: equal parts (two halves for two factors).

    **Returns:**

    `(rows,)` booleans.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import code_accuracy
    >>> code_accuracy(np.array([[0.1, 0.9, 0.8, 0.7]]), np.array([[1, 0]])).tolist()
    [True]

    ```
    """
    codes, levels = np.asarray(codes, dtype=np.float64), np.asarray(levels)
    factors = levels.shape[1]
    if sizes is None:
        sizes = [codes.shape[1] // factors] * factors
    if len(sizes) != factors or sum(sizes) != codes.shape[1] or len(codes) != len(levels):
        raise InputError(
            "codes", codes.shape, f"{len(levels)} rows and one part of units for each of {factors} factors"
        )
    parts = np.split(codes, np.cumsum(sizes)[:-1], axis=1)
    named = np.stack([part.argmax(axis=1) for part in parts], axis=1)
    return (named == levels).all(axis=1) & ~np.isnan(codes).any(axis=1)


def structural_dissimilarity(
    outputs: Real[np.ndarray, "rows height width"], targets: Real[np.ndarray, "rows height width"]
) -> Float[np.ndarray, " rows"]:
    """One minus the structural similarity (SSIM) of grey images with values from 0 to 1.

    With local means `m`, sample variances `v` and covariance `c` in a 7 x 7 window,

        SSIM = (2 m_a m_b + C1) (2 c + C2) / ((m_a^2 + m_b^2 + C1) (v_a + v_b + C2)),

    `C1 = 0.01^2`, `C2 = 0.03^2`, averaged over the windows that lie inside the image: scikit-image's defaults
    with `data_range=1`.

    **Arguments:**

    - `outputs`, `targets`: `(rows, height, width)`, at least 7 pixels high and wide.

    **Returns:**

    `(rows,)`, 0 for equal images and at most 2.

    **Reference:** Wang et al., Image quality assessment, 2004, doi:10.1109/TIP.2003.819861.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import structural_dissimilarity
    >>> structural_dissimilarity(np.eye(9)[None], np.eye(9)[None]).tolist()
    [0.0]

    ```
    """
    a, b = _paired(outputs, targets)
    window = 7
    if a.ndim != 3 or min(a.shape[1:]) < window:
        raise InputError("images", a.shape, f"shape (rows, height, width), at least {window} high and wide")

    def local_mean(values: Float[np.ndarray, " ..."]) -> Float[np.ndarray, " ..."]:
        return uniform_filter(values, size=(1, window, window))

    unbias = window**2 / (window**2 - 1)
    mean_a, mean_b = local_mean(a), local_mean(b)
    var_a = unbias * (local_mean(a * a) - mean_a**2)
    var_b = unbias * (local_mean(b * b) - mean_b**2)
    covariance = unbias * (local_mean(a * b) - mean_a * mean_b)
    c1, c2 = 0.01**2, 0.03**2
    similarity = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    similarity /= (mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)
    inside = slice(window // 2, -(window // 2))
    return 1.0 - similarity[:, inside, inside].mean(axis=(1, 2))


def _paired(
    a: Real[np.ndarray, " ..."], b: Real[np.ndarray, " ..."]
) -> tuple[Float[np.ndarray, " ..."], Float[np.ndarray, " ..."]]:
    """Both arrays as float64; never broadcast one against the other."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError("shapes", (a.shape, b.shape), "two arrays of the same shape")
    return a, b
