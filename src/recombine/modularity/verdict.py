"""Is the net modular? One word and one sentence from the weakest layer, held against shuffled weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recombine.modularity.phrases import share
from recombine.report import number

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

Word = Literal["modular", "partly modular", "mixed", "undecided"]

MODULAR = 0.95
"""A net is modular if every layer's score is at least this. In published terms (four equal modules): 96 % of the
squared weight; nets trained with the remedies of Qian et al. have 98 % and more."""
MIXED = 0.75
"""Below this score in some layer a net is mixed: 81 % of four equal modules, which ordinary nets do not reach."""
LEAST_Z = 3.0
"""Standard deviations by which the modularity must lie above that of shuffled weights with modules of their own."""


@dataclass(frozen=True)
class Verdict:
    """The word, the sentence, and the layer that decided (0 for the first; `None` if no layer has a score)."""

    word: Word
    sentence: str
    layer: int | None

    def __str__(self) -> str:
        return self.sentence


def verdict(report: ModularityReport) -> Verdict:
    """The verdict on a net; see `MODULAR`, `MIXED` and `LEAST_Z` for the bounds.

    The score of a layer is (mass - chance) / (1 - chance), mass being the share of squared weight within modules.
    """
    if report.modules < 2 or not np.isfinite(report.score).any():
        return Verdict("mixed", "Mixed: no division of the units into modules is better than none.", None)
    weakest = int(np.nanargmin(report.score))
    score, z = float(report.score[weakest]), report.newman.searched.z
    mass, chance = share(report.mass[weakest]), share(report.chance[weakest])
    name = f"layer {weakest + 1}"
    if score >= MIXED and not z >= LEAST_Z:
        beside = "no other value" if np.isnan(z) else f"hardly less (z {number(z)})"
        sentence = (
            f"Undecided: {mass} of the squared weight stays within {report.modules} modules in {name}, the weakest, "
            f"but the same weights in random places give {beside}; the net is too small or too regular to tell."
        )
        return Verdict("undecided", sentence, weakest)
    if score >= MODULAR:
        sentence = (
            f"Modular: the net falls into {report.modules} modules; in every layer at least {mass} of the squared "
            f"weight stays within them (weakest: {name}, where chance is {chance})."
        )
        return Verdict("modular", sentence, weakest)
    if score >= MIXED:
        sentence = (
            f"Partly modular: {report.modules} modules stand out, but in {name} only {mass} of the squared weight "
            f"stays within them (chance {chance})."
        )
        return Verdict("partly modular", sentence, weakest)
    sentence = (
        f"Mixed: the net does not fall into {report.modules} modules; in {name} only {mass} of the squared weight "
        f"stays within them (chance {chance})."
    )
    return Verdict("mixed", sentence, weakest)
