"""How far a trained two-layer net is from the solution that gradient descent would reach in infinite time.

A net that classifies its training rows keeps growing; its direction converges to a solution of maximum margin in the
norm of its architecture. For units `h` with parts `zeta_h = v_h w_h` (all weight vectors of a unit, times its
readout) that is the group norm `sum_h |zeta_h|` (`recombine.theory.group_norm`).

| metric | range | at the limit |
|---|---|---|
| `normalised_margin` | at most 1 / (smallest group norm) | that value |
| `norm_ratio` | from 1 on, if all rows are right | 1 |
| `kkt_residual` | 0 to 1 | 0 |
| `balancedness` | from 0 on | 0 |
| `inconsistency` | 0 to 1; `by_chance` if two classifiers err independently | 0 |

**Reference:** Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks,
2022, arXiv 2202.02649.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Real

from recombine.errors import InputError
from recombine.theory.gated.bounded_programme import solve_bounded

Array = np.ndarray
_RIDGE = 1e-12  # relative to the mean diagonal, so that dependent gradients have a factor


def normalised_margin(outputs: Real[Array, " rows"], labels: Real[Array, " rows"], size: float) -> float:
    """The smallest `y f` over the rows, divided by the net's norm; negative if a row is wrong.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import normalised_margin
    >>> normalised_margin(np.array([2.0, -3.0]), np.array([1.0, -1.0]), size=4.0)
    0.5

    ```
    """
    y, f = _pair(outputs, labels)
    if not 0 < size < np.inf:
        raise InputError("size", size, "a positive norm")
    return float((y * f).min() / size)


def norm_ratio(
    outputs: Real[Array, " rows"], labels: Real[Array, " rows"], size: float, smallest: float
) -> float:
    """The net's norm, scaled to a margin of 1, relative to the smallest norm that has this margin.

    NaN if a row is wrong, because then no scaling has a margin.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import norm_ratio
    >>> norm_ratio(np.array([2.0, -4.0]), np.array([1.0, -1.0]), size=6.0, smallest=2.0)
    1.5

    ```
    """
    if not 0 < smallest < np.inf:
        raise InputError("smallest", smallest, "a positive norm")
    margin = normalised_margin(outputs, labels, size)
    return 1 / (margin * smallest) if margin > 0 else float("nan")


def kkt_residual(
    gram: Float[Array, "rows rows"], slopes: Float[Array, " rows"], squared_norm: float
) -> float:
    """How much of the parameters is not a non-negative combination of the gradients of `y f` on the training rows.

    At the limit the parameters are such a combination, with weight on the rows of smallest margin. It is found by
    non-negative least squares, from inner products alone: nets have more parameters than would fit row by row.

    **Arguments:**

    - `gram`: inner products of the gradients of `y f` between rows.
    - `slopes`: inner products of the gradients with the parameters; for a net of degree L they are `L y f`.
    - `squared_norm`: of the parameters.

    **Returns:**

    The norm of what is left relative to that of the parameters: 0 if nothing is, 1 if the gradients explain nothing.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import kkt_residual
    >>> round(kkt_residual(np.eye(2), np.array([1.0, 1.0]), 2.0), 4)
    0.0
    >>> kkt_residual(np.eye(2), np.array([-1.0, 0.0]), 1.0)
    1.0

    ```
    """
    Q, t = np.asarray(gram, dtype=np.float64), np.asarray(slopes, dtype=np.float64)
    if t.ndim != 1 or Q.shape != (len(t), len(t)):
        raise InputError("gram", Q.shape, f"{len(t)} x {len(t)}, as many rows as slopes")
    if not (np.isfinite(Q).all() and np.isfinite(t).all() and 0 < squared_norm < np.inf):
        expected = "finite numbers of a net with weights"
        raise InputError("gram, slopes, squared_norm", "NaN, infinity or zero", expected)
    ridged = Q + _RIDGE * float(np.trace(Q)) / len(Q) * np.eye(len(Q))
    found = solve_bounded(ridged, t).values
    left = squared_norm - 2 * float(t @ found) + float(found @ Q @ found)
    return float(np.sqrt(max(0.0, left) / squared_norm))


def balancedness(incoming: Float[Array, "units ..."], readout: Float[Array, " units"]) -> float:
    """How far units are from `v_h² = |w_h|²`, relative to the sum of both; it is conserved while a net is trained.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import balancedness
    >>> balancedness(np.array([[3.0, 4.0]]), np.array([5.0])), balancedness(np.array([[0.0]]), np.array([5.0]))
    (0.0, 1.0)

    ```
    """
    w = np.asarray(incoming, dtype=np.float64).reshape(len(incoming), -1)
    v = np.asarray(readout, dtype=np.float64)
    if v.shape != (len(w),):
        raise InputError("readout", v.shape, f"one number per unit, {len(w)}")
    squares = (w**2).sum(axis=1)
    total = float((squares + v**2).sum())
    if not np.isfinite(total) or total == 0:
        raise InputError("incoming", "zeros, NaN or infinity", "finite weights that are not all zero")
    return float(np.abs(v**2 - squares).sum() / total)


@dataclass(frozen=True)
class Inconsistency:
    """How often two classifiers differ.

    - `share`: of the rows.
    - `by_chance`: the share if both erred independently, from their own error rates; NaN without targets.
    """

    share: float
    by_chance: float

    @property
    def explained(self) -> float:
        """1 if one classifier predicts the other exactly, 0 if as by chance; NaN if neither ever errs."""
        return 1 - self.share / self.by_chance if self.by_chance > 0 else float("nan")


def inconsistency(
    first: Real[Array, " rows"], second: Real[Array, " rows"], targets: Real[Array, " rows"] | None = None
) -> Inconsistency:
    """How often the signs of two outputs differ, with its value if the two erred independently.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import inconsistency
    >>> y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
    >>> found = inconsistency(y * [1, 1, 1, -1, 1, 1, 1, 1], y * [1, 1, 1, -1, 1, 1, 1, -1], y)
    >>> found.share, found.by_chance  # errors 1/8 and 1/4: 1/8 · 3/4 + 1/4 · 7/8
    (0.125, 0.3125)

    ```
    """
    one, two = (np.sign(np.asarray(f, dtype=np.float64)) for f in (first, second))
    if one.shape != two.shape or one.ndim != 1 or not len(one):
        raise InputError("second", two.shape, f"as many outputs as the first, {one.shape}")
    if np.isnan(one).any() or np.isnan(two).any():
        raise InputError("first, second", "NaN", "outputs that are numbers")
    share = float(np.mean(one != two))
    if targets is None:
        return Inconsistency(share, float("nan"))
    p, q = (float(np.mean(sign != np.sign(_pair(sign, targets)[0]))) for sign in (one, two))
    return Inconsistency(share, p * (1 - q) + q * (1 - p))


def _pair(outputs: object, labels: object) -> tuple[Array, Array]:
    f, y = np.asarray(outputs, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    if f.shape != y.shape or f.ndim != 1 or not len(f):
        raise InputError("outputs", f.shape, f"one per label, {y.shape}")
    if not set(np.unique(y)) <= {-1.0, 1.0}:
        raise InputError("labels", np.unique(y)[:5].tolist(), "labels -1 and 1")
    if not np.isfinite(f).all():
        raise InputError("outputs", "NaN or infinity", "finite numbers")
    return y, f
