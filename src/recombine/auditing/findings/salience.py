"""Does the last hidden layer represent whole combinations more than their parts?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.internals.layer_measures import Layer
from recombine.auditing.thresholds import (
    MAX_RETENTION_CELLS,
    MAX_RETENTION_TARGETS,
    RETENTION_SALIENT,
)
from recombine.intervals import Estimate
from recombine.report import fixed, percent, plain_number
from recombine.theory import OverlapKernel, retention


@final
@dataclass(frozen=True)
class SalienceFinding(Finding):
    """Measured by the share of a prediction's size that kernel theory forecasts for a readout of the layer."""

    id: ClassVar[str] = "salience"
    title: ClassVar[str] = "salience"
    question: ClassVar[str] = "Does its last hidden layer represent whole combinations more than their parts?"
    good: ClassVar[bool | None] = None

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        means = "forecast share of a prediction's size that remains on unseen cells"
        layers, cells = evidence.layers, evidence.cells
        if layers is None or not layers.hidden:
            askable, why = evidence.no_layers
            return cls.unclear(why, means) if askable else cls.not_applicable(why, means)
        layer = layers.hidden[-1]
        estimated = layer.salience
        if estimated is None:
            why = f"The saliences of '{layer.name}' cannot be estimated ({layer.why_no_salience})."
            return cls.unclear(why, means)
        details = {"layer": layer.name, "shares_by_order": {one.name: _shares(one) for one in layers.hidden}}
        rng = np.random.default_rng(73)
        unseen = _some(cells.cells[~cells.seen & cells.familiar], MAX_RETENTION_TARGETS, rng)
        seen = _some(evidence.data.table.train, MAX_RETENTION_CELLS, rng)
        centre = OverlapKernel.from_salience(np.maximum(estimated.kernel.salience, 0))
        if not _has_parts(centre):
            why = (
                f"In '{layer.name}' cells are similar only if they are identical, so parts do not carry over."
            )
            return cls(True, Estimate(0.0, 0.0, 0.0), means, why, details)
        kernels = [centre, *_ends(estimated.interval)]
        kept = [float(np.median(one)) for one in retention(kernels, seen, unseen, cells.sizes)]
        estimate = Estimate(kept[0], min(kept), max(kept))
        unclear = estimate.low < RETENTION_SALIENT <= estimate.high
        holds = None if unclear else bool(kept[0] < RETENTION_SALIENT)
        slope = evidence.failure.slope.value if evidence.failure is not None else np.nan
        observed = f" The observed slope is {fixed(slope, 2)}." if np.isfinite(slope) else ""
        whole = percent(max(0.0, float(estimated.order_shares[-1])))
        why = (
            f"In '{layer.name}' whole combinations make up {whole} of what distinguishes cells; by kernel theory, a "
            f"readout would keep {percent(kept[0])} of a prediction's size on unseen combinations.{observed}"
        )
        if holds and evidence.composes is True:
            why += " The model composes nevertheless, so its own readout is not such a one."
        if unclear:
            why += " The estimate is too uncertain to say whether that is much; more cells would decide."
        return cls(holds, estimate, means, why, details)


def _some(cells: np.ndarray, max_cells: int, rng: np.random.Generator) -> np.ndarray:
    return (
        cells if len(cells) <= max_cells else cells[np.sort(rng.choice(len(cells), max_cells, replace=False))]
    )


def _ends(interval: np.ndarray) -> list[OverlapKernel]:
    """Kernels at both ends of the interval for whole combinations; the other orders share the rest as estimated."""
    if not np.isfinite(interval).all():
        return []
    kernels = []
    for parts, whole in ((0, 1), (1, 0)):
        shares = np.append(interval[:-1, parts], interval[-1, whole])
        kernels.append(OverlapKernel.by_order(np.maximum(np.append(0.0, shares), 0)))
    return [one for one in kernels if _has_parts(one)]


def _has_parts(kernel: OverlapKernel) -> bool:
    """Whether anything except whole combinations and the constant counts."""
    return bool((kernel.lower().salience.ravel()[1:] > 0).any())


def _shares(layer: Layer) -> list[float | None]:
    return (
        [] if layer.salience is None else [plain_number(one) for one in layer.salience.order_shares.tolist()]
    )
