"""Interpolants of minimum penalty: what gradient descent ends at, computed without training.

Every function returns a `Solution` with its residual, and raises an `InputError` if no coefficients meet the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import linalg

from recombine.errors import InputError
from recombine.theory.penalties import DiagonalPenalty, finite

Array = np.ndarray
FEASIBLE = 1e-8
"""Targets count as reachable if least squares meets them to this share of their norm."""
_TRUST = 3.0  # the largest change of a coordinate's position in one Newton step, in units of the exponent
_STEPS = 500
_MAX_EXPONENT = 600.0  # beyond it coefficients run off to infinity: the targets are out of reach


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients that meet the targets at minimum penalty.

    - `coefficients`: `(features,)`, or `(tasks, features)` for several tasks.
    - `residual`: the largest deviation from a target, relative to the largest target.
    - `objective`: the penalty; relative to the start for networks that do not start at zero.
    - `steps`: iterations of the solver.
    """

    coefficients: Float[Array, "*tasks features"]
    residual: float
    objective: float
    steps: int = 0


def min_diagonal_penalty(
    inputs: Float[Array, "rows features"], targets: Float[Array, " rows"], penalty: DiagonalPenalty
) -> Solution:
    """The limit of gradient flow in a diagonal linear network, by Newton's method on the dual problem.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import DiagonalWeights, min_diagonal_penalty
    >>> rng = np.random.default_rng(0)
    >>> x, beta = rng.normal(size=(20, 50)), np.eye(50)[0]
    >>> sparse = DiagonalWeights.constant(50, w=1e-3, v=1e-3).penalty()
    >>> solution = min_diagonal_penalty(x, x @ beta, sparse)
    >>> solution.coefficients[:2].round(2) + 0  # small initial weights find the sparse teacher
    array([1., 0.])

    ```
    """
    x, y = _checked(inputs, targets)
    if len(penalty.A) != x.shape[1]:
        raise InputError("penalty", len(penalty.A), f"one entry per feature, {x.shape[1]}")
    moving = penalty.A + penalty.B > 0  # weights of zero stay at zero
    rows, aims = _independent_rows(x[:, moving], y)
    half_a, half_b = penalty.A[moving] / 4, penalty.B[moving] / 4

    def dual(u: Array, nu: Array) -> float:
        with np.errstate(over="ignore"):
            return float((half_a * np.exp(u) + half_b * np.exp(-u)).sum() - aims @ nu)

    def coefficients(u: Array) -> Array:
        near = np.clip(u, -1, 1)  # where the difference of exponentials would lose its digits
        small = (half_a - half_b) * np.cosh(near) + (half_a + half_b) * np.sinh(near)
        return np.where(u == near, small, half_a * np.exp(u) - half_b * np.exp(-u))

    nu, u = np.zeros(len(aims)), np.zeros(rows.shape[1])
    goal = 1e-14 * float(np.abs(aims).max(initial=0.0))
    last, steps = np.inf, 0
    while steps < _STEPS and len(aims):
        up, down = half_a * np.exp(u), half_b * np.exp(-u)
        gradient = rows @ coefficients(u) - aims
        off = float(np.abs(gradient).max(initial=0.0))
        step = -_solved((rows * (up + down)) @ rows.T, gradient)
        along, slope, value = rows.T @ step, float(gradient @ step), dual(u, nu)
        # So close to the optimum the dual changes by less than its rounding: whole steps, while they still help.
        close = -slope < 1e-9 * abs(value)
        if off <= goal or (close and off > last / 2):
            break
        last, steps = off if close else np.inf, steps + 1
        length = 1.0 if close else min(1.0, _TRUST / float(np.abs(along).max()))
        while not close and dual(u + length * along, nu + length * step) > value + 1e-4 * length * slope:
            length /= 2
        nu, u = nu + length * step, u + length * along
        if np.abs(u).max() > _MAX_EXPONENT:
            raise _infeasible(y)
    beta = np.zeros(x.shape[1])
    beta[moving] = coefficients(u)
    if not _met(x, beta, y):  # targets may need a sign that weights on one side only cannot reach
        raise _infeasible(y)
    at_start = penalty.value(penalty.coefficients(np.zeros(len(penalty.A))))
    objective = float((penalty.value(beta) - at_start)[moving].sum())
    return Solution(beta, _residual(x, beta, y), objective, steps)


def _solved(hessian: Array, gradient: Array) -> Array:
    """Newton's step; a little is added to the diagonal where exponents make it singular to rounding."""
    ridge = 0.0
    scale = float(np.trace(hessian)) / len(hessian)
    while True:
        try:
            factor = linalg.cho_factor(hessian + ridge * np.eye(len(hessian)), check_finite=False)
            return np.asarray(linalg.cho_solve(factor, gradient, check_finite=False))
        except linalg.LinAlgError:
            ridge = max(10 * ridge, 1e-15 * scale)


def min_l1(inputs: Float[Array, "rows features"], targets: Float[Array, " rows"]) -> Solution:
    """The interpolant of smallest l1 norm, the limit of vanishing initial weights, by linear programming.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import min_l1
    >>> min_l1(np.array([[2.0, 1.0]]), np.array([2.0])).coefficients.round(6) + 0
    array([1., 0.])

    ```
    """
    from scipy.optimize import linprog

    x, y = _checked(inputs, targets)
    rows, aims = x / _size(x), y / _size(y)
    found = linprog(
        np.ones(2 * x.shape[1]), A_eq=np.hstack([rows, -rows]), b_eq=aims, bounds=(0, None), method="highs"
    )
    if found.x is None:
        raise _infeasible(y)
    beta = _size(y) / _size(x) * (found.x[: x.shape[1]] - found.x[x.shape[1] :])
    return Solution(beta, _residual(x, beta, y), float(np.abs(beta).sum()), int(found.nit))


def min_l2(
    inputs: Float[Array, "rows features"],
    targets: Float[Array, " rows"],
    *,
    weights: Float[Array, " features"] | None = None,
    start: Float[Array, " features"] | None = None,
) -> Solution:
    """The interpolant of smallest l2 norm, or of smallest `sum (beta - start)² / weights`.

    Without weights it is the limit of large initial weights. With `weights = w+² + w-²` it is what training the readout
    alone ends at (a linear probe); features of weight 0 stay where they start.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import min_l2
    >>> min_l2(np.array([[1.0, 1.0]]), np.array([2.0])).coefficients.round(6)
    array([1., 1.])

    ```
    """
    x, y = _checked(inputs, targets)
    size = np.ones(x.shape[1]) if weights is None else finite("weights", weights, ndim=1)
    origin = np.zeros(x.shape[1]) if start is None else finite("start", start, ndim=1)
    for name, vector in (("weights", size), ("start", origin)):
        if len(vector) != x.shape[1]:
            raise InputError(name, len(vector), f"one entry per feature, {x.shape[1]}")
    if (size < 0).any():
        raise InputError("weights", float(size.min()), "numbers from 0 on")
    root = np.sqrt(size)
    change = np.linalg.lstsq(x * root, y - x @ origin, rcond=None)[0]
    beta = origin + root * change
    if not _met(x, beta, y):
        raise _infeasible(y)
    return Solution(beta, _residual(x, beta, y), float((change**2).sum()))


def min_group_norm(
    inputs: Sequence[Float[Array, "_ features"]],
    targets: Sequence[Float[Array, _]],
    *,
    known: Float[Array, "tasks features"] | None = None,
) -> Solution:
    """The interpolants of several tasks with the smallest sum over features of the l2 norm over tasks.

    It is the limit of vanishing weight decay in multi-task learning (not of plain gradient descent).

    **Arguments:**

    - `inputs`, `targets`: one of each per task.
    - `known`: coefficients of further tasks that are given, not solved for, such as an auxiliary task with more rows
        than features.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import min_group_norm
    >>> x = np.array([[1.0, 1.0]])  # both features would do; the known one is cheaper
    >>> min_group_norm([x], [np.array([1.0])], known=np.array([[2.0, 0.0]])).coefficients.round(4) + 0
    array([[1., 0.]])

    ```
    """
    import clarabel
    from scipy import sparse

    if len(inputs) != len(targets) or not inputs:
        raise InputError("inputs", f"{len(inputs)} inputs and {len(targets)} targets", "one of each per task")
    tasks = [_checked(x, y) for x, y in zip(inputs, targets, strict=True)]
    features = tasks[0][0].shape[1]
    if any(x.shape[1] != features for x, _ in tasks):
        raise InputError("inputs", [x.shape for x, _ in tasks], "as many features in every task")
    given = np.zeros((0, features)) if known is None else finite("known", known, ndim=2)
    if given.shape[1] != features:
        raise InputError("known", given.shape, f"(tasks, {features})")
    for x, y in tasks:
        _independent_rows(x, y)  # says which task cannot be met
    # Variables: for every feature its bound t, then its coefficient in each task.
    T, constant = len(tasks), np.sqrt((given**2).sum(axis=0))
    width = 1 + T
    unit, scale = (
        _size(np.concatenate([one.ravel() for one in every])) for every in zip(*tasks, strict=True)
    )
    equalities, aims = [], []
    for task, (x, y) in enumerate(tasks):
        block = sparse.lil_matrix((len(y), features * width))
        block[:, 1 + task :: width] = x / unit
        equalities.append(block.tocsc())
        aims.append(y / scale)
    cone = 2 + T  # (t, coefficients, norm of what is known)
    picks = sparse.kron(
        sparse.eye(features), sparse.vstack([-sparse.eye(width), sparse.csc_matrix((1, width))])
    )
    offsets = np.zeros((features, cone))
    offsets[:, -1] = constant * unit / scale
    problem = (
        sparse.csc_matrix((features * width, features * width)),
        np.tile(np.eye(width)[0], features),
        sparse.vstack([*equalities, picks]).tocsc(),
        np.concatenate([*aims, offsets.ravel()]),
    )
    cones = [clarabel.ZeroConeT(sum(len(y) for _, y in tasks)), *[clarabel.SecondOrderConeT(cone)] * features]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(*problem, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise InputError("targets", str(found.status), "targets that the inputs can produce")
    beta = scale / unit * np.asarray(found.x).reshape(features, width)[:, 1:].T
    if not all(_met(x, b, y) for (x, y), b in zip(tasks, beta, strict=True)):
        raise InputError("targets", "a solution that misses them", "tasks on similar scales")
    residual = max(_residual(x, b, y) for (x, y), b in zip(tasks, beta, strict=True))
    objective = float(np.sqrt((beta**2).sum(axis=0) + constant**2).sum())
    return Solution(beta, residual, objective, int(found.iterations))


def _checked(inputs: object, targets: object) -> tuple[Array, Array]:
    x, y = finite("inputs", inputs, ndim=2), finite("targets", targets, ndim=1)
    if len(x) != len(y):
        raise InputError("targets", len(y), f"one per row of the inputs, {len(x)}")
    return x, y


def _independent_rows(x: Array, y: Array) -> tuple[Array, Array]:
    """The same equations with orthonormal rows; an `InputError` if they contradict each other."""
    u, sizes, rows = np.linalg.svd(x, full_matrices=False)
    rank = int((sizes > sizes.max(initial=0.0) * max(x.shape) * np.finfo(float).eps).sum())
    aims = (u[:, :rank].T @ y) / sizes[:rank]
    left = np.linalg.norm(x @ (rows[:rank].T @ aims) - y)
    if left > FEASIBLE * max(float(np.linalg.norm(y)), 1e-300):
        raise _infeasible(y)
    return rows[:rank], aims


def _size(array: Array) -> float:
    """The largest entry: solvers work in units of it, since their tolerances are absolute."""
    return float(np.abs(array).max(initial=0.0)) or 1.0


def _residual(x: Array, beta: Array, y: Array) -> float:
    """The largest deviation over the largest target; if all targets are zero, over what has to cancel."""
    largest = float(np.abs(y).max(initial=0.0)) or float((np.abs(x) @ np.abs(beta)).max(initial=0.0)) or 1.0
    return float(np.abs(x @ beta - y).max(initial=0.0) / largest)


def _met(x: Array, beta: Array, y: Array) -> bool:
    """Whether coefficients meet the targets, as far as sums of this size can be told from them."""
    off = float(np.abs(x @ beta - y).max(initial=0.0))
    terms = float((np.abs(x) @ np.abs(beta)).max(initial=0.0))
    return off <= max(1e-6 * float(np.abs(y).max(initial=0.0)), 1e-12 * terms)


def _infeasible(y: Array) -> InputError:
    return InputError(
        "targets",
        f"{len(y)} values",
        "targets that a linear function of the inputs can produce; these contradict each other",
    )
