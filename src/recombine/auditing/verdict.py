"""The verdict: one or two sentences that an engineer can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recombine.auditing.explanations import Explanation, Failure
from recombine.auditing.finding import Finding
from recombine.auditing.scores import Scores
from recombine.report import fixed


def verdict(
    findings: Mapping[str, Finding],
    scores: Scores | None,
    failure: Failure | None,
    cause: Explanation | None,
    names: Sequence[str],
    trouble: str,
) -> str:
    """What came out, in words."""
    listed = _listed(names)
    if scores is None:
        why = "the model raised an error" if trouble else "there are no answers to judge"
        return f"Undecided: {why}; what the split alone says is below."
    if not np.isfinite(scores.unseen.value):
        return f"Undecided: whether the model composes {listed} cannot be said, because no unseen cell has a target."
    composes = findings["composes"].holds
    cells = f"{scores.cells_unseen} unseen combination{'s' if scores.cells_unseen != 1 else ''}"
    if composes is True:
        return f"The model composes {listed}: {cells} are handled like seen ones."
    if composes is False and cause is not None and cause.rule == "constant":
        return "The model has not learned the task: it gives about the same answer whatever the combination."
    how = _how(failure, cause, names)
    if composes is False and how:
        return f"The model does not compose {listed}. {how}"
    if composes is False and not scores.learned:
        return f"The model does not compose {listed}, and has not learned the seen combinations either."
    if composes is False:
        return (
            f"The model does not compose {listed}; its wrong answers follow none of the known patterns "
            "(memory, shortcut, superposition, sums)."
        )
    if not scores.learned:
        return f"Undecided: the seen combinations are only partly learned, so composing {listed} cannot be judged yet."
    how = f" {how}" if how else ""
    return (
        f"Undecided: {cells} are too few, or too different, to say whether the model composes {listed}.{how}"
    )


def _how(failure: Failure | None, cause: Explanation | None, names: Sequence[str]) -> str:
    if cause is None or failure is None:
        return ""
    if cause.finding == "shortcut":
        return (
            f"It answers unseen combinations mostly from {_listed([names[axis] for axis in cause.factors])}."
        )
    if cause.rule == "slope":
        kept = fixed(max(0.0, failure.slope.value), 2)
        return f"It knows the parts, but its answers for unseen combinations shrink to {kept} of their size."
    if cause.finding == "memorisation_leak":
        return "It answers unseen combinations with what it stored for seen ones that share levels."
    if cause.finding == "superposition":
        return "It draws unseen combinations as sums of seen outputs that share a level."
    what = "single factors" if cause.order == 1 else f"up to {cause.order} factors"
    return f"It adds up effects of {what} where the task needs factors to interact."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
