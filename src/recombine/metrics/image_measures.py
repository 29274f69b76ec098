"""Images: where the bump is, what stands out from the background, and how similar two images look.

Images are `image[row = y, column = x]`; positions are pairs `(x, y)` in pixels. A *dark* image is drawn dark on
white and a *bright* one bright on black (its polarity).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Real
from scipy.ndimage import uniform_filter

from recombine.errors import InputError
from recombine.metrics.behaviour import same_shape, within_tolerance
from recombine.tasks.bumps.bump_images import Polarity

SSIM_WINDOW = 7
"""Side of the SSIM window in pixels: scikit-image's default."""


def signal(images: Real[np.ndarray, "*shape"], polarity: Polarity) -> Float[np.ndarray, "*shape"]:
    """What an image shows on its background: `1 - I` (darkness) for dark images, `I` for bright ones.

    **Arguments:**

    - `images`: grey values of any shape, nominally from 0 to 1.
    - `polarity`: `"dark"` or `"bright"`.

    **Returns:**

    The signal as float64: 0 on the background, 1 at the centre of a perfect bump.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import signal
    >>> signal(np.array([1.0, 0.25]), "dark").tolist()
    [0.0, 0.75]

    ```
    """
    images = np.asarray(images, dtype=np.float64)
    return 1.0 - images if check_polarity(polarity) == "dark" else images


def check_polarity(polarity: str) -> str:
    """Returns the polarity unchanged if it is `"dark"` or `"bright"`."""
    if polarity not in {"dark", "bright"}:
        raise InputError("polarity", polarity, "'dark' or 'bright'")
    return polarity


def position(
    images: Real[np.ndarray, "rows height width"], polarity: Polarity = "dark"
) -> Float[np.ndarray, "rows 2"]:
    """The position of the bump: `(row, column)` of the darkest pixel of a dark image, the brightest of a bright one.

    **Arguments:**

    - `images`: `(rows, height, width)`.
    - `polarity`: which extreme to look for.

    **Returns:**

    `(rows, 2)` in pixels. Of several equal extremes it is the first in reading order. An image that contains
    NaN has position NaN.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import position
    >>> position(np.array([[[0.0, 0.0, 0.9], [0.1, 0.2, 0.3]]]), "bright").tolist()
    [[0.0, 2.0]]

    ```
    """
    images = np.asarray(images, dtype=np.float64)
    if images.ndim != 3:
        raise InputError("images", images.shape, "shape (rows, height, width)")
    flat = images.reshape(len(images), -1)
    pixel = flat.argmin(axis=1) if check_polarity(polarity) == "dark" else flat.argmax(axis=1)
    row_column = np.stack(np.unravel_index(pixel, images.shape[1:]), axis=1).astype(np.float64)
    row_column[np.isnan(flat).any(axis=1)] = np.nan
    return row_column


def position_accuracy(
    images: Real[np.ndarray, "rows height width"],
    positions_xy: Real[np.ndarray, "rows 2"],
    polarity: Polarity = "dark",
    tolerance: float = 0.0,
) -> Bool[np.ndarray, " rows"]:
    """Whether the bump is at the right position: `|column - x| <= tolerance` and `|row - y| <= tolerance`.

    **Arguments:**

    - `images`: `(rows, height, width)`.
    - `positions_xy`: the true `(x, y)` in pixels; x is the column and y the row.
    - `polarity`: see [`recombine.metrics.position`][].
    - `tolerance`: in pixels, for each coordinate. Report both 0 and 1.

    **Returns:**

    `(rows,)` booleans; their mean is the accuracy, from 0 to 1. Null value: a random pixel away from the border
    is right with probability `(2 tolerance + 1)^2 / (height * width)`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import position_accuracy
    >>> image = np.array([[[0.0, 0.0, 0.9], [0.1, 0.2, 0.3]]])
    >>> position_accuracy(image, np.array([[2, 0]]), "bright").tolist()
    [True]

    ```
    """
    return within_tolerance(position(images, polarity)[:, ::-1], positions_xy, tolerance)


def position_error(
    images: Real[np.ndarray, "rows height width"],
    positions_xy: Real[np.ndarray, "rows 2"],
    polarity: Polarity = "dark",
) -> Float[np.ndarray, " rows"]:
    """Euclidean distance in pixels from the position of the bump to the true `(x, y)`.

    **Arguments:** as for [`recombine.metrics.position_accuracy`][].

    **Returns:**

    `(rows,)`, from 0 to the diagonal of the image. Null value: about half the side of a square image, the mean
    distance of two random points in it (0.52 sides).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import position_error
    >>> position_error(np.eye(5)[None, :1].repeat(5, axis=1), np.array([[3, 4]]), "bright").tolist()
    [5.0]

    ```
    """
    predictions, targets = same_shape(position(images, polarity)[:, ::-1], positions_xy)
    return np.linalg.norm(predictions - targets, axis=1)


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

    `(rows,)`, from 0 (equal images) to 2. Null value: that of the blank image, see
    [`recombine.metrics.baseline_errors`][] with `error=structural_dissimilarity`.

    **Reference:** Wang et al., Image quality assessment, 2004, doi:10.1109/TIP.2003.819861.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import structural_dissimilarity
    >>> structural_dissimilarity(np.eye(9)[None], np.eye(9)[None]).tolist()
    [0.0]

    ```
    """
    # Our own because scikit-image takes one image at a time and would be a dependency for this alone; a test
    # compares the two.
    a, b = same_shape(outputs, targets)
    window = SSIM_WINDOW
    if a.ndim != 3 or min(a.shape[1:]) < window:
        raise InputError("images", a.shape, f"shape (rows, height, width), at least {window} high and wide")

    def local_mean(values: Float[np.ndarray, " ..."]) -> Float[np.ndarray, " ..."]:
        return uniform_filter(values, size=(1, window, window))

    unbias = window**2 / (window**2 - 1)  # sample variance instead of population variance
    mean_a, mean_b = local_mean(a), local_mean(b)
    var_a = unbias * (local_mean(a * a) - mean_a**2)
    var_b = unbias * (local_mean(b * b) - mean_b**2)
    covariance = unbias * (local_mean(a * b) - mean_a * mean_b)
    c1, c2 = 0.01**2, 0.03**2
    similarity = (2 * mean_a * mean_b + c1) * (2 * covariance + c2)
    similarity /= (mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)
    inside = slice(window // 2, -(window // 2))
    return 1.0 - similarity[:, inside, inside].mean(axis=(1, 2))
