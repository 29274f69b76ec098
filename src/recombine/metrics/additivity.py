"""Additivity: whether a model's outputs are sums over conjunctions, and how much each kind of conjunction contributes.

A conjunction is a combination of levels of some of the factors. The published analysis (Lippl & Stachenfeld, arXiv
2405.16391) fits one coefficient to every conjunction that occurs in training, by almost unpenalised ridge regression
with an intercept, to the mean outputs of all cells, seen and unseen. Every training cell has a coefficient of its own
(its full conjunction), so only the fit to unseen cells is informative. The coefficients are not unique; these are the
minimum-norm solution with a free intercept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.theory import Conjunctions
from recombine.theory.conjunctions import Subset


@dataclass(frozen=True, eq=False)
class AdditiveFit:
    """A model's outputs as a sum over conjunctions.

    **Attributes:**

    - `r2_in`, `r2_out`: share of variance explained on seen and on unseen cells, at most 1; 0 is the fit of the mean,
        negative is worse. NaN where the outputs do not vary.
    - `constant`: the intercept.
    - `values`: for every set of factors the coefficients of its conjunctions.
    - `levels`: their levels, `(conjunctions, factors in the set)`.
    """

    r2_in: float
    r2_out: float
    constant: float
    values: dict[Subset, Float[np.ndarray, " conjunctions"]]
    levels: dict[Subset, Int[np.ndarray, "conjunctions factors"]]


def additive_fit(
    outputs: Float[np.ndarray, " rows"],
    cells: Int[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    *,
    order: int | None = None,
    penalty: float = 1e-10,
) -> AdditiveFit:
    """Fits outputs by the conjunctions that occur in seen cells.

    **Arguments:**

    - `outputs`: `(rows,)`, the model's mean output for every cell.
    - `cells`: `(rows, factors)` level indices, each cell once.
    - `seen`: true for training cells.
    - `order`: the largest number of factors in a conjunction; default (as published): all, including the full
        conjunctions of single training cells.
    - `penalty`: of the ridge regression; small, so that the fit is least squares of minimum norm.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import additive_fit
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> fit = additive_fit(cells.sum(axis=1).astype(float), cells, (cells == 1).any(axis=1))
    >>> round(fit.r2_out, 6)
    1.0

    ```
    """
    outputs, cells, seen = np.asarray(outputs, dtype=float), np.asarray(cells), np.asarray(seen, dtype=bool)
    if outputs.shape != (len(cells),) or seen.shape != (len(cells),):
        raise InputError("outputs", (outputs.shape, seen.shape), f"({len(cells)},), one for each cell")
    if not seen.any():
        raise InputError("seen", "no cell", "at least one seen cell")
    sizes = tuple(int(n) + 1 for n in cells.max(axis=0))
    conjunctions = Conjunctions.of(
        cells[seen], sizes, order=len(sizes) if order is None else order, min_order=1
    )
    design = conjunctions.design(cells).toarray()
    # Centring design and outputs leaves the intercept unpenalised. The dual form, X^T (X X^T + penalty I)^-1 y, solves
    # a system in the number of cells, of which there are often fewer than conjunctions.
    design_mean, output_mean = design.mean(axis=0), outputs.mean()
    centred = design - design_mean
    gram = centred @ centred.T + penalty * np.eye(len(cells))
    weights = centred.T @ np.linalg.solve(gram, outputs - output_mean)
    constant = float(output_mean - design_mean @ weights)
    fitted = design @ weights + constant
    values, levels, starts = {}, {}, conjunctions.starts
    for i, subset in enumerate(conjunctions.subsets):
        values[subset] = weights[starts[i] : starts[i + 1]]
        subset_sizes = [sizes[axis] for axis in subset]
        levels[subset] = np.stack(np.unravel_index(conjunctions.codes[i], subset_sizes), axis=1)
    return AdditiveFit(
        _r2(fitted[seen], outputs[seen]), _r2(fitted[~seen], outputs[~seen]), constant, values, levels
    )


def item_slope(
    fit: AdditiveFit, factor: int, true_values: Float[np.ndarray, " levels"], keep: Sequence[int]
) -> float:
    """The slope of a factor's fitted values regressed on its true values.

    **Arguments:**

    - `fit`: see [`recombine.metrics.additive_fit`][].
    - `factor`: its number.
    - `true_values`: `(levels,)`, what each level of the factor contributes to the target.
    - `keep`: the levels to use, usually those that occur in unseen cells.

    **Returns:**

    Any number: 1 if the model adds the values as the task does, 0 if it ignores them (the null value).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import additive_fit, item_slope
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> fit = additive_fit(0.5 * cells.sum(axis=1), cells, (cells == 1).any(axis=1))
    >>> round(item_slope(fit, 0, np.arange(3.0), keep=[0, 2]), 6)
    0.5

    ```
    """
    levels, values = fit.levels[(factor,)][:, 0], fit.values[(factor,)]
    kept = np.isin(levels, keep)
    return float(np.polyfit(np.asarray(true_values)[levels[kept]], values[kept], 1)[0])


def _r2(fitted: np.ndarray, outputs: np.ndarray) -> float:
    total = ((outputs - outputs.mean()) ** 2).sum() if len(outputs) else 0.0
    return float(1 - ((fitted - outputs) ** 2).sum() / total) if total > 0 else float("nan")
