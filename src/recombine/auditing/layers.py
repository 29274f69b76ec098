"""What happens inside: can factors be read from a layer, are they kept apart, is it bent where it was not trained?

A layer's derivative along a factor that the model reads as an input is taken as such (`recombine.auditing.slopes`).
Other levels that are numbers have neighbours, and the derivative is the difference between them, as in
`recombine.probes.metric_tensor`. Levels that are words have none; there a cell is compared with the mean of the cells
that differ from it in that factor alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.resampling import Estimate, Resampler
from recombine.auditing.slopes import Slopes
from recombine.auditing.trial import lengths
from recombine.errors import InputError
from recombine.probes.geometry import log10_volume
from recombine.probes.representation import ridge_predictions
from recombine.theory import SalienceEstimate, estimate_salience

MOST_PROBED = 300
"""Cells from which factors are read; more are sampled."""
MOST_COMPARED = 300
"""Cells whose similarities make up the salience; more are sampled."""
LEAST_PROBED = 12


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer.

    - `dimension`: how many directions cell means use, (sum of variances)² over the sum of their squares.
    - `readable`: `(factors,)` how well each factor can be read for cells that were left out, from 0 to 1: R² of
        numbers, the share of other levels that is read right beyond guessing; NaN if there are too few cells.
    - `factorisation`, `volume_gap`: over cells that have neighbours in all factors, with `draws` over resampled cells
        so that layers can be compared; unknown if there are none.
    - `salience`: of conjunctions, `None` where similarities do not allow it, and `why_no_salience` then says why.
    """

    name: str
    units: int
    dimension: float
    readable: Float[np.ndarray, " factors"]
    factorisation: Estimate
    factorisation_draws: Float[np.ndarray, " resamples"]
    volume_gap: Estimate
    volume_gap_draws: Float[np.ndarray, " resamples"]
    log_volume: Float[np.ndarray, " placed"]
    salience: SalienceEstimate | None
    why_no_salience: str


@dataclass(frozen=True, eq=False)
class Layers:
    """All layers from input to output; `placed` are the cells at which the geometry of hidden ones was measured."""

    layers: tuple[Layer, ...]
    placed: Int[np.ndarray, " placed"]
    placed_seen: Bool[np.ndarray, " placed"]
    targets: Estimate
    numeric: tuple[bool, ...]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self.layers)

    @property
    def hidden(self) -> tuple[Layer, ...]:
        """Those between input and output."""
        return tuple(layer for layer in self.layers if layer.name not in {"input", "output"})


def look_inside(
    means: Mapping[str, Float[np.ndarray, "cells units"]],
    cells: Cells,
    *,
    samples: Mapping[str, Float[np.ndarray, "sample units"]] | None = None,
    sample_cells: Int[np.ndarray, " sample"] | None = None,
    numeric: Sequence[bool],
    slopes: Slopes | None = None,
    seed: int = 0,
) -> Layers:
    """Measures every layer from its mean activity by cell, `(cells, units)` in the order of `cells`.

    - `samples`: the activity of single rows by layer, of the cells `sample_cells`, from which factors are read; by
        default the means themselves.
    - `slopes`: changes of layers along factors that are inputs; used if all layers but the output have them.
    """
    usable = np.flatnonzero(cells.familiar)
    steps = [
        _neighbours(cells.cells[usable], axis, cells.sizes, bool(numeric[axis]))
        for axis in range(len(cells.sizes))
    ]
    near = _Places.of(np.logical_and.reduce([step.valid for step in steps]), cells.seen[usable], seed)
    placed = near
    changes = {} if slopes is None else slopes.by_factor
    if not all(name in known for known in changes.values() for name in means if name != "output"):
        changes = {}
    if changes and slopes is not None:
        valid = [step.valid for axis, step in enumerate(steps) if axis not in changes]
        valid.append(np.isin(usable, slopes.cells))
        placed = _Places.of(np.logical_and.reduce(valid), cells.seen[usable], seed)
    rng = np.random.default_rng([seed, 71])
    probed = _sample(usable, MOST_PROBED, rng)
    compared = _sample(usable, MOST_COMPARED, rng)
    rows = None if sample_cells is None else np.flatnonzero(np.isin(sample_cells, usable))

    def read(name: str, activity: np.ndarray) -> Float[np.ndarray, " factors"]:
        if samples is None or rows is None or name not in samples:
            return _readable(activity[probed], probed, cells, numeric)
        assert sample_cells is not None
        return _readable(samples[name][rows], sample_cells[rows], cells, numeric)

    def layer(name: str, activity: np.ndarray) -> Layer:
        own, places = list(steps), near
        if name != "output":
            places = placed
            for axis, by_layer in changes.items():
                own[axis] = replace(steps[axis], known=by_layer[name][usable])
        metric = _metric(activity[usable], own, places.cells)
        room = _room(metric, np.stack([one.squares(activity[usable], places.cells) for one in own], axis=1))
        return _layer(
            name, activity, metric, room, cells, usable, places.sampler, compared, read(name, activity)
        )

    found = tuple(layer(name, activity) for name, activity in means.items())
    targets = Estimate(np.nan, np.nan, np.nan)
    if cells.kind == "regression" and cells.targets.shape[1] > 1 and np.isfinite(cells.targets[usable]).all():
        targets = _factorisation(_metric(cells.targets[usable], steps, near.cells), near.sampler)[0]
    ordered = tuple(bool(one) for one in numeric)
    return Layers(found, usable[placed.cells], cells.seen[usable][placed.cells], targets, ordered)


@dataclass(frozen=True, eq=False)
class _Places:
    """Cells at which geometry is measured, seen ones first, and their resamples."""

    cells: Int[np.ndarray, " placed"]
    sampler: Resampler

    @classmethod
    def of(cls, valid: Bool[np.ndarray, " cells"], seen: Bool[np.ndarray, " cells"], seed: int) -> _Places:
        found = np.flatnonzero(valid)
        found = found[np.argsort(~seen[found], kind="stable")]
        inside = int(seen[found].sum())
        return cls(found, Resampler((inside, len(found) - inside), resamples=400, seed=seed))


@dataclass(frozen=True, eq=False)
class _Step:
    """The derivative along one factor: `known`, or a difference between two mixtures of cells."""

    valid: Bool[np.ndarray, " cells"]
    ahead: Int[np.ndarray, " cells"]
    behind: Int[np.ndarray, " cells"]
    group: Int[np.ndarray, " cells"] | None
    scale: Float[np.ndarray, " cells"]
    known: Float[np.ndarray, "cells units"] | None = None

    def __call__(self, activity: np.ndarray, rows: np.ndarray) -> Float[np.ndarray, "rows units"]:
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
        """The squared size of one step, alike for levels in the middle and at the ends of a factor.

        Of neighbours the mean over both directions (the difference of both neighbours would be shorter for codes that
        turn, such as indicators); of words the mean over all pairs of levels.
        """
        if self.known is not None:
            return lengths(self.known[rows].astype(np.float64))
        if self.group is None:
            own = activity[rows].astype(np.float64)
            ends = [activity[self.ahead[rows]], activity[self.behind[rows]]]
            ways = np.maximum((self.ahead != self.behind)[rows] * 1 + (self.scale[rows] == 0.5), 1)
            return np.sum([lengths(own - end) for end in ends], axis=0) / ways
        means = means_by_cell(activity, self.group, int(self.group.max()) + 1)
        apart = lengths(activity.astype(np.float64) - means[self.group])
        count = np.bincount(self.group)
        pairs = 2 * np.bincount(self.group, weights=apart) / np.maximum(count - 1, 1)
        return pairs[self.group[rows]]


def _neighbours(cells: np.ndarray, axis: int, sizes: Sequence[int], numeric: bool) -> _Step:
    codes = np.ravel_multi_index(tuple(cells.T), tuple(sizes))
    own = np.arange(len(cells))
    if not numeric:
        others = cells.copy()
        others[:, axis] = 0
        _, group = np.unique(np.ravel_multi_index(tuple(others.T), tuple(sizes)), return_inverse=True)
        return _Step(np.bincount(group)[group] > 1, own, own, group, np.ones(len(cells)))
    ends = []
    for shift in (1, -1):
        moved = cells.copy()
        moved[:, axis] += shift
        inside = (moved[:, axis] >= 0) & (moved[:, axis] < sizes[axis])
        moved[~inside] = 0
        code = np.ravel_multi_index(tuple(moved.T), tuple(sizes))
        place = np.minimum(np.searchsorted(codes, code), len(codes) - 1)
        ends.append(np.where(inside & (codes[place] == code), place, -1))
    ahead, behind = ends
    both = (ahead >= 0) & (behind >= 0)
    valid = (ahead >= 0) | (behind >= 0)
    return _Step(
        valid,
        np.where(ahead >= 0, ahead, own),
        np.where(behind >= 0, behind, own),
        None,
        np.where(both, 0.5, 1.0),
    )


def _metric(
    activity: np.ndarray, steps: Sequence[_Step], placed: np.ndarray
) -> Float[np.ndarray, "placed f f"]:
    g = np.zeros((len(placed), len(steps), len(steps)))
    block = max(1, 2**24 // max(1, len(steps) * activity.shape[1]))
    for start in range(0, len(placed), block):
        rows = placed[start : start + block]
        slopes = [step(activity, rows) for step in steps]
        for i, j in combinations_with_replacement(range(len(steps)), 2):
            g[start : start + block, i, j] = g[start : start + block, j, i] = np.einsum(
                "ru,ru->r", slopes[i], slopes[j]
            )
    return g


def _room(
    g: Float[np.ndarray, "placed f f"], squares: Float[np.ndarray, "placed f"]
) -> Float[np.ndarray, " placed"]:
    """log10 of the volume that a cell takes up: sizes of steps, and the angles between them, scaled by the layer."""
    if not len(g):
        return np.zeros(0)
    own = np.einsum("pii->pi", g)
    moves = own > 1e-9 * squares  # a level in the very middle of the others has no direction, but a size
    unit = np.divide(1.0, np.sqrt(own), out=np.zeros(own.shape), where=moves & (own > 0))
    angles = g * unit[:, :, None] * unit[:, None, :]
    angles[:, np.arange(g.shape[1]), np.arange(g.shape[1])] = 1.0
    sizes = np.sqrt(squares / max(float(squares.sum(axis=1).mean()), 1e-30))
    return log10_volume(angles * sizes[:, :, None] * sizes[:, None, :])


def _factorisation(g: np.ndarray, sampler: Resampler) -> tuple[Estimate, Float[np.ndarray, " resamples"]]:
    """F = 1 - mean|g_ij| / mean(g_ii + g_jj), mean over pairs of factors, with seen and unseen cells resampled."""
    factors, (inside, outside) = g.shape[1], sampler.groups
    if factors < 2 or inside + outside < 2:
        return Estimate(np.nan, np.nan, np.nan), np.full(len(sampler.counts[0]), np.nan)
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


def _layer(
    name: str,
    activity: np.ndarray,
    g: Float[np.ndarray, "placed f f"],
    logs: Float[np.ndarray, " placed"],
    cells: Cells,
    usable: np.ndarray,
    sampler: Resampler,
    compared: np.ndarray,
    readable: Float[np.ndarray, " factors"],
) -> Layer:
    score, draws = _factorisation(g, sampler)
    inside, outside = sampler.groups
    if inside and outside:
        gaps = sampler.means(1, logs[inside:]) - sampler.means(0, logs[:inside])
        gap = sampler.estimate(float(logs[inside:].mean() - logs[:inside].mean()), gaps, [0, 1])
    else:
        gaps, gap = np.full(len(sampler.counts[0]), np.nan), Estimate(np.nan, np.nan, np.nan)
    salience, why = None, ""
    try:
        salience = estimate_salience(activity[compared], cells.cells[compared], draws=60)
    except InputError as error:
        why = f"{error.got}"
    return Layer(
        name,
        activity.shape[1],
        _dimension(activity[usable]),
        readable,
        score,
        draws,
        gap,
        gaps,
        logs,
        salience,
        why,
    )


def _dimension(activity: np.ndarray) -> float:
    """The participation ratio of the covariance of cell means."""
    centred = activity - activity.mean(axis=0, dtype=np.float64)
    few = centred if len(centred) <= MOST_COMPARED else centred[:: len(centred) // MOST_COMPARED]
    gram = few @ few.T if len(few) <= few.shape[1] else few.T @ few
    squares = float((gram**2).sum())
    return float(np.trace(gram) ** 2 / squares) if squares > 0 else 0.0


def _readable(
    activity: np.ndarray, place: Int[np.ndarray, " rows"], cells: Cells, numeric: Sequence[bool]
) -> Float[np.ndarray, " factors"]:
    """How well every factor is read from rows of cells that were left out: 1 perfectly, 0 not at all.

    For numbers this is R². For other levels it is the share of rows whose level is read right, each level counting
    alike, beyond the share that guessing would give.

    - `place`: the cell of every row; rows of one cell are left out together.
    """
    levels = cells.cells[place]
    if len(np.unique(place)) < LEAST_PROBED:
        return np.full(levels.shape[1], np.nan)
    if not activity.std(axis=0).any():
        return np.zeros(levels.shape[1])
    columns: list[np.ndarray] = []
    for axis, is_number in enumerate(numeric):
        own = levels[:, axis, None]
        columns.append((own if is_number else own == np.unique(own)).astype(np.float64))
    said = ridge_predictions(activity, np.concatenate(columns, axis=1), groups=place)
    ends = np.cumsum([column.shape[1] for column in columns])[:-1]
    parts = zip(columns, np.split(said, ends, axis=1), numeric, strict=True)
    return np.array([_read_number(*pair) if number else _read_level(*pair) for *pair, number in parts])


def _read_number(true: Float[np.ndarray, "rows 1"], said: Float[np.ndarray, "rows 1"]) -> float:
    spread = float(true.var())
    return 1 - float(((true - said) ** 2).mean()) / spread if spread > 0 else np.nan


def _read_level(true: Float[np.ndarray, "rows levels"], said: Float[np.ndarray, "rows levels"]) -> float:
    right = said.argmax(axis=1) == true.argmax(axis=1)
    recall, guess = (true * right[:, None]).sum(axis=0) / true.sum(axis=0), 1 / true.shape[1]
    return float((recall.mean() - guess) / (1 - guess)) if guess < 1 else np.nan


def _sample(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
