"""Is the net modular? One word and one sentence from the weakest layer, compared with shuffled weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recombine.report import number, percent

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

Word = Literal["modular", "partly modular", "mixed", "undecided"]

MODULAR = 0.95
"""A net is modular if every layer's score is at least this. In published terms (four equal modules): 96% of the
squared weight; nets trained with the remedies of Qian et al. have 98% and more."""
MIXED = 0.75
"""Below this score in some layer a net is mixed: 81% of four equal modules, which ordinary nets do not reach."""
MIN_Z = 3.0
"""Standard deviations by which the modularity must exceed that of shuffled weights with modules of their own."""
MAX_P = 0.05
"""The share of shuffled nets that may fall into as many pieces as the net, if it is in pieces. The smallest that 20
permutations can give is 1/21."""


@dataclass(frozen=True)
class ModularityVerdict:
    """The word, the sentence, and the layer that decided (0 for the first; `None` if no layer has a score)."""

    word: Word
    sentence: str
    layer: int | None

    def __str__(self) -> str:
        return self.sentence


def verdict(report: ModularityReport) -> ModularityVerdict:
    """The verdict on a net; see `MODULAR`, `MIXED`, `MIN_Z` and `MAX_P` for the thresholds.

    The score of a layer is (mass - chance) / (1 - chance), mass being the share of squared weight within modules.
    """
    if report.modules < 2 or not np.isfinite(report.score).any():
        sentence = "Mixed: no division of the units into modules is better than none."
        return ModularityVerdict("mixed", sentence, None)
    weakest = int(np.nanargmin(report.score))
    score, z = float(report.score[weakest]), report.newman.searched.z
    mass, chance = percent(report.mass[weakest]), percent(report.chance[weakest])
    name, modules = f"layer {weakest + 1}", report.modules
    if report.is_disconnected:
        sentence = f"Modular: the net falls into {modules} modules without any connection between them."
        return ModularityVerdict("modular", sentence, weakest)
    if score >= MIXED and not z >= MIN_Z:
        shuffles = "the same value" if np.isnan(z) else f"hardly less (z {number(z)})"
        sentence = (
            f"Undecided: {mass} of the squared weight stays within {modules} modules in {name}, the weakest, "
            f"but the same weights in random places give {shuffles}; the net is too small or too regular to tell."
        )
        return ModularityVerdict("undecided", sentence, weakest)
    if score >= MODULAR:
        sentence = (
            f"Modular: the net falls into {modules} modules; in every layer at least {mass} of the squared "
            f"weight stays within them (weakest: {name}, where chance is {chance})."
        )
        return ModularityVerdict("modular", sentence, weakest)
    if score >= MIXED:
        sentence = (
            f"Partly modular: {modules} modules stand out, but in {name} only {mass} of the squared weight "
            f"stays within them (chance {chance})."
        )
        return ModularityVerdict("partly modular", sentence, weakest)
    sentence = (
        f"Mixed: the net does not fall into {modules} modules; in {name} only {mass} of the squared weight "
        f"stays within them (chance {chance})."
    )
    return ModularityVerdict("mixed", sentence, weakest)
