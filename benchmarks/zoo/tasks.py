"""Noise-free targets of all cells: sums, products, tables, labels."""

from __future__ import annotations

import numpy as np

from benchmarks.zoo.designs import Design


def level_values(
    rng: np.random.Generator, design: Design, *, ordered: bool = False, low: float = -1.0, high: float = 1.0
) -> list[np.ndarray]:
    """A number for every level of every factor; in order, they rise."""
    drawn = [rng.uniform(low, high, size=size) for size in design.sizes]
    return [np.linspace(low, high, len(one)) for one in drawn] if ordered else drawn


def sums(rng: np.random.Generator, design: Design, outputs: int = 1, *, ordered: bool = False) -> np.ndarray:
    """Every factor adds its effect."""
    columns = []
    for _ in range(outputs):
        values = level_values(rng, design, ordered=ordered)
        weights = rng.uniform(0.5, 1.5, size=len(values)) * rng.choice([-1, 1], size=len(values))
        columns.append(
            sum(w * v[design.cells[:, i]] for i, (w, v) in enumerate(zip(weights, values, strict=True)))
        )
    return np.stack(columns, axis=1)


def products(
    rng: np.random.Generator, design: Design, outputs: int = 1, *, ordered: bool = False, low: float = -1.0
) -> np.ndarray:
    """Factors multiply; with values of either sign, a sum explains little."""
    columns = []
    for _ in range(outputs):
        values = level_values(rng, design, ordered=ordered, low=low, high=2.0)
        columns.append(np.prod([v[design.cells[:, i]] for i, v in enumerate(values)], axis=0))
    return np.stack(columns, axis=1)


def sales(rng: np.random.Generator, design: Design) -> np.ndarray:
    """Multiplicative growth along ordered levels."""
    rates = (
        rng.uniform(0.2, 0.45, size=len(design.sizes))
        * 8
        / np.mean(design.sizes)
        / np.sqrt(len(design.sizes) - 1)
    )
    return np.exp(design.cells @ rates)[:, None]


def bilinear(rng: np.random.Generator, design: Design, rank: int = 2) -> np.ndarray:
    """Two factors: a table of low rank."""
    left, right = (rng.normal(size=(size, rank)) for size in design.sizes[:2])
    return (left[design.cells[:, 0]] * right[design.cells[:, 1]]).sum(axis=1, keepdims=True)


def table_numbers(rng: np.random.Generator, design: Design, interaction: float = 1.0) -> np.ndarray:
    """A sum of effects, and a random number for every cell with this share of the variance."""
    own, added = rng.normal(size=(len(design.cells), 1)), sums(rng, design)
    return np.sqrt(1 - interaction) * added / added.std() + np.sqrt(interaction) * own / own.std()


def score_labels(rng: np.random.Generator, design: Design, classes: int = 2) -> np.ndarray:
    """The class with the largest sum of scores. Of many draws without rare classes, the one with the widest margins:
    cells on the border between classes would be a matter of luck for any model."""
    widest, best = -1.0, None
    for _ in range(300):
        scores = sums(rng, design, classes)
        scores -= np.median(scores, axis=0)
        labels, ranked = scores.argmax(axis=1), np.sort(scores, axis=1)
        shares = np.bincount(labels, minlength=classes) / len(labels)
        if (
            shares.min() < 0.4 / classes
            or shares.max() > 0.65
            or len(np.unique(labels[design.seen])) < classes
        ):
            continue
        margin = float(np.quantile(ranked[:, -1] - ranked[:, -2], 0.1) / scores.std())
        if margin > widest:
            widest, best = margin, labels
    if best is None:
        raise ValueError("no balanced labels")
    return best


def parity_labels(rng: np.random.Generator, design: Design) -> np.ndarray:
    """Every level has a bit; the label is the parity of the bits, so no factor alone says anything."""
    bits = [rng.permutation(np.arange(size) % 2) for size in design.sizes]
    return sum(bit[design.cells[:, i]] for i, bit in enumerate(bits)) % 2


def modular_labels(design: Design) -> np.ndarray:
    """The sum of level numbers, modulo the number of levels."""
    return design.cells.sum(axis=1) % design.sizes[0]


def group_labels(rng: np.random.Generator, size: int, classes: int) -> np.ndarray:
    """A class for every level of one factor, about as many levels each."""
    return rng.permutation(np.arange(size) % classes)


def table_labels(rng: np.random.Generator, design: Design, classes: int) -> np.ndarray:
    """A random class for every cell."""
    return rng.integers(classes, size=len(design.cells))
