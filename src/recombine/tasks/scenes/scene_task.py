"""The task of a world of scenes: autoencoding its images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError
from recombine.spaces import Split
from recombine.tasks.scenes.scene_arrays import Scenes
from recombine.tasks.task import Kind, Task


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SceneTask(Task):
    """A `Task` of autoencoding scenes; row `i` shows scene `i`.

    Factors are attributes of objects cut into bins (`"object 1 hue"`); `latents` are their values before binning.
    Training rows show seen cells. Of the other rows, `test_in` are rows of seen cells and `rows_out` rows of unseen
    cells.

    **Arguments:**

    - `split`, `cell`, `train`, `latents`, `kind`, `blank`: as for `Task`.
    - `scenes`: the scenes of all rows.
    - `cell_of`: from latents `(n, objects, attributes)` to cell numbers, for scenes that are not rows of the task.
    - `inputs`, `targets`: by default the images.

    ```python
    >>> from recombine.tasks import line_world
    >>> task = line_world(rows=500, test=50, support="l-shaped", on=("hue",))
    >>> len(task.train), len(task.test_in), len(task.rows_out), task.masks.shape
    (500, 50, 50, (600, 1, 32))
    >>> task.split
    Split(object 1 hue 4 × object 2 hue 4: 12 seen, 4 unseen)

    ```
    """

    scenes: Scenes
    cell_of: Callable[[np.ndarray], np.ndarray]

    def __init__(
        self,
        split: Split,
        inputs: np.ndarray | None = None,
        targets: np.ndarray | None = None,
        kind: Kind = "regression",
        cell: np.ndarray | None = None,
        train: np.ndarray | None = None,
        latents: np.ndarray | None = None,
        blank: float = 0.0,
        *,
        scenes: Scenes,
        cell_of: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        inputs = scenes.images if inputs is None else inputs
        targets = scenes.images if targets is None else targets
        if len(inputs) != len(scenes):
            raise InputError("scenes", len(scenes), f"one scene for each of the {len(inputs)} rows")
        super().__init__(split, inputs, targets, kind, cell, train, latents, blank)
        object.__setattr__(self, "scenes", scenes)
        object.__setattr__(self, "cell_of", cell_of)

    @property
    def masks(self) -> Int[np.ndarray, "rows height width"]:
        """The masks of all rows: 0 for background, `o` for object `o`."""
        return self.scenes.masks

    @property
    def table(self) -> dict[str, Any]:
        """One row per scene: the levels of its cell and whether it is trained on, as `recombine.advise` reads it."""
        space, trained = self.split.space, np.zeros(len(self.cell), dtype=bool)
        trained[self.train] = True
        columns: dict[str, Any] = {
            factor.name: np.array(factor.levels)[space.cells[self.cell, axis]]
            for axis, factor in enumerate(space.factors)
        }
        return columns | {"train": trained}

    def __repr__(self) -> str:
        return f"SceneTask({super().__repr__()[len('Task(') :]}"
