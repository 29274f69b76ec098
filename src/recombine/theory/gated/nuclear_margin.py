"""Minimum nuclear norm under margins: two layers whose readout is gated, too, with gates that all units share.

The network computes `<Z_k, phi(x)>`, where `k` is the readout's context and `phi` the input in the place of its
context. Enough units can form any `Z`, and `min |theta|² = 2 |Z|_*`. It is a semidefinite programme, so it is for
small problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.theory.gated.gated_rows import Array, GatedRows
from recombine.theory.gated.group_margin import InseparableError, Kind, check_labels

MAX_SIDE = 80
"""Rows plus columns of the matrix; the programme has about half the square of it as variables."""


@dataclass(frozen=True, eq=False)
class NuclearMachine:
    """`matrix`: `(readout contexts, contexts * inputs)`; `norm`: its nuclear norm; `gap`: relative duality gap."""

    matrix: Float[Array, "readout features"]
    norm: float
    gap: float
    outputs: Float[Array, " rows"]


def min_nuclear_norm(
    rows: GatedRows,
    readout_contexts: Int[Array, " rows"],
    targets: Float[Array, " rows"],
    *,
    n_readout: int,
    kind: Kind = "hard margin",
) -> NuclearMachine:
    """The matrix of minimum nuclear norm that meets the margins (or targets), by Clarabel.

    **Arguments:**

    - `rows`: with one unit, whose gate all units share.
    - `readout_contexts`: the context of the readout in every row, below `n_readout`.
    """
    import clarabel
    from scipy import sparse

    y = check_labels(targets, len(rows), kind)
    gates = np.asarray(readout_contexts)
    if gates.min(initial=0) < 0 or gates.max(initial=0) >= n_readout:
        raise InputError("readout_contexts", int(gates.max()), f"numbers from 0 to {n_readout - 1}")
    features = (rows.indicator[:, 0, :, None] * rows.inputs[:, None, :]).reshape(len(rows), -1)
    _, sizes, basis = np.linalg.svd(features, full_matrices=False)
    basis = basis[sizes > 1e-12 * sizes.max(initial=0.0)]
    phi = features @ basis.T
    K, F = n_readout, phi.shape[1]
    side = K + F
    if side > MAX_SIDE:
        raise InputError("rows", f"a matrix of {K} x {F}", f"at most {MAX_SIDE} rows and columns together")
    # Variables: the upper triangle, column by column, of [[A, Z], [Z', B]]; the nuclear norm is half of its trace.
    column = np.repeat(np.arange(side), np.arange(1, side + 1))
    row = np.concatenate([np.arange(c + 1) for c in range(side)])
    objective = np.where(row == column, 0.5, 0.0)
    place = {(int(r), int(c)): i for i, (r, c) in enumerate(zip(row, column, strict=True))}
    entries = np.array([[place[k, K + f] for f in range(F)] for k in range(K)])
    margins = np.zeros((len(phi), len(row)))
    np.put_along_axis(margins, entries[gates], phi, axis=1)
    scale = np.where(row == column, 1.0, np.sqrt(2.0))  # the cone's coordinates keep inner products
    if kind == "regression":
        blocks, right, cones = margins, y, [clarabel.ZeroConeT(len(y))]
    else:
        blocks, right, cones = -y[:, None] * margins, -np.ones(len(y)), [clarabel.NonnegativeConeT(len(y))]
    matrix = sparse.vstack([sparse.csc_matrix(blocks), -sparse.diags(scale)]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    found = clarabel.DefaultSolver(
        sparse.csc_matrix((len(row), len(row))),
        objective,
        matrix,
        np.concatenate([right, np.zeros(len(row))]),
        [*cones, clarabel.PSDTriangleConeT(side)],
        settings,
    ).solve()
    status = str(found.status)
    if "PrimalInfeasible" in status:
        if kind == "regression":
            raise InputError("targets", f"{len(y)} values", "targets that the network can produce together")
        shares = np.maximum(np.asarray(found.z)[: len(y)], 0)
        raise InseparableError(shares / shares.sum(), 0.0)
    if status not in ("Solved", "AlmostSolved"):
        raise InputError("targets", status, "a programme that Clarabel can solve")
    Z = np.asarray(found.x)[entries]
    norm = float(np.linalg.svd(Z, compute_uv=False).sum())
    gap = abs(found.obj_val - found.obj_val_dual) / max(abs(found.obj_val), 1e-300)
    return NuclearMachine(Z @ basis, norm, float(gap), np.asarray((Z[gates] * phi).sum(axis=1)))
