"""Calibration: is a model as often right as it is confident, on seen and on unseen cells?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.outputs import Outputs
from recombine.auditing.probabilities.class_scores import ClassScores
from recombine.auditing.probabilities.counted_rows import CountedRows
from recombine.auditing.thresholds import CALIBRATION_BINS, CALIBRATION_DRAWS, MIN_BIN_ROWS
from recombine.intervals import Estimate, Resampler
from recombine.report import percent, plain_number
from recombine.spaces.observations import Observations


@dataclass(frozen=True)
class GroupCalibration:
    """Seen or unseen cells; every cell counts once.

    **Attributes:**

    - `confidence`: the mean probability of the predicted class; `accuracy`: how often it is right.
    - `overconfidence`: the first minus the second.
    - `error`: the expected calibration error: confidence minus accuracy, in size, in bins of equally many rows by
        confidence, averaged over bins. `by_chance`: what a model that is right as often as it is confident would have
        with as many rows.
    - `brier`: the mean squared distance between probabilities and the right class, from 0 to 2.
    - `bins`: how many bins there are.
    """

    confidence: Estimate
    accuracy: Estimate
    overconfidence: Estimate
    error: Estimate
    by_chance: float
    brier: Estimate
    bins: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        estimates = {
            "confidence": self.confidence,
            "accuracy": self.accuracy,
            "overconfidence": self.overconfidence,
            "expected_calibration_error": self.error,
            "brier": self.brier,
        }
        return {
            name: {"estimate": plain_number(one.value), "interval": _ends(one)}
            for name, one in estimates.items()
        } | {"calibration_error_by_chance": plain_number(self.by_chance), "bins": self.bins}


@dataclass(frozen=True)
class Calibration:
    """Calibration on seen and unseen cells, or why there is none.

    **Attributes:**

    - `form`: `"probabilities"`, or `"logits"`, which were turned into probabilities by a softmax.
    """

    form: str
    seen: GroupCalibration | None
    unseen: GroupCalibration | None
    reason: str = ""

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.unseen is None or self.seen is None:
            return self.reason
        over, accuracy = self.unseen.overconfidence, percent(self.unseen.accuracy.value)
        confident = f"confidence {percent(self.unseen.confidence.value)}, accuracy {accuracy}"
        beyond_chance = self.unseen.error.value > self.unseen.by_chance
        if over.low > 0 and beyond_chance:
            more = ", more than on seen ones" if over.low > self.seen.overconfidence.high else ""
            return f"On unseen cells the model is overconfident{more}: {confident}."
        if over.high < 0 and beyond_chance:
            return f"On unseen cells the model is underconfident: {confident}."
        return f"On unseen cells the model is neither surely overconfident nor underconfident: {confident}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "form": self.form or None,
            "seen": None if self.seen is None else self.seen.to_dict(),
            "unseen": None if self.unseen is None else self.unseen.to_dict(),
            "reason": self.reason or None,
        }


def calibrate(
    table: Observations, cells: Cells, outputs: Outputs, scores: ClassScores, *, seed: int = 0
) -> Calibration:
    """Measures calibration, if scores are probabilities or logits.

    ```python
    >>> import numpy as np
    >>> from recombine import audit
    >>> a, b = np.indices((6, 6)).reshape(2, -1).repeat(4, axis=1)
    >>> label, seen = (a + b) % 2, (a + b) % 3 > 0
    >>> p = np.where(seen, label, 1 - label) * 0.8 + 0.1  # always 90% sure, always wrong on unseen cells
    >>> report = audit(factors={"a": a, "b": b}, seen=seen, target=label, prediction=np.stack([1 - p, p], axis=1))
    >>> round(report.calibration.seen.overconfidence.value, 2), round(report.calibration.unseen.overconfidence.value, 2)
    (-0.1, 0.9)

    ```
    """
    if not scores.form:
        return Calibration(
            "",
            None,
            None,
            "Calibration was not measured: scores are neither probabilities (the scores of a row sum to 1) nor logits "
            "(some are negative).",
        )
    confidence, right, brier = _row_measures(scores)
    rows = CountedRows.of(table, cells, outputs.known)
    by_cell = rows.means(np.stack([confidence, right, brier], axis=1))
    sampler = rows.sampler(seed)
    groups = [_group(rows, sampler, group, by_cell, confidence, right, seed) for group in (0, 1)]
    reason = (
        ""
        if None not in groups
        else "Seen or unseen cells have no targets, so their calibration is not known."
    )
    return Calibration(scores.form, groups[0], groups[1], reason)


def _row_measures(
    scores: ClassScores,
) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
    """Confidence, whether the prediction is right, and Brier's score, by row."""
    n = len(scores.values)
    confidence, right, brier = np.empty(n), np.empty(n), np.empty(n)
    for block, probability in scores.probabilities():
        target = scores.target[block]
        own = np.take_along_axis(probability, target[:, None], axis=1)[:, 0]
        confidence[block] = probability.max(axis=1)
        right[block] = probability.argmax(axis=1) == target
        brier[block] = (probability**2).sum(axis=1) - 2 * own + 1
    return confidence, right, brier


def _group(
    rows: CountedRows,
    sampler: Resampler,
    group: int,
    by_cell: Float[np.ndarray, "cells 3"],
    confidence: Float[np.ndarray, " rows"],
    right: Float[np.ndarray, " rows"],
    seed: int,
) -> GroupCalibration | None:
    cells = (rows.seen, rows.unseen)[group]
    if not len(cells):
        return None
    estimates = [rows.estimate(group, by_cell[:, column], largest=2.0) for column in range(3)]
    over = by_cell[:, 0] - by_cell[:, 1]
    overconfidence = rows.mean_with_interval(group, over)
    inside = np.zeros(len(by_cell), dtype=bool)
    inside[cells] = True
    chosen = np.flatnonzero(rows.counted & inside[rows.cell_index])
    cell = rows.cell_index[chosen]
    share = 1 / np.bincount(cell, minlength=len(by_cell))[cell]  # of its cell that a row is
    weight = rows.weights[cell] * share
    draw = rows.draw_of(chosen)
    bins = _equal_bins(confidence[chosen], weight, int(draw.max()) + 1)
    gaps = _gaps(cell, bins, share * (confidence[chosen] - right[chosen]), len(by_cell))
    error = float(np.abs(rows.mean(group, gaps)).sum())
    measured = sampler.estimate(error, np.abs(rows.draws(sampler, group, gaps)).sum(axis=1), [group])
    return GroupCalibration(
        estimates[0],
        estimates[1],
        overconfidence,
        Estimate(error, max(measured.low, 0.0), min(measured.high, 1.0))
        if np.isfinite(measured.low)
        else measured,
        _error_by_chance(confidence[chosen], draw, bins, weight / weight.sum(), seed),
        estimates[2],
        int(bins.max()) + 1,
    )


def _equal_bins(
    confidence: Float[np.ndarray, " rows"], weight: Float[np.ndarray, " rows"], draws: int
) -> Int[np.ndarray, " rows"]:
    """The bin of every row: bins of equal weight, by confidence; equal confidences share a bin. Rows stand for so
    many independent draws."""
    count = int(np.clip(draws // MIN_BIN_ROWS, 1, CALIBRATION_BINS))
    order = np.argsort(confidence, kind="stable")
    passed = np.cumsum(weight[order]) - weight[order]
    ordered = confidence[order]
    first = np.searchsorted(ordered, ordered, side="left")  # of equal values the first decides
    bins = np.empty(len(confidence), dtype=np.int64)
    bins[order] = np.minimum((passed[first] * count / weight.sum()).astype(np.int64), count - 1)
    return np.unique(bins, return_inverse=True)[1]


def _gaps(
    cell: Int[np.ndarray, " rows"],
    bins: Int[np.ndarray, " rows"],
    values: Float[np.ndarray, " rows"],
    cells: int,
) -> Float[np.ndarray, "cells bins"]:
    """What every cell adds to the gap of every bin."""
    count = int(bins.max()) + 1
    return np.bincount(cell * count + bins, weights=values, minlength=cells * count).reshape(cells, count)


def _error_by_chance(
    confidence: Float[np.ndarray, " rows"],
    draw: Int[np.ndarray, " rows"],
    bins: Int[np.ndarray, " rows"],
    weight: Float[np.ndarray, " rows"],
    seed: int,
) -> float:
    """The mean calibration error of a model that is right with the probability of its confidence."""
    rng = np.random.default_rng([seed, 97])
    total = 0.0
    for _ in range(CALIBRATION_DRAWS):
        right = rng.random(int(draw.max()) + 1)[draw] < confidence
        total += float(np.abs(np.bincount(bins, weights=weight * (confidence - right))).sum())
    return total / CALIBRATION_DRAWS


def _ends(one: Estimate) -> list[float | None] | None:
    ends = [plain_number(end) for end in one.pair]
    return None if None in ends else ends
