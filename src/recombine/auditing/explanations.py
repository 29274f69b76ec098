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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from recombine.auditing.cells import Cells
from recombine.auditing.extrapolation import FromSeen, orders_below
from recombine.auditing.resampling import UNKNOWN, Estimate, Resampler
from recombine.probes.superposition import superposition_image
from recombine.theory import subsets
from recombine.theory.conjunctions import Subset

Rule = Literal["constant", "given", "copy", "any_copy", "nearest", "slope", "superposition", "additive"]
FINDINGS: dict[Rule, str] = {
    "constant": "",
    "given": "shortcut",
    "copy": "memorisation_leak",
    "any_copy": "memorisation_leak",
    "nearest": "memorisation_leak",
    "slope": "memorisation_leak",
    "superposition": "superposition",
    "additive": "additive_only",
}
"""The finding that each rule stands for."""

REARRANGEMENTS = 999
HARDLY_RIGHT = 0.8
"""If more than this share of labels is wrong, putting the wrong ones elsewhere leaves nothing to choose."""
SUM = 0.05
"""A task is a sum of effects if what is left of the unseen targets is below this share of their spread."""
MOST_MIXED, MIXED_PARTNERS = 48, 12
"""Unseen pictures whose mixtures are looked for, and the errors of other cells that each is tried with."""
MOST_CELLS = 400
"""Unseen cells that are looked at; more are sampled."""
LEAST_PIXELS = 16
"""Outputs with fewer numbers are no pictures, and their sums no superpositions."""
MOST_NEIGHBOURS = 200
MOST_COPIES = 1e8
"""Seen cells times squared unseen cells up to which copies of any seen cell are looked for."""
NO_ERROR = 1e-9
"""Errors below this share of a constant's need no explanation."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """One rule, and how much of the failure it explains.

    - `factors`: those that a shortcut goes by; `order`: of an additive rule.
    - `share`: R, corrected for chance where a rule can choose among several cells; `chance`: by permutation.
    - `residual`: `(cells,)`, squared distance (or share of other labels) between answers and rule.
    """

    rule: Rule
    share: Estimate
    chance: float
    residual: Float[np.ndarray, " cells"]
    factors: Subset = ()
    order: int = 0

    @property
    def finding(self) -> str:
        """The id of the finding that it stands for; empty for a constant."""
        return FINDINGS[self.rule]


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
    if len(chosen) > MOST_CELLS:
        chosen = np.sort(rng.choice(chosen, MOST_CELLS, replace=False))
    truth, said = cells.targets[chosen].astype(np.float64), cells.answers[chosen].astype(np.float64)
    error = 2 - 2 * (said * truth).sum(axis=1) if cells.kind == "classification" else _lengths(said - truth)
    sampler = Resampler((len(chosen),), seed=seed)
    slope, seen_slope = _slopes(cells, chosen, sampler)
    scale = cells.error_of_constant[chosen].mean() * truth.shape[1]
    if len(chosen) < 2 or error.sum() <= NO_ERROR * max(scale * len(chosen), 1e-300):
        return Failure(chosen, error, slope, seen_slope, ())
    against = np.minimum(error, _lengths(_centred(said))) if is_picture(cells) else error
    trial = _Trial(
        cells, chosen, truth, said, error, against, _rearranged(cells.kind, truth, said, rng), sampler
    )
    return Failure(chosen, error, slope, seen_slope, tuple(_all(trial)))


def _rearranged(
    kind: str, truth: np.ndarray, said: np.ndarray, rng: np.random.Generator
) -> Int[np.ndarray, "rearrangements cells"]:
    """For quantities whose error every cell gets; for classes which label every cell gets."""
    n = len(truth)
    turns = np.stack([rng.permutation(n) for _ in range(REARRANGEMENTS)])
    if kind == "regression":
        return turns
    right, answers = truth.argmax(axis=1), said.argmax(axis=1)
    wrong = answers != right
    if wrong.mean() > HARDLY_RIGHT:
        return answers[turns]
    among = np.unique(answers)
    weights = np.bincount(answers[wrong], minlength=truth.shape[1])[among] + 1e-9
    # Whoever has the smallest exponential time by rate is drawn with a chance in proportion to its rate.
    times = rng.exponential(size=(*turns.shape, len(among))) / weights
    times[:, among == right[:, None]] = np.inf
    drawn = np.where(np.isinf(times).all(axis=2), right, among[times.argmin(axis=2)])
    return np.where(turns < max(1, int(wrong.sum())), drawn, right)


@dataclass(frozen=True, eq=False)
class _Trial:
    """What all rules are tried on."""

    cells: Cells
    chosen: Int[np.ndarray, " cells"]
    truth: Float[np.ndarray, "cells outputs"]
    said: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    against: Float[np.ndarray, " cells"]
    turns: Int[np.ndarray, "rearrangements cells"]
    sampler: Resampler

    def judge(
        self,
        rule: Rule,
        own: Float[np.ndarray, " cells"],
        others: Float[np.ndarray, " rearrangements"],
        *,
        error: Float[np.ndarray, " cells"] | None = None,
        corrected: bool = False,
        factors: Subset = (),
        order: int = 0,
    ) -> Explanation:
        """An explanation from what it leaves unexplained in every cell, and in all cells of every rearrangement.

        - `error`: what it is held against, by default the distance to the truth (or to a blank, for pictures).
        - `corrected`: for chance, since the rule may choose among several answers.
        """
        error = self.against if error is None else error
        sampler = self.sampler if len(own) == self.sampler.groups[0] else Resampler((len(own),))
        value = _share(float(own.sum()), float(error.sum()))
        other = 1 - others / max(float(error.sum()), 1e-300)
        chance = float((1 + (other >= value - 1e-12).sum()) / (1 + len(other)))
        means = sampler.means(0, np.stack([own, error], axis=1))
        some = means[:, 1] > 1e-12 * error.max()  # a resample without errors says nothing
        draws = 1 - np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=some)
        if corrected:
            luck = float(np.clip(np.mean(other), 0, 1))
            value, draws = _corrected(value, luck), _corrected(draws, luck)
        return Explanation(rule, sampler.estimate(float(value), draws, [0]), chance, own, factors, order)

    def fixed(
        self, rule: Rule, answers: Float[np.ndarray, "cells outputs"], factors: Subset = (), order: int = 0
    ) -> Explanation:
        """A rule that gives one answer for every cell."""
        if self.cells.kind == "classification":
            return self.labelled(rule, 2 - 2 * answers, factors=factors, order=order)
        off, error = self.truth - answers, self.said - self.truth
        pairs = _lengths(off)[:, None] + 2 * off @ error.T + _lengths(error)[None]
        return self.paired(rule, pairs, factors=factors, order=order)

    def paired(self, rule: Rule, pairs: Float[np.ndarray, "cells cells"], **settings: Any) -> Explanation:
        """A rule by what it leaves unexplained in every cell, if that had the error of any other cell."""
        pairs = np.maximum(pairs, 0)
        others = pairs[np.arange(len(pairs)), self.turns].sum(axis=1)
        return self.judge(rule, np.diagonal(pairs).copy(), others, **settings)

    def labelled(self, rule: Rule, costs: Float[np.ndarray, "cells classes"], **settings: Any) -> Explanation:
        """A rule by what it leaves unexplained in every cell, if that had any of the labels."""
        others = costs[np.arange(len(costs)), self.turns].sum(axis=1)
        return self.judge(rule, (costs * self.said).sum(axis=1), others, **settings)


def _all(trial: _Trial) -> Iterator[Explanation]:
    cells, wanted = trial.cells, trial.cells.cells[trial.chosen]
    seen = answers_of_seen(cells)
    pictures = is_picture(cells)
    yield trial.fixed("constant", seen.constant(wanted))
    for subset in subsets(len(cells.sizes), min(2, len(cells.sizes) - 1), least=1):
        yield _best(
            trial.fixed("given", seen.given(subset, wanted, by_rows=rows), subset) for rows in (True, False)
        )
    ranks = (np.arange(len(seen.cells)), cells.first_row[cells.seen])
    near = [
        *(seen.nearest(wanted, first=rank) for rank in ranks),
        *(seen.beside(wanted, power=p) for p in (1, 2)),
    ]
    near += [] if pictures else [seen.nearest(wanted)]  # a mean of pictures is a superposition
    yield _best(trial.fixed("nearest", one) for one in near)
    yield _copies(trial, seen, wanted)
    if cells.kind == "regression" and len(seen.cells) * len(wanted) ** 2 <= MOST_COPIES:
        yield _copies(trial, seen, wanted, anywhere=True)
    for order in _missing_orders(cells, trial):
        if seen.can_add(order):
            yield trial.fixed("additive", seen.additive(order, wanted), order=order)
    if cells.kind == "regression":
        yield _slope_rule(trial)
    if pictures:
        yield _superposition(trial, seen, wanted)


def is_picture(cells: Cells) -> bool:
    """Whether answers have so many numbers that sums of them can be told from something else."""
    return cells.kind == "regression" and cells.answers.shape[1] >= LEAST_PIXELS


def _best(tried: Iterable[Explanation]) -> Explanation:
    return max(tried, key=lambda one: one.share.value)


def _missing_orders(cells: Cells, trial: _Trial) -> Iterator[int]:
    """Orders up to which sums of effects are not what the task is; beyond, being a sum is no failure."""
    inside = cells.inside
    known = FromSeen(
        cells.kind,
        cells.sizes,
        cells.cells[inside],
        cells.targets[inside].astype(np.float64),
        cells.rows[inside],
    )
    for order in orders_below(cells.sizes):
        if not known.can_add(order):
            return
        off = _lengths(known.additive(order, cells.cells[trial.chosen]) - trial.truth)
        if off.sum() <= SUM * _lengths(trial.truth - cells.constant).sum():
            return
        yield order


def _copies(trial: _Trial, seen: FromSeen, wanted: np.ndarray, *, anywhere: bool = False) -> Explanation:
    """Every answer is that of some seen cell, whichever is nearest: among those that share most levels, or any."""
    near: Iterable[np.ndarray] = (row for block in seen.neighbours(wanted) for row in block)
    if anywhere:
        near = np.ones((len(wanted), len(seen.cells)), dtype=bool)
    if trial.cells.kind == "classification":
        costs = np.stack([2 - 2 * seen.values[mask].max(axis=0) for mask in near])
        return trial.labelled("copy", costs, corrected=True)
    pairs = np.empty((len(wanted), len(wanted)))
    error = trial.said - trial.truth
    across, size = seen.values @ error.T, _lengths(error)
    own = trial.truth @ error.T
    for u, mask in enumerate(near):
        chosen = np.flatnonzero(mask)[: None if anywhere else MOST_NEIGHBOURS]
        apart = _lengths(trial.truth[u] - seen.values[chosen])
        pairs[u] = (apart[:, None] + 2 * (own[u] - across[chosen])).min(axis=0) + size
    return trial.paired("any_copy" if anywhere else "copy", pairs, corrected=True)


def _slope_rule(trial: _Trial) -> Explanation:
    """The truth, shrunken towards the constant by the slope that fits best: what a memorisation leak does."""
    about = trial.truth - trial.cells.constant
    error = trial.said - trial.truth
    spread, own = _lengths(about), (about * error).sum(axis=1)
    across = about @ error.T

    def share(together: np.ndarray, wide: np.ndarray, size: np.ndarray, against: np.ndarray) -> np.ndarray:
        gain = np.where(together < 0, together**2 / np.maximum(wide, 1e-300), 0.0)  # too far apart is no leak
        return 1 - (size - gain) / np.maximum(against, 1e-300)

    sums = [values.sum() for values in (spread, trial.error, trial.against)]
    value = float(share(own.sum(), *sums))
    other = share(across[np.arange(len(own)), trial.turns].sum(axis=1), *sums)
    chance = float((1 + (other >= value - 1e-12).sum()) / (1 + len(other)))
    means = trial.sampler.means(0, np.stack([own, spread, trial.error, trial.against], axis=1))
    slope = 1 + own.sum() / max(spread.sum(), 1e-300)
    residual = _lengths(error - (slope - 1) * about)
    interval = trial.sampler.estimate(value, share(*means.T), [0])
    return Explanation("slope", interval, chance, residual)


def _superposition(trial: _Trial, seen: FromSeen, wanted: np.ndarray) -> Explanation:
    """A mixture of seen pictures that share a level, with weights of at least 0 and any background.

    Three choices of pictures are tried: for every factor the mean of those that share its level and of those that share
    all others; single pictures that share all levels but one; single pictures that share any. More pictures than half
    of the pixels would fit anything and are not tried. Held against the better of the truth and a blank picture.
    """
    rng = np.random.default_rng(79)
    some = np.sort(rng.permutation(len(wanted))[:MOST_MIXED])
    partners = rng.integers(len(wanted), size=(len(some), MIXED_PARTNERS))
    error = trial.against[some]
    wrong = trial.said - trial.truth
    shared = (wanted[some][:, None] == seen.cells[None]).sum(axis=2)
    picks = rng.integers(MIXED_PARTNERS, size=(REARRANGEMENTS, len(some)))
    tried = []
    for choose in (_group_means, partial(_sharing, least=len(seen.sizes) - 1), partial(_sharing, least=1)):
        left = np.full((len(some), 1 + MIXED_PARTNERS), np.nan)
        for place, cell in enumerate(some):
            pictures = choose(seen, wanted[cell], shared[place])
            if pictures is None:
                break
            candidates = trial.truth[cell] + wrong[np.append(cell, partners[place])]
            left[place] = mixture_residuals(pictures, candidates)
        if np.isnan(left).any():
            continue
        others = left[np.arange(len(some)), 1 + picks].sum(axis=1)
        tried.append(trial.judge("superposition", left[:, 0], others, error=error, corrected=True))
    return _best(tried)


def _group_means(
    seen: FromSeen, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"]
) -> Float[np.ndarray, "pictures pixels"]:
    same = seen.cells == cell
    masks = [*same.T, *(shared - same[:, axis] == len(cell) - 1 for axis in range(len(cell)))]
    return np.stack([seen.values[mask].mean(axis=0) for mask in masks if mask.any()])


def _sharing(
    seen: FromSeen, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"], *, least: int
) -> Float[np.ndarray, "pictures pixels"] | None:
    """Single pictures that share enough levels; `None` if they are none, or too many for the pixels."""
    chosen = np.flatnonzero(shared >= least)
    return seen.values[chosen] if 0 < len(chosen) <= seen.values.shape[1] // 2 else None


def mixture_residuals(
    pictures: Float[np.ndarray, "pictures pixels"], wanted: Float[np.ndarray, "wanted pixels"]
) -> Float[np.ndarray, " wanted"]:
    """Squared distance of every wanted picture to the mixtures of pictures, backgrounds left out of account."""
    pictures, wanted = _centred(pictures), _centred(wanted)
    basis, triangle = np.linalg.qr(pictures.T)
    inside = wanted @ basis
    outside = _lengths(wanted) - _lengths(inside)
    return np.array(
        [max(0.0, rest) + nnls(triangle, one)[1] ** 2 for one, rest in zip(inside, outside, strict=True)]
    )


def superposed(
    seen: FromSeen, wanted: Int[np.ndarray, "cells factors"]
) -> Float[np.ndarray, "cells outputs"]:
    """The superposition of seen outputs for every wanted cell; see `recombine.probes.superposition_image`."""
    signals = np.concatenate([seen.values, np.zeros((len(wanted), seen.values.shape[1]))])
    levels = np.concatenate([seen.cells, wanted])
    return superposition_image(signals, levels, np.arange(len(levels)) < len(seen.cells))[len(seen.cells) :]


def answers_of_seen(cells: Cells) -> FromSeen:
    """The model's own answers for seen cells, which all rules start from."""
    inside = np.flatnonzero(cells.seen)
    return FromSeen(
        cells.kind,
        cells.sizes,
        cells.cells[inside],
        cells.answers[inside].astype(np.float64),
        np.maximum(cells.training_rows[inside], 1),
    )


def _slopes(cells: Cells, chosen: np.ndarray, sampler: Resampler) -> tuple[Estimate, float]:
    """Slope of answers on the truth, both about the constant: on unseen cells with its interval, and on seen cells."""
    if cells.kind == "classification":
        return UNKNOWN, np.nan

    def parts(rows: np.ndarray) -> np.ndarray:
        truth, said = cells.targets[rows] - cells.constant, cells.answers[rows] - cells.constant
        return np.stack([(truth * said).sum(axis=1), _lengths(truth)], axis=1)

    def ratio(sums: np.ndarray) -> np.ndarray:
        return np.divide(
            sums[..., 0], sums[..., 1], out=np.full(sums.shape[:-1], np.nan), where=sums[..., 1] > 0
        )

    own, inside = parts(chosen), parts(cells.inside)
    found = float(ratio(own.sum(axis=0)))
    return sampler.estimate(found, ratio(sampler.means(0, own)), [0]), float(ratio(inside.sum(axis=0)))


def _share(residual: float, error: float) -> float:
    return 1 - residual / error if error > 0 else 0.0


def _corrected(value: Any, luck: float) -> Any:
    return (value - luck) / (1 - luck) if luck < 1 - 1e-9 else value * 0.0


def _lengths(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, " rows"]:
    """Squared lengths."""
    return np.einsum("ru,ru->r", rows, rows)


def _centred(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, "rows outputs"]:
    return rows - rows.mean(axis=1, keepdims=True)


def explains(one: Explanation) -> bool:
    """Whether a rule explains most of the failure, beyond chance and beyond the choice of cells."""
    certain = one.rule == "constant" or one.chance <= CHANCE  # a constant looks the same wherever it stands
    return certain and one.share.value >= MOSTLY and one.share.low >= AT_LEAST


MOSTLY = 0.5
"""A rule explains a failure if it accounts for at least this share of it,"""
AT_LEAST = 0.2
"""with 95 % confidence for at least this share,"""
CHANCE = 0.01
"""and if rearranged errors do as well no more often than this."""


def preferred(tried: Sequence[Explanation], *, learned: bool, additive: bool) -> Explanation | None:
    """The simplest of the rules that explain the failure about best; `None` if none explains it.

    - `learned`: whether the model knows the seen cells. If it does and answers unseen ones with a constant, nothing of
        what it stored reaches them, the extreme of a leak; if it does not, it has learned nothing.
    - `additive`: whether the model's answers for seen cells are sums, too, so that sums of pictures are what it is.
    """
    able = [one for one in tried if explains(one)]
    if not able:
        return None
    least = min(1 - one.share.value for one in able)
    close = [one for one in able if 1 - one.share.value <= NEARLY * max(0.0, least) + NEARLY_ALL]
    rank: dict[str, float] = {
        "constant": 0,
        "given": 1,
        "nearest": 2,
        "copy": 3,
        "slope": 4,
        "superposition": 5,
        "additive": 6,
        "any_copy": 9,
    }
    if additive:
        rank["additive"] = 4.5

    def simplicity(one: Explanation) -> tuple[float, int, int]:
        return (rank[one.rule] + (4 if len(one.factors) > 1 else 0), one.order, len(one.factors))

    best = min(close, key=simplicity)
    if best.rule == "constant" and learned:
        return next((one for one in tried if one.rule == "slope"), best)
    return best


NEARLY, NEARLY_ALL = 1.25, 0.001
"""Rules explain equally well if one leaves at most 1.25 times as much unexplained as the other, plus a thousandth."""
