"""What is measured of every layer: decodable factors, factorisation, volume, saliences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.internals.factor_derivatives import FactorDerivatives
from recombine.auditing.internals.layer_geometry import (
    MeasuredCells,
    factor_step,
    layer_factorisation,
    layer_metric,
    log_cell_volume,
)
from recombine.auditing.thresholds import MAX_COMPARED_CELLS, MAX_DECODED_CELLS, MIN_DECODED_CELLS
from recombine.errors import InputError
from recombine.intervals import UNKNOWN, Estimate, Resampler
from recombine.metrics.representation import ridge_predictions
from recombine.theory import SalienceEstimate, estimate_salience


@dataclass(frozen=True, eq=False)
class Layer:
    """The measures of one layer.

    **Attributes:**

    - `dimension`: the number of directions that cell means use, (sum of variances)² / sum of squared variances.
    - `readable`: how well each factor can be decoded for held-out cells: R² for ordered levels, accuracy above guessing
        for others (1 is perfect, 0 is guessing); NaN if there are too few cells.
    - `factorisation`, `volume_gap`: over cells that have neighbours in all factors, with their values in every resample
        so that layers can be compared; NaN if there are no such cells.
    - `salience`: of conjunctions; `None` if it cannot be estimated, for the reason in `why_no_salience`.
    """

    name: str
    units: int
    dimension: float
    readable: Float[np.ndarray, " factors"]
    factorisation: Estimate
    factorisation_draws: Float[np.ndarray, " resamples"]
    volume_gap: Estimate
    volume_gap_draws: Float[np.ndarray, " resamples"]
    log_volume: Float[np.ndarray, " measured"]
    salience: SalienceEstimate | None
    why_no_salience: str


@dataclass(frozen=True, eq=False)
class Layers:
    """All layers from input to output.

    **Attributes:**

    - `measured`: the cells at which the geometry of hidden layers was measured; `measured_seen`: which of them are
        seen.
    - `targets`: the factorisation score of the targets themselves; `ordered`: which factors have ordered levels.
    """

    layers: tuple[Layer, ...]
    measured: Int[np.ndarray, " measured"]
    measured_seen: Bool[np.ndarray, " measured"]
    targets: Estimate
    ordered: tuple[bool, ...]

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @property
    def hidden(self) -> tuple[Layer, ...]:
        """The layers between input and output."""
        return tuple(layer for layer in self.layers if layer.name not in {"input", "output"})


def measure_layers(
    means: Mapping[str, Float[np.ndarray, "cells units"]],
    cells: Cells,
    *,
    samples: Mapping[str, Float[np.ndarray, "sample units"]] | None = None,
    sample_cells: Int[np.ndarray, " sample"] | None = None,
    ordered: Sequence[bool],
    derivatives: FactorDerivatives | None = None,
    seed: int = 0,
) -> Layers:
    """Measures every layer.

    **Arguments:**

    - `means`: by layer, the mean activity of every cell, in the order of `cells`.
    - `samples`: the activity of single rows by layer, of the cells `sample_cells`, from which factors are decoded;
        default: the means themselves.
    - `ordered`: which factors have ordered levels.
    - `derivatives`: of layers along factors that are inputs; used if all layers except the output have them.
    """
    usable = np.flatnonzero(cells.familiar)
    steps = [
        factor_step(cells.cells[usable], axis, cells.sizes, bool(ordered[axis]))
        for axis in range(len(cells.sizes))
    ]
    near = MeasuredCells.of(np.logical_and.reduce([step.valid for step in steps]), cells.seen[usable], seed)
    measured = near
    changes = {} if derivatives is None else derivatives.by_factor
    if not all(name in known for known in changes.values() for name in means if name != "output"):
        changes = {}
    if changes and derivatives is not None:
        valid = [step.valid for axis, step in enumerate(steps) if axis not in changes]
        valid.append(np.isin(usable, derivatives.cells))
        measured = MeasuredCells.of(np.logical_and.reduce(valid), cells.seen[usable], seed)
    rng = np.random.default_rng([seed, 71])
    decoded = _sample(usable, MAX_DECODED_CELLS, rng)
    compared = _sample(usable, MAX_COMPARED_CELLS, rng)
    rows = None if sample_cells is None else np.flatnonzero(np.isin(sample_cells, usable))

    def decode(name: str, activity: np.ndarray) -> Float[np.ndarray, " factors"]:
        if samples is None or rows is None or name not in samples:
            return _readable(activity[decoded], decoded, cells, ordered)
        assert sample_cells is not None
        return _readable(samples[name][rows], sample_cells[rows], cells, ordered)

    def layer(name: str, activity: np.ndarray) -> Layer:
        own, positions = list(steps), near
        if name != "output":
            positions = measured
            for axis, by_layer in changes.items():
                own[axis] = replace(steps[axis], known=by_layer[name][usable])
        metric = layer_metric(activity[usable], own, positions.cells)
        squares = np.stack([one.squares(activity[usable], positions.cells) for one in own], axis=1)
        volume = log_cell_volume(metric, squares)
        return _layer(
            name, activity, metric, volume, cells, usable, positions.sampler, compared, decode(name, activity)
        )

    layers = tuple(layer(name, activity) for name, activity in means.items())
    targets = UNKNOWN
    if cells.kind == "regression" and cells.targets.shape[1] > 1 and np.isfinite(cells.targets[usable]).all():
        metric = layer_metric(cells.targets[usable], steps, near.cells)
        targets = layer_factorisation(metric, near.sampler)[0]
    seen = cells.seen[usable][measured.cells]
    return Layers(layers, usable[measured.cells], seen, targets, tuple(bool(one) for one in ordered))


def _layer(
    name: str,
    activity: np.ndarray,
    g: Float[np.ndarray, "measured f f"],
    logs: Float[np.ndarray, " measured"],
    cells: Cells,
    usable: np.ndarray,
    sampler: Resampler,
    compared: np.ndarray,
    readable: Float[np.ndarray, " factors"],
) -> Layer:
    score, draws = layer_factorisation(g, sampler)
    inside, outside = sampler.groups
    if inside and outside:
        gaps = sampler.means(1, logs[inside:]) - sampler.means(0, logs[:inside])
        gap = sampler.estimate(float(logs[inside:].mean() - logs[:inside].mean()), gaps, [0, 1])
    else:
        gaps, gap = np.full(len(sampler.counts[0]), np.nan), UNKNOWN
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
    few = centred if len(centred) <= MAX_COMPARED_CELLS else centred[:: len(centred) // MAX_COMPARED_CELLS]
    gram = few @ few.T if len(few) <= few.shape[1] else few.T @ few
    squares = float((gram**2).sum())
    return float(np.trace(gram) ** 2 / squares) if squares > 0 else 0.0


def _readable(
    activity: np.ndarray, cell_index: Int[np.ndarray, " rows"], cells: Cells, ordered: Sequence[bool]
) -> Float[np.ndarray, " factors"]:
    """How well a linear readout decodes every factor for held-out cells: 1 is perfect, 0 is guessing.

    For ordered levels this is R². For others it is balanced accuracy, rescaled so that guessing gives 0.

    **Arguments:**

    - `cell_index`: the cell of every row; rows of one cell are held out together.
    """
    levels = cells.cells[cell_index]
    if len(np.unique(cell_index)) < MIN_DECODED_CELLS:
        return np.full(levels.shape[1], np.nan)
    if not activity.std(axis=0).any():
        return np.zeros(levels.shape[1])
    columns: list[np.ndarray] = []
    for axis, is_ordered in enumerate(ordered):
        own = levels[:, axis, None]
        columns.append((own if is_ordered else own == np.unique(own)).astype(np.float64))
    predicted = ridge_predictions(activity, np.concatenate(columns, axis=1), groups=cell_index)
    ends = np.cumsum([column.shape[1] for column in columns])[:-1]
    parts = zip(columns, np.split(predicted, ends, axis=1), ordered, strict=True)
    return np.array([_r2(*pair) if is_ordered else _accuracy(*pair) for *pair, is_ordered in parts])


def _r2(true: Float[np.ndarray, "rows 1"], predicted: Float[np.ndarray, "rows 1"]) -> float:
    spread = float(true.var())
    return 1 - float(((true - predicted) ** 2).mean()) / spread if spread > 0 else np.nan


def _accuracy(true: Float[np.ndarray, "rows levels"], predicted: Float[np.ndarray, "rows levels"]) -> float:
    right = predicted.argmax(axis=1) == true.argmax(axis=1)
    recall, guess = (true * right[:, None]).sum(axis=0) / true.sum(axis=0), 1 / true.shape[1]
    return float((recall.mean() - guess) / (1 - guess)) if guess < 1 else np.nan


def _sample(rows: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= max_rows else np.sort(rng.choice(rows, max_rows, replace=False))
