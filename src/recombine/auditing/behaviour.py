"""Findings from answers alone: does the model compose, and if not, which pattern do its wrong answers follow?"""

from __future__ import annotations

import numpy as np

from recombine.advice import Observations
from recombine.auditing.cells import Cells
from recombine.auditing.explanations import Failure, explain, preferred
from recombine.auditing.finding import Finding, open_finding
from recombine.auditing.patterns import PATTERNS, Facts
from recombine.auditing.scores import COMPOSES, NOTHING, Scores
from recombine.auditing.seen_cells import answers_of_seen
from recombine.auditing.trial import Explanation
from recombine.report import number, percent

SLIGHT = {"regression": 0.01, "classification": 0.1}
"""A model that handles unseen cells like seen ones has a failure to explain if its error is above this share of a
constant's: a rule may govern both. (Answers that keep nine tenths of their size have a hundredth of its error.)"""
ALL = 0.9
"""Of a classifier that has learned nothing, a rule must account for this share of wrong answers with 95 % confidence;
of quantities that are not learned, which always look like some rule, it must give nearly all of their variance."""
ADDITIVE = 0.99
"""Answers of which effects of single factors explain this much are sums."""


def behaviour(
    cells: Cells, scores: Scores, table: Observations, *, seed: int = 0
) -> tuple[list[Finding], Failure | None, Explanation | None]:
    """The five findings, the rules that were tried, and the rule that explains the failure, if one does."""
    composes = _composes(scores)
    if scores.unjudged:
        why = f"What the model says cannot be judged: {scores.unjudged}."
        return [composes, *(open_finding(id, why) for id in PATTERNS)], None, None
    failure = explain(cells, seed=seed)
    chosen = _cause(cells, scores, failure)
    if chosen is not None and chosen.rule == "confusion":
        composes = _same_mistakes(composes, scores)
    elif chosen is not None and composes.holds is not False:
        composes = _not_composing(composes, scores)
    facts = Facts(cells, scores, table, failure, chosen, composes.holds, seed)
    return [composes, *(measure(facts) for measure in PATTERNS.values())], failure, chosen


def _cause(cells: Cells, scores: Scores, failure: Failure) -> Explanation | None:
    """The rule that explains the failure, if there is one to explain and one that does."""
    slight = SLIGHT[cells.kind] * scores.baselines["constant"].value
    if scores.composes is True and scores.unseen.value <= slight:
        return None
    tried, lost = failure.tried, scores.skill.value <= NOTHING
    if lost and cells.kind == "regression":
        tried = _reproducing(cells, failure)
    found = preferred(tried, learned=scores.learned, additive=_sums(cells))
    if found is None or not lost:
        return found
    surely = found.rule != "constant" if cells.kind == "regression" else found.share.low >= ALL
    return found if surely else None


def _reproducing(cells: Cells, failure: Failure) -> tuple[Explanation, ...]:
    """Rules that give the very answers of a model, however wrong these are, and the constant."""
    said = cells.answers[failure.cells].astype(np.float64)
    spread = ((said - said.mean(axis=0)) ** 2).sum()
    close = [one for one in failure.tried if one.residual.sum() <= (1 - ADDITIVE) * spread]
    exact = (one for one in close if one.rule in {"given", "nearest", "additive"})
    return (*exact, *(one for one in failure.tried if one.rule == "constant"))


def _composes(scores: Scores) -> Finding:
    means = "1 if unseen cells are handled like seen ones, 0 if like a constant would"
    holds = scores.composes
    if scores.unjudged:
        lacking = " Targets for five or more cells would decide." if "target" in scores.unjudged else ""
        return open_finding("composes", f"It cannot be said: {scores.unjudged}.{lacking}", means)
    seen, unseen = number(scores.seen.value), number(scores.unseen.value)
    constant = number(scores.constant)
    errors = f"Unseen combinations have an error of {unseen}, seen ones {seen}, a constant (over all cells) {constant}."
    if holds:
        way = percent(min(1.0, scores.transfer.value))
        why = f"{errors} That is {way} of the way from the constant's to the seen ones'."
    elif holds is False and not scores.learned:
        why = f"{errors} Even the seen ones are not learned, so there is nothing that could carry over."
    elif holds is False:
        why = f"{errors} What was learned on seen combinations does not carry over."
    elif not scores.learned:
        why = f"{errors} The seen ones are only partly learned; train longer, then ask again."
    else:
        low, high = scores.transfer.pair
        ends = f"{percent(low)} to {percent(high)}; " if np.isfinite(low) else ""
        why = (
            f"{errors} That is {percent(scores.transfer.value)} of the way, give or take ({ends}"
            f"{percent(COMPOSES)} is asked for); more unseen cells would decide."
        )
    return Finding("composes", holds, scores.transfer, means, why, {})


def _not_composing(composes: Finding, scores: Scores) -> Finding:
    """A rule that ignores how factors combine explains the errors, so that seen cells are no better is no comfort."""
    seen, unseen = number(scores.seen.value), number(scores.unseen.value)
    rule = "what goes wrong there follows" if scores.skill.value >= COMPOSES else "both follow"
    why = f"Unseen combinations have an error of {unseen}, seen ones {seen}; {rule} a rule that does not compose."
    return Finding("composes", False, composes.estimate, composes.means, why, {})


def _same_mistakes(composes: Finding, scores: Scores) -> Finding:
    """Labels are mistaken for others on seen and unseen cells alike, which says nothing against composing."""
    seen, unseen = number(scores.seen.value), number(scores.unseen.value)
    why = (
        f"Unseen combinations have an error of {unseen}, seen ones {seen}; both take the same labels for others. "
        "Put that right first (are classes in the right order?), then ask again."
    )
    holds = composes.holds if scores.learned else None
    return Finding("composes", holds, composes.estimate, composes.means, why, {})


def _sums(cells: Cells) -> bool:
    """Whether the model's answers for seen cells are sums of effects of single factors (or follow from such scores)."""
    seen = answers_of_seen(cells)
    if not seen.can_add(1) or len(cells.sizes) < 2:
        return False
    if cells.kind == "classification":
        return bool((seen.additive_scores(seen.cells) * seen.values).sum(axis=1).mean() >= ADDITIVE)
    spread = ((seen.values - seen.values.mean(axis=0)) ** 2).sum()
    return bool(((seen.additive(1, seen.cells) - seen.values) ** 2).sum() <= (1 - ADDITIVE) * spread)
