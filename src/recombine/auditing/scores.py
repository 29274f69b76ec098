"""Errors of the model on seen and unseen cells, next to those of simple models, and whether it composes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from recombine.auditing.cells import Cells
from recombine.auditing.independent_units import one_of_each
from recombine.auditing.refits import Refits
from recombine.auditing.thresholds import (
    COMPOSES,
    COMPOSES_SQUARED,
    COMPOSES_SURELY,
    KNOWS_SEEN,
    LEARNED,
    LEARNED_NOTHING,
    LIKE_SEEN,
    MIN_REPLICATES,
    MIN_UNSEEN_CELLS,
    MOST_NOISE,
    MOSTLY_RIGHT,
    ROUNDING_ERROR,
    TOO_CLOSE,
    TRIFLING,
)
from recombine.auditing.wrong_cells import is_wrong
from recombine.intervals import UNKNOWN, Estimate, difference_of, mean_over_cells, ratio_of
from recombine.report import count


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean errors over cells; every cell counts once, or by its rows.

    **Attributes:**

    - `measure`: what an error is; `weighting`: `"cells"` or `"rows"`; `held_out`: whether the error on seen cells is
        that of rows training did not use.
    - `seen`, `unseen`: of the model; `constant_seen`, `constant`: of a constant, on seen cells and on all cells.
    - `baselines`: on unseen cells, of simple models fitted to seen cells.
    - `transfer`: (C - unseen) / (C - seen), where C is the error of a constant over all cells: 1 if unseen cells are
        handled like seen ones, 0 if as badly as by a constant.
    - `skill`: the share of a constant's error that the model removes on seen cells. Both are about errors beyond those
        that noise in the targets causes.
    - `excess`: the error on unseen cells beyond that noise.
    - `ratio`: unseen over seen error; NaN if seen cells have none.
    - `wrong`: the share of unseen cells that are wrong, minus that of seen cells.
    - `knows_seen`: whether most of the error on unseen cells, beyond noise, is one that seen cells do not have.
    - `unlearned`: the share of a constant's error that is left on seen cells beyond noise; NaN without repeated rows.
    - `label_noise`: the share of labels that are wrong; NaN if that cannot be known.
    - `ceiling`: the errors that the best simple model has on seen cells that were left out of its fit, and on unseen
        cells.
    - `replicated`: whether noise in the targets is known, from several rows of the same cell; `repeated_rows`: whether
        there are such rows. (Only squared errors and labels allow to subtract the noise.)
    - `units_unseen`: how many of the unseen cells are not copies of others.
    - `bar`: the transfer from which on the model composes.
    - `unjudged`: why the model cannot be judged; empty if it can.
    """

    measure: str
    held_out: bool
    cells_seen: int
    cells_unseen: int
    seen: Estimate
    unseen: Estimate
    constant_seen: float
    constant: float
    baselines: Mapping[str, Estimate]
    transfer: Estimate
    skill: Estimate
    bar: float = COMPOSES
    weighting: str = "cells"
    excess: Estimate = UNKNOWN
    ratio: Estimate = UNKNOWN
    wrong: Estimate = UNKNOWN
    knows_seen: bool = False
    unlearned: float = np.nan
    unjudged: str = ""
    label_noise: float = 0.0
    ceiling: tuple[Estimate, Estimate] = (UNKNOWN, UNKNOWN)
    replicated: bool = True
    repeated_rows: bool = True
    units_unseen: int = 0

    def unseen_units(self, noun: str) -> str:
        """The number of unseen cells without copies, in words."""
        return count(
            self.units_unseen, f"{'independent ' if self.units_unseen < self.cells_unseen else ''}{noun}"
        )

    @property
    def learned(self) -> bool:
        """Whether the model has learned the seen cells."""
        return bool(self.skill.value >= LEARNED)

    @property
    def learned_nothing(self) -> bool:
        """Whether the model is surely hardly better than a constant on seen cells."""
        return bool(self.skill.value <= LEARNED_NOTHING and not self.skill.high >= LEARNED)

    @property
    def may_be_noise(self) -> bool:
        """Whether noise in the targets alone could be the reason for the errors on unseen cells.

        Without repeated rows nobody knows how noisy the targets are. Errors are then possibly noise if the best simple
        model has errors as large, on the same unseen cells and on seen cells that it was not fitted to; unless these
        are so large that hardly anything but noise would be left.
        """
        if self.replicated or not self.unseen.value > 0:
            return False
        measured = [one.high for one in self.ceiling if np.isfinite(one.high)]  # none: nobody knows
        plausible = self.unseen.value <= MOST_NOISE * self.constant
        noise = min(measured, default=np.inf)  # no more than this, or simple models would err more
        return bool(plausible and self.unseen.low <= noise and self.unseen.value <= 2 * noise)

    @property
    def mostly_right(self) -> bool:
        """Whether few unseen cells are wrong, as far as can be known."""
        return not self.wrong.low > MOSTLY_RIGHT

    @property
    def all_right(self) -> bool:
        """Whether no unseen cell has an error, and there are enough of them for that not to be luck."""
        return bool(self.unseen.value == 0 and self.units_unseen >= MIN_UNSEEN_CELLS)

    @property
    def worse_on_unseen(self) -> bool:
        """Whether the error on unseen cells is surely larger than that on seen ones, and more than a trifle."""
        larger = self.ratio.low > LIKE_SEEN or (self.seen.value == 0 and self.unseen.low > 0)
        return bool(larger and self.transfer.value <= 1 - TRIFLING)

    @property
    def perhaps_worse_on_unseen(self) -> bool:
        """Whether it is larger in these cells, and more than a trifle, but not surely so in others."""
        larger = self.ratio.value > LIKE_SEEN or (self.seen.value == 0 and self.unseen.value > 0)
        return bool(larger and not self.worse_on_unseen and self.transfer.value <= 1 - TRIFLING)

    @property
    def too_close(self) -> bool:
        """Whether the interval ends at the bar, so that next to nothing would decide otherwise."""
        return bool(abs(self.transfer.high - self.bar) <= TOO_CLOSE)

    @property
    def composes(self) -> bool | None:
        """Whether unseen cells are handled like seen ones; `None` if that is unclear."""
        return self.composes_if(noise_possible=self.may_be_noise)

    def composes_if(self, *, noise_possible: bool) -> bool | None:
        """The same, given whether noise in the targets could be the reason for errors on unseen cells."""
        if self.unjudged:
            return None
        if self.learned_nothing:
            return False
        surely = self.transfer.low >= COMPOSES_SURELY or self.all_right
        if self.learned and self.transfer.value >= self.bar and surely and self.mostly_right:
            return True
        if noise_possible or self.too_close:
            return None
        if self.transfer.high < self.bar or not self.mostly_right:
            return False
        return None


def score(cells: Cells, refits: Refits | None = None) -> Scores:
    """Errors with intervals over cells; NaN for unseen cells if none of them has a target."""
    groups = cells.inside, cells.outside
    weights = [cells.weights[one] for one in groups]
    inside, outside = (bool(len(one)) for one in groups)
    rounding = (
        ROUNDING_ERROR * float(cells.error_of_constant[cells.known].mean()) if cells.known.any() else 0.0
    )

    def means(values: Float[np.ndarray, " cells"]) -> list[Estimate]:
        """Of seen and of unseen cells."""
        rounded = np.where(np.abs(values) > rounding, values, 0.0)
        return [cells.mean_error(rounded[group], group) for group in groups]

    def over_all(values: Float[np.ndarray, " cells"]) -> float:
        every = np.concatenate(groups)
        return float(np.average(values[every], weights=cells.weights[every])) if len(every) else np.nan

    errors, excess = [cells.possible(one) for one in means(cells.error)], means(cells.excess)
    skill = transfer = ratio = beyond = wrong = UNKNOWN
    if inside:
        left = _honest(excess[0], cells)
        learnable = float(np.average(cells.excess_of_constant[groups[0]], weights=weights[0]))
        skill = left.scaled(-1 / learnable, 1.0) if learnable > 0 else UNKNOWN
    if outside:
        beyond = excess[1]
    if inside and outside:
        ratio = ratio_of(errors[1], errors[0]).clipped(0.0, np.inf)
        scale = over_all(cells.excess_of_constant)
        transfer = ratio_of(excess[1].scaled(-1.0, scale), left.scaled(-1.0, scale))
        bad = [
            mean_over_cells(is_wrong(cells)[group].astype(np.float64), weight, cells.unit[group], shares=True)
            for group, weight in zip(groups, weights, strict=True)
        ]
        wrong = difference_of(bad[1], bad[0]).clipped(-1.0, 1.0)
    best = None if refits is None else refits.best
    return Scores(
        cells.measured.outputs.measure.title,
        cells.held_out,
        len(groups[0]),
        len(groups[1]),
        errors[0],
        errors[1],
        float(np.average(cells.error_of_constant[groups[0]], weights=weights[0])) if inside else np.nan,
        over_all(cells.error_of_constant),
        {} if refits is None else {one.name: one.unseen for one in refits.models},
        transfer,
        skill,
        bar=COMPOSES_SQUARED if cells.measured.outputs.measure.is_squared else COMPOSES,
        weighting="cells" if (cells.weights == 1).all() else "rows",
        excess=beyond,
        ratio=ratio,
        wrong=wrong,
        knows_seen=inside and outside and bool(excess[1].value >= KNOWS_SEEN * left.value),
        unlearned=max(excess[0].value, 0.0) / learnable
        if inside and cells.replicated and learnable > 0
        else np.nan,
        unjudged=_unjudged(cells),
        label_noise=cells.label_noise,
        ceiling=(UNKNOWN, UNKNOWN) if best is None else (best.held_out, best.unseen),
        replicated=cells.replicated,
        repeated_rows=bool(np.maximum(cells.rows - 1, 0).sum() >= MIN_REPLICATES),
        units_unseen=len(one_of_each(cells.outside, cells.unit)),
    )


def _honest(excess: Estimate, cells: Cells) -> Estimate:
    """The error on seen cells beyond noise, for rows that the model was not trained on.

    A model that fits the noise of its training rows has an error below the noise there, and one as much above it on new
    rows: with k parameters and n rows, noise (1 - k/n) and noise (1 + k/n).
    """
    if excess.value >= 0:
        return excess
    overfits = cells.kind == "regression" and cells.row_noise > 0 and not cells.held_out
    return excess.scaled(-1.0) if overfits else excess.scaled(1.0, -excess.value)


def _unjudged(cells: Cells) -> str:
    if not cells.known.any():
        return "there are no targets"
    if not len(cells.inside):
        return "no seen cell has a target"
    if not (~cells.seen & cells.familiar).any():
        return (
            "every unseen cell has a level that training never shows, so this split tests new levels, not new "
            "combinations"
        )
    if not len(cells.outside):
        return "no unseen cell has a target"
    if not cells.error_of_constant[cells.inside].any():
        return "all seen cells have the same target, so there is nothing to learn from them"
    if not cells.excess_of_constant[cells.inside].mean() > 0:
        return "seen targets differ between cells no more than within them, so there is nothing to learn from cells"
    return ""
