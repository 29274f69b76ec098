"""Tests on unseen predictions: do some factors determine them, are they sums of effects, or overlays of pictures?

Each gives its answer (yes, no, or `None` in between) and the number that it is based on.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from benchmarks.zoo import cutoffs
from benchmarks.zoo.designs import Design, one_hot


def between(value: float, yes: float, no: float) -> bool | None:
    """The answer of a test, from its two bounds."""
    return True if value >= yes else False if value <= no else None


def is_constant(values: np.ndarray, clean: np.ndarray) -> bool:
    """Whether predictions hardly vary."""
    if values.ndim == 1:
        return bool((values != np.bincount(values).argmax()).mean() < cutoffs.NEARLY_CONSTANT)
    return bool(values.var(axis=0).sum() < cutoffs.NEARLY_CONSTANT * clean.var(axis=0).sum())


def shortcut(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether some of the factors determine the unseen predictions, but not the targets."""
    best: float = 0.0
    unseen = np.flatnonzero(~design.seen)
    for count in range(1, len(design.sizes)):
        for subset in combinations(range(len(design.sizes)), count):
            code = np.ravel_multi_index(
                tuple(design.cells[:, i] for i in subset), tuple(design.sizes[i] for i in subset)
            )
            of_targets = determined(code, clean)
            if of_targets > cutoffs.TASK_OF_MORE_FACTORS:
                continue
            best = max(best, determined(code[unseen], values[unseen]))
    return between(best, cutoffs.ONE_FACTOR, cutoffs.NOT_ONE_FACTOR), best


def determined(code: np.ndarray, values: np.ndarray) -> float:
    """The share of values that follows from a code, each predicted from the other cells with the same code."""
    _, group = np.unique(code, return_inverse=True)
    many = np.bincount(group)[group] > 1
    if many.sum() < max(6, 0.5 * len(code)):
        return 0.0
    if values.ndim == 1:
        classes = int(values.max()) + 1
        counts = np.zeros((group.max() + 1, classes))
        np.add.at(counts, (group, values), 1)
        others = counts[group] - np.eye(classes)[values]
        return float((others.argmax(axis=1) == values)[many].mean())
    sums = np.zeros((group.max() + 1, values.shape[1]))
    np.add.at(sums, group, values)
    others = (sums[group] - values) / np.maximum(np.bincount(group)[group] - 1, 1)[:, None]
    spread = ((values - values.mean(axis=0)) ** 2)[many].sum()
    return float(1 - ((values - others) ** 2)[many].sum() / max(spread, 1e-300))


def additive(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether unseen predictions are the sum of effects that the seen predictions have, and the task is not."""
    seen, unseen = design.seen, ~design.seen
    of_task = matches(extrapolated_sum(design, clean[seen]), clean[unseen])
    # Networks that memorise seen cells extrapolate by the sum of effects of what they learned.
    share = matches(extrapolated_sum(design, values[seen]), values[unseen])
    if of_task > cutoffs.TASK_NOT_ADDITIVE:
        return False, share
    if values.ndim == 2 and second_differences(design, values) <= cutoffs.NO_INTERACTION:
        return True, 1.0  # nowhere a mixed second difference, on seen cells neither
    if values.ndim == 1:
        return between(share, cutoffs.ADDS_LABELS, cutoffs.DOES_NOT_ADD_LABELS), share
    return between(share, cutoffs.ADDS, cutoffs.DOES_NOT_ADD), share


def extrapolated_sum(design: Design, values: np.ndarray) -> np.ndarray:
    """For unseen cells, the sum of effects of single levels (labels: of their scores) that fits seen values."""
    x = one_hot(design.cells, design.sizes)
    if values.ndim == 1:
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(values)) < 2:
            return np.full(int((~design.seen).sum()), values[0])
        return LogisticRegression(C=30.0, max_iter=400).fit(x[design.seen], values).predict(x[~design.seen])
    full = np.c_[np.ones(len(x)), x]
    effects = np.linalg.lstsq(full[design.seen], values, rcond=1e-9)[0]
    return full[~design.seen] @ effects


def matches(rule: np.ndarray, values: np.ndarray) -> float:
    """The share of labels, or of variance, that a rule explains."""
    if values.ndim == 1:
        return float((rule == values).mean())
    spread = ((values - values.mean(axis=0)) ** 2).sum()
    return float(1 - ((values - rule) ** 2).sum() / max(spread, 1e-300))


def second_differences(design: Design, values: np.ndarray, seed: int = 0, count: int = 4000) -> float:
    """The share of variance of a function of cells that mixed second differences show to be interaction.

    For independent interactions, the expected square of such a difference is four times their variance.
    """
    rng = np.random.default_rng(seed)
    table = values.reshape(*design.sizes, -1)
    one, other = (
        np.stack([rng.integers(size, size=count) for size in design.sizes], axis=1) for _ in range(2)
    )
    axes = np.stack([rng.permutation(len(design.sizes))[:2] for _ in range(count)])
    first, second = (np.eye(len(design.sizes), dtype=bool)[axes[:, i]] for i in (0, 1))
    differ = ((one != other) & (first | second)).sum(axis=1) == 2

    def at(which: np.ndarray) -> np.ndarray:
        return table[tuple(np.where(which, other, one).T)]

    none = np.zeros_like(first)
    mixed = (at(none) - at(first) - at(second) + at(first | second))[differ]
    # Levels are drawn without replacement: of n levels, differences are n / (n - 1) times as large.
    sizes = np.array(design.sizes)[axes[differ]]
    squares = (mixed**2).sum(axis=1) * (1 - 1 / sizes).prod(axis=1)
    return float(squares.mean() / 4 / max(values.var(axis=0).sum(), 1e-300))


def superposition(design: Design, values: np.ndarray, clean: np.ndarray) -> tuple[bool | None, float]:
    """Whether unseen pictures are overlays (with weights from 0 on) of seen pictures that share a level, while the
    right pictures are not."""
    from scipy.optimize import nnls

    unseen = np.flatnonzero(~design.seen)
    left, spread, with_target = np.zeros(2), 0.0, []
    for cell in unseen:
        shared = (design.cells[design.seen] == design.cells[cell]).any(axis=1)
        own = values[design.seen][shared].T
        for number, picture in enumerate((values[cell], clean[cell])):
            left[number] += nnls(own, np.maximum(picture, 0.0))[1] ** 2
        spread += float((values[cell] ** 2).sum())
        with_target.append(
            np.corrcoef(values[cell], clean[cell])[0, 1] ** 2 if values[cell].std() > 0 else 0.0
        )
    share, of_target = 1 - left / np.array([max(spread, 1e-300), (clean[unseen] ** 2).sum()])
    right = float(np.mean(with_target))
    if share >= cutoffs.SUPERPOSES and (
        right > cutoffs.OWN_PICTURE or of_target > share - cutoffs.MORE_THAN_TARGET
    ):
        return None, float(share)
    return between(float(share), cutoffs.SUPERPOSES, cutoffs.DOES_NOT_SUPERPOSE), float(share)
