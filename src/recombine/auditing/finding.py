"""A finding: one statement about a model, measured and explained."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from recombine.auditing.resampling import UNKNOWN, Estimate

TITLES = {
    "composes": "composes",
    "memorisation_leak": "memorisation leak",
    "shortcut": "shortcut",
    "superposition": "superposition",
    "additive_only": "additive only",
    "re_entanglement": "re-entanglement",
    "warped_geometry": "warped geometry",
    "salience": "salience",
    "mixed_connectivity": "mixed connectivity",
    "cross_interaction": "cross interaction",
}
"""All findings by id, in the order of reports."""

QUESTIONS = {
    "composes": "Does it handle unseen combinations like seen ones?",
    "memorisation_leak": "Does it store whole combinations, so that new ones get old answers, or faint ones?",
    "shortcut": "Does it answer from fewer factors than the task needs?",
    "superposition": "Does it draw new combinations as sums of old pictures that share a level?",
    "additive_only": "Does it add up effects where the task needs factors to interact?",
    "re_entanglement": "Are factors mixed up in some layer although they can still be read there?",
    "warped_geometry": "Does a layer give unseen combinations another amount of room than seen ones?",
    "salience": "Does its last hidden layer stress whole combinations over their parts?",
    "mixed_connectivity": "Do its weights connect everything with everything, instead of falling into modules?",
    "cross_interaction": "Do the parts of its input interact, so that they cannot be exchanged one by one?",
}


@dataclass(frozen=True)
class Finding:
    """A statement about the model.

    - `holds`: `None` if the evidence is not enough; `explanation` then says what would decide it.
    - `estimate`: the number it is decided by; `means`: what that number is.
    - `explanation`: two lines for someone who has not read the papers.
    - `details`: further numbers, plain values.
    """

    id: str
    holds: bool | None
    estimate: Estimate
    means: str
    explanation: str
    details: dict[str, Any]

    @property
    def title(self) -> str:
        """Its name in words."""
        return TITLES[self.id]

    @property
    def word(self) -> str:
        """`holds`, `does not hold` or `unclear`."""
        return {True: "holds", False: "no", None: "unclear"}[self.holds]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an interval that is not known is `None`."""
        ends = [plain(end) for end in self.estimate.pair]
        return {
            "id": self.id,
            "holds": self.holds,
            "estimate": plain(self.estimate.value),
            "interval": None if None in ends else ends,
            "means": self.means,
            "explanation": self.explanation,
            "details": self.details,
        }


def open_finding(id: str, explanation: str, means: str = "") -> Finding:
    """A finding for which there is not enough evidence."""
    return Finding(id, None, UNKNOWN, means, explanation, {})


def plain(value: float) -> float | None:
    """A number for JSON: `None` if it is not finite."""
    return float(value) if isfinite(value) else None
