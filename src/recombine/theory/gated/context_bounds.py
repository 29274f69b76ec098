"""Bounds on the error of one gated layer, context by context, from its training rows alone.

One gated layer is a separate machine in each context, so leaving out a row changes only its own context. At most its
support vectors can then be wrong, and at most `|beta_c|² R_c²` rows, with `R_c` the largest norm of an input: the
machines have no offset, so distances count from the origin. The published bound takes the smallest ball around the
inputs instead, wherever its centre is. That does not bound the error of machines without an offset: it would promise
that a context with a single row is never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.theory.gated.gated_rows import Array, GatedRows
from recombine.theory.gated.group_margin import ACTIVE, GroupMachine


@dataclass(frozen=True, eq=False)
class ContextBounds:
    """One entry per context of a single unit.

    - `rows`, `support`: how many training rows, and how many of them are support vectors.
    - `squared_norm`: of the context's weights; `radius`: the largest norm of its inputs; `ball`: the radius of the
        smallest ball around them.
    """

    rows: Int[Array, " contexts"]
    support: Int[Array, " contexts"]
    squared_norm: Float[Array, " contexts"]
    radius: Float[Array, " contexts"]
    ball: Float[Array, " contexts"]

    @property
    def errors(self) -> Float[Array, " contexts"]:
        """At most so many rows of each context are wrong if each is left out in turn."""
        return np.minimum(np.minimum(self.support, self.squared_norm * self.radius**2), self.rows)

    @property
    def leave_one_out(self) -> float:
        """The bound on the leave-one-out error."""
        return float(self.errors.sum() / self.rows.sum())

    @property
    def published(self) -> float:
        """The published variant, with the smallest ball."""
        bound = np.minimum(np.minimum(self.support, self.squared_norm * self.ball**2), self.rows)
        return float(bound.sum() / self.rows.sum())

    @property
    def radius_margin(self) -> float:
        """The same from norms and radii alone."""
        bound = np.minimum(self.squared_norm * self.radius**2, self.rows)
        return float(bound.sum() / self.rows.sum())


def context_bounds(machine: GroupMachine, rows: GatedRows) -> ContextBounds:
    """Bounds for a hard-margin machine with one unit, on its training rows.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, context_bounds, min_group_norm_machine
    >>> rows = GatedRows.of([[1.0], [3.0], [-1.0], [2.0], [-2.0]], [[0], [0], [0], [1], [1]])
    >>> bounds = context_bounds(min_group_norm_machine(rows, np.array([1.0, 1, -1, -1, 1])), rows)
    >>> bounds.support.tolist(), bounds.radius.tolist(), bounds.ball.tolist()
    ([2, 2], [3.0, 2.0], [2.0, 2.0])

    ```
    """
    contexts = rows.n_contexts
    index = [np.flatnonzero(rows.indicator[:, 0, c]) for c in range(contexts)]
    threshold = ACTIVE * np.abs(machine.dual).max(initial=0.0)
    return ContextBounds(
        np.array([len(own) for own in index]),
        np.array([int((np.abs(machine.dual[own]) > threshold).sum()) for own in index]),
        (machine.weights[0] ** 2).sum(axis=1),
        np.array([np.linalg.norm(rows.inputs[own], axis=1).max(initial=0.0) for own in index]),
        np.array([enclosing_radius(rows.inputs[own]) if len(own) else 0.0 for own in index]),
    )


def enclosing_radius(
    points: Float[Array, "points dimensions"], *, tolerance: float = 1e-8, max_steps: int = 100_000
) -> float:
    """The radius of the smallest ball around points, by Frank-Wolfe steps towards and away from points.

    The answer is at most `tolerance` (relative, squared) below the truth, or exact to rounding.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import enclosing_radius
    >>> round(enclosing_radius(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])), 6)
    1.0

    ```
    """
    x = np.asarray(points, dtype=float) - np.mean(points, axis=0)
    squares = (x**2).sum(axis=1)
    shares = np.zeros(len(x))
    shares[int(squares.argmax())] = 1.0
    centre = shares @ x
    for _ in range(max_steps):
        distances = squares - 2 * x @ centre + centre @ centre
        far = int(distances.argmax())
        used = np.flatnonzero(shares > 0)
        near = int(used[distances[used].argmin()])
        mean = float(shares @ distances)  # the squared radius of the dual: a lower bound
        if distances[far] - mean <= tolerance * max(mean, 1e-300):
            break
        if distances[far] - mean >= mean - distances[near] or len(used) == 1:
            direction, limit = x[far] - centre, 1.0
            step = np.zeros(len(x))
            step[far] = 1.0
            step -= shares
        else:
            direction, limit = centre - x[near], shares[near] / (1 - shares[near])
            step = shares.copy()
            step[near] -= 1.0
        gain = float(step @ distances)
        length = min(limit, gain / (2 * max(float(direction @ direction), 1e-300)))
        shares = np.maximum(shares + length * step, 0.0)
        shares[shares < 1e-15] = 0.0
        shares /= shares.sum()
        centre = shares @ x
    distances = squares - 2 * x @ centre + centre @ centre
    return float(np.sqrt(max(0.0, distances.max())))
