"""The memorisation leak: how much of the truth reaches cells that training does not have.

A model that stores whole cells as well as their parts answers an unseen cell from the parts alone. Minimum-norm
interpolation is ridge regression on the lower orders, with the salience of whole cells as the ridge, so answers for
unseen cells come out too small. `retention` of a cell, `K_L(z, train) (K_L + ridge)^-1 K_L(train, z) / K_L(z, z)`, is
the share that remains, whatever the labels. The constant is left out: it costs the model nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg, sparse

from recombine.theory import Conjunctions, OverlapKernel

MOST_WORK = 3e7
"""Training cells times cells of interest up to which the kernel of all lower orders is solved exactly."""
MOST_CELLS = 3000
"""Training cells up to which it is."""
ORDER = 2
"""Beyond that: conjunctions up to this order, with the salience of all higher ones as the ridge."""
_BLOCK = 2000
_LEAST_RIDGE = 1e-10


def retention(
    kernel: OverlapKernel,
    train: Int[np.ndarray, "train factors"],
    targets: Int[np.ndarray, "targets factors"],
    sizes: Sequence[int],
) -> Float[np.ndarray, " targets"]:
    """The share of an unseen cell's answer that remains, between 0 and 1.

    **Arguments:**

    - `train`: different training cells; `targets`: cells that are not among them.
    """
    if not len(targets):
        return np.zeros(0)
    kernel = OverlapKernel.from_salience(kernel.normalised)
    if len(train) > MOST_CELLS or len(train) * len(targets) > MOST_WORK:
        return _by_features(kernel, train, targets, sizes)
    lower = kernel.lower()
    ridge = max(float(kernel.salience.ravel()[-1]), _LEAST_RIDGE)
    inverse = np.linalg.inv(lower.gram(train) + ridge * np.eye(len(train)))
    size = float(lower.similarity.ravel()[-1])
    found = []
    for start in range(0, len(targets), _BLOCK):
        across = lower.gram(targets[start : start + _BLOCK], train)
        found.append(((across @ inverse) * across).sum(axis=1) / size)
    return np.concatenate(found)


def _by_features(
    kernel: OverlapKernel, train: np.ndarray, targets: np.ndarray, sizes: Sequence[int]
) -> Float[np.ndarray, " targets"]:
    """The same in the space of conjunctions: `phi' phi - r phi' (Phi' Phi + r)^-1 phi`, r the ridge.

    A row of features has one entry per set of factors, so the quadratic form is a sum of few entries of the inverse.
    """
    order = min(ORDER, kernel.factors - 1)
    seen, low = Conjunctions.of(train, sizes, order=order), kernel.lower(order)
    salience = [kernel.salience[tuple(int(a in s) for a in range(kernel.factors))] for s in seen.subsets]
    scale = np.sqrt(np.repeat(np.maximum(salience, 0), [len(codes) for codes in seen.codes]))
    ridge = max(float(kernel.similarity.ravel()[-1] - low.similarity.ravel()[-1]), _LEAST_RIDGE)
    design = seen.design(train) @ sparse.diags_array(scale)
    inverse = linalg.inv((design.T @ design).toarray() + ridge * np.eye(len(scale)), overwrite_a=True)
    inverse = np.pad(inverse, (0, 1))  # unseen conjunctions, column -1, add nothing
    scale = np.append(scale, 0.0)
    found = []
    for start in range(0, len(targets), _BLOCK):
        columns = seen.columns(targets[start : start + _BLOCK])
        weights = scale[columns]
        form = sum(
            weights[:, i] * (inverse[columns[:, i, None], columns] * weights).sum(axis=1)
            for i in range(columns.shape[1])
        )
        found.append(((weights**2).sum(axis=1) - ridge * form) / float(low.similarity.ravel()[-1]))
    return np.concatenate(found)
