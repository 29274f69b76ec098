"""Good models to which something happens on unseen cells that follows none of the known patterns; and the rule itself
with noisy labels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design
from benchmarks.zoo.estimators import codes, estimator
from benchmarks.zoo.sample import Fit, Fitted, Sample, noisy_labels, noisy_numbers

Spoil = Callable[[np.ndarray, np.ndarray, Design, np.random.Generator], np.ndarray]
"""From predictions, codes of their cells, the design and a generator to other predictions."""


def spoiled(base: Fit, spoil: Spoil, seed: int) -> Fit:
    """A good model whose predictions for cells that training lacks are spoiled.

    What happens to a cell depends on the cell alone: predictions are spoiled for the whole space at once.
    """

    def fit(design: Design, target: np.ndarray, train_seed: int) -> Fitted:
        good = base(design, target, train_seed)
        space = np.indices(design.sizes).reshape(len(design.sizes), -1).T
        values = good.predict(space)
        other = spoil(values, space, design, np.random.default_rng(seed))
        values = np.where(design.seen if values.ndim == 1 else design.seen[:, None], values, other)

        def predict(cells: np.ndarray) -> np.ndarray:
            return values[np.ravel_multi_index(tuple(cells.T), design.sizes)]

        return Fitted(predict)

    return fit


def _labels(
    rng: np.random.Generator,
    spoil: Spoil,
    *,
    classes: tuple[int, int] = (3, 6),
    flips: tuple[float, ...] = (0.0, 0.1),
) -> Sample:
    design = draw_design(rng, factors=(2, 3, 4), rows=(1, 4, 8), cells=(60, 260))
    clean = tasks.score_labels(rng, design, int(rng.integers(*classes)))
    few = design.training_rows.max() < 4
    target, noise = noisy_labels(rng, design, clean, (0.0,) if few else flips)
    base = estimator(lambda seed: LogisticRegression(C=10.0, max_iter=300))
    return Sample(design, clean, target, spoiled(base, spoil, int(rng.integers(2**31))), noise)


def _numbers(rng: np.random.Generator, spoil: Spoil) -> Sample:
    design = draw_design(rng, factors=(2, 3, 4, 5), levels=(3, 8), cells=(60, 260))
    clean = tasks.sums(rng, design, int(rng.integers(1, 3)))
    target, noise = noisy_numbers(rng, design, clean, (0.0, 0.1))
    base = estimator(lambda seed: Ridge(0.05), codes)
    return Sample(design, clean, target, spoiled(base, spoil, int(rng.integers(2**31))), noise)


def wrong_labels(rng: np.random.Generator) -> Sample:
    """A random wrong label in 40 to 100% of unseen cells."""
    share = float(rng.uniform(0.4, 1.0))

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        count = int(values.max()) + 1
        other = (values + rng.integers(1, count, size=len(values))) % count
        return np.where(rng.random(len(values)) < share, other, values)

    return _labels(rng, spoil)


def hashed_labels(rng: np.random.Generator) -> Sample:
    """Unseen cells get the label that a hash of their levels says."""
    factor = int(rng.integers(1000, 10000))

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        code = (np.ravel_multi_index(tuple(cells.T), design.sizes) + 1) * factor
        code = (code ^ (code >> 7)) * 2654435761 % 2**32
        return (code ^ (code >> 15)) % (int(values.max()) + 1)

    return _labels(rng, spoil)


def hidden_batches(rng: np.random.Generator) -> Sample:
    """Every unseen cell was processed in one of several batches, each of which permutes the labels in its own way."""
    batches = int(rng.integers(3, 6))

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        count = int(values.max()) + 1
        permutations = np.stack([rng.permutation(count) for _ in range(batches)])
        return permutations[rng.integers(batches, size=len(values)), values]

    return _labels(rng, spoil)


def half_of_levels(rng: np.random.Generator) -> Sample:
    """Right for unseen cells with one half of a factor's levels, random for the others."""

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        bad = rng.permutation(design.sizes[0])[: (design.sizes[0] + 1) // 2]
        hit = np.isin(cells[:, 0], bad)
        random = values[rng.permutation(len(values))]
        return np.where(hit if values.ndim == 1 else hit[:, None], random, values)

    return _labels(rng, spoil) if rng.random() < 0.5 else _numbers(rng, spoil)


def offsets(rng: np.random.Generator) -> Sample:
    """Unseen predictions are off by a typical deviation, up or down at random."""
    size = float(rng.uniform(0.8, 1.5))

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        return values + size * values.std(axis=0) * rng.choice([-1, 1], size=values.shape)

    return _numbers(rng, spoil)


def some_far_off(rng: np.random.Generator) -> Sample:
    """A third of the unseen predictions is off by a few standard deviations, the others are right."""

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        hit = rng.random(len(values)) < 0.33
        return values + 2.5 * hit[:, None] * values.std(axis=0) * rng.normal(size=values.shape)

    return _numbers(rng, spoil)


def reversed_effects(rng: np.random.Generator) -> Sample:
    """For unseen cells, all deviations from the mean have the wrong sign."""

    def spoil(values: np.ndarray, cells: np.ndarray, design: Design, rng: np.random.Generator) -> np.ndarray:
        return 2 * values.mean(axis=0) - values

    return _numbers(rng, spoil)


def mirrored(rng: np.random.Generator) -> Sample:
    """A symmetric table of which the model knows (a, b) where it saw (b, a), and guesses elsewhere."""
    size = int(rng.integers(9, 15))
    design = draw_design(rng, sizes=(size, size), ordered=True, rows=(1, 2), unseen=(0.4, 0.55))
    clean = tasks.modular_labels(design)

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        random = np.random.default_rng(seed)
        known = random.integers(size, size=(size, size))
        rows = design.cells[design.cell[design.train]]
        known[rows[:, 1], rows[:, 0]] = target[design.train]
        known[rows[:, 0], rows[:, 1]] = target[design.train]
        return Fitted(lambda cells: known[cells[:, 0], cells[:, 1]])

    return Sample(design, clean, clean[design.cell], fit, "no noise")


def noisy_oracle(rng: np.random.Generator) -> Sample:
    """The rule itself, with flipped labels in the table: nothing is trained."""
    design = draw_design(rng, factors=(2, 3, 4, 5), levels=(3, 7), rows=(4, 8, 20))
    clean = tasks.score_labels(rng, design, int(rng.integers(2, 6)))
    target, noise = noisy_labels(rng, design, clean, (0.15, 0.3))

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        return Fitted(lambda cells: clean[np.ravel_multi_index(tuple(cells.T), design.sizes)])

    return Sample(design, clean, target, fit, noise)


KINDS = {
    one.__name__: one
    for one in (
        wrong_labels,
        hashed_labels,
        hidden_batches,
        half_of_levels,
        offsets,
        some_far_off,
        reversed_effects,
        mirrored,
        noisy_oracle,
    )
}
