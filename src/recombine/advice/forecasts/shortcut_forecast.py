"""Shortcuts: rules of one or two factors that training rewards and unseen cells contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import special

from recombine.advice.labels import CellLabels
from recombine.report import percent
from recombine.spaces.cell_numbers import numbered
from recombine.theory import OverlapKernel, subsets
from recombine.theory.conjunctions import Subset, codes_of
from recombine.theory.overlap_kernels import set_index

MATERIAL = 0.1
"""A shortcut is worth taking if it removes this share of what a constant gets wrong,"""
BY_LUCK = 0.05
"""and if labels depend on its factors beyond chance (p-value of a chi-squared or an F test over cells)."""


@dataclass(frozen=True)
class Shortcut:
    """A rule that predicts a cell's label from one or two of its factors.

    **Attributes:**

    - `factors`: positions of the factors.
    - `train`, `target`: how well the best such rule does on training cells and on the cells of interest: accuracy, or
        the share of variance for quantities; NaN if no cell of interest has a label.
    - `base`, `chance`: what a constant reaches on each.
    - `gain`: the share of a constant's misses (or of the variance) that the rule removes on training cells that it was
        not fitted to, each left out in turn. Any rule fits the cells from which it was taken.
    - `misleads`: worth taking in training (a gain that is material and beyond chance), worse than chance on the cells
        of interest.
    - `weight`: the salience of the factors times the gap; rules are ranked by it.
    - `classes`: whether labels are classes.
    """

    factors: Subset
    train: float
    target: float
    base: float
    chance: float
    gain: float
    misleads: bool
    weight: float
    classes: bool

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """The rule as plain values; `names` are those of all factors."""
        return {
            "factors": [names[axis] for axis in self.factors],
            "train": self.train if isfinite(self.train) else None,
            "target": self.target if isfinite(self.target) else None,
            "base": self.base if isfinite(self.base) else None,
            "chance": self.chance,
            "gain": self.gain if isfinite(self.gain) else None,
            "misleads": self.misleads,
        }

    def sentence(self, names: Sequence[str]) -> str:
        """How well the rule does in training and on unseen cells; `names` are those of all factors."""
        single = len(self.factors) == 1
        factors = " and ".join(f"'{names[axis]}'" for axis in self.factors)
        rule = f"{factors} {'alone' if single else 'together'}"
        unseen = percent(max(self.target, 0))
        only = "only " if self.target > 0 else ""
        if self.classes:
            text = (
                f"{rule} {'predicts' if single else 'predict'} {percent(self.train)} of the training labels"
            )
            return f"{text}, but {only}{unseen} of the unseen ones" if isfinite(self.target) else text
        verb = "explains" if single else "explain"
        text = f"{rule} {verb} {percent(self.train)} of the variance of the training labels"
        return f"{text}, but {only}{unseen} of that of the unseen ones" if isfinite(self.target) else text


def shortcuts(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], sizes: Sequence[int], kernel: OverlapKernel
) -> list[Shortcut]:
    """Rules of one factor, and of two where both together do better in training; the most misleading first.

    **Arguments:**

    - `interesting`: which labelled cells are cells of interest.
    - `kernel`: whose saliences rank the rules.
    """
    rules, cells, unseen = [], labels.cells[labels.seen], labels.cells[interesting]
    label, values = labels.label[labels.seen], labels.values[labels.seen, 0]
    alone: dict[int, float] = {}
    for subset in subsets(len(sizes), min(2, len(sizes) - 1), min_order=1):
        codes = codes_of(cells, subset, sizes)
        known, group = numbered(codes, prod(sizes[axis] for axis in subset))
        asked = codes_of(unseen, subset, sizes)
        position = np.minimum(np.searchsorted(known, asked), len(known) - 1)
        familiar = known[position] == asked
        if labels.classes:
            table = _cross_table(group, label)
            right = (table.argmax(axis=1)[position] == labels.label[interesting])[familiar]
            target = float(right.mean()) if len(right) else float("nan")
            train, base = (
                float(table.max(axis=1).sum() / len(label)),
                float(np.bincount(label).max() / len(label)),
            )
            chance, (gain, worth) = 1 / len(labels.classes), _gain_by_majority(group, label)
        else:
            means = np.bincount(group, weights=values) / np.bincount(group)
            train, base, target = _explained(means[group], values), 0.0, float("nan")
            if familiar.sum() > 1:
                target = _explained(means[position][familiar], labels.values[interesting, 0][familiar])
            chance, (gain, worth) = 0.0, _gain_by_mean(group, values)
        if len(subset) == 1:
            alone[subset[0]] = train
        elif train <= max(alone[axis] for axis in subset) + 1e-9:
            continue
        misleads = bool(worth and target < chance - 1e-9)
        salience = kernel.normalised[set_index(subset, len(sizes))]
        gap = train - target if np.isfinite(target) else train - base
        weight = float(salience * gap)
        classes = bool(labels.classes)
        rules.append(Shortcut(subset, train, target, base, chance, gain, misleads, weight, classes))
    return sorted(rules, key=lambda rule: (-rule.misleads, -rule.weight))


def shortcut_sentences(rules: Sequence[Shortcut], names: Sequence[str], *, at_most: int = 3) -> list[str]:
    """The most misleading rules in words, or that there is none; nothing without labels."""
    misleading = [rule.sentence(names) for rule in rules if rule.misleads]
    if misleading or not rules:
        return misleading[:at_most]
    if any(isfinite(rule.target) for rule in rules):
        return ["none: no rule of one or two factors is worth taking in training, but worse than chance on unseen "
                "cells"]  # fmt: skip
    return ["not checked: no unseen cell has a label"]


def _cross_table(group: np.ndarray, label: np.ndarray) -> Int[np.ndarray, "groups labels"]:
    """How many cells have each group and label."""
    shape = int(group.max()) + 1, int(label.max()) + 1
    return np.bincount(group * shape[1] + label, minlength=shape[0] * shape[1]).reshape(shape)


def _gain_by_majority(group: np.ndarray, label: np.ndarray) -> tuple[float, bool]:
    """The gain of a majority rule on cells that are left out in turn, and whether it is worth taking."""
    table = _cross_table(group, label)  # cells of one group and label are treated alike
    common, total = table.sum(axis=0), int(table.sum())
    level, label = np.nonzero(table)
    others = table[level].astype(np.float64)
    others[np.arange(len(label)), label] -= 1
    others += 1e-6 * common  # where a level has no other cell, the commonest label
    right = float(table[level, label][others.argmax(axis=1) == label].sum() / total)
    base = float(common.max() / total)
    if base == 1:
        return 0.0, False
    gain = (right - base) / (1 - base)
    return gain, gain > MATERIAL and _dependence(table.astype(np.float64)) <= BY_LUCK


def _gain_by_mean(group: np.ndarray, values: np.ndarray) -> tuple[float, bool]:
    """The variance that means of other cells explain, each cell left out in turn, and whether that is worth taking."""
    rows = np.bincount(group)[group]
    sums = np.bincount(group, weights=values)[group] - values
    rest = (values.sum() - values) / max(len(values) - 1, 1)
    guess = np.where(rows > 1, sums / np.maximum(rows - 1, 1), rest)
    spread = ((values - rest) ** 2).sum()
    gain = float(1 - ((guess - values) ** 2).sum() / spread) if spread else float("nan")
    return gain, gain > MATERIAL and _difference(group, values) <= BY_LUCK


def _dependence(table: Float[np.ndarray, "levels labels"]) -> float:
    """The p-value of Pearson's chi-squared test of independence."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    used = expected > 0
    statistic = ((table - expected)[used] ** 2 / expected[used]).sum()
    free = ((table.sum(axis=1) > 0).sum() - 1) * ((table.sum(axis=0) > 0).sum() - 1)
    return float(special.chdtrc(free, statistic)) if free else 1.0


def _difference(group: np.ndarray, values: np.ndarray) -> float:
    """The p-value of the F test that all levels have the same mean."""
    rows = np.bincount(group)
    means = np.bincount(group, weights=values) / rows
    within = float(((values - means[group]) ** 2).sum())
    between = float((rows * (means - values.mean()) ** 2).sum())
    levels, rest = len(rows) - 1, len(values) - len(rows)
    if levels < 1 or rest < 1:
        return 1.0
    if not within:
        return 0.0 if between else 1.0
    return float(special.fdtrc(levels, rest, (between / levels) / (within / rest)))


def _explained(guess: np.ndarray, values: np.ndarray) -> float:
    spread = ((values - values.mean()) ** 2).sum()
    return float(1 - ((guess - values) ** 2).sum() / spread) if spread else float("nan")
