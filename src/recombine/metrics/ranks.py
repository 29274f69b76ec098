"""Ranks: the number of directions in which a layer varies, and the number of terms in a rendered matrix."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Real
from scipy.special import entr

from recombine.errors import InputError
from recombine.metrics.gram import as_units, centred_gram


def covariance_spectrum(activations: Real[np.ndarray, "rows ..."]) -> Float[np.ndarray, " components"]:
    """Eigenvalues of the covariance of a layer over rows, largest first.

    Where there are more units than rows, the covariance of the units is replaced by the Gram matrix of the rows,
    which has the same non-zero eigenvalues.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units.

    **Returns:**

    `(min(rows, units),)` variances (divisor `rows - 1`), from 0 upwards; values below rounding error are 0.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import covariance_spectrum
    >>> covariance_spectrum(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist()
    [12.5, 0.0]

    ```
    """
    flat = as_units(activations)
    rows, units = flat.shape
    if units > rows:
        scatter = centred_gram(flat)
    else:
        centred = flat - flat.mean(axis=0, dtype=np.float64)
        scatter = centred.T @ centred
    eigenvalues = np.linalg.eigvalsh(scatter)[::-1]
    # Rounding error of a scatter matrix: each of rows * units entries is off by a few eps of the largest activation
    # (it was subtracted from a mean of that size), and the eigenvalue solver adds eps of the largest eigenvalue.
    eps = np.finfo(np.float64).eps
    largest = max(abs(float(flat.max())), abs(float(flat.min())))
    rounding = max(rows * units * (4 * eps * largest) ** 2, len(scatter) * eps * eigenvalues[0])
    return np.where(eigenvalues > rounding, eigenvalues, 0.0) / (rows - 1)


def numerical_rank(eigenvalues: Real[np.ndarray, " components"], tolerance: float = 1e-3) -> int:
    """The number of eigenvalues that exceed `tolerance` times the largest.

    **Arguments:**

    - `eigenvalues`: of a covariance, see [`recombine.metrics.covariance_spectrum`][].
    - `tolerance`: as a share of the largest eigenvalue.

    **Returns:**

    From 1 to the number of eigenvalues; 0 for a layer that does not vary. Null value: the number of eigenvalues,
    for independent noise.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import numerical_rank
    >>> numerical_rank(np.array([1.0, 2e-3, 5e-4]))
    2

    ```
    """
    eigenvalues = np.asarray(eigenvalues, dtype=np.float64)
    return int((eigenvalues > tolerance * eigenvalues.max()).sum()) if eigenvalues.size else 0


def components_for(eigenvalues: Real[np.ndarray, " components"], fraction: float = 0.99) -> int:
    """The number of principal components that explain a fraction of the variance.

    **Arguments:**

    - `eigenvalues`: of a covariance, in any order.
    - `fraction`: of the total variance.

    **Returns:**

    The smallest sufficient number, from 1 to the number of eigenvalues; 0 for a layer that does not vary. Null
    value: almost `fraction` of the number of eigenvalues, for independent noise on many rows.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import components_for
    >>> components_for(np.array([90.0, 9.5, 0.5]))
    2

    ```
    """
    if not 0 < fraction <= 1:
        raise InputError("fraction", fraction, "a number above 0 and up to 1")
    cumulative = np.cumsum(np.sort(np.asarray(eigenvalues, dtype=np.float64))[::-1])
    if not cumulative.size or cumulative[-1] <= 0:
        return 0
    return int(np.argmax(cumulative >= fraction * cumulative[-1])) + 1


def activation_ranks(
    activations: Real[np.ndarray, "rows ..."], *, tolerance: float = 1e-3, fraction: float = 0.99
) -> dict[str, int]:
    """Both ranks of a layer, [`recombine.metrics.numerical_rank`][] and [`recombine.metrics.components_for`][].

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units.
    - `tolerance`: of [`recombine.metrics.numerical_rank`][].
    - `fraction`: of [`recombine.metrics.components_for`][].

    **Returns:**

    `numerical_rank`, `components`, and `largest_possible`, the upper bound `min(rows - 1, units)` of both, which
    independent noise almost reaches.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import activation_ranks
    >>> activation_ranks(np.eye(3)[[0, 1, 2, 0]])
    {'numerical_rank': 2, 'components': 2, 'largest_possible': 3}

    ```
    """
    spectrum = covariance_spectrum(activations)
    rows, units = as_units(activations).shape
    return {
        "numerical_rank": numerical_rank(spectrum, tolerance),
        "components": components_for(spectrum, fraction),
        "largest_possible": min(rows - 1, units),
    }


def participation(weights: Real[np.ndarray, "*tokens terms"]) -> Float[np.ndarray, "*tokens"]:
    """The effective number of terms in a sum, `exp(H(p))` with `p = w^2 / sum w^2` and entropy `H`.

    **Arguments:**

    - `weights`: `(..., terms)`, such as the singular values of a token along the last axis; signs do not matter.

    **Returns:**

    `(...)`, from 1 (one term) to the number of terms (all equal, the null value); 0 if all weights are zero.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import participation
    >>> participation(np.array([[0.0, -3.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]])).round(6).tolist()
    [1.0, 4.0]

    ```
    """
    energy = np.asarray(weights, dtype=np.float64) ** 2
    total = energy.sum(axis=-1, keepdims=True)
    p = np.divide(energy, total, out=np.zeros_like(energy), where=total > 0)
    return np.where(total[..., 0] > 0, np.exp(entr(p).sum(axis=-1)), 0.0)


def effective_rank(matrices: Real[np.ndarray, "*tokens height width"]) -> Float[np.ndarray, "*tokens"]:
    """The effective rank of matrices: [`recombine.metrics.participation`][] of their singular values.

    **Arguments:**

    - `matrices`: `(..., height, width)`, not centred.

    **Returns:**

    `(...)`, from 1 to `min(height, width)`; 0 for a zero matrix. Null value: for a square matrix of independent
    noise about 0.6 of its side.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import effective_rank
    >>> effective_rank(np.stack([np.ones((3, 3)), np.eye(3)])).round(6).tolist()
    [1.0, 3.0]

    ```
    """
    return participation(np.linalg.svd(np.asarray(matrices, dtype=np.float64), compute_uv=False))


def stripe_energy(
    matrices: Real[np.ndarray, "*tokens height width"], axis: int
) -> Float[np.ndarray, "*tokens"]:
    """The share of a matrix that is constant along an axis: the energy of its mean along that axis over its energy.

    **Arguments:**

    - `matrices`: `(..., height, width)`.
    - `axis`: 0 averages over rows, so that 1 means vertical stripes (what a factor x should draw);
        1 averages over columns, so that 1 means horizontal stripes (what a factor y should draw).

    **Returns:**

    `(...)`, from 0 to 1; NaN for a zero matrix. Null value: one over the length of the axis, for independent noise.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import stripe_energy
    >>> vertical = np.array([[0.0, 1.0], [0.0, 1.0]])
    >>> float(stripe_energy(vertical, axis=0)), float(stripe_energy(vertical, axis=1))
    (1.0, 0.5)

    ```
    """
    if axis not in {0, 1}:
        raise InputError("axis", axis, "0 (rows) or 1 (columns)")
    matrices = np.asarray(matrices, dtype=np.float64)
    along = axis - 2
    mean = matrices.mean(axis=along)
    constant = matrices.shape[along] * (mean**2).sum(axis=-1)
    total = (matrices**2).sum(axis=(-2, -1))
    return np.divide(constant, total, out=np.full_like(total, np.nan), where=total > 0)
