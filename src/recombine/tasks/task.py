"""The task: inputs and targets for the cells of a space, and which of them training may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.spaces import Split

Kind = Literal["regression", "classification"]


@dataclass(frozen=True, init=False, eq=False)
class Task:
    """Rows of inputs and targets, each tied to a cell of a split's space.

    In the simplest task, row `i` is cell `i`. Otherwise `cell` holds the cell that each row shows; a cell may have
    many rows, and a row that shows no cell (an image of one factor alone) has cell -1.

    **Arguments:**

    - `split`: which cells are seen.
    - `inputs`: `(rows, ...)`, float32 after construction.
    - `targets`: `(rows, ...)`, float32 for regression, integer classes for classification.
    - `cell`: `(rows,)` cell numbers; default: row `i` is cell `i`.
    - `train`: row numbers that make up the training set, repeats allowed; default: the rows of seen cells.
    - `latents`: `(rows, factors)` real factor values of the rows (such as positions in pixels), if any.
    - `blank`: the target of an empty image, the baseline that errors are compared with.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces import Space, Split
    >>> from recombine.tasks import Task
    >>> split = Split(Space({"a": 2, "b": 2}), [0, 1, 2])
    >>> Task(split, inputs=np.eye(4), targets=np.arange(4.0)[:, None])
    Task(regression, 4 rows, inputs (4,), targets (1,), 3 in training; a 2 × b 2: 3 seen, 1 unseen)

    ```
    """

    split: Split
    inputs: np.ndarray
    targets: np.ndarray
    kind: Kind
    cell: Int[np.ndarray, " rows"]
    train: Int[np.ndarray, " train"]
    latents: Float[np.ndarray, "rows factors"] | None
    blank: float

    def __init__(
        self,
        split: Split,
        inputs: np.ndarray,
        targets: np.ndarray,
        kind: Kind = "regression",
        cell: np.ndarray | None = None,
        train: np.ndarray | None = None,
        latents: np.ndarray | None = None,
        blank: float = 0.0,
    ) -> None:
        if kind not in {"regression", "classification"}:
            raise InputError("kind", kind, "'regression' or 'classification'")
        inputs = np.asarray(inputs, dtype=np.float32)
        targets = np.asarray(targets, dtype=np.float32 if kind == "regression" else np.int32)
        cell = np.arange(len(inputs)) if cell is None else np.asarray(cell)
        if len(targets) != len(inputs) or len(cell) != len(inputs):
            raise InputError(
                "rows", (len(inputs), len(targets), len(cell)), "as many inputs as targets and cell numbers"
            )
        n_cells = split.space.n_cells
        if len(cell) and not np.issubdtype(cell.dtype, np.integer):
            raise InputError("cell", cell.dtype.name, "whole numbers")
        if len(cell) and (cell.min() < -1 or cell.max() >= n_cells):
            raise InputError("cell", (int(cell.min()), int(cell.max())), f"numbers from -1 to {n_cells - 1}")
        for name, array in (("inputs", inputs), ("targets", targets)):
            if not np.isfinite(array).all():
                row = int(np.argwhere(~np.isfinite(array))[0][0])
                raise InputError(name, f"a value that is not finite in row {row}", "finite numbers")
        train = np.flatnonzero((cell >= 0) & split.seen[cell]) if train is None else np.asarray(train)
        if not train.size:
            raise InputError("train", "no row", "at least one training row")
        if not np.issubdtype(train.dtype, np.integer) or train.min() < 0 or train.max() >= len(inputs):
            raise InputError("train", train[:5].tolist(), f"row numbers from 0 to {len(inputs) - 1}")
        leaked = (cell[train] >= 0) & ~split.seen[cell[train]]
        if leaked.any():
            raise InputError("train", f"row {int(train[leaked][0])}", "rows of seen cells only")
        latents = None if latents is None else np.asarray(latents, dtype=np.float64)
        if latents is not None and latents.shape != (len(inputs), len(split.space.factors)):
            raise InputError("latents", latents.shape, f"shape {(len(inputs), len(split.space.factors))}")
        values = {"inputs": inputs, "targets": targets, "cell": cell, "train": train, "latents": latents}
        for name, value in values.items():
            if value is not None:
                value = value.view()
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        for name, setting in (("split", split), ("kind", kind), ("blank", blank)):
            object.__setattr__(self, name, setting)

    @property
    def rows_in(self) -> Int[np.ndarray, " rows"]:
        """Rows that show a seen cell."""
        return np.flatnonzero((self.cell >= 0) & self.split.seen[self.cell])

    @property
    def test_in(self) -> Int[np.ndarray, " rows"]:
        """Rows that show a seen cell and are not trained on."""
        return np.setdiff1d(self.rows_in, self.train)

    @property
    def rows_out(self) -> Int[np.ndarray, " rows"]:
        """Rows that show an unseen cell."""
        return np.flatnonzero((self.cell >= 0) & ~self.split.seen[self.cell])

    def with_rows(self, inputs: np.ndarray, targets: np.ndarray, *, train: bool = True) -> Task:
        """The task with further rows that show no cell, appended and, by default, added to the training set."""
        extra = np.arange(len(self.inputs), len(self.inputs) + len(inputs))
        latents = self.latents
        if latents is not None:
            latents = np.concatenate([latents, np.full((len(inputs), latents.shape[1]), np.nan)])
        return replace(
            self,
            inputs=np.concatenate([self.inputs, inputs]),
            targets=np.concatenate([self.targets, targets]),
            cell=np.concatenate([self.cell, np.full(len(inputs), -1)]),
            train=np.concatenate([self.train, extra]) if train else self.train,
            latents=latents,
        )

    def trained_on(self, rows: Int[np.ndarray, " rows"]) -> Task:
        """The same task with another training set."""
        return replace(self, train=rows)

    def __repr__(self) -> str:
        split = repr(self.split)[len("Split(") : -1]
        return (
            f"Task({self.kind}, {len(self.inputs)} rows, inputs {self.inputs.shape[1:]}, "
            f"targets {self.targets.shape[1:]}, {len(self.train)} in training; {split})"
        )
