"""Baselines: the outputs of predictors that cannot compose, and their errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Real

from recombine.errors import InputError
from recombine.metrics.behaviour import squared_error, summarise
from recombine.metrics.superposition import superposition_image


def baseline_images(
    targets: Real[np.ndarray, " rows *shape"],
    seen: Bool[np.ndarray, " rows"],
    levels: Real[np.ndarray, "rows factors"],
    blank: float,
) -> dict[str, Float[np.ndarray, " rows *shape"]]:
    """The images that three predictors without any notion of composition output for every row.

    **Arguments:**

    - `targets`: `(rows, ...)`.
    - `seen`: true for the rows of seen cells, the only rows the predictors may learn from.
    - `levels`: `(rows, factors)`.
    - `blank`: the value of the empty background, 1 for dark images and 0 for bright ones.

    **Returns:**

    By name, images in the targets' shape:

    - `blank`: the empty image;
    - `mean_image`: the mean of the seen images;
    - `superposition`: [`recombine.metrics.superposition_image`][] of the deviations from the background,
        divided by its largest absolute value so that its extreme has contrast 1, added to the background.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import baseline_images
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> images = baseline_images(np.eye(4), np.array([True, True, True, False]), levels, blank=0.0)
    >>> images["mean_image"][3].round(2).tolist(), images["superposition"][3].tolist()
    ([0.33, 0.33, 0.33, 0.0], [0.0, 1.0, 1.0, 0.0])

    ```
    """
    targets, seen = np.asarray(targets, dtype=np.float64), np.asarray(seen, dtype=bool)
    if seen.shape != targets.shape[:1] or not seen.any():
        raise InputError("seen", seen.shape, f"a mask over {len(targets)} rows with at least one seen row")
    superposed = superposition_image(targets - blank, levels, seen)
    extreme = np.abs(superposed).reshape(len(superposed), -1).max(axis=1)
    extreme = np.where(extreme > 0, extreme, 1.0).reshape(-1, *[1] * (targets.ndim - 1))
    return {
        "blank": np.full(targets.shape, float(blank)),
        "mean_image": np.broadcast_to(targets[seen].mean(axis=0), targets.shape).copy(),
        "superposition": blank + superposed / extreme,
    }


def baseline_errors(
    targets: Real[np.ndarray, " rows *shape"],
    seen: Bool[np.ndarray, " rows"],
    levels: Real[np.ndarray, "rows factors"],
    blank: float,
    *,
    error: Callable[[np.ndarray, np.ndarray], np.ndarray] = squared_error,
) -> dict[str, float]:
    """The mean error of every baseline on seen and on unseen rows: the null values of a net's error.

    **Arguments:** as for [`recombine.metrics.baseline_images`][], and

    - `error`: a per-row measure of `(outputs, targets)`, `(rows,)`; default: mean squared error.

    **Returns:**

    `in_blank`, `out_blank`, `in_mean_image`, `out_mean_image`, `in_superposition` and `out_superposition`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import baseline_errors
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> errors = baseline_errors(np.eye(4), np.array([True, True, True, False]), levels, blank=0.0)
    >>> errors["in_blank"], errors["out_superposition"]
    (0.25, 0.75)

    ```
    """
    errors: dict[str, float] = {}
    for name, images in baseline_images(targets, seen, levels, blank).items():
        summary = summarise(error(images, np.asarray(targets)), seen)
        errors |= {f"{side}_{name}": summary[f"{side}_mean"] for side in ("in", "out")}
    return errors
