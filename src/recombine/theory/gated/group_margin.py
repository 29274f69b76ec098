"""Machines of minimum group norm, the infinite-time limit of two-layer gated linear networks.

The norm is `R = sum_h |zeta_h|`, where `zeta_h` holds all weight vectors of unit `h`. Three programmes share it:

    hard margin   min R                 with  y_i f(x_i) >= 1
    soft margin   min R + cost sum xi   with  y_i f(x_i) >= 1 - xi_i,  xi >= 0
    regression    min R                 with  f(x_i) = y_i

All are solved in the scales of the units, by multiple-kernel learning: `R = min over s >= 0 of sum_h (|zeta_h|² / s_h +
s_h) / 2`, so that for given scales `s` the machine is an ordinary one with the kernel `sum_h s_h K_h`. Its optimal
value `J(s)` is convex; with dual weights `a` and `g_h = sum_i a_i y_i phi_h(x_i)`

    dJ/ds_h = -|g_h|² / 2,        d²J/ds_h ds_k = u_h' Q⁻¹ u_k  on the support vectors,   u_h = Q_h a,

and Newton's method on `J(s) + sum(s) / 2` takes ten to thirty rounds. At the optimum `|g_h| = 1` for all units in use.
Any dual weights, divided by the largest `|g_h|`, give a lower bound on `R`: the duality gap certifies the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.gated.bounded_programme import BoundedSolution, solve_bounded
from recombine.theory.gated.gated_rows import Array, DiagonalRows, GatedRows
from recombine.theory.penalties import finite

Kind = Literal["hard margin", "soft margin", "regression"]
RIDGES = (1e-11, 1e-9, 1e-7)
"""Added to kernels, relative to their mean diagonal, so that singular ones have a factor; the first that works."""
ACTIVE = 1e-6
"""Units whose share of the norm is above this are in use, and rows whose dual weight is above this share of the largest
are support vectors."""
INSEPARABLE = 1e-5
"""Labels count as inseparable if a mixture of rows comes this close to cancelling, relative to its features."""
MAX_NEWTON, THINNING = 300, 20
"""Units that a Newton step moves together; with more, these many rounds of reweighting show first which ones count."""
MAX_ROUNDS = 200


@dataclass(frozen=True, eq=False)
class GroupMachine:
    """A machine of minimum group norm, with its certificate.

    - `weights`: `(units, contexts, inputs)`.
    - `dual`: `(rows,)`, dual weights; for margins they are not negative.
    - `norm`: `sum_h |zeta_h|`.
    - `primal`, `bound`: the value that was reached (with the cost of slack, if any), and the lower bound from the dual.
    - `scales`: of the units, from which a similar problem may start.
    - `rounds`: of Newton's method.
    """

    kind: Kind
    weights: Float[Array, "units contexts inputs"]
    dual: Float[Array, " rows"]
    norm: float
    primal: float
    bound: float
    scales: Float[Array, " units"]
    rounds: int

    @property
    def gap(self) -> float:
        """The relative duality gap: the norm is at most this share above its optimum. Infinite without a margin."""
        if not np.isfinite(self.primal):
            return float("inf")
        return (self.primal - self.bound) / self.primal if self.primal else 0.0

    @property
    def active(self) -> Array:
        """The units in use."""
        sizes = np.linalg.norm(self.weights, axis=(1, 2))
        return np.flatnonzero(sizes > ACTIVE * sizes.max(initial=0.0))

    @property
    def support(self) -> Array:
        """The rows that hold the margin: their dual weights are above a threshold."""
        size = np.abs(self.dual)
        return np.flatnonzero(size > ACTIVE * size.max(initial=0.0))

    def predict(self, rows: GatedRows) -> Float[Array, " rows"]:
        """Outputs for other rows with the same units."""
        return rows.predict(self.weights)


def min_group_norm_machine(
    rows: GatedRows | DiagonalRows,
    targets: Float[Array, " rows"],
    *,
    kind: Kind = "hard margin",
    cost: float | None = None,
    tolerance: float = 1e-6,
    start: GroupMachine | None = None,
    reweighting: bool = False,
) -> GroupMachine:
    """The machine of minimum group norm, with its duality gap.

    **Arguments:**

    - `targets`: labels -1 and 1, or real numbers for regression.
    - `cost`: of one unit of slack, for the soft margin.
    - `tolerance`: the relative duality gap at which to stop.
    - `start`: the machine of a similar problem, for example with fewer units or rows.
    - `reweighting`: multiply each scale by `|g_h|` instead of Newton's method. It needs no Hessian and many more
        rounds.

    **Raises:** `InseparableError` with a certificate if no weights meet a hard margin.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, min_group_norm_machine
    >>> rows = GatedRows.of([[1.0], [2.0], [-1.0]], [[0, 0], [0, 0], [0, 1]])
    >>> machine = min_group_norm_machine(rows, np.array([1.0, 1.0, -1.0]))
    >>> round(machine.norm, 4), machine.active.tolist(), machine.support.tolist()
    (1.0, [0], [0, 2])

    ```
    """
    y = check_labels(targets, len(rows), kind)
    slack = check_cost(kind, cost)
    if not rows.squared_sizes.any():
        raise InputError("rows", "only zeros", "inputs that are not all 0 where a unit is on")
    inner = _Inner(rows, y, kind, np.inf if slack is None else slack)
    scales = _first_scales(rows, start)
    point = inner.at(scales)
    inner.check_feasible(scales, point)
    scales, point = inner.rescaled(scales, point)
    best = inner.machine(scales, point, 0)
    for round in range(1, MAX_ROUNDS + 1):
        if best.gap <= tolerance:
            break
        thinning = rows.units > MAX_NEWTON and round <= THINNING
        moved = None if reweighting or thinning else inner.newton(scales, point)
        scales, point = inner.reweighted(scales, point) if moved is None else moved
        found = inner.machine(scales, point, round)
        if found.gap < best.gap:
            best = found
    return best


@dataclass(frozen=True, eq=False)
class _Point:
    """The machine for given scales: its value, dual weights, and the sums over contexts that all else follows from."""

    value: float
    solution: BoundedSolution
    signed: Array  # dual weights times labels
    sums: Array  # (units, contexts, inputs)
    sizes: Array  # |g_h|


@dataclass(frozen=True, eq=False)
class _Inner:
    rows: GatedRows | DiagonalRows
    y: Array
    kind: Kind
    cost: float

    @property
    def signs(self) -> Array:
        return np.ones(len(self.y)) if self.kind == "regression" else self.y

    @property
    def aims(self) -> Array:
        return self.y if self.kind == "regression" else np.ones(len(self.y))

    def at(self, scales: Array, near: _Point | None = None) -> _Point:
        """Solves the machine with the kernel `sum_h scales_h K_h`."""
        kernel = self.rows.kernel(scales)
        Q = kernel * np.outer(self.signs, self.signs)
        diagonal, level = np.diag_indices_from(Q), float(np.trace(kernel)) / len(Q)
        bare = Q[diagonal]
        for ridge in RIDGES:
            Q[diagonal] = bare + ridge * level
            solution = self._solved(Q, None if near is None else near.solution)
            if solution.converged:
                break
        a = solution.values
        signed = a * self.signs
        sums = self.rows.sums(signed)
        value = float(self.aims @ a - 0.5 * a @ (Q @ a))
        return _Point(value, solution, signed, sums, np.linalg.norm(sums, axis=(1, 2)))

    def _solved(self, Q: Array, start: BoundedSolution | None) -> BoundedSolution:
        if self.kind == "regression":
            return _equality(Q, self.aims)
        return solve_bounded(Q, self.aims, high=self.cost, start=start)

    def rescaled(self, scales: Array, point: _Point) -> tuple[Array, _Point]:
        """The best common factor of all scales. Without slack the value is inversely proportional to it."""
        if self.kind == "soft margin":
            return scales, point
        factor = float(np.sqrt(2 * point.value / scales.sum()))
        new = point.solution
        solution = BoundedSolution(
            new.values / factor,
            new.free,
            (new.factor[0] * np.sqrt(factor), new.factor[1]),
            new.converged,
            new.pivots,
        )
        return scales * factor, _Point(
            point.value / factor, solution, point.signed / factor, point.sums / factor, point.sizes / factor
        )

    def newton(self, scales: Array, point: _Point) -> tuple[Array, _Point] | None:
        """One step of Newton's method in the scales, which stay non-negative, with a line search."""
        free = point.solution.free
        if not free.any():
            return None
        moving = self._moving(scales, point)
        u = self.rows.scores(point.sums)[np.ix_(free, moving)] * self.signs[free, None]
        from scipy import linalg

        hessian = u.T @ linalg.cho_solve(point.solution.factor, u, check_finite=False)
        gradient = 0.5 * (1 - point.sizes**2)
        ridge = 1e-10 * float(np.trace(hessian)) / len(hessian)
        hessian[np.diag_indices_from(hessian)] += ridge
        goal = solve_bounded(hessian, hessian @ scales[moving] - gradient[moving]).values
        direction = np.zeros(len(scales))
        direction[moving] = goal - scales[moving]
        slope = float(gradient @ direction)
        if not slope < 0:
            return None
        now = point.value + scales.sum() / 2
        length = 1.0
        while length > 1e-8:
            candidate = np.maximum(scales + length * direction, 1e-12 * float(scales.max()))
            new = self.at(candidate, point)
            if new.value + candidate.sum() / 2 <= now + 1e-4 * length * slope:
                return self.rescaled(candidate, new)
            length /= 2
        return None

    def _moving(self, scales: Array, point: _Point) -> Array:
        """The units that a step moves: all, or of very many those that carry most or would lower the value most."""
        if len(scales) <= MAX_NEWTON:
            return np.arange(len(scales))
        return np.sort(np.argpartition(-scales * point.sizes**2, MAX_NEWTON)[:MAX_NEWTON])

    def reweighted(self, scales: Array, point: _Point) -> tuple[Array, _Point]:
        candidate = scales * point.sizes
        return self.rescaled(candidate, self.at(candidate, point))

    def machine(self, scales: Array, point: _Point, rounds: int) -> GroupMachine:
        """The machine that these scales give, made feasible, and the bound from its dual weights."""
        weights = point.sums * scales[:, None, None]
        outputs = self.rows.predict(weights)
        dual = point.solution.values
        largest = float(point.sizes.max())
        norm = float((scales * point.sizes).sum())
        primal = norm
        if self.kind == "hard margin":
            margin = float((self.y * outputs).min())
            if margin > 0:  # the ridge leaves margins a little below 1
                weights, norm = weights / margin, norm / margin
                primal = norm
            else:
                primal = np.inf
        elif self.kind == "soft margin":
            primal = norm + self.cost * float(np.maximum(0, 1 - self.y * outputs).sum())
            largest = max(1.0, largest)
        bound = float(self.aims @ dual) / largest
        return GroupMachine(self.kind, weights, dual / largest, norm, primal, bound, scales, rounds)

    def check_feasible(self, scales: Array, point: _Point) -> None:
        """Raises if rows contradict each other: then no weights meet the margin, or the targets."""
        if self.kind == "hard margin":
            share = point.solution.values / point.solution.values.sum()
            # Relative to the rows that take part, because rows may differ in size by orders of magnitude.
            size = share @ np.sqrt(self.rows.squared_sizes)
            distance = float(np.linalg.norm(self.rows.sums(share * self.y)) / size)
            if distance < INSEPARABLE:
                raise InseparableError(share, distance)
        elif self.kind == "regression":
            off = np.abs(self.rows.predict(point.sums * scales[:, None, None]) - self.y).max()
            if off > INSEPARABLE * np.abs(self.y).max():
                raise InputError(
                    "targets", f"{len(self.y)} values", "targets that the units can produce together"
                )


class InseparableError(InputError):
    """No weights of the architecture classify all rows: some rows cancel.

    - `certificate`: `(rows,)`, shares that add up to 1; the sum of label times features over these rows vanishes, so
        that no weights can have a positive margin on all of them.
    - `distance`: how far that sum is from zero, relative to the features.
    """

    def __init__(self, certificate: Float[Array, " rows"], distance: float) -> None:
        self.certificate, self.distance = certificate, distance
        rows = np.flatnonzero(certificate > ACTIVE * certificate.max())
        shown = ", ".join(map(str, rows[np.argsort(-certificate[rows])][:5]))
        super().__init__(
            "targets",
            f"labels that cannot be separated ({len(rows)} rows cancel, among them {shown})",
            "separable labels for a hard margin; kind='soft margin' with cost=1.0 takes any",
        )


def check_labels(targets: object, n: int, kind: str) -> Array:
    """Labels -1 and 1, both of them, or finite numbers for regression."""
    if kind not in ("hard margin", "soft margin", "regression"):
        raise InputError("kind", kind, "'hard margin', 'soft margin' or 'regression'")
    y = finite("targets", targets, ndim=1)
    if len(y) != n:
        raise InputError("targets", len(y), f"one per row, {n}")
    if kind == "regression":
        if not y.any():
            raise InputError("targets", "zeros", "at least one target that is not 0")
        return y
    if not set(np.unique(y)) <= {-1.0, 1.0}:
        raise InputError("targets", np.unique(y)[:5].tolist(), "labels -1 and 1")
    if len(np.unique(y)) < 2:
        raise InputError("targets", f"only the label {y[0]:g}", "both labels, -1 and 1")
    return y


def check_cost(kind: str, cost: float | None) -> float | None:
    """The cost of slack, which a soft margin must have."""
    number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
    if (kind == "soft margin") != (cost is not None) or (
        cost is not None and not (number and 0 < cost < np.inf)
    ):
        raise InputError("cost", cost, "a positive number with a soft margin, and none otherwise")
    return None if cost is None else float(cost)


def _first_scales(rows: GatedRows | DiagonalRows, start: GroupMachine | None) -> Array:
    """Equal scales, or those of a similar machine; new units start at the mean of the others."""
    if start is None:
        return np.full(rows.units, 1.0 / rows.units)
    scales = np.full(rows.units, float(start.scales.mean()) or 1.0)
    kept = min(rows.units, len(start.scales))
    scales[:kept] = np.maximum(start.scales[:kept], 1e-3 * scales[:kept])
    return scales


def _equality(Q: Array, aims: Array) -> BoundedSolution:
    from scipy import linalg

    factor = linalg.cho_factor(Q, lower=True, check_finite=False)
    values = linalg.cho_solve(factor, aims, check_finite=False)
    return BoundedSolution(np.asarray(values), np.ones(len(aims), dtype=bool), factor, True, 1)
