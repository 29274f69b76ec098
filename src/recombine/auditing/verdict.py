"""The verdict: one or two sentences that an engineer can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recombine.auditing.calibration import Units
from recombine.auditing.explanations import CHANCE, MOSTLY, Failure
from recombine.auditing.finding import TITLES, Finding
from recombine.auditing.patterns import PATTERNS
from recombine.auditing.scores import NOTHING, Scores
from recombine.auditing.trial import Explanation
from recombine.auditing.words import count_of
from recombine.report import fixed, percent

PARTLY = 0.25
"""A pattern that accounts for this share of a failure is worth a word."""


def verdict(
    findings: Mapping[str, Finding],
    scores: Scores | None,
    failure: Failure | None,
    cause: Explanation | None,
    names: Sequence[str],
    *,
    trouble: str = "",
    units: Units | None = None,
) -> str:
    """What came out, in words."""
    said = _verdict(findings, scores, failure, cause, names, trouble)
    if units is None:
        return said
    return f"{said} (Its answers are {units}, seen ones too, and were brought to the right units first.)"


def _verdict(
    findings: Mapping[str, Finding],
    scores: Scores | None,
    failure: Failure | None,
    cause: Explanation | None,
    names: Sequence[str],
    trouble: str,
) -> str:
    listed = _listed(names)
    if scores is None:
        why = "the model raised an error" if trouble else "there are no answers to judge"
        return f"Undecided: {why}; what the split alone says is below."
    if scores.unjudged:
        return f"Undecided: whether the model composes {listed} cannot be said: {scores.unjudged}."
    composes = findings["composes"].holds
    cells = count_of(scores.cells_unseen, "unseen combination")
    confused = cause is not None and cause.rule == "confusion"
    if composes is True:
        mistakes = ", with the labels that it takes for others" if confused else ""
        return f"The model composes {listed}: unseen combinations are handled like seen ones{mistakes}."
    if composes is None and confused:
        both = "the model takes the same labels for others on seen and unseen combinations"
        return f"Undecided: {both}; whether it composes {listed} cannot be said before that is put right."
    if (scores.skill.value <= NOTHING and cause is None) or (cause is not None and cause.rule == "constant"):
        return "The model has not learned the task: on seen combinations it does no better than one constant answer."
    how = _how(failure, cause, names)
    if composes is False and how:
        return f"The model does not compose {listed}. {how}"
    if composes is False and not scores.learned:
        return f"The model does not compose {listed}, and has not learned the seen combinations either."
    if composes is False:
        likely = [findings[id] for id in PATTERNS if findings[id].holds is None and _fits(failure, id)]
        if likely:
            named = " or ".join(one.title for one in likely)
            why = f"Why cannot be told from {cells}: it may be {named}, or chance."
            return f"The model does not compose {listed}. {why}"
        return (
            f"The model does not compose {listed}; none of the known patterns (memory, shortcut, superposition, sums) "
            f"accounts for most of its wrong answers{_nearest(failure)}."
        )
    if not scores.learned:
        return f"Undecided: the seen combinations are only partly learned, so composing {listed} cannot be judged yet."
    how = f" {how}" if how else ""
    are = "is" if scores.cells_unseen == 1 else "are"
    return f"Undecided: {cells} {are} too few, or too different, to say whether the model composes {listed}.{how}"


def _fits(failure: Failure | None, id: str) -> bool:
    """Whether a pattern would account for most of what goes wrong, were it not for chance."""
    best = None if failure is None else failure.best(id)
    return best is not None and best.share.value >= MOSTLY


def _nearest(failure: Failure | None) -> str:
    """The pattern that accounts for part of what goes wrong, if any does."""
    partly = [one for one in (failure.tried if failure else ()) if one.share.low > 0 and one.chance <= CHANCE]
    partly = [one for one in partly if one.finding and one.share.value >= PARTLY]
    if not partly:
        return ""
    best = max(partly, key=lambda one: one.share.value)
    return f"; nearest is {TITLES[best.finding]} ({percent(best.share.value)})"


def _how(failure: Failure | None, cause: Explanation | None, names: Sequence[str]) -> str:
    if cause is None or failure is None or not cause.finding:
        return ""
    if cause.finding == "shortcut":
        return (
            f"It answers unseen combinations mostly from {_listed([names[axis] for axis in cause.factors])}."
        )
    if cause.rule == "slope":
        kept = fixed(max(0.0, failure.slope.value), 2)
        return f"It knows the parts, but answers for unseen combinations vary only {kept} times as much as they should."
    if cause.finding == "memorisation_leak":
        return "It answers unseen combinations with what it stored for seen ones that share levels."
    if cause.finding == "superposition":
        return "It draws unseen combinations as sums of seen outputs that share a level."
    what = "single factors" if cause.order == 1 else f"up to {cause.order} factors"
    return f"It adds up effects of {what} where the task needs factors to interact."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
