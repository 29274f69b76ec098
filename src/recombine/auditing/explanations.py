"""How does a model come to its wrong answers? Rules that could have made them, held against the truth.

Every rule says what the answer for an unseen cell would be, from the model's own answers for seen cells. With answers
P, truth T and a rule's answers H on the unseen cells, its **share** of the failure is

    R = 1 - sum |P - H|² / sum |P - T|²,

1 if the rule predicts every wrong answer, 0 if it is no nearer to the answers than the truth. (Faint pictures are near
to any other faint picture; so pictures are held against the nearer of the truth and a blank.) A rule that is right says
nothing (R = 0), so additive answers to an additive task, or answers from the one factor that matters, are no failure.

Chance is told by rearranging: if errors were noise, they could as well have occurred in other cells. For quantities the
errors P - T change places; for classes as many wrong labels are put into other cells (or, where hardly any answer is
right, the answers change places). `chance` is the share of rearrangements with an R at least as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.resampling import UNKNOWN, Estimate, Resampler
from recombine.auditing.rules import all_rules, is_picture
from recombine.auditing.slope import slope_from, slope_of, slope_parts
from recombine.auditing.trial import Explanation, Trial, centred, lengths, rearranged

MOST_CELLS, LEAST_CELLS, MOST_PAIRS = 400, 100, 4_000_000
"""Unseen cells that are looked at; more are sampled, fewer if there are very many seen cells to compare them with."""
NO_ERROR = 1e-9
"""Errors below this share of a constant's need no explanation,"""
NOISE = 1.5
"""nor do those below so many times what rows that differ by chance account for."""


@dataclass(frozen=True, eq=False)
class Failure:
    """The unseen cells that were looked at, how far off their answers are, and the rules that were tried."""

    cells: Int[np.ndarray, " cells"]
    error: Float[np.ndarray, " cells"]
    slope: Estimate
    slope_seen: float
    tried: tuple[Explanation, ...]

    def best(self, finding: str) -> Explanation | None:
        """The rule for a finding that explains most."""
        found = [one for one in self.tried if one.finding == finding and np.isfinite(one.share.value)]
        return max(found, key=lambda one: one.share.value, default=None)


def explain(cells: Cells, *, seed: int = 0) -> Failure:
    """Tries all rules on the unseen cells."""
    rng = np.random.default_rng([seed, 67])
    chosen = cells.outside
    most = min(MOST_CELLS, max(LEAST_CELLS, MOST_PAIRS // max(1, int(cells.seen.sum()))))
    if len(chosen) > most:
        chosen = np.sort(rng.choice(chosen, most, replace=False))
    truth, said = cells.targets[chosen].astype(np.float64), cells.answers[chosen].astype(np.float64)
    error = 2 - 2 * (said * truth).sum(axis=1) if cells.kind == "classification" else lengths(said - truth)
    sampler = Resampler((len(chosen),), seed=seed)
    slope, seen_slope = _slopes(cells, chosen, sampler)
    scale = cells.error_of_constant[chosen].mean() * truth.shape[1]
    noise = NOISE * float(cells.error_noise[chosen].sum())
    if len(chosen) < 2 or error.sum() <= max(noise, NO_ERROR * scale * len(chosen), 1e-300):
        return Failure(chosen, error, slope, seen_slope, ())
    against = np.minimum(error, lengths(centred(said))) if is_picture(cells) else error
    trial = Trial(
        cells, chosen, truth, said, error, against, rearranged(cells.kind, truth, said, rng), sampler
    )
    return Failure(chosen, error, slope, seen_slope, tuple(all_rules(trial)))


def _slopes(cells: Cells, chosen: np.ndarray, sampler: Resampler) -> tuple[Estimate, float]:
    """Slope of answers on the truth on unseen cells, with its interval, and on seen cells."""
    if cells.kind == "classification":
        return UNKNOWN, np.nan
    draws = slope_from(sampler.means(0, slope_parts(cells, chosen)))
    return sampler.estimate(slope_of(cells, chosen), draws, [0]), slope_of(cells, cells.inside)


def explains(one: Explanation) -> bool:
    """Whether a rule explains most of the failure, beyond chance and beyond the choice of cells."""
    return one.chance <= CHANCE and one.share.value >= MOSTLY and one.share.low >= AT_LEAST


MOSTLY = 0.5
"""A rule explains a failure if it accounts for at least this share of it,"""
AT_LEAST = 0.2
"""with 95 % confidence for at least this share,"""
CHANCE = 0.02
"""and if rearranged errors do as well no more often than this."""


def preferred(tried: Sequence[Explanation], *, learned: bool, additive: bool) -> Explanation | None:
    """The simplest of the rules that explain the failure about best; `None` if none explains it.

    - `learned`: whether the model knows the seen cells. If it does and answers unseen ones with a constant, nothing of
        what it stored reaches them, the extreme of a leak; if it does not, it has learned nothing.
    - `additive`: whether the model's answers for seen cells are sums, too, so that sums of pictures are what it is.
    """
    able = [one for one in tried if explains(one)]
    labels = all(np.isfinite(one.likelihood) for one in able)
    # A function of one factor is fitted to the very answers that it explains, so that others go first; labels that it
    # gives wholly are no accident.
    wholly = [one for one in able if labels and one.share.value >= WHOLLY]
    able = [one for one in able if one.rule != "function" or one in wholly] or able
    if not able:
        return None
    if labels:
        most = max(one.likelihood for one in able)
        close = [one for one in able if one.likelihood >= most - np.log(LIKELY)]
    else:
        least = min(1 - one.share.value for one in able)
        close = [one for one in able if 1 - one.share.value <= NEARLY * max(0.0, least) + NEARLY_ALL]
    order = (
        "confusion",
        "constant",
        "given",
        "nearest",
        "copy",
        "slope",
        "superposition",
        "additive",
        "function",
    )
    rank: dict[str, float] = {rule: float(place) for place, rule in enumerate(order)}
    rank["additive"] = rank["given"] + 0.5 if additive else rank["additive"]

    def simplicity(one: Explanation) -> tuple[float, int, int]:
        return rank[one.rule], one.order, len(one.factors)

    best = min(close, key=simplicity)
    if best.rule == "constant" and learned:
        return next((one for one in tried if one.rule == "slope"), best)
    return best


WHOLLY = 0.95
LIKELY = 20.0
"""Rules explain labels equally well if one makes them at most so many times as probable as the other."""
NEARLY, NEARLY_ALL = 1.25, 0.001
"""Rules explain quantities equally well if one leaves up to 1.25 times as much unexplained, plus a thousandth."""
