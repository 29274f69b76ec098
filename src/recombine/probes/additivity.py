"""Are answers sums over conjunctions? And how much does each kind of conjunction count?

The published analysis (Lippl & Stachenfeld, arXiv 2405.16391): one coefficient for every conjunction that occurs in
training, fitted by nearly unpenalised ridge regression with a constant to the mean answers for all cells, seen and
unseen. Training cells have a private coefficient, their full conjunction, so only the fit to unseen cells says
something. Coefficients are not unique; this one is the solution of least norm with a free constant.
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
    """Answers as a sum over conjunctions.

    - `r2_in`, `r2_out`: share of variance explained on seen and on unseen cells (NaN where answers do not vary).
    - `constant`; `values`: for every set of factors the coefficients of its conjunctions; `levels`: their levels,
        `(conjunctions, factors in the set)`.
    """

    r2_in: float
    r2_out: float
    constant: float
    values: dict[Subset, Float[np.ndarray, " conjunctions"]]
    levels: dict[Subset, Int[np.ndarray, "conjunctions factors"]]


def additive_fit(
    answers: Float[np.ndarray, " rows"],
    cells: Int[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    *,
    order: int | None = None,
    penalty: float = 1e-10,
) -> AdditiveFit:
    """Fits answers by conjunctions that occur in seen cells.

    **Arguments:**

    - `answers`: `(rows,)`, the mean answer for every cell.
    - `cells`: `(rows, factors)` level indices, each cell once.
    - `seen`: true for training cells.
    - `order`: the largest conjunctions; default (as published): all, private ones of training cells included.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import additive_fit
    >>> cells = np.indices((3, 3)).reshape(2, -1).T
    >>> fit = additive_fit(cells.sum(axis=1).astype(float), cells, (cells == 1).any(axis=1))
    >>> round(fit.r2_out, 6)
    1.0

    ```
    """
    answers, cells, seen = np.asarray(answers, dtype=float), np.asarray(cells), np.asarray(seen, dtype=bool)
    if answers.shape != (len(cells),) or seen.shape != (len(cells),):
        raise InputError("answers", (answers.shape, seen.shape), f"({len(cells)},), one for each cell")
    if not seen.any():
        raise InputError("seen", "no cell", "at least one seen cell")
    sizes = tuple(int(n) + 1 for n in cells.max(axis=0))
    found = Conjunctions.of(cells[seen], sizes, order=len(sizes) if order is None else order, least=1)
    design = found.design(cells).toarray()
    centre, middle = design.mean(axis=0), answers.mean()
    # In the space of rows: there are often more conjunctions than cells.
    inner = design - centre
    gram = inner @ inner.T + penalty * np.eye(len(cells))
    weights = inner.T @ np.linalg.solve(gram, answers - middle)
    constant = float(middle - centre @ weights)
    fitted = design @ weights + constant
    values, levels, starts = {}, {}, found.starts
    for position, subset in enumerate(found.subsets):
        values[subset] = weights[starts[position] : starts[position + 1]]
        sizes_in = [sizes[axis] for axis in subset]
        levels[subset] = np.stack(np.unravel_index(found.codes[position], sizes_in), axis=1)
    return AdditiveFit(
        _r2(fitted[seen], answers[seen]), _r2(fitted[~seen], answers[~seen]), constant, values, levels
    )


def item_slope(
    fit: AdditiveFit, factor: int, true_values: Float[np.ndarray, " levels"], keep: Sequence[int]
) -> float:
    """The slope of a factor's fitted values on its true ones, over the levels `keep` (those that unseen cells have)."""
    levels, values = fit.levels[(factor,)][:, 0], fit.values[(factor,)]
    kept = np.isin(levels, keep)
    return float(np.polyfit(np.asarray(true_values)[levels[kept]], values[kept], 1)[0])


def _r2(fitted: np.ndarray, answers: np.ndarray) -> float:
    spread = ((answers - answers.mean()) ** 2).sum() if len(answers) else 0.0
    return float(1 - ((fitted - answers) ** 2).sum() / spread) if spread > 0 else float("nan")
