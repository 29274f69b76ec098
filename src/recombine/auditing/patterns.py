"""The four patterns that wrong answers may follow, each as a finding: measured, and explained to a non-specialist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine.advice import Observations
from recombine.auditing.cells import Cells
from recombine.auditing.explanations import CHANCE, MOSTLY, Failure, explains
from recombine.auditing.extrapolation import orders_below
from recombine.auditing.finding import TITLES, Finding, plain
from recombine.auditing.mixtures import superposed
from recombine.auditing.resampling import UNKNOWN, Estimate, Resampler
from recombine.auditing.scores import NOTHING, Scores
from recombine.auditing.seen_cells import answers_of_seen, targets_of_seen
from recombine.auditing.trial import Explanation
from recombine.auditing.words import cell_list, count_of
from recombine.probes.superposition import correlations
from recombine.report import fixed, number, percent

LEAST_CELLS = 5
"""Unseen cells below which no failure can be told from chance by permutation."""
SHOWN_CELLS = 3
NO_SHARE = 0.005
"""Shares of a failure that are said to be nothing."""
MERE_CHANCE = 0.9
"""If so many rearrangements do as well, more cells of this kind would not help."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What findings are made of; `chosen` is the rule that explains the failure, `composes` what was found of it."""

    cells: Cells
    scores: Scores
    table: Observations
    failure: Failure
    chosen: Explanation | None
    composes: bool | None
    seed: int

    def holds(self, id: str) -> bool | None:
        """Whether the rule for a finding is the one that explains the failure."""
        if self.composes is True:
            return False
        if self.chosen is not None:
            return self.chosen.finding == id
        if self.scores.skill.value <= NOTHING:
            return None
        best = self.failure.best(id)
        if self.scores.cells_unseen < LEAST_CELLS:
            return None
        if best is None:
            return False if not self.failure.tried else None
        return False if best.share.high < MOSTLY else None

    def why_not(self, id: str) -> str:
        """Why a finding does not hold, or is not known."""
        if self.composes is True:
            return "There is no failure to explain."
        if self.scores.skill.value <= NOTHING and self.chosen is None:
            return "The seen combinations are not learned yet, so wrong answers elsewhere say nothing."
        if self.scores.cells_unseen < LEAST_CELLS:
            few = count_of(self.scores.cells_unseen, "unseen cell")
            are = "is" if self.scores.cells_unseen == 1 else "are"
            return f"{few} {are} too few to tell; {LEAST_CELLS} or more could decide."
        best = self.failure.best(id)
        if best is None and id == "additive_only":
            return "The task is a sum of effects itself, as far as the seen and unseen cells show, so sums are right."
        if best is None or not np.isfinite(best.share.value):
            return "It says nothing about these answers."
        if best.share.value <= NO_SHARE:
            return "It explains nothing of what goes wrong on unseen cells."
        share = f"It would explain {percent(best.share.value)} of what goes wrong on unseen cells"
        if self.chosen is not None and self.chosen.finding:
            title, simpler = TITLES[self.chosen.finding], best.share.value >= self.chosen.share.value
            other = (
                f"{title}, which is simpler, explains about as much" if simpler else f"{title} explains more"
            )
            return f"{share}; {other} ({percent(self.chosen.share.value)})."
        if self.chosen is not None:
            return f"{share}, but the model gives nearly the same answer everywhere, which is simpler."
        if explains(best) or best.share.value < MOSTLY:
            return f"{share}."
        if best.chance <= CHANCE:
            ends = " to ".join(percent(max(0.0, end)) for end in best.share.pair)
            return f"{share}, give or take ({ends}); more unseen cells would decide."
        if best.chance > MERE_CHANCE:
            return f"{share}, but so it would if the same answers stood in any other order: they do not vary enough."
        luck = f"errors at random places look like that in {percent(best.chance)} of cases"
        return f"{share}, but {luck}; more unseen cells would decide."

    def details(self, id: str) -> dict[str, Any]:
        """The best rule's share of the failure, in plain values."""
        best = self.failure.best(id)
        if best is None:
            return {}
        ends = [plain(end) for end in best.share.pair]
        return {
            "rule": best.rule,
            "explains": plain(best.share.value),
            "interval": ends,
            "chance": best.chance,
        }


def memorisation_leak(facts: Facts) -> Finding:
    """Does the model answer with what it stored for seen cells, or shrink where it stored nothing?"""
    id, failure = "memorisation_leak", facts.failure
    holds, best = facts.holds(id), facts.failure.best(id)
    regression = facts.cells.kind == "regression"
    means = (
        "slope of unseen answers on the truth" if regression else "share of the failure that copies explain"
    )
    estimate = failure.slope if regression else (_as_share(best.share) if best else UNKNOWN)
    details = facts.details(id)
    if regression:
        details |= {"slope": plain(failure.slope.value), "slope_seen": plain(failure.slope_seen)}
    if holds:
        assert facts.chosen is not None
        if facts.chosen.rule == "slope":
            kept = percent(max(0.0, failure.slope.value))
            why = (
                f"Unseen answers vary only {kept} as much as they should (seen ones {percent(failure.slope_seen)}): "
                "the model stores whole combinations beside their parts, and what it stored so is missing for new ones."
            )
        else:
            why = (
                f"For {percent(facts.chosen.share.value)} of what goes wrong, the answer is that of a seen combination "
                "that shares levels with the new one: the model looks up its memory instead of composing."
            )
    else:
        why = facts.why_not(id)
        if regression and facts.composes is not True and np.isfinite(failure.slope.value):
            why = f"Unseen answers follow the truth with a slope of {fixed(failure.slope.value, 2)}. {why}"
    return Finding(id, holds, estimate, means, why, details)


def shortcut(facts: Facts) -> Finding:
    """Do fewer factors than the task needs explain the answers?"""
    id = "shortcut"
    holds, best = facts.holds(id), facts.failure.best("shortcut")
    means = "share of unseen answers that the factors of the shortcut explain"
    if facts.chosen is not None and facts.chosen.finding == id:
        best = facts.chosen
    if best is None:
        return Finding(id, holds, UNKNOWN, means, facts.why_not(id), {})
    words = " and ".join(f"'{facts.table.space.names[axis]}'" for axis in best.factors)
    said, needed = _explained(facts, best)
    details = facts.details(id) | {
        "factors": [facts.table.space.names[axis] for axis in best.factors],
        "explained_of_answers": plain(said.value),
        "explained_of_truth": plain(needed),
        "explained_in_training": plain(_explained_in_training(facts.cells, best)),
    }
    if holds:
        trained = percent(max(0.0, _explained_in_training(facts.cells, best)))
        why = (
            f"{words} alone explains {percent(said.value)} of the answers for unseen combinations. Of what would be "
            f"right it explains {percent(max(0.0, needed))} there, and {trained} in training."
        )
    else:
        why = facts.why_not(id)
    return Finding(id, holds, UNKNOWN if facts.composes is True else _as_share(said), means, why, details)


def _explained(facts: Facts, best: Explanation) -> tuple[Estimate, float]:
    """How much of the unseen answers, and of the truth, a shortcut explains: variance, or labels."""
    cells, chosen = facts.cells, facts.failure.cells
    seen = answers_of_seen(cells)
    if best.rule == "function":
        seen = replace(
            seen,
            cells=cells.cells[chosen],
            values=cells.answers[chosen].astype(np.float64),
            rows=cells.rows[chosen],
        )
    rules = [seen.given(best.factors, cells.cells[chosen], by_rows=by_rows) for by_rows in (True, False)]
    rule = min(rules, key=lambda one: float(((one - cells.answers[chosen]) ** 2).sum()))
    sampler = Resampler((len(chosen),))
    if cells.kind == "classification":
        said, true = ((rule * x[chosen]).sum(axis=1) for x in (cells.answers, cells.targets))
        return sampler.estimate(float(said.mean()), sampler.means(0, said), [0]), float(true.mean())

    def parts(x: np.ndarray) -> np.ndarray:
        centre = x.mean(axis=0)
        return np.stack([((x - rule) ** 2).sum(axis=1), ((x - centre) ** 2).sum(axis=1)], axis=1)

    def r2(sums: np.ndarray) -> np.ndarray:
        left, spread = sums[..., 0], sums[..., 1]
        varied = spread > 1e-12 * left
        return 1 - np.divide(left, spread, out=np.full(left.shape, np.nan), where=varied)

    said, true = (parts(x[chosen].astype(np.float64)) for x in (cells.answers, cells.targets))
    found = sampler.estimate(float(r2(said.mean(axis=0))), r2(sampler.means(0, said)), [0])
    return found, float(r2(true.mean(axis=0)))


def superposition(facts: Facts) -> Finding:
    """Are outputs sums of seen outputs that share a level?"""
    id = "superposition"
    means = "correlation of unseen outputs with the sum of seen ones that share a level"
    best = facts.failure.best(id)
    if facts.cells.kind == "classification" or facts.cells.answers.shape[1] < 2:
        why = "It is about outputs with many numbers, such as pictures; these have one."
        return Finding(id, False, UNKNOWN, means, why, {})
    cells, chosen = facts.cells, facts.failure.cells
    sums = superposed(answers_of_seen(cells), cells.cells[chosen])
    with_sum = correlations(cells.answers[chosen].astype(np.float64), sums)
    with_truth = correlations(
        cells.answers[chosen].astype(np.float64), cells.targets[chosen].astype(np.float64)
    )
    sampler = Resampler((len(chosen),), seed=facts.seed)
    estimate = sampler.estimate(float(with_sum.mean()), sampler.means(0, with_sum), [0])
    details = facts.details(id) | {"with_truth": plain(float(with_truth.mean()))}
    holds = facts.holds(id)
    if best is None and facts.composes is not True:
        why = "The outputs have too few numbers to tell a sum of seen outputs from something else (16 would do)."
        return Finding(id, False if facts.chosen else None, estimate, means, why, details)
    both = f"{fixed(with_sum.mean(), 2)} with that sum, {fixed(with_truth.mean(), 2)} with the truth"
    if holds:
        assert facts.chosen is not None
        why = (
            "Outputs for unseen combinations are mostly sums of seen outputs that share a level with them: such sums "
            f"explain {percent(facts.chosen.share.value)} of what goes wrong (correlation of outputs: {both}). The "
            "model overlays what it knows instead of drawing something new."
        )
    else:
        why = f"{facts.why_not(id)} (Correlation of unseen outputs: {both}.)"
    return Finding(id, holds, estimate, means, why, details)


def additive_only(facts: Facts) -> Finding:
    """Are answers sums of effects where the task is not?"""
    id = "additive_only"
    means = "share of the failure that sums of effects explain"
    orders = [one for one in facts.failure.tried if one.rule == "additive"]
    best = facts.chosen if facts.chosen is not None and facts.chosen.finding == id else facts.failure.best(id)
    holds = facts.holds(id)
    if best is None:  # no sum of effects misses the task, so being one is no failure
        return Finding(id, False if facts.failure.tried else holds, UNKNOWN, means, facts.why_not(id), {})
    details = facts.details(id) | {
        "order": best.order,
        "explains_by_order": {str(one.order): plain(one.share.value) for one in orders},
        "r2_of_unseen_answers_by_order": _r2_by_order(facts),
        "not_additive_at": _not_additive_at(facts, best.order),
    }
    if holds:
        what = "single factors" if best.order == 1 else f"up to {best.order} factors"
        error = facts.scores.baselines.get(f"additive_{best.order}")
        off = f"; the best such sum has an error of {number(error.value)}" if error else ""
        worst = cell_list(details["not_additive_at"], SHOWN_CELLS)
        why = (
            f"Unseen answers are sums of effects of {what}; these explain {percent(best.share.value)} of what goes "
            f"wrong. The task is not such a sum (least at {worst}{off}): interactions of more factors are missing."
        )
    else:
        why = facts.why_not(id)
    return Finding(
        id, holds, UNKNOWN if facts.composes is True else _as_share(best.share), means, why, details
    )


def _explained_in_training(cells: Cells, best: Explanation) -> float:
    """How much of the targets of seen cells the factors of a shortcut explain."""
    seen = targets_of_seen(cells)
    rule = seen.given(best.factors, seen.cells, by_rows=True)
    if cells.kind == "classification":
        return float(np.average((rule * seen.values).sum(axis=1), weights=seen.rows))
    spread = ((seen.values - seen.values.mean(axis=0)) ** 2).sum()
    return float(1 - ((seen.values - rule) ** 2).sum() / spread) if spread > 0 else np.nan


def _as_share(one: Estimate) -> Estimate:
    """Within 0 and 1: what is further from the answers than the truth explains nothing of them."""
    return Estimate(*(float(np.clip(value, 0.0, 1.0)) for value in (one.value, one.low, one.high)))


def _r2_by_order(facts: Facts) -> dict[str, float | None]:
    """How much of the unseen answers sums of effects predict that were fitted to the answers for seen cells."""
    cells, chosen = facts.cells, facts.failure.cells
    seen, said = answers_of_seen(cells), cells.answers[chosen].astype(np.float64)
    spread = ((said - said.mean(axis=0)) ** 2).sum()
    found = {}
    for order in orders_below(cells.sizes):
        if seen.can_add(order):
            left = ((seen.additive(order, cells.cells[chosen]) - said) ** 2).sum()
            found[str(order)] = plain(float(1 - left / spread)) if spread > 0 else None
    return found


def _not_additive_at(facts: Facts, order: int) -> list[dict[str, Any]]:
    """The cells, by their levels, at which the task is furthest from the sum of effects that seen targets suggest."""
    cells = facts.cells
    known = np.flatnonzero(cells.known & cells.familiar)
    off = cells.targets[known] - targets_of_seen(cells).additive(order, cells.cells[known])
    worst = known[np.argsort(-(off**2).sum(axis=1), kind="stable")[:SHOWN_CELLS]]
    return [facts.table.describe(cell) for cell in cells.cells[worst]]


PATTERNS: dict[str, Callable[[Facts], Finding]] = {
    "memorisation_leak": memorisation_leak,
    "shortcut": shortcut,
    "superposition": superposition,
    "additive_only": additive_only,
}
"""By the id of the finding."""
