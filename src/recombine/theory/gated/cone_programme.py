"""The same programmes as second-order cone programmes, by Clarabel: the direct route, for small problems."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.gated.gated_rows import Array, GatedRows
from recombine.theory.gated.group_margin import GroupMachine, InseparableError, Kind, check_cost, check_labels

MAX_VARIABLES = 200_000


def group_norm_by_cones(
    rows: GatedRows,
    targets: Float[Array, " rows"],
    *,
    kind: Kind = "hard margin",
    cost: float | None = None,
) -> GroupMachine:
    """`min_group_norm_machine` as a cone programme; inputs are first rotated into as many dimensions as they span.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows, group_norm_by_cones
    >>> rows = GatedRows.of([[1.0], [2.0], [-1.0]], [[0, 0], [0, 0], [0, 1]])
    >>> round(group_norm_by_cones(rows, np.array([1.0, 1.0, -1.0])).norm, 6)
    1.0

    ```
    """
    import clarabel
    from scipy import sparse

    y = check_labels(targets, len(rows), kind)
    slack = check_cost(kind, cost)
    _, sizes, basis = np.linalg.svd(rows.inputs, full_matrices=False)
    basis = basis[sizes > sizes.max(initial=0.0) * 1e-12]
    x = rows.inputs @ basis.T
    n, dims, pieces = len(x), x.shape[1], rows.units * rows.n_contexts
    width = rows.n_contexts * dims  # variables of a unit, after its bound
    total = rows.units * (1 + width) + (n if slack is not None else 0)
    if total > MAX_VARIABLES:
        raise InputError(
            "rows", f"{total:,} variables", f"at most {MAX_VARIABLES:,}; use min_group_norm_machine"
        )
    columns = (np.arange(pieces) // rows.n_contexts * (1 + width) + 1)[:, None] + (
        (np.arange(pieces) % rows.n_contexts) * dims
    )[:, None]
    columns = columns + np.arange(dims)  # (pieces, dims)
    index, piece = np.nonzero(rows.pieces)
    features = sparse.csc_matrix(
        (x[index].ravel(), (np.repeat(index, dims), columns[piece].ravel())), shape=(n, total)
    )
    norms = sparse.identity(rows.units * (1 + width), format="csc")
    norms.resize(norms.shape[0], total)
    objective = np.zeros(total)
    objective[: rows.units * (1 + width) : 1 + width] = 1.0
    if kind == "regression":
        blocks, right, cones = [features], [y], [clarabel.ZeroConeT(n)]
    else:
        margins = -sparse.diags(y) @ features
        blocks, right, cones = [margins], [-np.ones(n)], [clarabel.NonnegativeConeT(n)]
        if slack is not None:
            own = sparse.csc_matrix((np.ones(n), (np.arange(n), total - n + np.arange(n))), shape=(n, total))
            blocks, right = [margins - own, -own], [*right, np.zeros(n)]
            cones = [clarabel.NonnegativeConeT(2 * n)]
            objective[total - n :] = slack
    matrix = sparse.vstack([*blocks, -norms]).tocsc()
    offsets = np.concatenate([*right, np.zeros(norms.shape[0])])
    cones += [clarabel.SecondOrderConeT(1 + width)] * rows.units
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((total, total)), objective, matrix, offsets, cones, settings
    ).solve()
    status, multipliers = str(found.status), np.asarray(found.z)[:n]
    if "PrimalInfeasible" in status:
        if kind == "regression":
            raise InputError("targets", f"{n} values", "targets that the units can produce together")
        shares = np.maximum(multipliers, 0)
        shares = shares / shares.sum()
        raise InseparableError(shares, float(np.linalg.norm(rows.sums(shares * y))))
    if status not in ("Solved", "AlmostSolved"):
        raise InputError("targets", status, "a programme that Clarabel can solve")
    solution = np.asarray(found.x)
    units = solution[: rows.units * (1 + width)].reshape(rows.units, 1 + width)[:, 1:]
    weights = units.reshape(rows.units, rows.n_contexts, dims) @ basis
    norm = float(np.linalg.norm(units, axis=1).sum())
    spent = 0.0 if slack is None else slack * float(solution[total - n :].sum())
    dual = multipliers if kind != "regression" else -multipliers
    bound = float((y if kind == "regression" else np.ones(n)) @ dual)
    sizes = np.linalg.norm(units, axis=1)
    return GroupMachine(kind, weights, dual, norm, norm + spent, bound, sizes, int(found.iterations))
