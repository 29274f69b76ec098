"""The inner programme of every margin machine: `min a'Qa/2 - t'a` with `low <= a <= high`, by pivoting.

A hard margin has bounds 0 and infinity, a soft margin 0 and its cost, regression none. Block principal pivoting guesses
which variables are at a bound, solves for the others, and exchanges all that are on the wrong side; from a good guess
it takes two or three rounds of one Cholesky factorisation each. Where blocks stop helping, one variable is exchanged
at a time, which cannot cycle if `Q` is positive definite; where rounding makes it singular, an interior-point method
takes over.

**Reference:** Júdice and Pires, A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, 1994.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import linalg

Array = np.ndarray
MAX_PIVOTS = 60
PATIENCE = 10
"""Block exchanges without progress before variables are exchanged one at a time."""


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
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience > 0:
            patience -= 1
        else:
            last = int(np.flatnonzero(wrong)[-1])
            wrong = np.zeros(n, dtype=bool)
            wrong[last] = True
        free = (free & ~(wrong & (below | above))) | (wrong & enter)
        at_high = (at_high & ~(wrong & enter)) | (wrong & above)
    return _by_interior_point(Q, t, high)


def _by_interior_point(Q: Array, t: Array, high: float) -> BoundedSolution:
    """The same problem by Clarabel, for matrices that are singular to rounding, where guesses go in circles."""
    import clarabel
    from scipy import sparse

    n = len(t)
    scale = float(np.abs(np.diag(Q)).max())
    bounds = [-sparse.identity(n)] + ([sparse.identity(n)] if np.isfinite(high) else [])
    right = np.concatenate([np.zeros(n)] + ([np.full(n, high)] if np.isfinite(high) else []))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(Q / scale)),
        -t / scale,
        sparse.vstack(bounds).tocsc(),
        right,
        [clarabel.NonnegativeConeT(len(right))],
        settings,
    ).solve()
    values = np.clip(np.asarray(found.x), 0.0, high)
    near = 1e-7 * float(values.max(initial=0.0))
    free = (values > near) & (values < high - near)
    index = np.flatnonzero(free)
    factor = (np.zeros((0, 0)), True)
    if len(index):
        factor = linalg.cho_factor(Q[np.ix_(index, index)], lower=True, check_finite=False)
    solved = str(found.status) in ("Solved", "AlmostSolved")
    return BoundedSolution(values, free, factor, solved, MAX_PIVOTS)
