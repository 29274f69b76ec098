"""Kernel machines solved exactly: minimum norm, ridge, maximum margin, and the published support vector settings.

All take Gram matrices, so they serve any kernel. Dual weights `alpha` and an offset make the machine
`f(z) = sum_i alpha_i K(z, z_i) + offset`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

HARD = 1e10
"""The published cost of a violated margin, which makes it hard."""


@dataclass(frozen=True, eq=False)
class Machine:
    """A fitted kernel machine: dual weights `(train,)` and an offset."""

    weights: Float[np.ndarray, " train"]
    offset: float = 0.0

    def __call__(self, gram: Float[np.ndarray, "rows train"]) -> Float[np.ndarray, " rows"]:
        """Its answers, from the kernel between the rows and the training rows."""
        return np.asarray(gram) @ self.weights + self.offset


def min_norm(
    gram: Float[np.ndarray, "train train"], targets: Float[np.ndarray, " train"], *, offset: bool = False
) -> Machine:
    """The interpolant of least norm (least squares, if the targets cannot be met); safe for singular kernels.

    - `offset`: with a free constant that costs nothing.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import OverlapKernel, min_norm
    >>> kernel, train = OverlapKernel.by_count([0, 0.3, 1]), np.array([[0, 0], [0, 1], [1, 0]])
    >>> machine = min_norm(kernel.gram(train), np.array([-1.0, -1.0, 1.0]))
    >>> machine(kernel.gram([[1, 1]], train)).round(4)  # partial exposure: 2 k^2 / (1 - 2 k^2)
    array([0.2195])

    ```
    """
    return ridge(gram, targets, 0.0, offset=offset)


def ridge(
    gram: Float[np.ndarray, "train train"],
    targets: Float[np.ndarray, " train"],
    penalty: float | Float[np.ndarray, " train"],
    *,
    offset: bool = False,
) -> Machine:
    """Kernel ridge regression, `(K + diag(penalty)) alpha = targets`; a penalty of 0 is minimum norm."""
    gram, targets = _checked(gram, targets)
    matrix = gram + np.diag(np.broadcast_to(np.asarray(penalty, dtype=np.float64), len(targets)))
    if not offset:
        return Machine(symmetric_solve(matrix, targets))
    # Targets without their mean in the metric of the free constant: a bordered system, solved by projection so
    # that a singular kernel stays singular in the right directions only.
    ones = np.full((len(targets), 1), len(targets) ** -0.5)
    inside = np.eye(len(targets)) - ones @ ones.T
    weights = symmetric_solve(inside @ matrix @ inside, inside @ targets)
    return Machine(weights, float(np.mean(targets - matrix @ weights)))


def max_margin(
    gram: Float[np.ndarray, "train train"],
    labels: Float[np.ndarray, " train"],
    *,
    cost: float = HARD,
    tolerance: float = 1e-6,
    most_steps: int = 1_000_000,
) -> Machine:
    """The hard-margin support vector machine with an unpenalised offset (scikit-learn's `SVC`).

    - `labels`: -1 and 1.
    - `tolerance`: 1e-3 is the published setting; 1e-6 leaves margins right to about 1e-6.
    - `most_steps`: near saliences of 0 the solver converges slowly; beyond this it stops and says so.
    """
    from sklearn.svm import SVC

    gram, labels = _checked(gram, labels)
    if set(np.unique(labels)) != {-1.0, 1.0}:
        raise InputError("labels", np.unique(labels)[:5].tolist(), "-1 and 1, both of them")
    return _fitted(SVC(C=cost, kernel="precomputed", tol=tolerance, max_iter=most_steps), gram, labels)


def support_vector_regression(
    gram: Float[np.ndarray, "train train"],
    targets: Float[np.ndarray, " train"],
    *,
    cost: float = HARD,
    tube: float = 0.1,
    tolerance: float = 1e-3,
) -> Machine:
    """Support vector regression with the published settings: errors below `tube` are free.

    The tube leaves a bias that exact interpolation does not have; use this only to compare with published curves.
    """
    from sklearn.svm import SVR

    gram, targets = _checked(gram, targets)
    return _fitted(SVR(C=cost, epsilon=tube, kernel="precomputed", tol=tolerance), gram, targets)


def _fitted(machine: object, gram: np.ndarray, targets: np.ndarray) -> Machine:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a solver that stopped early has no solution to give
        try:
            machine.fit(gram, targets)  # type: ignore[attr-defined]
        except Warning as problem:
            raise InputError("gram", "a problem on which the solver did not converge", str(problem)) from None
    weights = np.zeros(len(targets))
    weights[machine.support_] = machine.dual_coef_.ravel()  # type: ignore[attr-defined]
    return Machine(weights, float(machine.intercept_[0]))  # type: ignore[attr-defined]


def symmetric_solve(
    matrix: Float[np.ndarray, "n n"], targets: Float[np.ndarray, " n *outputs"], *, rcond: float | None = None
) -> Float[np.ndarray, " n *outputs"]:
    """Minimum-norm least squares of a symmetric matrix that may be singular or indefinite.

    - `rcond`: eigenvalues below this share of the largest count as 0; default: machine epsilon times n.
    """
    values, vectors = np.linalg.eigh(matrix)
    cutoff = np.finfo(np.float64).eps * len(matrix) if rcond is None else rcond
    keep = np.abs(values) > cutoff * np.abs(values).max(initial=0.0)
    vectors = vectors[:, keep]
    return vectors @ ((vectors.T @ targets).T / values[keep]).T


def _checked(gram: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gram, targets = np.asarray(gram, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    if gram.shape != (len(targets), len(targets)) or targets.ndim != 1 or not len(targets):
        raise InputError("gram", gram.shape, f"a square matrix for the {targets.shape} targets")
    if not (np.isfinite(gram).all() and np.isfinite(targets).all()):
        raise InputError("gram", "a value that is not finite", "finite numbers")
    return gram, targets
