"""Which joint contexts training has covered, and what an additive architecture does in those that it has not.

A joint context is one combination of the contexts of all units. A network that adds up its units answers in a joint
context that never occurred by adding parts that it learned in others; a network whose single gate is the whole
combination has learned nothing there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.theory.gated.gated_rows import Array, GatedRows
from recombine.theory.gated.group_margin import InseparableError
from recombine.theory.penalties import finite

Status = Literal["seen", "determined", "recombined", "new part"]
STATUSES: tuple[Status, ...] = get_args(Status)
ROUNDING = 1e-9
MAX_CONJUNCTIONS = 200
"""Joint contexts that are left out one at a time."""


@dataclass(frozen=True, eq=False)
class ContextCoverage:
    """The joint contexts of rows that were not trained on.

    - `status`: `(rows,)`. `"seen"`: rows with the same joint context were trained on. `"determined"`: unseen, but its
        weights are a fixed combination of the weights of seen joint contexts, whatever the training found there.
        `"recombined"`: unseen, every part was seen, and the norm decides how the parts add up. `"new part"`: some unit
        is in a context without any training row.
    - `seen`: how many different joint contexts training has; `possible`: how many the units could form.
    - `empty_parts`: pairs of unit and context without training rows.
    """

    status: Array
    seen: int
    possible: float
    empty_parts: tuple[tuple[int, int], ...]

    def share(self, status: Status) -> float:
        """The share of rows with a status."""
        return float(np.mean(self.status == status))


def context_coverage(train: GatedRows, others: GatedRows) -> ContextCoverage:
    """Compares the joint contexts of other rows with those of the training rows.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, context_coverage
    >>> seen = GatedRows.of(np.ones((3, 1)), [[0, 0], [0, 1], [1, 0]], n_contexts=3)
    >>> new = GatedRows.of(np.ones((3, 1)), [[0, 1], [1, 1], [2, 0]], n_contexts=3)
    >>> context_coverage(seen, new).status.tolist()
    ['seen', 'determined', 'new part']

    ```
    """
    if train.indicator.shape[1:] != others.indicator.shape[1:]:
        raise InputError(
            "others", others.indicator.shape[1:], f"units and contexts {train.indicator.shape[1:]}"
        )
    known = np.unique(train.pieces, axis=0)
    distinct, inverse = np.unique(others.pieces, axis=0, return_inverse=True)
    used = train.pieces.any(axis=0)
    _, sizes, basis = np.linalg.svd(known, full_matrices=False)
    basis = basis[sizes > ROUNDING * sizes.max(initial=0.0)]
    outside = np.linalg.norm(distinct - distinct @ basis.T @ basis, axis=1) > 1e-6
    seen = np.array([(known == own).all(axis=1).any() for own in distinct])
    new_part = (distinct[:, ~used] > 0).any(axis=1)
    status = np.select([seen, new_part, outside], ["seen", "new part", "recombined"], "determined")
    empty = [(int(k // train.n_contexts), int(k % train.n_contexts)) for k in np.flatnonzero(~used)]
    # A unit that is silent in some rows has one more state.
    silent = [(half.indicator.sum(axis=2) == 0).any(axis=0) for half in (train, others)]
    states = train.n_contexts + (silent[0] | silent[1])
    with np.errstate(over="ignore"):
        possible = float(np.prod(states.astype(float)))
    return ContextCoverage(status[inverse.ravel()], len(known), possible, tuple(empty))


def effective_weights(
    weights: Float[Array, "units contexts inputs"], rows: GatedRows
) -> Float[Array, "rows inputs"]:
    """The weights that the whole network applies to each row: the sum of the parts that its contexts pick.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, effective_weights
    >>> parts = np.array([[[1.0], [2.0]], [[10.0], [20.0]]])
    >>> effective_weights(parts, GatedRows.of(np.ones((2, 1)), [[0, 1], [1, 0]])).ravel().tolist()
    [21.0, 12.0]

    ```
    """
    return np.asarray(rows.pieces @ weights.reshape(rows.pieces.shape[1], -1))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Predictions for every joint context from training on all others.

    - `conjunction`: `(rows,)`, the number of each row's joint context.
    - `outputs`: `(rows,)`; NaN where the others could not be fitted.
    - `status`: `(rows,)`, what the others say about it, as in `ContextCoverage`.
    """

    conjunction: Int[Array, " rows"]
    outputs: Float[Array, " rows"]
    status: Array

    def error(self, targets: Float[Array, " rows"], *, where: Bool[Array, " rows"] | None = None) -> float:
        """The share of rows whose sign is wrong; NaN if no row can be judged."""
        judged = np.isfinite(self.outputs) if where is None else np.isfinite(self.outputs) & where
        if not judged.any():
            return float("nan")
        return float(np.mean(np.sign(self.outputs[judged]) != np.sign(np.asarray(targets)[judged])))


def leave_one_conjunction_out(
    rows: GatedRows,
    targets: Float[Array, " rows"],
    fit: Callable[[GatedRows, Array], Callable[[GatedRows], Array]],
) -> LeftOut:
    """Leaves out one joint context after another, fits the others and predicts it.

    **Arguments:**

    - `fit`: takes rows and targets, and returns a function that predicts other rows.
    """
    y = finite("targets", targets, ndim=1)
    if len(y) != len(rows):
        raise InputError("targets", len(y), f"one per row, {len(rows)}")
    distinct, conjunction = np.unique(rows.pieces, axis=0, return_inverse=True)
    conjunction = conjunction.ravel()
    if not 2 <= len(distinct) <= MAX_CONJUNCTIONS:
        raise InputError("contexts", f"{len(distinct)} joint contexts", f"from 2 to {MAX_CONJUNCTIONS}")
    outputs, status = np.full(len(rows), np.nan), np.empty(len(rows), dtype=object)
    for number in range(len(distinct)):
        out = conjunction == number
        rest, left = (GatedRows(rows.inputs[part], rows.indicator[part]) for part in (~out, out))
        status[out] = context_coverage(rest, left).status
        if len(np.unique(y[~out])) < 2:  # only it has the other label
            continue
        try:
            outputs[out] = fit(rest, y[~out])(left)
        except InseparableError:
            continue
    return LeftOut(conjunction, outputs, status)
