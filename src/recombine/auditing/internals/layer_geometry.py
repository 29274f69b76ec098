"""The geometry of a layer over the cells: steps along factors, the metric they make, factorisation and volume.

A layer's derivative along a factor that the model reads as an input is taken as such (`factor_derivatives`). Other
levels that are numbers have neighbours, and the derivative is the difference between them, as in
[`recombine.metrics.metric_tensor`][]. Levels that are words have none; there a cell is compared with the mean of the
cells that differ from it in that factor only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import means_by_cell, squared_lengths
from recombine.intervals import UNKNOWN, Estimate, Resampler
from recombine.metrics.geometry import log10_volume


@dataclass(frozen=True, eq=False)
class MeasuredCells:
    """The cells at which geometry is measured, seen ones first, and their resamples."""

    cells: Int[np.ndarray, " placed"]
    sampler: Resampler

    @classmethod
    def of(
        cls, valid: Bool[np.ndarray, " cells"], seen: Bool[np.ndarray, " cells"], seed: int
    ) -> MeasuredCells:
        """Those of the valid cells."""
        cells = np.flatnonzero(valid)
        cells = cells[np.argsort(~seen[cells], kind="stable")]
        inside = int(seen[cells].sum())
        return cls(cells, Resampler((inside, len(cells) - inside), resamples=400, seed=seed))


@dataclass(frozen=True, eq=False)
class FactorStep:
    """The derivative along one factor: `known`, or a difference between two mixtures of cells.

    **Attributes:**

    - `valid`: which cells have one; `ahead`, `behind`: neighbours of ordered levels; `group`: for other levels, cells
        that differ only in this factor; `scale`: 1 over the number of levels between the neighbours.
    """

    valid: Bool[np.ndarray, " cells"]
    ahead: Int[np.ndarray, " cells"]
    behind: Int[np.ndarray, " cells"]
    group: Int[np.ndarray, " cells"] | None
    scale: Float[np.ndarray, " cells"]
    known: Float[np.ndarray, "cells units"] | None = None

    def __call__(self, activity: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, "rows units"]:
        """The change per level at some cells."""
        if self.known is not None:
            return self.known[rows].astype(np.float64)
        if self.group is None:
            change = activity[self.ahead[rows]].astype(np.float64) - activity[self.behind[rows]]
            return change * self.scale[rows, None]
        means = means_by_cell(activity, self.group, int(self.group.max()) + 1)
        count = np.bincount(self.group)[self.group[rows]][:, None]
        return (
            (activity[rows].astype(np.float64) - means[self.group[rows]]) * count / np.maximum(count - 1, 1)
        )

    def squares(self, activity: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, " rows"]:
        """The squared size of one step, the same for levels in the middle and at the ends of a factor.

        For ordered levels, it is the mean over both directions (the difference of both neighbours would be shorter for
        codes that turn, such as one-hot codes); for other levels, the mean over all pairs of levels.
        """
        if self.known is not None:
            return squared_lengths(self.known[rows].astype(np.float64))
        if self.group is None:
            own = activity[rows].astype(np.float64)
            ends = [activity[self.ahead[rows]], activity[self.behind[rows]]]
            ways = np.maximum((self.ahead != self.behind)[rows] * 1 + (self.scale[rows] == 0.5), 1)
            return np.sum([squared_lengths(own - end) for end in ends], axis=0) / ways
        means = means_by_cell(activity, self.group, int(self.group.max()) + 1)
        apart = squared_lengths(activity.astype(np.float64) - means[self.group])
        count = np.bincount(self.group)
        pairs = 2 * np.bincount(self.group, weights=apart) / np.maximum(count - 1, 1)
        return pairs[self.group[rows]]


def factor_step(cells: np.ndarray, axis: int, sizes: Sequence[int], ordered: bool) -> FactorStep:
    """The step along one factor, from the cells that there are."""
    codes = np.ravel_multi_index(tuple(cells.T), tuple(sizes))
    own = np.arange(len(cells))
    if not ordered:
        others = cells.copy()
        others[:, axis] = 0
        _, group = np.unique(np.ravel_multi_index(tuple(others.T), tuple(sizes)), return_inverse=True)
        return FactorStep(np.bincount(group)[group] > 1, own, own, group, np.ones(len(cells)))
    ends = []
    for shift in (1, -1):
        moved = cells.copy()
        moved[:, axis] += shift
        inside = (moved[:, axis] >= 0) & (moved[:, axis] < sizes[axis])
        moved[~inside] = 0
        code = np.ravel_multi_index(tuple(moved.T), tuple(sizes))
        index = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
        ends.append(np.where(inside & (codes[index] == code), index, -1))
    ahead, behind = ends
    both = (ahead >= 0) & (behind >= 0)
    valid = (ahead >= 0) | (behind >= 0)
    return FactorStep(
        valid,
        np.where(ahead >= 0, ahead, own),
        np.where(behind >= 0, behind, own),
        None,
        np.where(both, 0.5, 1.0),
    )


def layer_metric(
    activity: np.ndarray, steps: Sequence[FactorStep], measured: np.ndarray
) -> Float[np.ndarray, "measured f f"]:
    """The metric tensor, inner products of the steps along factors, at every measured cell."""
    g = np.zeros((len(measured), len(steps), len(steps)))
    block = max(1, 2**24 // max(1, len(steps) * activity.shape[1]))
    for start in range(0, len(measured), block):
        rows = measured[start : start + block]
        changes = [step(activity, rows) for step in steps]
        for i, j in combinations_with_replacement(range(len(steps)), 2):
            g[start : start + block, i, j] = g[start : start + block, j, i] = np.einsum(
                "ru,ru->r", changes[i], changes[j]
            )
    return g


def log_cell_volume(
    g: Float[np.ndarray, "measured f f"], squares: Float[np.ndarray, "measured f"]
) -> Float[np.ndarray, " measured"]:
    """log10 of the volume of a cell: sizes of steps and the angles between them, relative to the layer's scale."""
    if not len(g):
        return np.zeros(0)
    own = np.einsum("pii->pi", g)
    moves = own > 1e-9 * squares  # a level exactly amid the others has a size but no direction
    unit = np.divide(1.0, np.sqrt(own), out=np.zeros(own.shape), where=moves & (own > 0))
    angles = g * unit[:, :, None] * unit[:, None, :]
    angles[:, np.arange(g.shape[1]), np.arange(g.shape[1])] = 1.0
    sizes = np.sqrt(squares / max(float(squares.sum(axis=1).mean()), 1e-30))
    return log10_volume(angles * sizes[:, :, None] * sizes[:, None, :])


def layer_factorisation(
    g: np.ndarray, sampler: Resampler
) -> tuple[Estimate, Float[np.ndarray, " resamples"]]:
    """F = 1 - mean|g_ij| / mean(g_ii + g_jj), averaged over pairs of factors, with its value in every resample."""
    factors, (inside, outside) = g.shape[1], sampler.groups
    if factors < 2 or inside + outside < 2:
        return UNKNOWN, np.full(len(sampler.counts[0]), np.nan)
    pairs = list(combinations(range(factors), 2))
    mixed = np.stack([np.abs(g[:, i, j]) for i, j in pairs], axis=1)
    size = np.stack([g[:, i, i] + g[:, j, j] for i, j in pairs], axis=1)
    both = np.concatenate([mixed, size], axis=1)

    def value(sums: np.ndarray) -> np.ndarray:
        top, bottom = sums[..., : len(pairs)], sums[..., len(pairs) :]
        moves = bottom > 1e-30
        return (1 - np.divide(top, bottom, out=np.full(top.shape, np.nan), where=moves)).mean(axis=-1)

    counts = sampler.counts
    draws = value(counts[0] @ both[:inside].astype(np.float32) + counts[1] @ both[inside:].astype(np.float32))
    return sampler.estimate(float(value(both.sum(axis=0))), draws.astype(np.float64), _filled(sampler)), draws


def _filled(sampler: Resampler) -> list[int]:
    return [group for group, n in enumerate(sampler.groups) if n] or [0]
