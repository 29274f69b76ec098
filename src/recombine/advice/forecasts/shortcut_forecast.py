"""Shortcuts: rules of one or two factors that training rewards and unseen cells contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from jaxtyping import Bool

from recombine.advice.labels import CellLabels
from recombine.report import percent
from recombine.theory import OverlapKernel, subsets
from recombine.theory.conjunctions import Subset, codes_of
from recombine.theory.overlap_kernels import set_index


@dataclass(frozen=True)
class Shortcut:
    """A rule that predicts a cell's label from one or two of its factors.

    **Attributes:**

    - `factors`: positions of the factors.
    - `train`, `target`: how well the best such rule does on training cells and on the cells of interest: accuracy, or
        the share of variance for quantities; NaN if no cell of interest has a label.
    - `base`, `chance`: what a constant reaches on each.
    - `misleads`: better than a constant in training, worse than chance on the cells of interest.
    - `weight`: the salience of the factors times the gap; rules are ranked by it.
    - `classes`: whether labels are classes.
    """

    factors: Subset
    train: float
    target: float
    base: float
    chance: float
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
    seen, rules = labels.seen, []
    alone: dict[int, float] = {}
    for subset in subsets(len(sizes), min(2, len(sizes) - 1), min_order=1):
        codes = codes_of(labels.cells, subset, sizes)
        if labels.classes:
            train, target, base = _by_majority(codes, labels.label, seen, interesting)
            chance = 1 / len(labels.classes)
        else:
            train, target, base = _by_mean(codes, labels.values[:, 0], seen, interesting)
            chance = 0.0
        if len(subset) == 1:
            alone[subset[0]] = train
        elif train <= max(alone[axis] for axis in subset) + 1e-9:
            continue
        misleads = bool(train > base + 1e-9 and target < chance - 1e-9)
        salience = kernel.normalised[set_index(subset, len(sizes))]
        gap = train - target if np.isfinite(target) else train - base
        weight = float(salience * gap)
        rules.append(Shortcut(subset, train, target, base, chance, misleads, weight, bool(labels.classes)))
    return sorted(rules, key=lambda rule: (-rule.misleads, -rule.weight))


def shortcut_sentences(rules: Sequence[Shortcut], names: Sequence[str], *, at_most: int = 3) -> list[str]:
    """The most misleading rules in words, or that there is none; nothing without labels."""
    misleading = [rule.sentence(names) for rule in rules if rule.misleads]
    if misleading or not rules:
        return misleading[:at_most]
    if any(isfinite(rule.target) for rule in rules):
        return ["none: no rule of one or two factors does better than a constant in training, but worse than "
                "chance on unseen cells"]  # fmt: skip
    return ["not checked: no unseen cell has a label"]


def _by_majority(
    codes: np.ndarray, label: np.ndarray, seen: np.ndarray, interesting: np.ndarray
) -> tuple[float, float, float]:
    """Accuracy of the majority class in training and on cells of interest, and of a constant in training."""
    known, group = np.unique(codes[seen], return_inverse=True)
    table = np.zeros((len(known), label.max() + 1))
    np.add.at(table, (group, label[seen]), 1)
    guess = table.argmax(axis=1)
    base = np.bincount(label[seen]).max() / seen.sum()
    train = float((guess[group] == label[seen]).mean())
    position = np.minimum(np.searchsorted(known, codes[interesting]), len(known) - 1)
    familiar = known[position] == codes[interesting]
    right = (guess[position] == label[interesting])[familiar]
    return train, float(right.mean()) if len(right) else float("nan"), float(base)


def _by_mean(
    codes: np.ndarray, values: np.ndarray, seen: np.ndarray, interesting: np.ndarray
) -> tuple[float, float, float]:
    """Variance that training means explain in training and on cells of interest; a constant explains nothing."""
    known, group = np.unique(codes[seen], return_inverse=True)
    means = np.bincount(group, weights=values[seen]) / np.bincount(group)
    train = _explained(means[group], values[seen])
    position = np.minimum(np.searchsorted(known, codes[interesting]), len(known) - 1)
    familiar = known[position] == codes[interesting]
    if familiar.sum() < 2:
        return train, float("nan"), 0.0
    return train, _explained(means[position][familiar], values[interesting][familiar]), 0.0


def _explained(guess: np.ndarray, values: np.ndarray) -> float:
    spread = ((values - values.mean()) ** 2).sum()
    return float(1 - ((guess - values) ** 2).sum() / spread) if spread else float("nan")
