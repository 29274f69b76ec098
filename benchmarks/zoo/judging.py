"""Audits a draw and compares what the audit says with the truth."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.zoo.drawing import Draw
from benchmarks.zoo.truth import CAUSES, GROWS, NO_PATTERN, NOT_LEARNED

LIKE_SEEN = re.compile(r"like seen ones")
SAYS_NOT_LEARNED = re.compile(r"not learned|partly learned|times the targets")
"""The last one is said of predictions that are shrunken on seen cells, too."""
CLEAR_RATIO = 2.0
"""Unseen over seen error from which 'like seen ones' is wrong."""


@dataclass(frozen=True)
class Outcome:
    """What is true of a draw, and what the audit says.

    **Attributes:**

    - `composes`, `causes`, `verdict`: the audit's; `truth`: as plain values.
    - `verdicts`: what other resampling seeds say, if they were asked for.
    - `remedy`: what following the first measured remedy did; `None` if none was offered.
    """

    kind: str
    seed: int
    attempt: int
    note: str
    truth: dict[str, Any]
    composes: bool | None
    causes: tuple[str, ...]
    verdict: str
    verdicts: tuple[tuple[bool | None, tuple[str, ...]], ...] = ()
    remedy: dict[str, Any] | None = None
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def perfect(self) -> bool:
        """Whether the model composes in truth."""
        return self.truth["composes"] is True

    @property
    def cause(self) -> str:
        """The true cause."""
        return str(self.truth["cause"])

    @property
    def false_alarm(self) -> bool:
        """A composer that is said to fail, or to have a bad pattern."""
        return self.perfect and (self.composes is False or bool(self.causes))

    @property
    def false_praise(self) -> bool:
        """A model that fails and is said to compose."""
        return self.truth["composes"] is False and self.composes is True

    @property
    def says_not_learned(self) -> bool:
        """Whether the verdict says that seen cells are not learned, or not fully."""
        return SAYS_NOT_LEARNED.search(self.verdict) is not None

    @property
    def claims_like_seen(self) -> bool:
        """Whether the verdict says that unseen cells are handled like seen ones although their error is far larger."""
        return float(self.truth["ratio"]) >= CLEAR_RATIO and LIKE_SEEN.search(self.verdict) is not None

    @property
    def right(self) -> bool:
        """Whether the audit says what is true, the cause included."""
        if self.perfect:
            return self.composes is True and not self.causes
        if self.cause == NOT_LEARNED:
            return not self.causes and self.says_not_learned
        if self.cause == GROWS:
            return not self.claims_like_seen
        if self.cause == NO_PATTERN:
            return self.composes is not True and not self.causes
        true = {self.cause, *self.truth["also"]}
        return self.composes is not True and bool(self.causes) and set(self.causes) <= true

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"right": self.right}


def judge(draw: Draw, resampling_seeds: Sequence[int] = (), *, follow_remedy: bool = False) -> Outcome:
    """Audits a draw, with other resampling seeds too if some are given."""
    from recombine import audit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = audit(**draw.audit_arguments())
        composes, causes = _said(report)
        others = tuple(_said(audit(**draw.audit_arguments(), seed=one)) for one in resampling_seeds)
        remedy = None
        if follow_remedy:
            from benchmarks.zoo.following import follow

            remedy = follow(draw, report)
    scores = report.scores
    assert scores is not None  # there are predictions
    details = {
        "seen": scores.seen.value,
        "unseen": scores.unseen.value,
        "transfer": [scores.transfer.value, *scores.transfer.pair],
        "constant": scores.constant,
        "rules": {
            f"{one.rule.name}{one.order or ''}{list(one.factors) or ''}": [
                round(float(one.share.value), 3),
                one.p_value,
            ]
            for one in (report.failure.results if report.failure else ())
            if one.share.value >= 0.25
        },
    }
    return Outcome(
        draw.kind,
        draw.seed,
        draw.attempt,
        draw.sample.note,
        asdict(draw.truth),
        composes,
        causes,
        report.verdict,
        others,
        remedy,
        details,
    )


def _said(report: Any) -> tuple[bool | None, tuple[str, ...]]:
    holding = tuple(name for name in CAUSES if report.finding(name).holds is True)
    return report.finding("composes").holds, holding
