"""What a compositionally structured model can and cannot know about cells it was not trained on: four verdicts.

- *expressible*: some sum over seen conjunctions has the right values (or signs) on the test cells. If not, no kernel
  machine on a compositionally structured representation can be right, whatever its saliences and loss.
- *fit at order k*: the training labels are a sum over conjunctions of order at most k.
- *determined at order k*: every such sum that agrees with training agrees on the cell. Only a memorisation leak can
  still distort the answer.
- *norm-completed at order k*: some conjunction of order at most k is unseen, and the norm sets its value to 0. What
  comes out depends on saliences and loss, so shortcuts are possible.

A cell that is neither determined nor norm-completed is *undetermined*: all its conjunctions are seen, but not in
combinations that would tell their effects apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse
from scipy.optimize import linprog

from recombine.errors import InputError
from recombine.theory.conjunctions import Conjunctions
from recombine.theory.determinacy import Determinacy


@dataclass(frozen=True, eq=False)
class CellVerdicts:
    """For every cell, at one order, which of the three holds.

    - `determined`, `norm_completed`, `undetermined`: `(cells,)`, exactly one is true.
    - `certain`: whether the answer is proven beyond unlucky primes (see `Determinacy.is_certain`).
    """

    order: int
    determined: Bool[np.ndarray, " cells"]
    norm_completed: Bool[np.ndarray, " cells"]
    certain: bool

    @property
    def undetermined(self) -> Bool[np.ndarray, " cells"]:
        """All conjunctions seen, and still open."""
        return ~(self.determined | self.norm_completed)


def cell_verdicts(
    train: Int[np.ndarray, "train factors"],
    cells: Int[np.ndarray, "cells factors"],
    sizes: Sequence[int],
    *,
    order: int,
    known: Determinacy | None = None,
) -> CellVerdicts:
    """Sorts cells into determined, norm-completed and undetermined.

    - `known`: what `train` determines at this order, if that is at hand.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import cell_verdicts
    >>> found = cell_verdicts(np.array([[0, 0], [1, 0]]), np.array([[1, 0], [1, 1]]), (2, 2), order=1)
    >>> found.determined, found.norm_completed
    (array([ True, False]), array([False,  True]))

    ```
    """
    known = Determinacy.of(train, sizes, order) if known is None else known
    determined = known.determined(cells)
    missing = np.zeros(len(cells), dtype=bool)
    if not determined.all():
        seen = Conjunctions.of(train, sizes, order=order)
        missing[~determined] = seen.missing(np.asarray(cells)[~determined]).any(axis=1)
    return CellVerdicts(order, determined, missing, known.is_certain())


@dataclass(frozen=True, eq=False)
class Separation:
    """Whether signs can be had from a design, and if not, why not.

    - `certificate` `(rows,)`: weights >= 0 with `sum_i weight_i label_i row_i = 0`, so that no weights can give all of
        these rows their sign; all 0 if the signs can be had.
    """

    possible: bool
    certificate: Float[np.ndarray, " rows"]


def separation(
    design: sparse.csr_array | np.ndarray, labels: Float[np.ndarray, " rows"], *, tolerance: float = 1e-7
) -> Separation:
    """Is there a weight vector with `label_i row_i . w > 0` for all rows? One linear program answers either way."""
    labels = np.asarray(labels, dtype=np.float64)
    if not np.isin(labels, (-1, 1)).all():
        raise InputError("labels", np.unique(labels)[:5].tolist(), "-1 and 1")
    signed = sparse.csr_array(design).multiply(labels[:, None])
    found = linprog(
        -np.ones(len(labels)),
        A_eq=sparse.csc_array(signed.T),
        b_eq=np.zeros(signed.shape[1]),
        bounds=(0, 1),
        method="highs",
    )
    if found.status != 0:
        raise InputError("design", "a problem that the linear program cannot solve", found.message)
    weights = np.where(found.x > tolerance, found.x, 0.0)
    return Separation(not weights.any(), weights)


@dataclass(frozen=True, eq=False)
class TaskVerdicts:
    """The four verdicts of a task with known labels.

    - `expressible`, `expressible_signs`: on the test cells, by seen conjunctions of any order. `contradiction`: the
        numbers of test cells that together cannot have their signs, if they cannot.
    - `fit`, `fit_signs`: by order, whether training labels or their signs are within reach.
    - `cells`: by order, the verdict of every test cell.
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
    """All verdicts of a small task at every order below the number of factors.

    Signs are looked at if all labels are -1 or 1.

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
    everything = Conjunctions.of(train, sizes, order=len(sizes)).design(test)
    expressible, separated = True, None
    if len(test):
        expressible = in_column_space(everything, test_labels)
        separated = separation(everything, test_labels) if signs else None
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
    """Whether the labels are a sum of the design's columns, within `tolerance` of their size."""
    dense = design.toarray()
    solution, *_ = np.linalg.lstsq(dense, labels, rcond=None)
    return bool(np.abs(dense @ solution - labels).max() <= tolerance * max(1.0, np.abs(labels).max()))
