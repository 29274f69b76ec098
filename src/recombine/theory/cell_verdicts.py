"""Four verdicts on what a compositionally structured model can know about cells it was not trained on.

- *expressible*: some sum over seen conjunctions has the right values (or signs) on the test cells. If not, no kernel
  machine on a compositionally structured representation can be right, whatever its saliences and its loss.
- *fit at order k*: the training labels are a sum over conjunctions of order at most k.
- *determined at order k*: all such sums that agree on training agree on the cell. Only a memorisation leak can still
  distort the prediction.
- *norm-completed at order k*: some conjunction of order at most k is unseen, and a minimum norm sets its value to 0.
  The prediction depends on the model's inductive bias (saliences and loss), so shortcuts are possible.

A cell that is neither determined nor norm-completed is *undetermined*: all its conjunctions are seen, but not in
combinations that separate their effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.errors import InputError
from recombine.theory.conjunctions import Conjunctions
from recombine.theory.determinacy import Determinacy
from recombine.theory.kernel_machines import symmetric_solve

MIN_FITTED = 1e-3
"""Least squares proves that signs can be had if every fitted label is at least this far on the right side."""


@dataclass(frozen=True, eq=False)
class CellVerdicts:
    """The verdict on every cell at one order.

    **Attributes:**

    - `determined`, `norm_completed`, `undetermined`: `(cells,)`; exactly one of the three is true.
    - `certain`: whether the verdicts are proven, and not only very probable (see `Determinacy.is_certain`).
    """

    order: int
    determined: Bool[np.ndarray, " cells"]
    norm_completed: Bool[np.ndarray, " cells"]
    certain: bool

    @property
    def undetermined(self) -> Bool[np.ndarray, " cells"]:
        """Cells whose conjunctions are all seen, and which are still not determined."""
        return ~(self.determined | self.norm_completed)


def cell_verdicts(
    train: Int[np.ndarray, "train factors"],
    cells: Int[np.ndarray, "cells factors"],
    sizes: Sequence[int],
    *,
    order: int,
    known: Determinacy | None = None,
    seen: Conjunctions | None = None,
) -> CellVerdicts:
    """Sorts cells into determined, norm-completed and undetermined ones.

    **Arguments:**

    - `train`, `cells`: level indices.
    - `sizes`: the number of levels of every factor.
    - `known`: what `train` determines at this order, if it has been computed already.
    - `seen`: the conjunctions of `train` up to at least this order, if they are known.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import cell_verdicts
    >>> verdicts = cell_verdicts(np.array([[0, 0], [1, 0]]), np.array([[1, 0], [1, 1]]), (2, 2), order=1)
    >>> verdicts.determined, verdicts.norm_completed
    (array([ True, False]), array([False,  True]))

    ```
    """
    known = Determinacy.of(train, sizes, order) if known is None else known
    determined = known.determined(cells)
    norm_completed = np.zeros(len(cells), dtype=bool)
    if not determined.all():
        seen = Conjunctions.of(train, sizes, order=order) if seen is None else seen.of_orders(order)
        norm_completed[~determined] = seen.missing(np.asarray(cells)[~determined]).any(axis=1)
    return CellVerdicts(order, determined, norm_completed, known.is_certain())


@dataclass(frozen=True, eq=False)
class Separation:
    """Whether some weights give every row of a design its sign, and if not, why not.

    **Attributes:**

    - `certificate` `(rows,)`: weights >= 0 with `sum_i weight_i label_i row_i = 0`, which prove that the rows with a
        positive weight cannot all have their sign; all 0 if `possible`.
    """

    possible: bool
    certificate: Float[np.ndarray, " rows"]


def separation(
    design: sparse.csr_array | np.ndarray, labels: Float[np.ndarray, " rows"], *, tolerance: float = 1e-7
) -> Separation:
    """Is there a weight vector w with `label_i row_i . w > 0` for all rows?

    By Gordan's theorem either there is one, or some weights >= 0 that are not all 0 make `sum_i weight_i label_i row_i`
    vanish. One linear program finds the largest such weights. It is skipped where least squares on the labels already
    gets every sign right.

    **Arguments:**

    - `labels`: -1 and 1.
    - `tolerance`: weights up to this count as 0.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import separation
    >>> xor = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])  # constant and two factors
    >>> separation(xor, np.array([-1.0, 1, 1, -1])).certificate  # all four together are the contradiction
    array([1., 1., 1., 1.])

    ```
    """
    labels = np.asarray(labels, dtype=np.float64)
    if not np.isin(labels, (-1, 1)).all():
        raise InputError("labels", np.unique(labels)[:5].tolist(), "-1 and 1")
    if _least_squares_separates(design, labels):
        return Separation(True, np.zeros(len(labels)))
    from scipy.optimize import linprog

    signed = sparse.csr_array(design).multiply(labels[:, None])
    solution = linprog(
        -np.ones(len(labels)),
        A_eq=sparse.csc_array(signed.T),
        b_eq=np.zeros(signed.shape[1]),
        bounds=(0, 1),
        method="highs",
    )
    if solution.status != 0:
        raise InputError("design", "a problem that the linear program cannot solve", solution.message)
    weights = np.where(solution.x > tolerance, solution.x, 0.0)
    return Separation(not weights.any(), weights)


def _least_squares_separates(
    design: sparse.csr_array | np.ndarray, labels: Float[np.ndarray, " rows"]
) -> bool:
    """Whether the least-squares fit of the labels has all signs right, clearly above rounding."""
    gram = design @ design.T
    gram = gram.toarray() if sparse.issparse(gram) else np.asarray(gram)
    fitted = gram @ symmetric_solve(gram.astype(np.float64), labels)
    return bool((labels * fitted > MIN_FITTED).all())


@dataclass(frozen=True, eq=False)
class TaskVerdicts:
    """The four verdicts on a task with known labels.

    **Attributes:**

    - `expressible`, `expressible_signs`: whether sums over seen conjunctions of any order can have the test labels, or
        their signs (`None` unless labels are -1 and 1); `contradiction`: positions of test cells that cannot have their
        signs together.
    - `fit`, `fit_signs`: by order, whether such sums can have the training labels, or their signs.
    - `cells`: by order, the verdict on every test cell.
    """

    expressible: bool
    expressible_signs: bool | None
    contradiction: Int[np.ndarray, " cells"]
    fit: dict[int, bool] = field(default_factory=dict)
    fit_signs: dict[int, bool] = field(default_factory=dict)
    cells: dict[int, CellVerdicts] = field(default_factory=dict)


def task_verdicts(
    train: Int[np.ndarray, "train factors"],
    labels: Float[np.ndarray, " train"],
    test: Int[np.ndarray, "test factors"],
    test_labels: Float[np.ndarray, " test"],
    sizes: Sequence[int],
) -> TaskVerdicts:
    """All verdicts on a small task, at every order below the number of factors.

    Signs are checked if all labels are -1 or 1.

    ```python
    >>> from recombine.tasks import transitive_equivalence
    >>> from recombine.theory import task_verdicts
    >>> task = transitive_equivalence()
    >>> cells, seen, y = task.split.space.cells, task.split.seen, task.targets.ravel()
    >>> task_verdicts(cells[seen], y[seen], cells[~seen], y[~seen], task.split.space.shape).expressible_signs
    False

    ```
    """
    labels, test_labels = np.asarray(labels, dtype=float), np.asarray(test_labels, dtype=float)
    signs = bool(np.isin(labels, (-1, 1)).all() and np.isin(test_labels, (-1, 1)).all())
    full_design = Conjunctions.of(train, sizes, order=len(sizes)).design(test)
    expressible, separated = True, None
    if len(test):
        expressible = in_column_space(full_design, test_labels)
        separated = separation(full_design, test_labels) if signs else None
    verdicts = TaskVerdicts(
        expressible,
        None if separated is None else separated.possible,
        np.zeros(0, dtype=int) if separated is None else np.flatnonzero(separated.certificate),
    )
    for order in range(1, len(sizes)):
        design = Conjunctions.of(train, sizes, order=order).design(train)
        verdicts.fit[order] = in_column_space(design, labels)
        if signs:
            verdicts.fit_signs[order] = separation(design, labels).possible
        verdicts.cells[order] = cell_verdicts(train, test, sizes, order=order)
    return verdicts


def in_column_space(
    design: sparse.csr_array, labels: Float[np.ndarray, " rows"], *, tolerance: float = 1e-9
) -> bool:
    """Whether the labels are a linear combination of the design's columns, up to `tolerance` times their size."""
    dense = design.toarray()
    solution, *_ = np.linalg.lstsq(dense, labels, rcond=None)
    return bool(np.abs(dense @ solution - labels).max() <= tolerance * max(1.0, np.abs(labels).max()))
