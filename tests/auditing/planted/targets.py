"""Tasks: numbers and classes as functions of cells."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from tests.auditing.planted.designs import Grid

RULES = ("scores", "sum", "table", "sets")


def additive_numbers(rng: np.random.Generator, grid: Grid, outputs: int) -> np.ndarray:
    """`(cells, outputs)`: every factor adds a random or a rising effect; all count about alike."""
    total = np.zeros((len(grid.cells), outputs))
    for axis, size in enumerate(grid.sizes):
        rising = np.linspace(-1, 1, size)[:, None] * rng.choice([-1, 1], size=outputs)
        effect = rising if rng.random() < 0.4 else rng.normal(size=(size, outputs))
        effect = (effect - effect.mean(axis=0)) / effect.std(axis=0)
        total += rng.uniform(0.6, 1.4) * effect[grid.cells[:, axis]]
    return total / total.std()


def interactions(rng: np.random.Generator, grid: Grid, outputs: int) -> np.ndarray:
    """`(cells, outputs)`: of one or more pairs of factors, products or any table, without main effects."""
    pairs = rng.permutation(list(combinations(range(len(grid.sizes)), 2)))
    total = np.zeros((len(grid.cells), outputs))
    for one, other in pairs[: rng.integers(1, len(pairs) + 1)]:
        shape = (grid.sizes[one], grid.sizes[other], outputs)
        if rng.random() < 0.5:
            table = rng.normal(size=(shape[0], 1, outputs)) * rng.normal(size=(1, shape[1], outputs))
        else:
            table = rng.normal(size=shape)
        table = table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean(axis=(0, 1))
        total += (table / table.std())[grid.cells[:, one], grid.cells[:, other]]
    return total / total.std()


def mixed_numbers(rng: np.random.Generator, grid: Grid, outputs: int, share: float) -> np.ndarray:
    """Main effects, and interactions with a `share` of the variance."""
    main = additive_numbers(rng, grid, outputs)
    return np.sqrt(1 - share) * main + np.sqrt(share) * interactions(rng, grid, outputs)


def numbers(rng: np.random.Generator, grid: Grid, outputs: int) -> tuple[np.ndarray, str]:
    """A task of any sort: additive, mixed, a product, the largest of the parts, or the sum of the levels' ranks."""
    sort = str(rng.choice(["additive", "mixed", "product", "largest", "ranks"]))
    if sort == "additive":
        return additive_numbers(rng, grid, outputs), sort
    if sort == "mixed":
        share = rng.uniform(0.2, 0.7)
        return mixed_numbers(rng, grid, outputs, share), f"mixed, interactions {share:.2f}"
    if sort == "ranks":
        return grid.cells @ rng.integers(1, 4, size=(len(grid.sizes), outputs)).astype(float), sort
    parts = [rng.normal(size=(size, outputs))[grid.cells[:, axis]] for axis, size in enumerate(grid.sizes)]
    return (
        np.prod(np.exp(0.6 * np.array(parts)), axis=0) if sort == "product" else np.max(parts, axis=0)
    ), sort


def classes(rng: np.random.Generator, grid: Grid) -> tuple[np.ndarray, str]:
    """`(cells,)`: 2 to 5 classes of two or more factors by one of `RULES`.

    Parts add scores for classes; codes of levels add up, modulo the classes; any table of two factors; or "and",
    "or" and "either, or" of two sets of levels.
    """
    rule, count = str(rng.choice(RULES)), int(rng.integers(2, 6))
    used = rng.permutation(len(grid.sizes))[: rng.integers(2, len(grid.sizes) + 1)]
    if rule == "scores":
        scores = sum(rng.normal(size=(grid.sizes[axis], count))[grid.cells[:, axis]] for axis in used)
        result = np.argmax(scores, axis=1)
    elif rule == "sum":
        codes = [rng.integers(0, count, size=grid.sizes[axis])[grid.cells[:, axis]] for axis in used]
        result = np.sum(codes, axis=0) % count
    elif rule == "table":
        one, other = used[:2]
        table = rng.integers(0, count, size=(grid.sizes[one], grid.sizes[other]))
        result = table[grid.cells[:, one], grid.cells[:, other]]
    else:
        one, other = ((rng.random(grid.sizes[axis]) < 0.5)[grid.cells[:, axis]] for axis in used[:2])
        how = rng.integers(3)
        result, count = (one & other, one | other, one ^ other)[how].astype(int), 2
        rule = ("and", "or", "either-or")[how]
    return result, f"{count} classes by {rule}"


def shortcut_classes(rng: np.random.Generator, grid: Grid, axis: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Classes that mostly go with one factor, but depend on another, too; and the class that goes with the factor.

    The other factor's exceptional levels shift the class or have one of their own; or cells of the two are exceptions
    at random; or both add scores, this factor the larger ones.
    """
    count, size = int(rng.integers(2, 6)), grid.sizes[axis]
    index = grid.cells[:, axis]
    own = rng.permutation(np.arange(max(size, count)) % count)[:size]
    other = int(rng.choice([a for a in range(len(grid.sizes)) if a != axis]))
    by_other = grid.cells[:, other]
    how = str(rng.choice(["shift", "own class", "cells", "scores"]))
    odd = (rng.random(grid.sizes[other]) < 0.4)[by_other]
    if how == "shift":
        result = np.where(odd, (own[index] + rng.integers(1, count)) % count, own[index])
    elif how == "own class":
        result = np.where(odd, rng.integers(0, count, size=grid.sizes[other])[by_other], own[index])
    elif how == "cells":
        shift = rng.integers(1, count, size=(size, grid.sizes[other]))
        shift *= rng.random(shift.shape) < 0.4
        result = (own[index] + shift[index, by_other]) % count
    else:
        scores = rng.uniform(0.8, 1.6) * np.eye(count)[own[index]]
        result = np.argmax(scores + rng.normal(size=(grid.sizes[other], count))[by_other], axis=1)
    return (
        result,
        own[index],
        f"{count} classes, {grid.factors[axis]} with exceptions ({how}) by {grid.factors[other]}",
    )
