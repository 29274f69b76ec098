"""What a gate decides: for every condition whether it holds, the number behind it, and a sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recombine.auditing.gate.gate_conditions import MODEL_ERROR, NOT_COMPOSING, UNDECIDED, GateCondition
from recombine.auditing.gate.quantities import by_output, output_title, quantity
from recombine.intervals import UNKNOWN, Estimate
from recombine.report import interval_end, number, plain_interval, plain_number

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

Status = Literal["failed", "passed", "not measured"]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
}
_WORDS = {">": "above", "<": "below", ">=": "at least", "<=": "at most"}
_LABELS = {
    "unseen": "error on unseen cells",
    "seen": "error on seen cells",
    "unseen/seen": "ratio of unseen to seen error",
    "gap": "unseen minus seen error",
    "transfer": "transfer to unseen cells",
    "skill": "skill on seen cells",
}


@dataclass(frozen=True)
class ConditionResult:
    """What came of one condition.

    **Attributes:**

    - `condition`: as it was read; `model`: the model that was checked, if there are several.
    - `status`: `"failed"` if the condition holds, `"passed"` if not, `"not measured"` if that could not be decided.
    - `sentence`: what was measured; `estimate`: the number, if there is one.
    """

    condition: GateCondition
    status: Status
    sentence: str
    estimate: Estimate = UNKNOWN
    model: str = ""

    @property
    def name(self) -> str:
        """The condition, with the model that was checked."""
        text = str(self.condition)
        return f"{self.model}: {text}" if self.model and not self.condition.model else text

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return {
            "condition": str(self.condition),
            "model": self.model or None,
            "status": self.status,
            "estimate": plain_number(self.estimate.value),
            "interval": plain_interval(*self.estimate.pair),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, repr=False)
class GateResult:
    """Whether a model passes a gate. It counts as true if it does, so `assert report.check(...)` works.

    **Attributes:**

    - `results`: one for every condition, and for every model if there are several.

    ```python
    >>> from recombine import audit
    >>> table = {"a": [0, 0, 0, 1, 1, 1, 2, 2, 2], "b": [0, 1, 2, 0, 1, 2, 0, 1, 2]}
    >>> y = [0.0, 1, 2, 10, 11, 12, 20, 21, 22]
    >>> seen = [True] * 6 + [False, True, False]
    >>> report = audit(table, factors=["a", "b"], seen=seen, target=y, prediction=y, kind="regression")
    >>> gate = report.check("does-not-compose, unseen > 0.3")
    >>> gate
    GateResult(passed, 2 conditions)
    >>> print(gate.results[1].sentence)
    The error on unseen cells is 0 [0, 0], not above 0.3.

    ```
    """

    results: Sequence[ConditionResult]

    @property
    def passed(self) -> bool:
        """Whether no condition failed."""
        return not self.failed

    @property
    def failed(self) -> list[ConditionResult]:
        """The conditions that failed."""
        return [one for one in self.results if one.status == "failed"]

    @property
    def not_measured(self) -> list[ConditionResult]:
        """The conditions that could not be decided."""
        return [one for one in self.results if one.status == "not measured"]

    @property
    def summary(self) -> str:
        """The outcome in a few words."""
        if self.failed:
            return f"gate FAILED: {', '.join(one.name for one in self.failed)}"
        if not self.not_measured:
            return "gate passed"
        left = ", ".join(one.name for one in self.not_measured)
        return f"gate passed, but not measured: {left}"

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        conditions = f"{len(self.results)} condition{'' if len(self.results) == 1 else 's'}"
        return f"GateResult({'passed' if self.passed else 'FAILED'}, {conditions})"

    def __str__(self) -> str:
        return "\n".join(f"{one.status}: {one.name}: {one.sentence}" for one in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return {"passed": self.passed, "conditions": [one.to_dict() for one in self.results]}


def check_report(
    report: AuditReport, conditions: Sequence[GateCondition], model: str = ""
) -> list[ConditionResult]:
    """One result for every condition that is about this model."""
    return [_check(report, condition, model) for condition in conditions if condition.model in {"", model}]


def _check(report: AuditReport, condition: GateCondition, model: str) -> ConditionResult:
    if not condition.sign:
        status, sentence = _state(report, condition.subject)
        return ConditionResult(condition, status, sentence, model=model)
    if condition.needs_baseline and report.since is None:
        return ConditionResult(
            condition, "not measured", "The baseline has no audit of this model.", model=model
        )
    estimates: Mapping[str, Estimate]
    if report.since is not None and condition.needs_baseline:
        estimates = report.since.rises(condition.subject)
    elif condition.each_output:
        estimates = by_output(report, condition.subject)
    else:
        scores = report.scores
        estimates = {"": UNKNOWN if scores is None else quantity(scores, condition.subject)}
    checked = {}
    for name, estimate in estimates.items():
        label = name
        if not condition.needs_baseline:
            label = _LABELS[condition.subject] + (f" of {output_title(name)}" if name else "")
        checked[name] = _compare(condition, estimate, label, _why_unknown(report, condition))
    # The first that fails speaks for all; otherwise the first that could not be measured.
    order: list[Status] = ["failed", "not measured", "passed"]
    name = min(checked, key=lambda one: order.index(checked[one][0]))
    status, sentence = checked[name]
    return ConditionResult(condition, status, sentence, estimates[name], model)


def _state(report: AuditReport, name: str) -> tuple[Status, str]:
    """A condition that is the name of a finding or of a state."""
    if name == MODEL_ERROR:
        last = report.model_error.strip().splitlines()[-1:] or ["The model raised no error."]
        return ("failed" if report.model_error else "passed"), last[0]
    composes = report.finding("composes")
    if name == UNDECIDED:
        return ("failed" if composes.holds is None else "passed"), report.verdict
    if name == NOT_COMPOSING:
        holds, finding = (None if composes.holds is None else not composes.holds), composes
    else:
        finding = report.finding(name.replace("-", "_"))
        holds = finding.holds
    status: Status = "not measured" if holds is None else "failed" if holds else "passed"
    return status, finding.explanation


def _compare(condition: GateCondition, estimate: Estimate, label: str, unknown: str) -> tuple[Status, str]:
    """Whether the estimate, or its whole interval, is on the failing side of the bound."""
    sign, bound, word = condition.sign, condition.bound, _WORDS[condition.sign]
    compare = _COMPARE[sign]
    if np.isnan(estimate.value):
        return "not measured", f"The {label} could not be measured{unknown}."
    measured = f"The {label} is {_number(estimate.value)}"
    end = estimate.low if sign.startswith(">") else estimate.high
    if estimate.value == np.inf:
        measured += ", since seen cells have no error"
    elif not np.isnan(estimate.low):
        low, high = (interval_end(end, number(end)) for end in estimate.pair)
        measured += f" [{low}, {high}]"
    beyond = compare(estimate.value, bound)
    limit = f"{bound:.12g}"
    if not beyond:
        return "passed", f"{measured}, not {word} {limit}."
    if condition.by_estimate:
        return "failed", f"{measured}; the estimate is {word} {limit}."
    if np.isnan(end):
        few = "one cell gives no interval"
        return "not measured", f"{measured}, {word} {limit}, but {few} (estimate: compares it anyway)."
    if compare(end, bound):
        return "failed", f"{measured}, {word} {limit} beyond noise."
    why = (
        f"the interval includes {limit}" if np.isfinite(estimate.value) else "unseen cells may have none, too"
    )
    return "passed", f"{measured}, {word} {limit}, but within noise: {why}."


def _why_unknown(report: AuditReport, condition: GateCondition) -> str:
    if condition.needs_baseline:
        return ""
    scores = report.scores
    if scores is None:
        return ": there are no predictions to judge"
    return f": {scores.unjudged}" if scores.unjudged else ""


def _number(value: float) -> str:
    return "infinite" if value == np.inf else number(value)
