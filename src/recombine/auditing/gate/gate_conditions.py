"""Conditions of a gate as a user writes them: names of findings, and comparisons such as `unseen/seen > 2`."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from recombine.auditing.findings import FINDINGS
from recombine.auditing.thresholds import MAX_CONDITION_LENGTH, MAX_GATE_CONDITIONS
from recombine.data.argument_types import shown
from recombine.errors import InputError

Sign = Literal["", ">", "<", ">=", "<="]

NOT_COMPOSING, UNDECIDED, MODEL_ERROR = "does-not-compose", "undecided", "model-error"
NAMES = (
    NOT_COMPOSING,
    *(id.replace("_", "-") for id in FINDINGS if id != "composes"),
    UNDECIDED,
    MODEL_ERROR,
)
"""Conditions that are a name: a finding that holds, or a state of the audit."""
QUANTITIES = {
    "unseen": "the error on unseen cells",
    "seen": "the error on seen cells",
    "unseen/seen": "the ratio of the two errors",
    "gap": "the error on unseen cells minus that on seen cells",
    "transfer": "1 if unseen cells are handled like seen ones, 0 if as badly as by a constant",
    "skill": "the share of a constant's error that the model removes on seen cells",
}
"""What a comparison can be about."""
CHANGES = {
    "worse": "by how much the error on unseen or on seen cells has risen since the baseline",
    "worse-unseen": "the same for unseen cells alone",
    "worse-seen": "the same for seen cells alone",
}
"""What a comparison with a baseline can be about; the names alone mean "more than 0"."""
ANY_OUTPUT = "any-output"

_ALIASES = {
    "unseen-error": "unseen",
    "seen-error": "seen",
    "ratio": "unseen/seen",
    "unseen-over-seen": "unseen/seen",
    "unseen-seen": "gap",
    "unseen-worse": "worse-unseen",
    "seen-worse": "worse-seen",
}
_SIGNS: dict[str, Sign] = {
    ">": ">",
    "<": "<",
    ">=": ">=",
    "<=": "<=",
    "≥": ">=",
    "≤": "<=",
    "⩾": ">=",
    "⩽": "<=",
    "above": ">",
    "below": "<",
}
_TYPESET = str.maketrans(dict.fromkeys("−‐‑‒–—", "-") | dict.fromkeys("∕⁄÷", "/"))
_COMPARISON = re.compile(
    r"(?P<left>.*?)\s*(?P<sign>[<>]=|[<>]|[≥≤⩾⩽]|\b(?:above|below)\b|[=!]+)\s*(?P<right>.*)"
)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?P<percent>\s*%)?")


@dataclass(frozen=True)
class GateCondition:
    """One condition under which a gate fails.

    **Attributes:**

    - `subject`: a name, a quantity or a change since the baseline.
    - `sign`, `bound`: of a comparison; names have an empty sign.
    - `each_output`: whether one output for which it holds is enough.
    - `model`: of several models, the one that it is about; empty for all.
    - `by_estimate`: compares the estimate, not the end of its interval.
    """

    subject: str
    sign: Sign = ""
    bound: float = 0.0
    each_output: bool = False
    model: str = ""
    by_estimate: bool = False

    @property
    def needs_baseline(self) -> bool:
        """Whether it is about what has changed."""
        return self.subject in CHANGES

    def __str__(self) -> str:
        parts = [f"{self.model}:"] if self.model else []
        if self.by_estimate and self.sign:
            parts.append("estimate:")
        if self.each_output:
            parts.append("any output")
        parts.append(self.subject)
        if self.sign and not (self.needs_baseline and self.sign == ">" and not self.bound):
            parts.append(f"{self.sign} {self.bound:.12g}")
        return " ".join(parts)


def parse_conditions(
    conditions: Any, *, models: Sequence[str] = (), strict: bool = False, field: str = "conditions"
) -> tuple[GateCondition, ...]:
    """Reads conditions; every one that is not understood is an error that says what would be.

    **Arguments:**

    - `conditions`: text with commas between conditions, or several such texts.
    - `models`: the names of the models, if there are several; a condition may begin with one and a colon.
    - `strict`: compare estimates, not the ends of intervals, in every condition.
    - `field`: what errors call the conditions.

    ```python
    >>> from recombine.auditing.gate import parse_conditions
    >>> [str(one) for one in parse_conditions("does not compose, Unseen / Seen ≥ 2, any output transfer < 50%")]
    ['does-not-compose', 'unseen/seen >= 2', 'any output transfer < 0.5']
    >>> parse_conditions("unsen > 0.3")
    Traceback (most recent call last):
    recombine.errors.InputError: conditions: got 'unsen > 0.3', expected a comparison of unseen, seen, unseen/seen, \
gap, transfer, skill, worse, worse-unseen or worse-seen with a number; did you mean 'unseen'?

    ```
    """
    texts = [conditions] if isinstance(conditions, str) else conditions
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise InputError(field, shown(conditions), "text such as 'does-not-compose, unseen/seen > 2'")
    if sum(map(len, texts)) > MAX_CONDITION_LENGTH:
        got = f"{sum(map(len, texts)):,} characters"
        raise InputError(field, got, f"at most {MAX_CONDITION_LENGTH:,}")
    parts = [part.strip() for text in texts for part in re.split(r"[,;\n]", text)]
    found = tuple(dict.fromkeys(_parse(part, models, strict, field) for part in parts if part))
    if not found:
        raise InputError(field, ", ".join(texts), "at least one condition, such as does-not-compose")
    if len(found) > MAX_GATE_CONDITIONS:
        raise InputError(field, f"{len(found)} conditions", f"at most {MAX_GATE_CONDITIONS}")
    return found


def _parse(text: str, models: Sequence[str], strict: bool, field: str) -> GateCondition:
    before, _, body = text.rpartition(":")
    *first, last = before.rpartition(":")
    by_estimate = strict
    if last.strip().casefold() == "estimate":
        by_estimate, before = True, first[0]
    model = before.strip()
    if model and model not in models:
        expected = (
            f"one of the models before the colon{_near(model, models)}"
            if models
            else ("a condition without a colon, or estimate: and a comparison; there is only one model")
        )
        raise InputError(field, text, expected)
    # Signs, digits and spaces of other scripts; the minus sign and slashes of typesetting.
    plain = " ".join(unicodedata.normalize("NFKC", body).casefold().split())
    plain = plain.translate(_TYPESET)
    comparison = _COMPARISON.fullmatch(plain)
    if comparison is None:
        return _named(plain, text, model, by_estimate, field)
    subject, each_output = _subject(comparison["left"], text, comparison["sign"], field)
    sign = _SIGNS.get(comparison["sign"])
    if sign is None:
        raise InputError(field, text, "a comparison with > or <, such as 'unseen > 0.3'")
    return GateCondition(
        subject, sign, _number(comparison["right"], text, field), each_output, model, by_estimate
    )


def _named(plain: str, text: str, model: str, by_estimate: bool, field: str) -> GateCondition:
    name = _key(plain)
    if name in NAMES:
        return GateCondition(name, model=model)
    name = _ALIASES.get(name, name)
    if name in CHANGES:
        return GateCondition(name, ">", 0.0, model=model, by_estimate=by_estimate)
    if name in QUANTITIES:
        raise InputError(field, text, f"a comparison such as '{name} {_example(name)}'")
    if _NUMBER.fullmatch(plain):
        raise InputError(field, text, "a condition; numbers have a decimal point, commas separate conditions")
    listed = f"one of {', '.join((*NAMES, 'worse'))}, or a comparison such as 'unseen > 0.3'"
    raise InputError(field, text, listed + _near(name, (*NAMES, *CHANGES, *QUANTITIES), listing=False))


def _subject(left: str, text: str, sign: str, field: str) -> tuple[str, bool]:
    """What a comparison is about, and whether of each output."""
    name = _key(left)
    each_output = name == ANY_OUTPUT or name.startswith(f"{ANY_OUTPUT}-")
    if each_output:
        name = name.removeprefix(ANY_OUTPUT).removeprefix("-")
        if not name and _SIGNS.get(sign, "").startswith("<"):
            raise InputError(field, text, "which quantity is below, such as 'any output transfer < 0.5'")
        name = name or "unseen"
    name = _ALIASES.get(name, name)
    if name in NAMES or name in FINDINGS:
        raise InputError(field, text, f"{name} without a number, or a comparison such as 'unseen > 0.3'")
    known = (*QUANTITIES, *(() if each_output else CHANGES))
    if name not in known:
        *others, last = known
        listed = f"a comparison of {', '.join(others)} or {last} with a number"
        raise InputError(field, text, listed + _near(name, known, listing=False))
    return name, each_output


def _number(right: str, text: str, field: str) -> float:
    match = _NUMBER.fullmatch(right)
    value = float(right.rstrip("% ")) if match else float("inf")
    if match is None or not abs(value) < float("inf"):
        raise InputError(field, text, "a number after the sign, such as 0.3, 1e-3 or 30%")
    return value / 100 if match["percent"] else value


def _key(text: str) -> str:
    """A name in one notation: `Does not_compose` is `does-not-compose`."""
    return re.sub(r"[\s_-]+", "-", re.sub(r"\s*/\s*", "/", text.strip()))


def _example(name: str) -> str:
    return {"unseen/seen": "> 2", "transfer": "< 0.9", "skill": "< 0.5"}.get(name, "> 0.3")


def _near(name: str, known: Sequence[str], *, listing: bool = True) -> str:
    """The end of a message: the closest known name, and a list of all."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return f"{meant} (models: {', '.join(known[:12])})" if listing else meant
