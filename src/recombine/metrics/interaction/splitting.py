"""Can a slot be split? Tests of interaction within a slot, on arrays of its derivatives.

A slot whose latents interact at order n + 1 whatever the linear coordinates chosen in it cannot be split: this is
condition (ii) of interaction asymmetry, in the form that can be computed at one point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError


@dataclass(frozen=True)
class Splitting:
    """Into how many parts a slot can be split at one point: 1 if it cannot be split, 0 if it has no effect.

    `dimension` is that of the space tested: the centroid (orders 1 and 2) or, for order 0, the number of components.
    `kept` and `dropped` are the smallest number counted as not zero and the largest counted as zero, as shares of the
    largest: the further apart, the safer the count. `parts` is `None` if the centroid is larger than that of an
    indecomposable slot but no real split was found.
    """

    order: int
    latents: int
    parts: int | None
    dimension: int
    kept: float
    dropped: float

    @property
    def holds(self) -> bool:
        """Whether the slot cannot be split."""
        return self.parts == 1

    @property
    def margin(self) -> float:
        """`kept` over `dropped`; infinite if nothing was dropped."""
        return self.kept / self.dropped if self.dropped > 0 else np.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        margin = None if np.isinf(self.margin) else self.margin
        return {**vars(self), "holds": self.holds, "margin": margin}


def jacobian_parts(jacobian: Any, *, tolerance: float = 1e-8) -> Splitting:
    """Order 0: the connected components of the rows of a slot's Jacobian (is the mechanism irreducible?).

    As many independent rows as the rank are chosen, all rows are written in them, and two of them are joined if some
    row needs both. Directions that no output feels are parts of their own.

    **Arguments:**

    - `jacobian`: `(outputs, d)` of one slot.
    - `tolerance`: share of the largest value up to which a number is zero.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.interaction import jacobian_parts
    >>> jacobian_parts(np.array([[1.0, 0.0], [0.0, 1.0]])).parts
    2
    >>> jacobian_parts(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])).parts
    1

    ```
    """
    from scipy.linalg import qr
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    J = _finite(jacobian, 2)
    d = J.shape[1]
    size = np.linalg.norm(J, axis=1)
    if not size.max(initial=0.0) > 0:
        return Splitting(0, d, 0, d, 0.0, 0.0)
    rows = J[size > tolerance * size.max()]
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    spectrum = np.linalg.svd(rows, compute_uv=False)
    rank = int((spectrum > tolerance * spectrum[0]).sum())
    _, _, order = qr(rows.T, pivoting=True, mode="economic")
    basis = rows[order[:rank]]
    coefficients = rows @ np.linalg.pinv(basis)  # (rows, rank)
    coefficients = coefficients / np.abs(coefficients).max()
    pairs = np.minimum(np.abs(coefficients)[:, :, None], np.abs(coefficients)[:, None, :]).max(axis=0)
    np.fill_diagonal(pairs, 0.0)
    joined = np.where(pairs > tolerance, pairs, 0.0)
    parts, _ = connected_components(csr_array(joined), directed=False)
    tree = minimum_spanning_tree(csr_array(np.where(joined > 0, 2.0 - joined, 0.0))).data
    kept = float(2.0 - tree.max()) if len(tree) else 1.0
    small = pairs[(pairs <= tolerance) & ~np.eye(rank, dtype=bool)]
    parts = int(parts) + d - rank
    return Splitting(0, d, parts, parts, kept, float(small.max(initial=0.0)))


def hessian_parts(hessians: Any, *, tolerance: float = 1e-8, seed: int = 0) -> Splitting:
    """Order 1: can the Hessians of all outputs be made block-diagonal in one basis of the slot?

    They can iff the centroid, the matrices M with H_l M = Mᵀ H_l for all outputs l, holds a projection other than 0
    and the identity. A centroid of dimension 1 (multiples of the identity) rules that out. Generic slots need three
    outputs or more for that.

    **Arguments:**

    - `hessians`: `(outputs, d, d)`, symmetric, of one slot. A slot of one latent is whole if its Hessian is not zero.
    - `tolerance`: share of the largest singular value up to which one is zero.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.interaction import hessian_parts
    >>> H = np.random.default_rng(0).normal(size=(3, 4, 4))
    >>> hessian_parts(H + H.transpose(0, 2, 1)).dimension, hessian_parts(np.eye(4)[None]).parts
    (1, 4)

    ```
    """
    return _centroid(_finite(hessians, 3), 1, tolerance, seed)


def third_parts(thirds: Any, *, tolerance: float = 1e-8, seed: int = 0) -> Splitting:
    """Order 2: the same for third derivatives, T_l(Mx, y, w) = T_l(x, My, w).

    **Arguments:**

    - `thirds`: `(outputs, d, d, d)`, symmetric, of one slot.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.interaction import third_parts
    >>> cubes = np.zeros((1, 2, 2, 2))
    >>> cubes[0, 0, 0, 0] = cubes[0, 1, 1, 1] = 1.0  # a³ + b³
    >>> third_parts(cubes).parts
    2

    ```
    """
    T = _finite(thirds, 4)
    d = T.shape[1]
    return _centroid(np.moveaxis(T, 3, 1).reshape(-1, d, d), 2, tolerance, seed)


PART_TESTS = (jacobian_parts, hessian_parts, third_parts)
"""The test of order n, on the slot's derivatives of order n + 1."""


def centroid_basis(
    matrices: Float[np.ndarray, "outputs d d"], tolerance: float
) -> tuple[Float[np.ndarray, "dimension d d"], float, float]:
    """The matrices M with H M = Mᵀ H for all H, and the smallest singular value kept and the largest dropped."""
    d = matrices.shape[-1]
    unit = np.eye(d * d).reshape(-1, d, d)
    image = np.einsum("lij,mjk->lmik", matrices, unit) - np.einsum("mji,ljk->lmik", unit, matrices)
    upper = np.triu_indices(d, 1)
    system = image[:, :, upper[0], upper[1]].transpose(0, 2, 1).reshape(-1, d * d)
    if len(system) > d * d:  # many outputs: a QR factor has the same singular values
        system = np.linalg.qr(system, mode="r")
    _, s, vectors = np.linalg.svd(system, full_matrices=True)
    s = np.concatenate([s, np.zeros(d * d - len(s))])
    top = s[0] if s[0] > 0 else 1.0
    null = s <= tolerance * top
    kept = float(s[~null].min() / top) if (~null).any() else 0.0
    return vectors[null].reshape(-1, d, d), kept, float(s[null].max(initial=0.0) / top)


def _centroid(matrices: np.ndarray, order: int, tolerance: float, seed: int) -> Splitting:
    d = matrices.shape[-1]
    if not np.abs(matrices).max(initial=0.0) > 0:
        return Splitting(order, d, 0, d * d, 0.0, 0.0)
    if d == 1:
        return Splitting(order, 1, 1, 1, 1.0, 0.0)
    basis, kept, dropped = centroid_basis(matrices / np.abs(matrices).max(), tolerance)
    if len(basis) == 1:
        return Splitting(order, d, 1, 1, kept, dropped)
    weights = np.random.default_rng(seed).normal(size=(32, len(basis)))
    parts = max(_eigenvalue_groups(np.tensordot(w, basis, axes=1)) for w in weights)
    return Splitting(order, d, parts if parts > 1 else None, len(basis), kept, dropped)


def _eigenvalue_groups(matrix: np.ndarray) -> int:
    """Groups of distinct eigenvalues, a complex pair being one: each has a real projection."""
    values = np.linalg.eigvals(matrix)
    size = np.abs(values).max()
    if not size > 0:
        return 1
    points = np.stack([values.real, np.abs(values.imag)], axis=1) / size
    groups: list[np.ndarray] = []
    for point in points:
        if not any(np.linalg.norm(point - other) < 1e-3 for other in groups):
            groups.append(point)
    return len(groups)


def _finite(array: Any, ndim: int) -> np.ndarray:
    values = np.asarray(array, dtype=np.float64)
    if values.ndim != ndim or len(set(values.shape[1:])) > 1 or not values.size:
        raise InputError("derivatives", f"shape {values.shape}", f"(outputs{', d' * (ndim - 1)})")
    if not np.isfinite(values).all():
        raise InputError("derivatives", "values that are not finite", "finite numbers")
    return values
