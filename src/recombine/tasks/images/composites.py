"""Symbols shown as images: every factor has its own image, in its own channels.

The layout of Lippl & Stachenfeld (arXiv 2405.16391): component i is shifted right by i · distance pixels on a common
canvas, its edge pixels repeated to fill the width. At distance 0 the images lie on top of each other, in different
channels; the farther apart they are, the fewer convolution windows contain two components.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks.images.exemplars import Exemplars, load_exemplars
from recombine.tasks.task import Task


def composite_images(
    *,
    task: Part,
    source: str = "digits",
    enlarge: int = 1,
    distance: int = 0,
    total: int = 2000,
    pool: int = 100,
    fresh: int = 20,
    seed: int = 0,
) -> Task:
    """A symbolic task whose levels are classes of images.

    The seed assigns classes to levels (a permutation of the first n classes for a factor of n levels), picks each
    class's pool of training images, and draws every example's images with replacement.

    **Arguments:**

    - `task`: the symbolic task; its split and targets are kept.
    - `source`, `enlarge`: see `load_exemplars`.
    - `distance`: pixels from one component to the next.
    - `total`: training examples in all, spread evenly over the training cells (rounded down).
    - `pool`: images of a class that training may use; all others are for testing.
    - `fresh`: test examples of every cell, seen or unseen, from images outside the pools. They are rows of the task
        but not of its training set.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.tasks import composite_images
    >>> composite_images(task=Part("recombine.tasks:addition"), distance=8, total=340, fresh=2).inputs.shape
    (502, 8, 16, 2)

    ```
    """
    for name, number in (("distance", distance), ("fresh", fresh)):
        if number < 0:
            raise InputError(name, number, "0 or more")
    symbols, library = task(seed=seed), load_exemplars(source, enlarge=enlarge)
    space = symbols.split.space
    rng = np.random.default_rng([seed, 4])
    pools, rest = _pools(library, pool, rng)
    if max(space.shape) > len(pools):
        raise InputError("task", f"a factor of {max(space.shape)} levels", f"at most {len(pools)} classes")
    classes = [rng.permutation(size) for size in space.shape]
    rows, trained = np.arange(len(symbols.inputs)), symbols.train
    each = total // len(trained)
    if each < 1:
        raise InputError("total", total, f"at least one example for each of {len(trained)} training cells")
    which = np.concatenate([np.repeat(trained, each), np.repeat(rows, fresh)])
    n_train = each * len(trained)
    height, width, channels = library.images.shape[1:]
    width += (len(space.shape) - 1) * distance
    inputs = np.empty((len(which), height, width, channels * len(space.shape)), dtype=np.float32)
    for axis in range(len(space.shape)):
        kinds = classes[axis][space.cells[symbols.cell[which], axis]]
        picked = np.concatenate([_draw(pools, kinds[:n_train], rng), _draw(rest, kinds[n_train:], rng)])
        around = (axis * distance, (len(space.shape) - 1 - axis) * distance)
        wide = np.pad(library.images, [(0, 0), (0, 0), around, (0, 0)], mode="edge")
        inputs[..., axis * channels : (axis + 1) * channels] = wide[picked]
    return Task(
        symbols.split,
        inputs,
        symbols.targets[which],
        cell=symbols.cell[which],
        train=np.arange(n_train),
    )


def _pools(
    library: Exemplars, pool: int, rng: np.random.Generator
) -> tuple[list[Int[np.ndarray, " pool"]], list[Int[np.ndarray, " rest"]]]:
    """For every class, the images for training and those for testing."""
    shuffled = [rng.permutation(np.flatnonzero(library.labels == kind)) for kind in range(10)]
    fewest = min(map(len, shuffled))
    if not 0 < pool < fewest:
        raise InputError("pool", pool, f"from 1 to {fewest - 1}, so that images are left for testing")
    return [numbers[:pool] for numbers in shuffled], [numbers[pool:] for numbers in shuffled]


def _draw(
    pools: list[Int[np.ndarray, " pool"]], kinds: Int[np.ndarray, " rows"], rng: np.random.Generator
) -> Int[np.ndarray, " rows"]:
    """An image of the requested class for every row, drawn with replacement."""
    sizes = np.array([len(numbers) for numbers in pools])
    offset: Float[np.ndarray, " rows"] = rng.random(len(kinds)) * sizes[kinds]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    chosen: Int[np.ndarray, " rows"] = np.concatenate(pools)[starts[kinds] + offset.astype(int)]
    return chosen
