"""A finding: one question about a model, what was measured, and the answer in a sentence or two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from recombine.intervals import UNKNOWN, Estimate
from recombine.report import plain_interval, plain_number

if TYPE_CHECKING:
    from recombine.auditing.findings.evidence import AuditEvidence


@dataclass(frozen=True)
class Finding(ABC):
    """The answer to one question about a model. Every subclass is one question and has its own file.

    Of the question:

    - `id`, `title`: its name in `--json` and in reports; `question`: the question itself.
    - `good`: whether it is good news if the finding holds; `None` if it is neither good nor bad.

    Of the answer:

    - `holds`: true, false, or `None` if the evidence is unclear; `explanation` then says what would decide it.
    - `estimate`: the number that decides; `means`: what that number is.
    - `explanation`: two lines for someone who has not read the papers.
    - `details`: further numbers, as plain values.
    - `applicable`: false if the question makes no sense for this model, or cannot be asked of what the user supplied.
        `holds` is then `None`.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    good: ClassVar[bool | None] = False

    holds: bool | None
    estimate: Estimate
    means: str
    explanation: str
    details: dict[str, Any] = field(default_factory=dict)
    applicable: bool = True

    @classmethod
    @abstractmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""

    @classmethod
    def unclear(cls, explanation: str, means: str = "") -> Self:
        """The answer if there is not enough evidence."""
        return cls(None, UNKNOWN, means, explanation)

    @classmethod
    def not_applicable(cls, explanation: str, means: str = "") -> Self:
        """The answer if the question cannot be asked."""
        return cls(None, UNKNOWN, means, explanation, applicable=False)

    @property
    def status(self) -> str:
        """`yes`, `no`, `unclear` or `n/a`."""
        return {True: "yes", False: "no", None: "unclear"}[self.holds] if self.applicable else "n/a"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an interval that is not known is `None`, as is an end without a bound."""
        return {
            "id": self.id,
            "holds": self.holds,
            "applicable": self.applicable,
            "estimate": plain_number(self.estimate.value),
            "interval": plain_interval(*self.estimate.pair),
            "means": self.means,
            "explanation": self.explanation,
            "details": self.details,
        }


def title_of(id: str) -> str:
    """The title of a finding."""
    return next(kind.title for kind in Finding.__subclasses__() if kind.id == id)


def as_share(one: Estimate) -> Estimate:
    """An estimate clipped to 0 and 1: a rule that is further from the predictions than the targets explains nothing."""
    return Estimate(*(float(np.clip(value, 0.0, 1.0)) for value in (one.value, one.low, one.high)))


def cell_list(cells: Sequence[Mapping[str, Any]], max_cells: int) -> str:
    """Some cells by their levels.

    ```python
    >>> from recombine.auditing.findings.finding import cell_list
    >>> cell_list([{"colour": "red", "size": 3}, {"colour": "blue", "size": 1}], max_cells=1)
    '(red, 3) …'

    ```
    """
    shown = "; ".join(f"({', '.join(map(str, cell.values()))})" for cell in cells[:max_cells])
    return f"{shown} …" if len(cells) > max_cells else shown
