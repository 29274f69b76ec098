"""Functions of real inputs with unseen regions: sines, a Gaussian wedge, a random composition (Poisson modularity).

Each input is cut into ranges, which are the levels of its factor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool

from recombine.nets import leaky_relu, mlp
from recombine.parts import Part
from recombine.spaces import Space, Split
from recombine.studies.evidence import Scale
from recombine.studies.poisson_modularity.compositions import composition, gaussian_bump
from recombine.studies.remedies.failing_world import NUMBERS_ARE_NOT_DRAWN, FailingWorld
from recombine.tasks import Sines, Task
from recombine.tasks.modular import PUBLISHED_DRAW, REACH
from recombine.training import Recipe, adam

PAPER = "poisson-modularity"
DEPTH = 3
WIDTH = {"smoke": 16, "quick": 64, "paper": 128}
STEPS = {"smoke": 20, "quick": 2000, "paper": 30_000}
ROWS = {"smoke": 200, "quick": 600, "paper": 5000}
HIDDEN = tuple(f"hidden{i}" for i in range(DEPTH))
LEAKY = Part(leaky_relu, slope=0.1)
BINS = 8
SINE_INPUTS, SINE_BINS = 3, 6
COMPOSITION_SHOWN = 0.25
"""Published: 0.8, with which plain nets compose well."""
NO_ABSENCE = "an input of zero is a value like any other: no factor can be absent"


def sine_world(scale: Scale) -> FailingWorld:
    """Each output is a sine of its own input; inputs are shown in some combinations only."""
    return _world(
        scale,
        "modular sines",
        "compute one sine per input; training shows inputs in neighbouring ranges only",
        Part(sines_in_cells, rows=ROWS[scale]),
        inputs=SINE_INPUTS,
        outputs=SINE_INPUTS,
        loss_size=0.35,
    )


def wedge_world(scale: Scale) -> FailingWorld:
    """A Gaussian bump, seen where both inputs have the same sign."""
    task = Part(wedge_in_cells, rows=ROWS[scale])
    title = "a Gaussian bump of two inputs; training shows inputs of equal sign"
    return _world(scale, "Gaussian wedge", title, task, inputs=2, outputs=1, loss_size=0.08)


def composition_world(scale: Scale) -> FailingWorld:
    """A sine of a sum of sines, on a grid of which a share is seen."""
    task = Part(composition_in_cells, rows=ROWS[scale])
    title = "a function of a sum of functions; some ranges of the two inputs are never combined"
    return _world(scale, "random composition", title, task, inputs=2, outputs=1, loss_size=0.3)


def _world(
    scale: Scale, name: str, title: str, task: Part, *, inputs: int, outputs: int, loss_size: float
) -> FailingWorld:
    return FailingWorld(
        name,
        title,
        PAPER,
        outputs="quantities",
        task=task,
        net=Part(mlp, inputs=inputs, width=WIDTH[scale], depth=DEPTH, outputs=outputs, activation=LEAKY),
        recipe=Recipe(steps=STEPS[scale], batch=64, optimiser=adam(1e-3), record_rows=100),
        loss_size=loss_size,
        noisy=HIDDEN,
        blocks=(1,) * inputs,
        alone=NO_ABSENCE,
        rendering=NUMBERS_ARE_NOT_DRAWN,
    )


def in_cells(
    function: Callable[[np.ndarray], np.ndarray],
    seen: Bool[np.ndarray, ...],
    *,
    reach: float,
    rows: int,
    rng: np.random.Generator,
) -> Task:
    """A function on a grid of cells, with as many uniform points in each; about `rows` in all seen cells."""
    bins = seen.shape[0]
    space = Space({f"input {i + 1}": bins for i in range(seen.ndim)})
    cell = np.repeat(np.arange(space.n_cells), max(1, rows // int(seen.sum())))
    inside = space.cells[cell] + rng.random((len(cell), seen.ndim))  # in units of a cell
    points = reach * (2 * inside / bins - 1)
    targets = function(points).reshape(len(points), -1)
    return Task(Split(space, seen.ravel()), points, targets, cell=cell, latents=points)


def sines_in_cells(*, rows: int, seed: int = 0) -> Task:
    """Three of the published sines. Inputs are correlated in training: all are in the same or neighbouring ranges."""
    rng = np.random.default_rng([seed, 1])
    sines = Sines.drawn(np.random.RandomState(PUBLISHED_DRAW), SINE_INPUTS, (0.4, 1.8))
    levels = np.indices((SINE_BINS,) * SINE_INPUTS)
    seen = levels.max(axis=0) - levels.min(axis=0) <= 1
    return in_cells(sines, seen, reach=REACH, rows=rows, rng=rng)


def wedge_in_cells(*, rows: int, seed: int = 0) -> Task:
    """The published function, on the square instead of the disk, so that all cells have as many points."""
    positive = np.arange(BINS) >= BINS // 2
    rng = np.random.default_rng([seed, 2])
    return in_cells(gaussian_bump, positive[:, None] == positive, reach=1.0, rows=rows, rng=rng)


def composition_in_cells(*, rows: int, seed: int = 0) -> Task:
    """The published function; which cells are seen depends on the seed."""
    rng = np.random.default_rng([seed, 3])
    seen = random_cells((BINS, BINS), COMPOSITION_SHOWN, rng)
    return in_cells(composition(), seen, reach=1.0, rows=rows, rng=rng)


def random_cells(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> np.ndarray:
    """A random set of cells of that share in which every level of every factor occurs."""
    size = int(np.prod(shape))
    for _ in range(1000):
        seen = np.zeros(size, dtype=bool)
        seen[rng.permutation(size)[: round(share * size)]] = True
        grid = seen.reshape(shape)
        if all(
            grid.any(axis=tuple(a for a in range(len(shape)) if a != axis)).all()
            for axis in range(len(shape))
        ):
            return grid
    raise AssertionError("a share that leaves no level out")
