"""Identifiability: how well each true concept can be decoded from each slot of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.intervals import percentile_interval, resample_counts


def slot_identifiability(
    inferred: Float[np.ndarray, "n slots width"],
    true: Float[np.ndarray, "n concepts latents"],
    *,
    penalties: Sequence[float] = (1.0,),
    seed: int = 0,
    draws: int = 500,
) -> dict[str, Any]:
    """How well each true concept is decoded from its slot, and how much better than from any other slot.

    Kernel ridge regression (RBF) on standardised values, fitted to 80% of the rows and scored on the rest. Concepts and
    slots are matched one to one so that the sum of R² is largest.

    **Arguments:**

    - `inferred`: the slots of the model, `(n, slots, width)`, at least as many slots as concepts.
    - `true`: the latents of the concepts, `(n, concepts, latents)`.
    - `penalties`: of the ridge regression, 1 as in Brady et al. (2023). From several, five-fold cross-validation on the
        fitted rows picks one for every slot.
    - `seed`: of the split into fitted and scored rows, and of the bootstrap.
    - `draws`: the number of bootstrap resamples.

    **Returns:**

    - `r2`: `(concepts, slots)`, at most 1; 0 is the fit of the mean.
    - `matched`, `crossed`: `(concepts,)`, the R² of the matched slot and the best R² of any other slot.
    - `score`: the mean of `matched - crossed` (Brady et al. 2023); 1 is perfect. Null value: about 0, if every slot
        carries the same information.
    - `interval`: of the score, 95%, by bootstrap resamples of the scored rows.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import slot_identifiability
    >>> z = np.random.default_rng(0).normal(size=(500, 2, 2))
    >>> scores = slot_identifiability(np.tanh(z[:, ::-1]), z)
    >>> bool(scores["matched"].min() > 0.95), bool(scores["crossed"].max() < 0.1)
    (True, True)

    ```
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    if inferred.ndim != 3 or true.ndim != 3 or len(inferred) != len(true):
        raise InputError("slots", f"{inferred.shape} and {true.shape}", "(n, slots, width) for both")
    if inferred.shape[1] < max(2, true.shape[1]):
        raise InputError("slots", inferred.shape[1], f"{max(2, true.shape[1])} or more, one for each concept")
    if not penalties or min(penalties) <= 0:
        raise InputError("penalties", tuple(penalties), "one or more positive numbers")
    order = np.random.default_rng(seed).permutation(len(true))
    cut = round(0.8 * len(true))
    fit, test = order[:cut], order[cut:]
    x, y = (_standardise(values, fit) for values in (inferred, true))
    errors = np.empty((len(test), true.shape[1], inferred.shape[1]))
    targets = y.reshape(len(y), -1)
    for slot in range(inferred.shape[1]):
        regression = KernelRidge(kernel="rbf", alpha=penalties[0], gamma=1 / inferred.shape[2])
        if len(penalties) > 1:
            regression = GridSearchCV(regression, {"alpha": list(penalties)}, scoring="r2", cv=5)
        predictions = regression.fit(x[fit, slot], targets[fit]).predict(x[test, slot])
        errors[:, :, slot] = (
            ((predictions - targets[test]) ** 2).reshape(len(test), *true.shape[1:]).mean(axis=2)
        )
    r2 = _r2(errors, y[test])
    concepts, slots = linear_sum_assignment(-r2)
    chosen = np.arange(r2.shape[1]) == slots[:, None]
    scores = []
    for counts in resample_counts(np.random.default_rng(seed), len(test), draws):
        rows = np.repeat(np.arange(len(test)), counts)
        scores.append(_gaps(_r2(errors[rows], y[test][rows])[concepts], chosen).mean())
    matched_r2 = r2[concepts]
    return {
        "r2": r2,
        "matched": matched_r2[chosen],
        "crossed": np.where(chosen, -np.inf, matched_r2).max(axis=1),
        "score": float(_gaps(matched_r2, chosen).mean()),
        "interval": percentile_interval(scores),
    }


def _r2(
    errors: Float[np.ndarray, "rows concepts slots"], true: np.ndarray
) -> Float[np.ndarray, "concepts slots"]:
    return 1 - errors.mean(axis=0) / true.var(axis=0).mean(axis=1)[:, None]


def _gaps(r2: Float[np.ndarray, "concepts slots"], chosen: Bool[np.ndarray, "concepts slots"]) -> np.ndarray:
    """R² of the matched slot minus the best R² of any other slot."""
    return r2[chosen] - np.where(chosen, -np.inf, r2).max(axis=1)


def _standardise(values: np.ndarray, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    centre, scale = values[rows].mean(axis=0), values[rows].std(axis=0)
    return (values - centre) / np.where(scale > 0, scale, 1)
