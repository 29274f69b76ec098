"""A rule on trial: how much of a failure it explains, how surely, and how easily chance would do as well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.resampling import Estimate, Resampler
from recombine.theory.conjunctions import Subset

Rule = Literal["constant", "given", "copy", "any_copy", "nearest", "slope", "superposition", "additive"]
FINDINGS: dict[Rule, str] = {
    "constant": "",
    "given": "shortcut",
    "copy": "memorisation_leak",
    "any_copy": "memorisation_leak",
    "nearest": "memorisation_leak",
    "slope": "memorisation_leak",
    "superposition": "superposition",
    "additive": "additive_only",
}
"""The finding that each rule stands for."""

REARRANGEMENTS = 999
HARDLY_RIGHT = 0.8
"""If more than this share of labels is wrong, putting the wrong ones elsewhere leaves nothing to choose."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """One rule, and how much of the failure it explains.

    - `factors`: those that a shortcut goes by; `order`: of an additive rule.
    - `share`: R, corrected for chance where a rule can choose among several cells; `chance`: by permutation.
    - `residual`: `(cells,)`, squared distance (or share of other labels) between answers and rule.
    """

    rule: Rule
    share: Estimate
    chance: float
    residual: Float[np.ndarray, " cells"]
    factors: Subset = ()
    order: int = 0

    @property
    def finding(self) -> str:
        """The id of the finding that it stands for; empty for a constant."""
        return FINDINGS[self.rule]


def rearranged(
    kind: str, truth: np.ndarray, said: np.ndarray, rng: np.random.Generator
) -> Int[np.ndarray, "rearrangements cells"]:
    """For quantities whose error every cell gets; for classes which label every cell gets."""
    n = len(truth)
    turns = np.stack([rng.permutation(n) for _ in range(REARRANGEMENTS)])
    if kind == "regression":
        return turns
    right, answers = truth.argmax(axis=1), said.argmax(axis=1)
    wrong = answers != right
    if wrong.mean() > HARDLY_RIGHT:
        return answers[turns]
    among = np.unique(answers)
    weights = np.bincount(answers[wrong], minlength=truth.shape[1])[among] + 1e-9
    # Whoever has the smallest exponential time by rate is drawn with a chance in proportion to its rate.
    times = rng.exponential(size=(*turns.shape, len(among))) / weights
    times[:, among == right[:, None]] = np.inf
    drawn = np.where(np.isinf(times).all(axis=2), right, among[times.argmin(axis=2)])
    return np.where(turns < max(1, int(wrong.sum())), drawn, right)


@dataclass(frozen=True, eq=False)
class Trial:
    """What all rules are tried on."""

    cells: Cells
    chosen: Int[np.ndarray, " cells"]
    truth: Float[np.ndarray, "cells outputs"]
    said: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    against: Float[np.ndarray, " cells"]
    turns: Int[np.ndarray, "rearrangements cells"]
    sampler: Resampler

    def judge(
        self,
        rule: Rule,
        own: Float[np.ndarray, " cells"],
        others: Float[np.ndarray, " rearrangements"],
        *,
        error: Float[np.ndarray, " cells"] | None = None,
        corrected: bool = False,
        factors: Subset = (),
        order: int = 0,
    ) -> Explanation:
        """An explanation from what it leaves unexplained in every cell, and in all cells of every rearrangement.

        - `error`: what it is held against, by default the distance to the truth (or to a blank, for pictures).
        - `corrected`: for chance, since the rule may choose among several answers.
        """
        error = self.against if error is None else error
        sampler = self.sampler if len(own) == self.sampler.groups[0] else Resampler((len(own),))
        value = _share(float(own.sum()), float(error.sum()))
        other = 1 - others / max(float(error.sum()), 1e-300)
        chance = float((1 + (other >= value - 1e-12).sum()) / (1 + len(other)))
        means = sampler.means(0, np.stack([own, error], axis=1))
        some = means[:, 1] > 1e-12 * error.max()  # a resample without errors says nothing
        draws = 1 - np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=some)
        if corrected:
            luck = float(np.clip(np.mean(other), 0, 1))
            value, draws = _corrected(value, luck), _corrected(draws, luck)
        return Explanation(rule, sampler.estimate(float(value), draws, [0]), chance, own, factors, order)

    def fixed(
        self, rule: Rule, answers: Float[np.ndarray, "cells outputs"], factors: Subset = (), order: int = 0
    ) -> Explanation:
        """A rule that gives one answer for every cell."""
        if self.cells.kind == "classification":
            return self.labelled(rule, 2 - 2 * answers, factors=factors, order=order)
        off, error = self.truth - answers, self.said - self.truth
        pairs = lengths(off)[:, None] + 2 * off @ error.T + lengths(error)[None]
        return self.paired(rule, pairs, factors=factors, order=order)

    def paired(self, rule: Rule, pairs: Float[np.ndarray, "cells cells"], **settings: Any) -> Explanation:
        """A rule by what it leaves unexplained in every cell, if that had the error of any other cell."""
        pairs = np.maximum(pairs, 0)
        others = pairs[np.arange(len(pairs)), self.turns].sum(axis=1)
        return self.judge(rule, np.diagonal(pairs).copy(), others, **settings)

    def labelled(self, rule: Rule, costs: Float[np.ndarray, "cells classes"], **settings: Any) -> Explanation:
        """A rule by what it leaves unexplained in every cell, if that had any of the labels."""
        others = costs[np.arange(len(costs)), self.turns].sum(axis=1)
        return self.judge(rule, (costs * self.said).sum(axis=1), others, **settings)


def best_of(tried: Iterable[Explanation]) -> Explanation:
    """The one that explains most."""
    return max(tried, key=lambda one: one.share.value)


def _share(residual: float, error: float) -> float:
    return 1 - residual / error if error > 0 else 0.0


def _corrected(value: Any, luck: float) -> Any:
    return (value - luck) / (1 - luck) if luck < 1 - 1e-9 else value * 0.0


def lengths(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, " rows"]:
    """Squared lengths."""
    return np.einsum("ru,ru->r", rows, rows)


def centred(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, "rows outputs"]:
    """Rows without their means: pictures without regard to the brightness of their background."""
    return rows - rows.mean(axis=1, keepdims=True)
