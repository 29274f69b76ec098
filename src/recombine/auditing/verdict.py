"""The verdict: one or two sentences that an engineer can act on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recombine.auditing.findings import AuditEvidence, Finding
from recombine.auditing.findings.finding import title_of
from recombine.auditing.rules import Failure
from recombine.auditing.rules.rule import listed
from recombine.auditing.scores import Scores
from recombine.auditing.thresholds import (
    EXPLAINS,
    MAX_P_VALUE,
    MIN_UNSEEN_CELLS,
    MOSTLY_RIGHT,
    PARTIAL_SHARE,
    UNLEARNED,
)
from recombine.auditing.units import Units
from recombine.report import number, percent, points


def verdict(evidence: AuditEvidence, findings: Mapping[str, Finding], units: Units | None = None) -> str:
    """The result of the audit in words."""
    text = _verdict(evidence, findings).strip()
    if units is None:
        return text
    return f"{text} (Its predictions are {units}, on seen cells too, and were first converted to the targets' units.)"


def _verdict(evidence: AuditEvidence, findings: Mapping[str, Finding]) -> str:
    names, scores, cause, failure = listed(evidence.names), evidence.scores, evidence.cause, evidence.failure
    if scores is None:
        why = "the model raised an error" if evidence.run.error else "there are no predictions to judge"
        return f"Undecided: {why}; the forecast from the split is below."
    if failure is None:
        return f"Undecided: whether the model composes {names} cannot be judged: {scores.unjudged}."
    composes = evidence.composes
    rule = "" if cause is None else cause.rule.name
    if composes is True:
        same = ", including the labels that it mistakes for others" if rule == "confusion" else ""
        if scores.perhaps_worse_on_unseen and not scores.wrong.value > MOSTLY_RIGHT:
            return (
                f"The model composes {names}: its error on unseen combinations is {_way(scores)} of the way from a "
                f"constant's to that on seen ones, and {_compared(scores)}{same}.{_unlearned(evidence, scores)}"
            )
        if not scores.worse_on_unseen and not scores.wrong.value > MOSTLY_RIGHT:
            like = f"The model composes {names}: it handles unseen combinations like seen ones{same}."
            return like + _unlearned(evidence, scores)
        way = percent(min(1.0, scores.transfer.value))
        return (
            f"The model composes {names} for the most part: its error on unseen combinations is {way} of the way from "
            f"a constant's to that on seen ones, but {_but(scores)}{same}.{_unlearned(evidence, scores)}"
        )
    if composes is None and rule == "confusion":
        return (
            "Undecided: the model mistakes the same labels for others on seen and unseen combinations; whether it "
            f"composes {names} cannot be judged before that is fixed."
        )
    if (scores.learned_nothing and cause is None) or (rule == "constant" and not scores.knows_seen):
        return (
            "The model has not learned the task: on seen combinations it removes "
            f"{percent(max(0.0, scores.skill.value))} of a constant's error."
        )
    how = "" if cause is None else cause.rule.sentence(cause, failure, evidence.names)
    if evidence.in_part:
        way = percent(min(1.0, scores.transfer.value))
        return (
            f"The model composes {names} only in part: its error on unseen combinations is {way} of the way from a "
            f"constant's to that on seen ones, but systematic. {how}"
        )
    if composes is False and how:
        return f"The model does not compose {names}. {how}"
    if composes is False and not scores.learned:
        left = percent(1 - max(0.0, scores.skill.value))
        return (
            f"The model does not compose {names}, and has not learned the seen combinations either: {left} of a "
            "constant's error is left there."
        )
    cells = scores.unseen_units("unseen combination")
    are = "is" if scores.units_unseen == 1 else "are"
    strong = next((one for one in evidence.conditions if one.strong), None)
    if composes is False and strong is not None:
        return f"The model does not compose {names}: {strong.sentence}."
    if composes is False and not evidence.rules:
        errors = (
            f"{number(scores.unseen.value)} on unseen combinations, {number(scores.seen.value)} on seen ones"
        )
        return f"The model does not compose {names}: its error is {errors}. Scores of rows cannot show why."
    if composes is False:
        likely = [one.title for one in findings.values() if one.holds is None and _fits(failure, one.id)]
        if likely:
            patterns = " or ".join(likely)
            return f"The model does not compose {names}. {cells} cannot show why: possibly {patterns}, or chance."
        if scores.units_unseen < MIN_UNSEEN_CELLS:
            return f"The model does not compose {names}; {cells} {are} too few to say why."
        return (
            f"The model does not compose {names}; none of the known patterns (memory, shortcut, superposition, sums of "
            f"effects) explains most of its errors{_closest(failure)}."
        )
    if not scores.learned:
        left = percent(1 - max(0.0, scores.skill.value))
        return (
            f"Undecided: the seen combinations are only partly learned ({left} of a constant's error is left there), "
            f"so composing {names} cannot be judged yet."
        )
    if evidence.may_be_noise:
        return (
            f"Undecided: whether the model fails to compose {names} or the targets are noisy cannot be distinguished"
            f"{'' if scores.repeated_rows else ', since no cell has several rows'}. {_ceiling(evidence)}"
        )
    if scores.too_close:
        return (
            f"Undecided: too close to call whether the model composes {names}: its error on unseen combinations is "
            f"{_way(scores)} of the way from a constant's to that on seen ones, where {percent(scores.bar)} is needed."
        )
    vary = "" if scores.units_unseen == 1 else ", or their errors vary too much,"
    few = f"Undecided: {cells} {are} too few{vary} to say if the model composes {names}."
    if scores.worse_on_unseen:
        few += f" Its error there is {_but(scores)}."
    return few + _unlearned(evidence, scores)


def _way(scores: Scores) -> str:
    low, high = (percent(min(1.0, end)) for end in scores.transfer.pair)
    return f"{percent(min(1.0, scores.transfer.value))} [{low}, {high}]"


def _compared(scores: Scores) -> str:
    """How large the error on unseen cells is next to that on seen ones, with the interval of the ratio."""
    both = f"{number(scores.unseen.value)} against {number(scores.seen.value)}"
    if not np.isfinite(scores.ratio.value):
        return both
    low, high = (number(end) if np.isfinite(end) else "∞" for end in scores.ratio.pair)
    return f"{number(scores.ratio.value)} times [{low}, {high}] as large ({both})"


def _ceiling(evidence: AuditEvidence) -> str:
    """What the best simple model reaches, next to the model."""
    best, scores = evidence.refits.best, evidence.scores
    if best is None or scores is None:
        return ""
    return (
        f"Its error on unseen combinations is {number(scores.unseen.value)}; the best simple model ({best.title}) has "
        f"{number(best.held_out.value)} on seen cells that it was not fitted to."
    )


def _unlearned(evidence: AuditEvidence, scores: Scores) -> str:
    """What the model has not learned of the seen cells, if it is material and not noise."""
    left = scores.unlearned
    if np.isnan(left) and evidence.could_know_better:
        left = 1 - scores.skill.value
    if not left >= UNLEARNED:
        return ""
    return f" It has not learned the seen ones fully: {percent(left)} of a constant's error is left there."


def _but(scores: Scores) -> str:
    """What is worse about unseen cells: how much larger their error is, and how many more of them are wrong."""
    remarks = []
    if scores.worse_on_unseen:
        times = f"{number(scores.ratio.value)} times as large" if scores.seen.value > 0 else "larger"
        remarks.append(f"{times} ({number(scores.unseen.value)} against {number(scores.seen.value)})")
    if scores.wrong.value > MOSTLY_RIGHT:
        remarks.append(
            f"the share of wrong cells is {points(scores.wrong.value)} higher than among seen ones"
        )
    return " and ".join(remarks)


def _fits(failure: Failure, id: str) -> bool:
    """Whether a pattern would explain most of the error, were it not for chance."""
    best = failure.best(id)
    return best is not None and best.share.value >= EXPLAINS


def _closest(failure: Failure) -> str:
    """The pattern that explains part of the error, if any does."""
    partly = [
        one
        for one in failure.results
        if one.finding
        and one.share.value >= PARTIAL_SHARE
        and one.share.low > 0
        and one.p_value <= MAX_P_VALUE
    ]
    if not partly:
        return ""
    best = max(partly, key=lambda one: one.share.value)
    return f"; the closest is {title_of(best.finding)} ({percent(best.share.value)})"
