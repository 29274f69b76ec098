"""A rule on trial: how much of a failure it explains, how surely, and how easily chance would do as well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.resampling import Estimate, Resampler
from recombine.theory.conjunctions import Subset

Rule = Literal[
    "confusion", "constant", "given", "copy", "nearest", "slope", "superposition", "additive", "function"
]
FINDINGS: dict[Rule, str] = {
    "confusion": "",
    "constant": "",
    "given": "shortcut",
    "copy": "memorisation_leak",
    "nearest": "memorisation_leak",
    "slope": "memorisation_leak",
    "superposition": "superposition",
    "additive": "additive_only",
    "function": "shortcut",
}
"""The finding that each rule stands for; none if the rule is no way not to compose."""

REARRANGEMENTS = 999
HARDLY_RIGHT = 0.8
"""If more than this share of labels is wrong, putting the wrong ones elsewhere leaves nothing to choose."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """One rule, and how much of the failure it explains.

    - `factors`: those that a shortcut goes by; `order`: of an additive rule.
    - `share`: R, corrected for chance where a rule can choose among several cells; `chance`: by permutation.
    - `residual`: `(cells,)`, squared distance (or share of other labels) between answers and rule.
    - `likelihood`: of labels, the logarithm of the probability that the rule gives the answers; NaN for quantities.
    """

    rule: Rule
    share: Estimate
    chance: float
    residual: Float[np.ndarray, " cells"]
    factors: Subset = ()
    order: int = 0
    likelihood: float = np.nan

    @property
    def finding(self) -> str:
        """The id of the finding that it stands for; empty for a constant, and for mistakes that seen cells share."""
        return FINDINGS[self.rule]


@dataclass(frozen=True, eq=False)
class Chance:
    """Rearrangements of the unseen cells, in which a rule that means something should do worse.

    - `turns`: which cell's answer (or error) every cell gets; `signs`: for errors of quantities, with which sign.
    - `labels`: for classes, the truth with as many wrong labels in other cells; `None` if hardly any answer is right,
        so that there would be nothing to choose.
    """

    turns: Int[np.ndarray, "rearrangements cells"]
    signs: Int[np.ndarray, "rearrangements cells"]
    labels: Int[np.ndarray, "rearrangements cells"] | None


def rearranged(kind: str, truth: np.ndarray, said: np.ndarray, rng: np.random.Generator) -> Chance:
    """Draws rearrangements."""
    n = len(truth)
    turns = np.stack([rng.permutation(n) for _ in range(REARRANGEMENTS)])
    signs = rng.choice([-1, 1], size=turns.shape)
    if kind == "regression":
        return Chance(turns, signs, None)
    right, answers = truth.argmax(axis=1), said.argmax(axis=1)
    wrong = answers != right
    if wrong.mean() > HARDLY_RIGHT:
        return Chance(turns, signs, None)
    among = np.unique(answers)
    weights = np.bincount(answers[wrong], minlength=truth.shape[1])[among] + 1e-9
    # Whoever has the smallest exponential time by rate is drawn with a chance in proportion to its rate.
    times = rng.exponential(size=(*turns.shape, len(among))) / weights
    times[:, among == right[:, None]] = np.inf
    drawn = np.where(np.isinf(times).all(axis=2), right, among[times.argmin(axis=2)])
    return Chance(turns, signs, np.where(turns < max(1, int(wrong.sum())), drawn, right))


@dataclass(frozen=True, eq=False)
class Trial:
    """What all rules are tried on: unseen cells with their truth and answers.

    - `error`: squared distance of answers and truth; `against`: what rules are held against, for pictures the distance
        to the nearer of the truth and a blank.
    """

    cells: Cells
    chosen: Int[np.ndarray, " cells"]
    truth: Float[np.ndarray, "cells outputs"]
    said: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    against: Float[np.ndarray, " cells"]
    chance: Chance
    sampler: Resampler

    def judge(
        self,
        rule: Rule,
        own: Float[np.ndarray, " cells"],
        nulls: Sequence[Float[np.ndarray, " rearrangements"]],
        *,
        error: Float[np.ndarray, " cells"] | None = None,
        corrected: bool = False,
        factors: Subset = (),
        order: int = 0,
    ) -> Explanation:
        """An explanation from what it leaves unexplained in every cell, and in all cells of every rearrangement.

        - `nulls`: one or more kinds of rearrangement; the rule has to do better than by chance in each.
        - `error`: what it is held against, by default `against`.
        - `corrected`: for chance, since the rule may choose among several answers.
        """
        error = self.against if error is None else error
        sampler = self.sampler if len(own) == self.sampler.groups[0] else Resampler((len(own),))
        total = max(float(error.sum()), 1e-300)
        value = 1 - float(own.sum()) / total if error.sum() > 0 else 0.0
        others = [1 - null / total for null in nulls]
        means = sampler.means(0, np.stack([own, error], axis=1))
        some = means[:, 1] > 1e-12 * error.max()  # a resample without errors says nothing
        draws = 1 - np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=some)
        chance = max(chance_of(value, other) for other in others)
        if corrected:
            luck = float(np.clip(np.mean(others[0]), 0, 1))
            value, draws = _corrected(value, luck), _corrected(draws, luck)
        return Explanation(rule, sampler.estimate(float(value), draws, [0]), chance, own, factors, order)

    def fixed(
        self, rule: Rule, answers: Float[np.ndarray, "cells outputs"], factors: Subset = (), order: int = 0
    ) -> Explanation:
        """A rule that gives one answer for every cell."""
        if self.cells.kind == "classification":
            return self.labelled(rule, 2 - 2 * answers, factors=factors, order=order)
        off, error = self.truth - answers, self.said - self.truth
        base, across = lengths(off)[:, None] + lengths(error)[None], 2 * off @ error.T
        swapped = lengths(answers)[:, None] + lengths(self.said)[None] - 2 * answers @ self.said.T
        return self.paired(rule, base + across, base - across, swapped, factors=factors, order=order)

    def paired(
        self,
        rule: Rule,
        plus: Float[np.ndarray, "cells cells"],
        minus: Float[np.ndarray, "cells cells"],
        swapped: Float[np.ndarray, "cells cells"],
        **settings: Any,
    ) -> Explanation:
        """A rule by what it leaves unexplained in every cell.

        - `plus`, `minus`: if the cell had the error of any other cell, or that error with the other sign.
        - `swapped`: if it had the answer of any other cell.
        """
        places, turns = np.arange(len(plus)), self.chance.turns
        moved = np.where(self.chance.signs > 0, plus[places, turns], minus[places, turns])
        nulls = [np.maximum(moved, 0).sum(axis=1), np.maximum(swapped[places, turns], 0).sum(axis=1)]
        return self.judge(rule, np.maximum(np.diagonal(plus), 0), nulls, **settings)

    def labelled(
        self,
        rule: Rule,
        costs: Float[np.ndarray, "cells classes"],
        chances: Float[np.ndarray, "cells classes"] | None = None,
        **settings: Any,
    ) -> Explanation:
        """A rule by what it leaves unexplained in every cell, if that had any of the labels.

        - `chances`: of every label by the rule, if it leaves a choice; otherwise the labels that cost nothing.
        """
        places = np.arange(len(costs))
        swapped = costs[places, self.said.argmax(axis=1)[self.chance.turns]].sum(axis=1)
        noisy = [] if self.chance.labels is None else [costs[places, self.chance.labels].sum(axis=1)]
        own = (costs * self.said).sum(axis=1)
        found = self.judge(rule, own, [*noisy, swapped], **settings)
        slips = (own.sum() / 2 + 0.5) / (len(own) + 1)
        given = ((np.maximum(1 - costs / 2, 0.0) if chances is None else chances) * self.said).sum(axis=1)
        likely = np.log((1 - slips) * given + slips / costs.shape[1])
        return replace(found, likelihood=float(likely.sum()))


def chance_of(value: float, others: Float[np.ndarray, " rearrangements"]) -> float:
    """The share of rearrangements that do at least as well, the one that was observed among them."""
    return float((1 + (others >= value - 1e-12).sum()) / (1 + len(others)))


def best_of(tried: Iterable[Explanation]) -> Explanation:
    """The one that explains most, and of equal ones that which chance does least."""
    return max(tried, key=lambda one: (round(one.share.value, 9), -one.chance))


def _corrected(value: Any, luck: float) -> Any:
    return (value - luck) / (1 - luck) if luck < 1 - 1e-9 else value * 0.0


def lengths(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, " rows"]:
    """Squared lengths."""
    return np.einsum("ru,ru->r", rows, rows)


def centred(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, "rows outputs"]:
    """Rows without their means: pictures without regard to the brightness of their background."""
    return rows - rows.mean(axis=1, keepdims=True)
