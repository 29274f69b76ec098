"""Machines whose norm is an l2 norm, as kernels: one gated layer, two l2 norms of two layers, and the published
variant.

With units `h` of `C` contexts each and inner products `<x, x'>`:

| norm that is minimised | kernel |
|---|---|
| one layer, one gate: `sum_c |beta_c|²` | `<x, x'> 1[c = c']` |
| weights of units: `sum_hc |zeta_hc|²` | `<x, x'> sum_h 1[c_h = c_h']` |
| effective weights: mean over joint contexts of `|sum_h zeta_h,c_h|²` | `<x, x'> (1 + sum_h (C 1[c_h = c_h'] - 1))` |
| as coded for the published tables | `<x, x'> (H/C + sum_h (1[c_h = c_h'] - 1/C) / C²)` |

The last one weights deviations of a unit's weight vectors from their mean `C² H` times more than the effective weights
do (`published_l2_kernel`). It serves only to compare with published numbers, and so do the published groups of weight
vectors (`published_groups`), which mix units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.gated.bounded_programme import solve_bounded
from recombine.theory.gated.gated_rows import Array, GatedRows
from recombine.theory.gated.group_margin import (
    ACTIVE,
    INSEPARABLE,
    RIDGES,
    InseparableError,
    Kind,
    check_cost,
    check_labels,
)
from recombine.theory.penalties import finite

Form = Literal["joint", "units", "effective"]
FORMS: tuple[Form, ...] = get_args(Form)


def context_kernel(
    form: Form, rows: GatedRows, others: GatedRows | None = None
) -> Float[Array, "rows others"]:
    """The kernel of an l2 norm between rows and other rows (by default themselves).

    **Arguments:**

    - `form`: `"joint"` (one layer whose context is that of all units together), `"units"` or `"effective"`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, context_kernel
    >>> rows = GatedRows.of(np.ones((2, 1)), [[0, 0], [0, 1]], n_contexts=2)
    >>> context_kernel("units", rows).tolist(), context_kernel("effective", rows)[0].tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [3.0, 1.0])

    ```
    """
    other = rows if others is None else others
    if rows.indicator.shape[1:] != other.indicator.shape[1:]:
        raise InputError(
            "others", other.indicator.shape[1:], f"as many units and contexts, {rows.indicator.shape[1:]}"
        )
    same = rows.pieces @ other.pieces.T
    products = rows.gram if others is None else rows.inputs @ other.inputs.T
    H, C = rows.units, rows.n_contexts
    weigh: dict[str, Callable[[Array], Array]] = {
        "joint": lambda same: (same >= H).astype(float),
        "units": lambda same: same,
        "effective": lambda same: 1 + C * same - H,
    }
    if form not in weigh:
        raise InputError("form", form, f"one of {', '.join(FORMS)}")
    return np.asarray(products * weigh[form](same))


def published_groups(rows: GatedRows) -> GatedRows:
    """The same rows with weight vectors grouped as in the published programmes, which read an array in the wrong order.

    Vector `c` of unit `h` has number `k = h C + c` and should be in group `h`; it is in group `k mod H`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, published_groups
    >>> published_groups(GatedRows.of(np.ones((1, 1)), [[0, 1, 1]], n_contexts=2)).indicator[0].tolist()
    [[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]]

    ```
    """
    n, H, C = rows.indicator.shape
    return GatedRows(rows.inputs, rows.pieces.reshape(n, C, H).transpose(0, 2, 1).copy())


UNPENALISED = 1e6
"""How much cheaper directions without a penalty are than the others; see `published_l2_kernel`."""


def published_l2_kernel(rows: GatedRows, others: GatedRows | None = None) -> Float[Array, "rows others"]:
    """The kernel of the l2 norm as coded, for any groups of weight vectors.

    The norm is `(C/H) |M|² + C² sum |zeta - m|²` with group means `m` and their sum `M`. Differences between group
    means cost nothing. With the units' own groups they do not change the function either; with the published groups
    they do, so that this is the limit of a very small penalty on them.
    """
    other = rows if others is None else others
    H, C = rows.units, rows.n_contexts
    mean = np.kron(np.eye(H), np.full((C, C), 1 / C))  # onto group means
    total = np.full((H * C, H * C), 1 / (H * C))
    # On the three orthogonal subspaces: |zeta - m|² costs C², |M|² = H |mean part|² / C costs C/H, differences nothing.
    inverse = (np.eye(H * C) - mean) / C**2 + total + UNPENALISED * (mean - total)
    products = rows.gram if others is None else rows.inputs @ other.inputs.T
    return np.asarray(products * (rows.pieces @ inverse @ other.pieces.T))


@dataclass(frozen=True, eq=False)
class KernelMargin:
    """A margin machine without an offset: `f(x) = sum_i signed_i K(x, x_i)`.

    - `signed`: `(rows,)`, dual weights times labels (dual weights, for regression).
    - `norm`: of the machine in the kernel's space.
    - `margin`: the smallest `y f` over the training rows.
    """

    signed: Float[Array, " rows"]
    norm: float
    margin: float

    @property
    def support(self) -> Array:
        """The rows that hold the margin: their dual weights are above a threshold."""
        size = np.abs(self.signed)
        return np.flatnonzero(size > ACTIVE * size.max(initial=0.0))

    def predict(self, kernel: Float[Array, "rows train"]) -> Float[Array, " rows"]:
        """Outputs from the kernel between new rows and training rows."""
        return np.asarray(kernel @ self.signed)


def _check_products(gram: Array) -> None:
    """Refuses matrices that cannot hold inner products: not symmetric, or against the Cauchy-Schwarz inequality."""
    sizes = np.diag(gram)
    rounding = 1e-6 * float(np.abs(gram).max())
    if np.abs(gram - gram.T).max() > rounding:
        raise InputError("gram", "a matrix that is not symmetric", "products of every pair of rows")
    largest = np.sqrt(np.outer(np.maximum(sizes, 0), np.maximum(sizes, 0)))
    if sizes.min() < -rounding or (np.abs(gram) > largest + rounding).any():
        raise InputError(
            "gram", "a matrix that is not positive semidefinite", "products of every pair of rows"
        )


def kernel_margin(
    gram: Float[Array, "n n"],
    labels: Float[Array, " n"],
    *,
    kind: Kind = "hard margin",
    cost: float | None = None,
) -> KernelMargin:
    """The machine of maximum margin through the origin for any kernel.

    **Arguments:**

    - `kind`, `cost`: as in `min_group_norm_machine`; the soft margin minimises `norm² / 2 + cost sum xi`.

    **Raises:** `InseparableError` with a certificate if no machine meets a hard margin.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import kernel_margin
    >>> machine = kernel_margin(np.diag([1.0, 4.0]), np.array([1.0, -1.0]))
    >>> machine.signed, round(machine.norm, 4)
    (array([ 1.  , -0.25]), 1.118)

    ```
    """
    gram = finite("gram", gram, ndim=2)
    if gram.shape[0] != gram.shape[1] or not np.diag(gram).any():
        raise InputError("gram", gram.shape, "a square matrix of products of rows, not all 0")
    _check_products(gram)
    y, slack = check_labels(labels, len(gram), kind), check_cost(kind, cost)
    signs, aims = (np.ones(len(y)), y) if kind == "regression" else (y, np.ones(len(y)))
    Q = gram * np.outer(signs, signs)
    diagonal, level = np.diag_indices_from(Q), float(np.trace(Q)) / len(Q)
    bare = Q[diagonal]
    for ridge in RIDGES:
        Q[diagonal] = bare + ridge * level
        if kind == "regression":
            dual = np.linalg.solve(Q, aims)
            break
        solution = solve_bounded(Q, aims, high=np.inf if slack is None else slack)
        dual = solution.values
        if solution.converged:
            break
    signed = dual * signs
    outputs = gram @ signed
    if kind == "regression" and not np.abs(outputs - y).max() <= INSEPARABLE * np.abs(y).max():
        raise InputError("labels", f"{len(y)} values", "targets that the kernel can produce together")
    norm = float(np.sqrt(max(0.0, signed @ outputs)))
    if kind == "hard margin":
        share = dual / dual.sum()
        size = share @ np.sqrt(np.diag(gram))  # of the rows that take part
        distance = float(np.sqrt(max(0.0, (share * y) @ gram @ (share * y))) / size)
        if distance < INSEPARABLE:
            raise InseparableError(share, distance)
    margin = float((y * outputs).min())
    return KernelMargin(signed, norm, margin)
