"""A kernel machine on cells whose saliences, of factors and of their conjunctions, are estimated from the targets.

Two cells are the more similar, the more factors they share:

    K(a, b) = (prod over factors f of (1 + rho r_f [a_f = b_f]) - 1) / rho,

so that a conjunction J has the salience rho^(|J| - 1) times the product of the relevances r_f of its factors. The
relevances, rho and the share of noise maximise the marginal likelihood of a Gaussian process with this kernel. A task
that depends on single factors gets a small rho, one that has to be learned cell by cell a large one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from recombine.auditing.outputs import decide
from recombine.auditing.seen_cells import SeenCells

MAX_ESTIMATE_CELLS, MAX_FIT_CELLS = 200, 1000
"""Seen cells from which saliences are estimated, and from which the machine predicts; more are sampled."""
MAX_ESTIMATE_OUTPUTS = 16
"""Outputs that take part in the estimate, evenly spread."""
RHOS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)
NOISES = (1e-6, 1e-3, 0.03, 0.1, 0.3, 1.0)
RELEVANCES = (0.01, 0.1, 0.3, 1.0, 3.0)
ROUNDS = 2
"""Rounds in which one parameter after the other takes its best value."""


@dataclass(frozen=True)
class _Saliences:
    rho: float
    noise: float
    relevances: tuple[float, ...]

    def gram(self, cells: np.ndarray, others: np.ndarray) -> Float[np.ndarray, "cells others"]:
        product = np.ones((len(cells), len(others)))
        largest = 1.0
        for axis, relevance in enumerate(self.relevances):
            product *= 1 + self.rho * relevance * (cells[:, axis, None] == others[None, :, axis])
            largest *= 1 + self.rho * relevance
        return (product - 1) / (largest - 1)


@dataclass(frozen=True)
class KernelMachine:
    """A kernel machine with the saliences that suit some seen cells; it can be fitted to others.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.refits.kernel_fit import KernelMachine
    >>> from recombine.auditing.seen_cells import SeenCells
    >>> grid = np.indices((6, 6)).reshape(2, -1).T
    >>> known = grid[:-1]
    >>> seen = SeenCells("regression", (6, 6), known, known.sum(axis=1)[:, None] * 1.0, np.ones(35, dtype=int))
    >>> float(KernelMachine.of(seen)(seen, grid[-1:])[0, 0].round())
    10.0

    ```
    """

    saliences: _Saliences
    seed: int = 0

    @staticmethod
    def of(seen: SeenCells, seed: int = 0) -> KernelMachine:
        """The machine whose saliences make the values of seen cells most probable."""
        rng = np.random.default_rng([seed, 97])
        few = _some(len(seen.cells), MAX_ESTIMATE_CELLS, rng)
        values = seen.values[few]
        return KernelMachine(_estimate(seen.cells[few], values - values.mean(axis=0)), seed)

    def __call__(
        self, seen: SeenCells, cells: Int[np.ndarray, "cells factors"]
    ) -> Float[np.ndarray, "cells outputs"]:
        """Predictions at any cells, fitted to some seen cells: quantities, or the label with the highest score."""
        index = _some(len(seen.cells), MAX_FIT_CELLS, np.random.default_rng([self.seed, 98]))
        known, values = seen.cells[index], seen.values[index]
        centre = values.mean(axis=0)
        matrix = self.saliences.gram(known, known)
        matrix[np.diag_indices_from(matrix)] += self.saliences.noise
        weights = linalg.cho_solve(linalg.cho_factor(matrix, overwrite_a=True), values - centre)
        return decide(centre + self.saliences.gram(cells, known) @ weights, seen.kind)


def _some(count: int, most: int, rng: np.random.Generator) -> Int[np.ndarray, " some"]:
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))


def _estimate(cells: np.ndarray, values: np.ndarray) -> _Saliences:
    """The parameters with the highest marginal likelihood, one after the other."""
    if values.shape[1] > MAX_ESTIMATE_OUTPUTS:
        values = values[:, np.linspace(0, values.shape[1] - 1, MAX_ESTIMATE_OUTPUTS).astype(int)]
    best = _Saliences(0.3, 0.03, (1.0,) * cells.shape[1])
    if not values.any():
        return best
    highest = _likelihood(best, cells, values)
    for _ in range(ROUNDS):
        before = best
        for rho in RHOS:
            highest, best = _better(replace(best, rho=rho), highest, best, cells, values)
        for noise in NOISES:
            highest, best = _better(replace(best, noise=noise), highest, best, cells, values)
        for axis in range(cells.shape[1]):
            for value in RELEVANCES:
                relevances = (*best.relevances[:axis], value, *best.relevances[axis + 1 :])
                highest, best = _better(replace(best, relevances=relevances), highest, best, cells, values)
        if best == before:
            break
    return best


def _better(
    other: _Saliences, highest: float, best: _Saliences, cells: np.ndarray, values: np.ndarray
) -> tuple[float, _Saliences]:
    if other == best:
        return highest, best
    likelihood = _likelihood(other, cells, values)
    return (likelihood, other) if likelihood > highest else (highest, best)


def _likelihood(saliences: _Saliences, cells: np.ndarray, values: np.ndarray) -> float:
    """The logarithm of the marginal likelihood, with the best variance of each output, up to a constant."""
    matrix = saliences.gram(cells, cells)
    matrix[np.diag_indices_from(matrix)] += saliences.noise
    factor = linalg.cholesky(matrix, lower=True, overwrite_a=True)
    half = linalg.solve_triangular(factor, values, lower=True)
    squares = np.maximum((half**2).sum(axis=0), 1e-300)
    count = len(cells)
    spread = np.log(np.diag(factor)).sum()
    return float((-0.5 * count * np.log(squares) - spread).sum())
