"""Spaces of factors, splits into seen and unseen cells, and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

WORDS = {
    "colour": "amber blue cyan green indigo jade pink red violet white",
    "shape": "arch ball cone disc egg fork gate heart iris jug",
    "place": "attic barn cellar deck hall kitchen lawn porch roof shed",
    "verb": "carry drop eat find give hide keep lift move open",
    "day": "fri hol mon sat sun thu tue wed xmas yule",
}
PLAIN_NAMES = ("x", "y", "z", "u", "v")
MIN_UNSEEN, MIN_PARTNERS = 10, 2
"""Unseen cells, and seen cells of every level, below which a split is drawn again."""
MAX_ROWS = 3000


@dataclass(frozen=True, eq=False)
class Design:
    """Which cells there are, which are seen, and the rows.

    **Attributes:**

    - `cells`: level indices of all cells; `seen`: which of them training has.
    - `cell`: the cell of every row; `train`: training rows. Seen cells may have other rows, too.
    """

    names: tuple[str, ...]
    levels: tuple[np.ndarray, ...]
    cells: np.ndarray
    seen: np.ndarray
    cell: np.ndarray
    train: np.ndarray

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many levels every factor has."""
        return tuple(map(len, self.levels))

    @cached_property
    def training_rows(self) -> np.ndarray:
        """How many training rows every cell has."""
        return np.bincount(self.cell[self.train], minlength=len(self.cells))

    def table(self) -> dict[str, np.ndarray]:
        """The columns, by row."""
        rows = self.cells[self.cell]
        columns = zip(self.names, self.levels, rows.T, strict=True)
        return {name: levels[index] for name, levels, index in columns} | {"train": self.train}

    def with_training_cells(self, added: np.ndarray) -> Design:
        """The same rows, where all rows of some more cells are for training."""
        return replace(self, seen=self.seen | added, train=self.train | added[self.cell])


def one_hot(cells: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The levels side by side."""
    return np.concatenate([np.eye(size)[cells[:, axis]] for axis, size in enumerate(sizes)], axis=1)


def draw_design(
    rng: np.random.Generator,
    *,
    factors: tuple[int, ...] = (2, 3),
    levels: tuple[int, int] = (4, 8),
    cells: tuple[int, int] = (40, 260),
    rows: tuple[int, ...] = (1, 2, 4, 8, 20),
    unseen: tuple[float, float] = (0.2, 0.4),
    ordered: bool | None = None,
    favour: np.ndarray | None = None,
    sizes: tuple[int, ...] | None = None,
) -> Design:
    """Draws a space, a split in which every level is seen, and rows, at times unbalanced.

    **Arguments:**

    - `factors`, `rows`: the numbers to choose from; `levels`, `cells`, `unseen`: ranges.
    - `ordered`: whether levels are numbers in order; default: by chance.
    - `favour`: how likely a cell is to be seen, relative to others; needs `sizes`.
    """
    while sizes is None:
        drawn = rng.integers(levels[0], levels[1] + 1, size=int(rng.choice(factors)))
        sizes = tuple(drawn.tolist()) if cells[0] <= np.prod(drawn) <= cells[1] else None
    space = np.indices(sizes).reshape(len(sizes), -1).T
    seen = _draw_split(rng, space, sizes, rng.uniform(*unseen), favour)
    in_order = bool(rng.random() < 0.5) if ordered is None else ordered
    names = tuple(rng.permutation(list(WORDS))[: len(sizes)].tolist())
    if in_order:
        names = PLAIN_NAMES[: len(sizes)]
        named = tuple(
            np.arange(size) if rng.random() < 0.7 else np.linspace(0.0, 1.0, size) for size in sizes
        )
    else:
        named = tuple(
            np.array(sorted(rng.permutation(WORDS[name].split())[:size]))
            if size <= 10
            else np.array([f"{name}{i:02d}" for i in range(size)])
            for name, size in zip(names, sizes, strict=True)
        )
    each = int(rng.choice([one for one in rows if one * len(space) <= MAX_ROWS]))
    counts = np.full(len(space), each)
    if each > 1 and rng.random() < 0.4:  # unbalanced: from one row to twice as many
        counts = rng.integers(1, 2 * each + 1, size=len(space))
    cell = np.repeat(np.arange(len(space)), counts)
    train = seen[cell]
    if each > 1 and rng.random() < 0.3:  # some rows of seen cells are held out
        first = np.r_[True, cell[1:] != cell[:-1]]
        train &= first | (rng.random(len(cell)) < 0.75)
    order = rng.permutation(len(cell))
    return Design(names, named, space, seen, cell[order], train[order])


def _draw_split(
    rng: np.random.Generator,
    cells: np.ndarray,
    sizes: tuple[int, ...],
    share: float,
    favour: np.ndarray | None,
) -> np.ndarray:
    count = max(MIN_UNSEEN, round(share * len(cells)))
    weight = np.ones(len(cells)) if favour is None else favour
    for _ in range(200):
        # The largest exponential times with these rates are a weighted sample without replacement.
        times = rng.exponential(size=len(cells)) / weight
        seen = np.ones(len(cells), dtype=bool)
        seen[np.argsort(-times)[:count]] = False
        partners = [np.bincount(cells[seen, axis], minlength=size) for axis, size in enumerate(sizes)]
        if min(one.min() for one in partners) >= MIN_PARTNERS:
            return seen
    raise ValueError(f"no split of {sizes} leaves out {count} cells")
