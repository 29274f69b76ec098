"""Are the slots of a model those of the world? Each true concept read from each slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.probes.slots import quantiles


def slot_identifiability(
    inferred: Float[np.ndarray, "n slots width"],
    true: Float[np.ndarray, "n concepts latents"],
    *,
    seed: int = 0,
    draws: int = 500,
) -> dict[str, Any]:
    """How well each true concept is read from its slot, and how much better than from any other slot.

    Kernel ridge regression (RBF, alpha 1) on standardised values, 80 % for fitting; concepts and slots are matched one
    to one for the largest sum of R².

    **Returns:**

    `r2` `(concepts, slots)`, `matched` and `crossed` `(concepts,)`, the R² of the matched slot and the best of another
    one, `score`, the mean of their differences (1 is perfect; Brady et al. 2023), and `interval`, 95 % by `draws`
    bootstrap resamples of the test rows.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.identifiability import slot_identifiability
    >>> z = np.random.default_rng(0).normal(size=(500, 2, 2))
    >>> found = slot_identifiability(np.tanh(z[:, ::-1]), z)
    >>> bool(found["matched"].min() > 0.95), bool(found["crossed"].max() < 0.1)
    (True, True)

    ```
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.kernel_ridge import KernelRidge

    if inferred.ndim != 3 or true.ndim != 3 or len(inferred) != len(true):
        raise InputError("slots", f"{inferred.shape} and {true.shape}", "(n, slots, width) for both")
    if inferred.shape[1] < max(2, true.shape[1]):
        raise InputError("slots", inferred.shape[1], f"{max(2, true.shape[1])} or more, one for each concept")
    order = np.random.default_rng(seed).permutation(len(true))
    cut = round(0.8 * len(true))
    fit, test = order[:cut], order[cut:]
    x, y = (_standardised(values, fit) for values in (inferred, true))
    errors = np.empty((len(test), true.shape[1], inferred.shape[1]))
    targets = y.reshape(len(y), -1)
    for slot in range(inferred.shape[1]):
        machine = KernelRidge(kernel="rbf", alpha=1.0, gamma=1 / inferred.shape[2])
        guess = machine.fit(x[fit, slot], targets[fit]).predict(x[test, slot])
        errors[:, :, slot] = ((guess - targets[test]) ** 2).reshape(len(test), *true.shape[1:]).mean(axis=2)
    r2 = _r2(errors, y[test])
    concepts, slots = linear_sum_assignment(-r2)
    chosen = np.arange(r2.shape[1]) == slots[:, None]
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(draws):
        rows = rng.integers(len(test), size=len(test))
        scores.append(_gaps(_r2(errors[rows], y[test][rows])[concepts], chosen).mean())
    kept = r2[concepts]
    return {
        "r2": r2,
        "matched": kept[chosen],
        "crossed": np.where(chosen, -np.inf, kept).max(axis=1),
        "score": float(_gaps(kept, chosen).mean()),
        "interval": quantiles(np.array(scores), 0.95),
    }


def _r2(
    errors: Float[np.ndarray, "rows concepts slots"], true: np.ndarray
) -> Float[np.ndarray, "concepts slots"]:
    return 1 - errors.mean(axis=0) / true.var(axis=0).mean(axis=1)[:, None]


def _gaps(r2: Float[np.ndarray, "concepts slots"], chosen: Bool[np.ndarray, "concepts slots"]) -> np.ndarray:
    """R² of the matched slot minus the best of another one."""
    return r2[chosen] - np.where(chosen, -np.inf, r2).max(axis=1)


def _standardised(values: np.ndarray, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    centre, scale = values[rows].mean(axis=0), values[rows].std(axis=0)
    return (values - centre) / np.where(scale > 0, scale, 1)
