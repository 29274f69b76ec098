"""The inner programme of every margin machine: `min a'Qa/2 - t'a` with `low <= a <= high`, by pivoting.

A hard margin has bounds 0 and infinity, a soft margin 0 and its cost, regression none. Block principal pivoting guesses
which variables are at a bound, solves for the others, and exchanges all that are on the wrong side; from a good guess
it takes two or three rounds of one Cholesky factorisation each. Guesses go in circles where `Q` is nearly singular,
for example if there are many more rows than features, or if many variables are at their upper bound. Then an
interior-point method takes over, whose number of factorisations hardly depends on the problem, and its solution is the
guess that pivoting starts from once more.

**References:** Júdice and Pires, A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, 1994; Mehrotra, On the implementation of a primal-dual interior point method, 1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import linalg

Array = np.ndarray
MAX_PIVOTS = 60
PATIENCE = 5
"""Exchanges without progress before the interior-point method takes over."""
MAX_STEPS = 100
"""Of the interior-point method."""
TO_BOUNDARY = 0.995
"""The share of the way to the nearest bound that a step may go."""


@dataclass(frozen=True, eq=False)
class BoundedSolution:
    """Variables at the optimum.

    - `free`: those strictly between their bounds, which the next problem may start from.
    - `factor`: Cholesky factor of `Q` on the free variables.
    - `converged`: whether every condition of optimality holds.
    - `pivots`: rounds of exchanging.
    """

    values: Float[Array, " n"]
    free: Bool[Array, " n"]
    factor: tuple[Array, bool]
    converged: bool
    pivots: int


def solve_bounded(
    Q: Float[Array, "n n"],
    t: Float[Array, " n"],
    *,
    high: float = np.inf,
    start: BoundedSolution | None = None,
    tolerance: float = 1e-10,
) -> BoundedSolution:
    """Solves `min a'Qa/2 - t'a` with `0 <= a <= high`.

    **Arguments:**

    - `Q`: symmetric and positive definite.
    - `start`: the solution of a similar problem.
    - `tolerance`: how far variables and gradients may be on the wrong side, relative to the largest of each.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated.bounded_programme import solve_bounded
    >>> solve_bounded(np.array([[2.0, 1.9], [1.9, 2.0]]), np.array([1.0, 0.5])).values.round(4)
    array([0.5, 0. ])

    ```
    """
    solution = _by_pivoting(Q, t, high, start, tolerance)
    if solution.converged:
        return solution
    near = _by_interior_point(Q, t, high, tolerance)
    polished = _by_pivoting(Q, t, high, near, tolerance)
    return polished if polished.converged else near


def _by_pivoting(
    Q: Array, t: Array, high: float, start: BoundedSolution | None, tolerance: float
) -> BoundedSolution:
    """Exchanges all variables on the wrong side of a bound until there are none, or no fewer for a while."""
    n = len(t)
    free = np.ones(n, dtype=bool) if start is None else start.free.copy()
    at_high = np.zeros(n, dtype=bool) if start is None else ~free & (start.values > 0) & np.isfinite(high)
    fewest, patience = n + 1, PATIENCE
    factor: tuple[Array, bool] = (np.zeros((0, 0)), True)
    values = np.zeros(n)
    for pivots in range(1, MAX_PIVOTS + 1):
        values = np.where(at_high, high, 0.0) if np.isfinite(high) else np.zeros(n)
        right = t - Q[:, at_high] @ values[at_high] if at_high.any() else t
        if free.any():
            index = np.flatnonzero(free)
            try:
                factor = linalg.cho_factor(Q[np.ix_(index, index)], lower=True, check_finite=False)
            except linalg.LinAlgError:
                break
            values[index] = linalg.cho_solve(factor, right[index], check_finite=False)
        gradient = Q @ values - t
        slack_a = tolerance * max(1e-300, float(np.abs(values).max(initial=0.0)))
        slack_g = tolerance * max(1e-300, float(np.abs(t).max(initial=0.0)))
        below, above = free & (values < -slack_a), free & (values > high + slack_a)
        enter = ~free & np.where(at_high, gradient > slack_g, gradient < -slack_g)
        wrong = below | above | enter
        count = int(wrong.sum())
        if count == 0:
            return BoundedSolution(np.clip(values, 0.0, high), free, factor, True, pivots)
        fewest, patience = (count, PATIENCE) if count < fewest else (fewest, patience - 1)
        if patience < 0:
            break
        free = (free & ~(wrong & (below | above))) | (wrong & enter)
        at_high = (at_high & ~(wrong & enter)) | (wrong & above)
    return BoundedSolution(np.clip(values, 0.0, high), free, factor, False, pivots)


def _by_interior_point(Q: Array, t: Array, high: float, tolerance: float) -> BoundedSolution:
    """The same problem along the central path: `Qa - t = z - u` and `a z = s u = mu -> 0`, where `s = high - a`.

    Without an upper bound `u` is 0 and `s` is not used.
    """
    n, bounded = len(t), bool(np.isfinite(high))
    # In units of the targets, and of what one variable alone would need to reach them, all numbers are near 1.
    target, level = float(np.abs(t).max()), float(np.trace(Q)) / len(t)
    if not (target > 0 and level > 0):  # nothing to reach, or nothing to reach it with
        none = (np.zeros((0, 0)), True)
        return BoundedSolution(np.zeros(n), np.zeros(n, dtype=bool), none, target == 0, 0)
    unit = target / level
    H, c, top = Q / level, t / target, high / unit
    a, z, u = np.full(n, min(1.0, 0.5 * top)), np.ones(n), np.full(n, float(bounded))
    converged = False
    for _ in range(MAX_STEPS):
        s = top - a if bounded else np.ones(n)
        residual = H @ a - c - z + u
        products = float(a @ z + s @ u)
        if np.abs(residual).max() < tolerance and products < tolerance * max(1.0, abs(float(c @ a))):
            converged = True
            break
        M = H.copy()
        M[np.diag_indices_from(M)] += z / a + u / s
        try:
            factor = linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            break
        point = (a, s, z, u)
        # Mehrotra: where a step straight to the optimum would end says how far to centre, and what it would miss.
        da, dz, du = _newton_step(factor, point, residual, 0.0, 0.0)
        length = _longest(point, (da, -da, dz, du), bounded=bounded)
        after = float((a + length * da) @ (z + length * dz) + (s - length * da) @ (u + length * du))
        centre = products / (n * (1 + bounded)) * (max(0.0, after) / products) ** 3
        da, dz, du = _newton_step(
            factor, point, residual, centre - da * dz, centre + da * du if bounded else 0.0
        )
        length = min(1.0, TO_BOUNDARY * _longest(point, (da, -da, dz, du), bounded=bounded))
        a, z, u = a + length * da, z + length * dz, u + length * du
    # A variable is at a bound if its multiplier is larger than its distance from it.
    low, at_high = a <= z, (top - a <= u) & bounded
    values = np.where(low, 0.0, np.where(at_high, high, a * unit))
    free = ~low & ~at_high
    end = (np.zeros((0, 0)), True)
    if free.any():
        index = np.flatnonzero(free)
        try:
            end = linalg.cho_factor(Q[np.ix_(index, index)], lower=True, check_finite=False)
        except linalg.LinAlgError:
            converged = False
    return BoundedSolution(values, free, end, converged, MAX_STEPS)


def _newton_step(
    factor: tuple[Array, bool],
    point: tuple[Array, Array, Array, Array],
    residual: Array,
    aim_a: Array | float,
    aim_s: Array | float,
) -> tuple[Array, Array, Array]:
    """Changes of `a`, `z` and `u` that bring the residual to 0 and the products `a z` and `s u` to their aims."""
    a, s, z, u = point
    own, other = aim_a / a - z, aim_s / s - u
    da = linalg.cho_solve(factor, own - other - residual, check_finite=False)
    return da, own - z / a * da, other + u / s * da


def _longest(
    point: tuple[Array, Array, Array, Array], changes: tuple[Array, Array, Array, Array], *, bounded: bool
) -> float:
    """The longest step, at most 1, after which nothing is negative; slacks `s` and `u` count if there is a bound."""
    longest = 1.0
    for values, change, counts in zip(point, changes, (True, bounded, True, bounded), strict=True):
        shrinking = change < 0
        if counts and shrinking.any():
            longest = min(longest, float((-values[shrinking] / change[shrinking]).min()))
    return longest
