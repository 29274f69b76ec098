"""Kernel machines solved exactly: minimum norm, ridge, maximum margin, and the published support vector settings.

All take Gram matrices, so they work for any kernel. Dual weights `alpha` and an offset make the machine
`f(z) = sum_i alpha_i K(z, z_i) + offset`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError

HARD = 1e10
"""The published penalty on margin violations, large enough to forbid them."""


@dataclass(frozen=True, eq=False)
class Machine:
    """A fitted kernel machine: dual weights `(train,)` and an offset.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Machine
    >>> Machine(np.array([1.0, -1.0]), offset=0.5)([[1.0, 0.25]]).tolist()  # 1 · 1 - 1 · 0.25 + 0.5
    [1.25]

    ```
    """

    weights: Float[np.ndarray, " train"]
    offset: float = 0.0

    def __call__(self, gram: Float[np.ndarray, "rows train"]) -> Float[np.ndarray, " rows"]:
        """Predictions from the kernel between rows and training rows."""
        return np.asarray(gram) @ self.weights + self.offset


def min_norm(
    gram: Float[np.ndarray, "train train"], targets: Float[np.ndarray, " train"], *, offset: bool = False
) -> Machine:
    """The interpolant of minimum norm (least squares if the targets cannot be met); singular kernels are allowed.

    **Arguments:**

    - `offset`: whether there is an unpenalised constant.

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
    """Kernel ridge regression, `(K + diag(penalty)) alpha = targets`; a penalty of 0 gives the minimum norm.

    **Arguments:**

    - `penalty`: one for all rows, or one for each.
    - `offset`: whether there is an unpenalised constant.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import ridge
    >>> ridge(np.eye(2), np.array([1.0, -1.0]), 1.0).weights
    array([ 0.5, -0.5])

    ```
    """
    gram, targets = _checked(gram, targets)
    matrix = gram + np.diag(np.broadcast_to(np.asarray(penalty, dtype=np.float64), len(targets)))
    if not offset:
        return Machine(symmetric_solve(matrix, targets))
    # An unpenalised constant makes the dual weights add up to 0. The bordered system for both is solved by projection
    # on such weights, which leaves a singular kernel singular in the right directions only.
    ones = np.full((len(targets), 1), len(targets) ** -0.5)
    centring = np.eye(len(targets)) - ones @ ones.T
    weights = symmetric_solve(centring @ matrix @ centring, centring @ targets)
    return Machine(weights, float(np.mean(targets - matrix @ weights)))


def max_margin(
    gram: Float[np.ndarray, "train train"],
    labels: Float[np.ndarray, " train"],
    *,
    cost: float = HARD,
    tolerance: float = 1e-6,
    max_steps: int = 1_000_000,
) -> Machine:
    """The hard-margin support vector machine with an unpenalised offset (scikit-learn's `SVC`).

    **Arguments:**

    - `labels`: -1 and 1, both of them.
    - `tolerance`: 1e-3 is the published setting; 1e-6 gives margins that are correct to about 1e-6.
    - `max_steps`: near saliences of 0 the solver converges slowly; beyond this many steps it stops with an error.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import max_margin
    >>> max_margin(np.eye(2), np.array([1.0, -1.0])).weights
    array([ 1., -1.])

    ```
    """
    from sklearn.svm import SVC

    gram, labels = _checked(gram, labels)
    if set(np.unique(labels)) != {-1.0, 1.0}:
        raise InputError("labels", np.unique(labels)[:5].tolist(), "-1 and 1, both of them")
    return _fitted(SVC(C=cost, kernel="precomputed", tol=tolerance, max_iter=max_steps), gram, labels)


def max_margin_by_pivoting(
    gram: Float[np.ndarray, "train train"],
    labels: Float[np.ndarray, " train"],
    *,
    tolerance: float = 1e-9,
    max_pivots: int = 200,
) -> Machine | None:
    """The hard-margin machine with a free offset, exactly, by guessing its support vectors and correcting the guess.

    If S is the set of support vectors, the machine interpolates the labels on S and has weights of the labels' sign
    there, and every other row has a margin of at least 1. Starting from all rows, block principal pivoting exchanges
    all rows that violate one of these conditions; where that stops helping, only the last of them is exchanged, which
    cannot cycle for a positive definite kernel.

    **Arguments:**

    - `labels`: -1 and 1, both of them.
    - `tolerance`: by how much weights (relative to the largest) and margins may violate the conditions.
    - `max_pivots`: guesses that are tried.

    **Returns:**

    `None` if a guess leads to a singular system, or none is right.

    **Reference:** Júdice & Pires, Computers & Operations Research 21 (1994), "A block principal pivoting algorithm for
    large-scale strictly monotone linear complementarity problems".

    ```python
    >>> import numpy as np
    >>> from recombine.theory import OverlapKernel, max_margin_by_pivoting
    >>> kernel, train = OverlapKernel.by_count([0, 0.3, 1]), np.array([[0, 0], [0, 1], [1, 0]])
    >>> machine = max_margin_by_pivoting(kernel.gram(train), np.array([-1.0, -1.0, 1.0]))
    >>> machine(kernel.gram([[1, 1]], train)).round(4)
    array([0.1111])

    ```
    """
    gram, labels = _checked(gram, labels)
    support = np.ones(len(labels), dtype=bool)
    fewest, patience = len(labels) + 1, 3
    for _ in range(max_pivots):
        machine = _interpolant(gram, labels, support)
        if machine is None:
            return None
        strength = labels * machine.weights
        margin = labels * machine(gram)
        slack = tolerance * max(1.0, float(np.abs(strength).max()))
        violated = np.where(support, strength < -slack, margin < 1 - slack)
        count = int(violated.sum())
        if not count:
            return machine
        if count < fewest:
            fewest, patience = count, 3
        elif patience:
            patience -= 1
        else:
            violated[: int(np.flatnonzero(violated)[-1])] = False
        support = support ^ violated
    return None


def _interpolant(gram: np.ndarray, labels: np.ndarray, support: Bool[np.ndarray, " train"]) -> Machine | None:
    """The machine with weights on the support alone, adding up to 0, that is right there."""
    chosen = np.flatnonzero(support)
    size = len(chosen)
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(chosen, chosen)]
    system[size, size] = 0.0
    try:
        solution = np.linalg.solve(system, np.append(labels[chosen], 0.0))
    except np.linalg.LinAlgError:
        return None
    # Singular systems that rounding has hidden have huge solutions that miss the labels.
    if not np.allclose(system[:size] @ solution, labels[chosen], rtol=0, atol=1e-8):
        return None
    weights = np.zeros(len(labels))
    weights[chosen] = solution[:size]
    return Machine(weights, float(solution[size]))


def support_vector_regression(
    gram: Float[np.ndarray, "train train"],
    targets: Float[np.ndarray, " train"],
    *,
    cost: float = HARD,
    tube: float = 0.1,
    tolerance: float = 1e-3,
) -> Machine:
    """Support vector regression with the published settings: errors below `tube` are not penalised.

    The tube causes a bias that exact interpolation does not have; use this only to compare with published curves.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import support_vector_regression
    >>> machine = support_vector_regression(np.eye(2), np.array([-1.0, 1.0]), tube=0.1)
    >>> machine(np.eye(2)).round(3).tolist()  # as far inside the tube as possible
    [-0.9, 0.9]

    ```
    """
    from sklearn.svm import SVR

    gram, targets = _checked(gram, targets)
    return _fitted(SVR(C=cost, epsilon=tube, kernel="precomputed", tol=tolerance), gram, targets)


def _fitted(machine: object, gram: np.ndarray, targets: np.ndarray) -> Machine:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a solver that stopped early has no solution
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

    **Arguments:**

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
