"""Does a layer give unseen combinations more or less volume than seen ones?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.findings.re_entanglement import NO_NEIGHBOURS
from recombine.auditing.internals.layer_measures import Layer
from recombine.auditing.thresholds import WARPED, WARPED_SURELY
from recombine.intervals import Estimate, resampled_estimate
from recombine.report import plain_number


@final
@dataclass(frozen=True)
class WarpedGeometryFinding(Finding):
    """Measured by the volume gap of the layer in which it is largest, relative to the input's."""

    id: ClassVar[str] = "warped_geometry"
    title: ClassVar[str] = "warped geometry"
    question: ClassVar[str] = "Does a layer give unseen combinations more or less volume than seen ones?"

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        means = "log10 of the volume of unseen cells over that of seen cells, relative to the input"
        layers = evidence.layers
        if layers is None or not layers.hidden:
            askable, why = evidence.no_layers
            return cls.unclear(why, means) if askable else cls.not_applicable(why, means)
        hidden = [layer for layer in layers.hidden if np.isfinite(layer.volume_gap.value)]
        if not hidden:
            return cls.unclear(NO_NEIGHBOURS, means)
        first = layers.layers[0]
        base = first if first.name == "input" and np.isfinite(first.volume_gap.value) else None
        n = min(int(layers.measured_seen.sum()), int((~layers.measured_seen).sum()))
        gaps = {layer.name: _gap(layer, base, n) for layer in hidden}
        name = max(gaps, key=lambda one: abs(gaps[one].value))
        worst = gaps[name]
        size = abs(worst.value)
        surely = min(abs(worst.low), abs(worst.high)) if worst.low * worst.high > 0 else 0.0
        details = {"layer": name, "gaps": {key: plain_number(one.value) for key, one in gaps.items()}}
        times = f"{10**size:.1f} times {'the' if worst.value > 0 else 'less'} volume"
        than = "of" if worst.value > 0 else "than"
        if size >= WARPED and surely >= WARPED_SURELY:
            why = (
                f"Layer '{name}' gives unseen combinations {times} {than} seen ones: it was bent to fit the training "
                "cells."
            )
            return cls(True, worst, means, why, details)
        if size >= WARPED:
            why = f"Layer '{name}' seems to give unseen combinations {times} {than} seen ones; more cells would decide."
            return cls(None, worst, means, why, details)
        why = (
            "Relative to the input, every layer gives unseen combinations about the same volume as seen ones: the "
            f"extreme is {10**worst.value:.2f} times, in '{name}' (warped: {10**WARPED:.2g} or {10**-WARPED:.1g})."
        )
        return cls(False, worst, means, why, details)


def _gap(layer: Layer, base: Layer | None, n: int) -> Estimate:
    """The volume gap relative to the input's."""
    own, draws = layer.volume_gap.value, layer.volume_gap_draws
    if base is None:
        return resampled_estimate(own, draws, n)
    return resampled_estimate(own - base.volume_gap.value, draws - base.volume_gap_draws, n)
