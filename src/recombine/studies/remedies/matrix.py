"""The matrix of remedies against worlds: scores, paired gains, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from recombine.intervals import Estimate, interval
from recombine.studies.claim import Amendment
from recombine.studies.evidence import Arm, Evidence
from recombine.studies.remedies.published_remedies import NONE, REMEDIES
from recombine.studies.remedies.sweep_arms import WORLDS, arm_name, arrangements

Mark = Literal["plain", "helps", "harms", "no clear effect", "does not fit", "cannot be applied", "not run"]
MARKS: dict[Mark, str] = {
    "plain": "",
    "helps": "+",
    "harms": "−",
    "no clear effect": "",
    "does not fit": "×",
    "cannot be applied": "·",
    "not run": "",
}
"""The sign of each mark in the figure and the table."""
REMEDY_NAMES = tuple(remedy.name for remedy in REMEDIES)
THIRTEENTH_WORLD = Amendment(
    "over twelve worlds",
    "over thirteen worlds, one of them bumps with a convolutional decoder",
    "Single factors harmed the dense decoder of bumps, though the paper on forced rendering reports that they make "
    "decoders compose. Its decoders are convolutional, and so is that of the new world, in which single factors were "
    "known to help before it was added.",
)
"""Of all claims that compare worlds."""


@dataclass(frozen=True)
class MatrixEntry:
    """One remedy in one world.

    - `score`: over seeds whose nets fit; `change`: the paired difference from plain nets, below 0 if it helps.
    - `fitted`: how many of `seeds` fit; `reason`: why it cannot be applied.
    """

    mark: Mark
    score: Estimate | None = None
    change: Estimate | None = None
    fitted: int = 0
    seeds: int = 0
    reason: str = ""


def fitted_scores(arm: Arm) -> Float[np.ndarray, " seeds"]:
    """The score of every seed; NaN where the net does not fit."""
    return np.where(arm["fits"] > 0.5, arm["score"], np.nan)


def gains(evidence: Evidence, world: str, remedy: str) -> Float[np.ndarray, " seeds"]:
    """How much lower the score is than that of the plain net of the same seed; NaN where one of them does not fit."""
    plain, treated = (evidence[arm_name(world, name)] for name in (NONE.name, remedy))
    shared = [seed for seed in plain.seeds if seed in treated.seeds]
    return fitted_scores(plain.restricted_to(shared)) - fitted_scores(treated.restricted_to(shared))


def entry(evidence: Evidence, world: str, remedy: str) -> MatrixEntry:
    """The entry of a remedy in a world.

    It helps (or harms) if the interval of the paired difference is below (above) 0, and does not fit if fewer than half
    of its nets do although most plain nets do.
    """
    reason = arrangements(evidence.scale)[world, remedy]
    if isinstance(reason, str):
        return MatrixEntry("cannot be applied", reason=reason)
    if any(arm_name(world, name) not in evidence for name in (NONE.name, remedy)):
        return MatrixEntry("not run")
    scores = fitted_scores(evidence[arm_name(world, remedy)])
    n, fitted = len(scores), int(np.isfinite(scores).sum())
    score = interval(scores)
    if 2 * fitted < n:
        return MatrixEntry("does not fit", score, None, fitted, n)
    if remedy == NONE.name:
        return MatrixEntry("plain", score, None, fitted, n)
    change = interval(-gains(evidence, world, remedy))
    return MatrixEntry(_mark(change), score, change, fitted, n)


def _mark(change: Estimate) -> Mark:
    if change.level < 0.95 or not np.isfinite(change.value):  # too few seeds to exclude anything
        return "no clear effect"
    return "helps" if change.high < 0 else "harms" if change.low > 0 else "no clear effect"


def matrix(evidence: Evidence) -> dict[tuple[str, str], MatrixEntry]:
    """All entries by world and remedy."""
    return {(w, r): entry(evidence, w, r) for w in WORLDS for r in REMEDY_NAMES}


def measured_worlds(evidence: Evidence) -> list[str]:
    """The worlds whose plain nets have been run."""
    return [world for world in WORLDS if arm_name(world, NONE.name) in evidence]


def measured_remedies(evidence: Evidence, world: str) -> list[str]:
    """The remedies that can be applied in a world and have been run there."""
    applied = arrangements(evidence.scale)
    return [
        remedy
        for remedy in REMEDY_NAMES
        if remedy != NONE.name
        and arm_name(world, remedy) in evidence
        and not isinstance(applied[world, remedy], str)
    ]


def mean_gain(evidence: Evidence, pairs: Sequence[tuple[str, str]]) -> Float[np.ndarray, " seeds"]:
    """The mean gain over pairs of world and remedy, for every seed; nets that do not fit are left out."""
    values = np.stack([gains(evidence, world, remedy) for world, remedy in pairs])
    known = np.isfinite(values)
    total = np.where(known, values, 0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)
