"""Tasks made of independent parts: output m depends on input m alone (Qian et al. 2025).

Numbers are drawn from NumPy's legacy generator in the published order, so that the published constants come out: the
amplitudes, frequencies and phases, then the training inputs, then the test inputs.

**Reference:** Qian, Liang and Fiete, Modular connectivity in neural networks emerges from Poisson noise-motivated
regularisation, and promotes robustness and compositional generalisation, 2025, arXiv 2512.13707.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.tasks.task import Task

PUBLISHED_DRAW = 145
"""The seed of the published task."""
REACH = 2.0
"""Inputs are uniform between ± this."""

Inputs = Literal["uniform", "sparse", "grid", "correlated"]
Functions = Literal["sine", "identity"]


@dataclass(frozen=True)
class Sines:
    """The functions `amplitude · sin(frequency · x + phase)`, one per module."""

    amplitude: Float[np.ndarray, " modules"]
    frequency: Float[np.ndarray, " modules"]
    phase: Float[np.ndarray, " modules"]

    def __call__(self, x: Float[np.ndarray, "*rows modules"]) -> Float[np.ndarray, "*rows modules"]:
        """Every function of its own input."""
        return self.amplitude * np.sin(self.frequency * x + self.phase)

    @staticmethod
    def drawn(rng: np.random.RandomState, modules: int, frequencies: tuple[float, float]) -> Sines:
        """Amplitudes from 0.7 to 1, frequencies from the range, phases from 0 to 2π."""
        low, high = frequencies
        return Sines(
            0.7 + 0.3 * rng.rand(modules),
            low + (high - low) * rng.rand(modules),
            2 * np.pi * rng.rand(modules),
        )


def sine_functions(
    modules: int = 4, *, draw: int = PUBLISHED_DRAW, frequencies: tuple[float, float] | None = None
) -> Sines:
    """The functions of `modular_task`, by default the published ones.

    ```python
    >>> from recombine.tasks import sine_functions
    >>> sine_functions().amplitude.round(6).tolist()
    [0.784913, 0.700609, 0.859174, 0.724108]

    ```
    """
    return Sines.drawn(np.random.RandomState(draw), modules, _range(frequencies, modules))


def modular_task(
    *,
    modules: int = 4,
    train: int = 1000,
    test: int = 1000,
    functions: Functions = "sine",
    inputs: Inputs = "uniform",
    permuted: float = 0.0,
    frequencies: tuple[float, float] | None = None,
    draw: int | None = PUBLISHED_DRAW,
    seed: int = 0,
) -> Task:
    """As many inputs as outputs; every output is a function of its own input.

    The space has one factor, `part`, with the levels `train` and `test`, so `in` is the training set and `out` the test
    set, which is drawn from the same distribution (or uniformly, if training inputs are a grid or correlated).

    **Arguments:**

    - `modules`: K, the number of inputs and outputs.
    - `functions`: sines, or the identity for linear nets.
    - `inputs`: of training: `"uniform"` in [-2, 2]; `"sparse"`, where one input of every example keeps its value and
        the others are 0 (in the test set, too); `"grid"`, all combinations of equally spaced values (`train` must
        be a K-th power); `"correlated"`, all inputs equal but for a share `permuted` of the entries of every input
        after the first, which are exchanged between examples.
    - `frequencies`: range of the sines' frequencies; by default 0.4 to 1.8, or 0.4 to 0.8 beyond four modules.
    - `draw`: seed of the functions and of the inputs; `None` takes `seed`.

    ```python
    >>> from recombine.tasks import modular_task
    >>> task = modular_task()
    >>> [f"{value:.4f}" for value in task.inputs[0]]
    ['-1.3033', '-1.6312', '-1.7263', '1.6746']

    ```
    """
    for field, value, minimum in (("modules", modules, 1), ("train", train, 1), ("test", test, 1)):
        if value < minimum:
            raise InputError(field, value, f"a whole number, at least {minimum}")
    if functions not in {"sine", "identity"}:
        raise InputError("functions", functions, "'sine' or 'identity'")
    if inputs not in {"uniform", "sparse", "grid", "correlated"}:
        raise InputError("inputs", inputs, "'uniform', 'sparse', 'grid' or 'correlated'")
    if not 0 <= permuted <= 1:
        raise InputError("permuted", permuted, "a share from 0 to 1")
    if permuted and inputs != "correlated":
        raise InputError("permuted", permuted, "0, or inputs='correlated'")
    rng = np.random.RandomState(seed if draw is None else draw)
    sines = Sines.drawn(rng, modules, _range(frequencies, modules))
    drawn = [REACH * (2 * rng.rand(rows, modules) - 1) for rows in (train, test)]
    if inputs == "sparse":
        drawn = [x * np.eye(modules)[rng.randint(modules, size=len(x))] for x in drawn]
    elif inputs == "grid":
        drawn[0] = _grid(train, modules)
    elif inputs == "correlated":
        drawn[0] = _correlated(drawn[0][:, 0], modules, permuted, rng)
    x = np.concatenate(drawn)
    split, cell = train_and_test(train, test)
    return Task(split, x, sines(x) if functions == "sine" else x, cell=cell)


def train_and_test(train: int, test: int) -> tuple[Split, Int[np.ndarray, " rows"]]:
    """For tasks without cells: a split whose one factor separates training from test rows, and the rows' cells."""
    split = Split(Space({"part": ("train", "test")}), [0], allow_unseen_levels=True)
    return split, np.repeat([0, 1], [train, test])


def _range(frequencies: tuple[float, float] | None, modules: int) -> tuple[float, float]:
    if frequencies is not None:
        low, high = frequencies
        if not 0 <= low <= high < float("inf"):
            raise InputError("frequencies", frequencies, "a lower and an upper bound")
        return low, high
    return (0.4, 1.8) if modules <= 4 else (0.4, 0.8)


def _grid(rows: int, modules: int) -> Float[np.ndarray, "rows modules"]:
    side = round(rows ** (1 / modules))
    if side < 2 or side**modules != rows:
        raise InputError(
            "train", rows, f"a whole number to the power of {modules}, such as {max(side, 2) ** modules}"
        )
    values = np.linspace(-REACH, REACH, side)
    return np.stack(np.meshgrid(*[values] * modules, indexing="ij"), axis=-1).reshape(rows, modules)


def _correlated(
    first: Float[np.ndarray, " rows"],
    modules: int,
    permuted: float,
    rng: np.random.RandomState,
) -> Float[np.ndarray, "rows modules"]:
    x = np.repeat(first[:, None], modules, axis=1)
    for module in range(1, modules):
        moved = rng.permutation(len(x))[: round(permuted * len(x))]
        x[moved, module] = x[rng.permutation(moved), module]
    return x
