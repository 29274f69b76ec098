"""Tasks on symbols: exact tables of which combinations are trained, and their targets.

The inputs are one-hot codes side by side. Tables follow Lippl & Stachenfeld (arXiv 2405.16391); levels are counted
from 0. Every task is a regression onto numbers; classes are -1 and 1. All take a `seed`, as tasks of a trial do, but
only `dispersed_addition` depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.tasks.encodings import one_hot
from recombine.tasks.task import Task

ANCHORS = {"extrapolation": (4,), "interpolation": (0, 8), "both": (2, 6), "asymmetric": (0,)}
"""Published training sets of addition: cells in which some factor is at one of these level *indices* are trained."""

Logic = Literal["and", "or", "xor"]


def symbolic_task(
    space: Space, seen: ArrayLike, targets: ArrayLike, *, allow_unseen_levels: bool = False
) -> Task:
    """A task with a row per cell, one-hot inputs and one number as target."""
    inputs = one_hot(space.cells, space.shape)
    split = Split(space, np.asarray(seen), allow_unseen_levels=allow_unseen_levels)
    return Task(split, inputs, np.asarray(targets, dtype=np.float64)[:, None])


def addition(*, anchors: str | Sequence[int] = "extrapolation", n: int = 9, seed: int = 0) -> Task:
    """Sums of two values from -(n - 1) / 2 to (n - 1) / 2.

    **Arguments:**

    - `anchors`: level indices, or one of `extrapolation`, `interpolation`, `both` and `asymmetric` (for n = 9).
        Training has all cells in which at least one of the two factors is at an anchor.

    ```python
    >>> from recombine.tasks import addition
    >>> addition(anchors="interpolation").split
    Split(first 9 × second 9: 32 seen, 49 unseen)

    ```
    """
    if isinstance(anchors, str):
        if anchors not in ANCHORS or n != 9:
            raise InputError("anchors", anchors, f"level indices, or for n = 9 one of {', '.join(ANCHORS)}")
        anchors = ANCHORS[anchors]
    levels = np.unique(np.asarray(anchors))
    if not levels.size or levels.min() < 0 or levels.max() >= n:
        raise InputError("anchors", list(anchors), f"at least one level index from 0 to {n - 1}")
    space = _values(n)
    return symbolic_task(space, np.isin(space.cells, levels).any(axis=1), _sums(space))


def dispersed_addition(*, seed: int = 0, n: int = 9) -> Task:
    """Addition trained on two cells in every row and every column, which chain all levels into one ring.

    Published: the rows of a matrix with ones on the diagonal and next to it, shuffled.
    """
    ring = (np.eye(n, dtype=int) + np.roll(np.eye(n, dtype=int), 1, axis=1)).astype(bool)
    np.random.default_rng(seed).shuffle(ring)
    space = _values(n)
    return symbolic_task(space, ring.ravel(), _sums(space))


def _values(n: int) -> Space:
    if n < 2:
        raise InputError("n", n, "at least 2 levels")
    values = (np.arange(n) - (n - 1) / 2).tolist()
    return Space({"first": values, "second": values})


def _sums(space: Space) -> np.ndarray:
    values = np.array(space.factors[0].levels)
    return values[space.cells].sum(axis=1)


def context_dependence(*, hidden: int = 3, per_class: int = 3, seed: int = 0) -> Task:
    """A context selects which of two features determines the target: feature 1 in context 0, feature 2 in context 1.

    Features have `per_class` low levels (target -1) and as many high ones (target 1). Held out, in both contexts:
    the first `hidden` low levels of feature 1 with the first `hidden` high levels of feature 2.

    **Arguments:**

    - `hidden`: 3, 2 or 1 for the published CD-3, CD-2 and CD-1.

    ```python
    >>> from recombine.tasks import context_dependence
    >>> context_dependence(hidden=2).split
    Split(context 2 × feature1 6 × feature2 6: 64 seen, 8 unseen)

    ```
    """
    if not 1 <= hidden <= per_class:
        raise InputError("hidden", hidden, f"a number of levels from 1 to the {per_class} in a class")
    space = Space({"context": 2, "feature1": 2 * per_class, "feature2": 2 * per_class})
    context, one, two = space.cells.T
    targets = np.where(np.where(context == 0, one, two) < per_class, -1, 1)
    held_out = (one < hidden) & (two >= per_class) & (two < per_class + hidden)
    return symbolic_task(space, ~held_out, targets)


def transitive_equivalence(
    *, classes: Sequence[int] = (2, 2), hubs: Sequence[int] = (1, 1), seed: int = 0
) -> Task:
    """Whether two items belong to the same class. Training has all pairs with at least one hub.

    **Arguments:**

    - `classes`: items in each class.
    - `hubs`: the number of hubs in each class, its first items.

    ```python
    >>> from recombine.tasks import transitive_equivalence
    >>> task = transitive_equivalence()
    >>> task.split.space.cells[task.split.unseen].tolist(), task.targets[task.split.unseen].ravel().tolist()
    ([[1, 1], [1, 3], [3, 1], [3, 3]], [1.0, -1.0, -1.0, 1.0])

    ```
    """
    if len(classes) != len(hubs) or len(classes) < 2 or min(classes) < 1:
        raise InputError("classes", tuple(classes), "two or more class sizes, with a number of hubs for each")
    if any(not 0 <= hub <= size for hub, size in zip(hubs, classes, strict=True)) or not sum(hubs):
        raise InputError("hubs", tuple(hubs), f"from 0 to the class sizes {tuple(classes)}, not all 0")
    kind = np.repeat(np.arange(len(classes)), classes)
    is_hub = np.concatenate([np.arange(size) < hub for size, hub in zip(classes, hubs, strict=True)])
    space = Space({"first": len(kind), "second": len(kind)})
    same = kind[space.cells[:, 0]] == kind[space.cells[:, 1]]
    return symbolic_task(space, is_hub[space.cells].any(axis=1), np.where(same, 1, -1))


def transitive_chain(*, seed: int = 0) -> Task:
    """Transitive equivalence of A B C and D E F, with pairs of ends held out (the published schematic)."""
    items, held_out = np.array(list("ABCDEF")), ("AC", "CA", "DF", "FD", "AF", "FA", "CD", "DC")
    space = Space({"first": items.tolist(), "second": items.tolist()})
    seen = ~np.isin(["".join(pair) for pair in items[space.cells]], held_out)
    same = (space.cells[:, 0] < 3) == (space.cells[:, 1] < 3)
    return symbolic_task(space, seen, np.where(same, 1, -1))


def transitive_ordering(*, n: int = 7, seed: int = 0) -> Task:
    """Whether the first of two different items comes earlier. Training has neighbours only.

    Pairs of an item with itself are not cells of the task: they have no row and are never trained.
    """
    if n < 3:
        raise InputError("n", n, "at least 3 items")
    space = Space({"first": n, "second": n})
    rows = np.flatnonzero(space.cells[:, 0] != space.cells[:, 1])
    distance = space.cells[:, 1] - space.cells[:, 0]
    split = Split(space, np.abs(distance) == 1)
    inputs = one_hot(space.cells[rows], space.shape)
    return Task(split, inputs, np.sign(distance[rows])[:, None], cell=rows)


def invariance(*, seed: int = 0) -> Task:
    """The target is the first item's sign. Training has only one level of the second item, so the other is new."""
    space = Space({"first": [-1, 1], "second": [-1, 1]})
    sign = 2 * space.cells[:, 0] - 1
    return symbolic_task(space, space.cells[:, 1] == 0, sign, allow_unseen_levels=True)


def partial_exposure(*, seed: int = 0) -> Task:
    """As `invariance`, but the second item's other level is seen once, with the first item at -1."""
    space = Space({"first": [-1, 1], "second": [-1, 1]})
    return symbolic_task(space, ~space.cells.all(axis=1), 2 * space.cells[:, 0] - 1)


def logical(*, operation: str = "and", seed: int = 0) -> Task:
    """Two truth values; training has all but (true, true)."""
    if operation not in get_args(Logic):
        raise InputError("operation", operation, f"one of {', '.join(get_args(Logic))}")
    space = Space({"first": [False, True], "second": [False, True]})
    true = {
        "and": space.cells.all(axis=1),
        "or": space.cells.any(axis=1),
        "xor": space.cells.sum(axis=1) == 1,
    }
    return symbolic_task(space, ~space.cells.all(axis=1), np.where(true[operation], 1, -1))


def transverse_patterning(*, seed: int = 0) -> Task:
    """Which of two items wins, where A beats B, B beats C and C beats A. All six pairs are trained."""
    space = Space({"first": list("ABC"), "second": list("ABC")})
    rows = np.flatnonzero(space.cells[:, 0] != space.cells[:, 1])
    wins = (space.cells[rows, 1] - space.cells[rows, 0]) % 3 == 1
    split = Split(space, space.cells[:, 0] != space.cells[:, 1])
    return Task(split, one_hot(space.cells[rows], space.shape), np.where(wins, 1, -1)[:, None], cell=rows)
