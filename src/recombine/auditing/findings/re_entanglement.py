"""Are factors entangled in some layer although they can still be decoded from it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.internals.layer_measures import Layer, Layers
from recombine.auditing.thresholds import (
    FACTORISATION_FALL,
    FACTORISATION_FALL_SURELY,
    FACTORISATION_SLACK,
    MIN_DECODED_CELLS,
    READABLE,
)
from recombine.intervals import UNKNOWN, resampled_estimate
from recombine.report import fixed, percent, plain_number

NO_NEIGHBOURS = "No cell of the table has neighbours in every factor; more cells with rows would decide."


@final
@dataclass(frozen=True)
class ReEntanglementFinding(Finding):
    """Measured by the largest fall of the factorisation score to a layer from which all factors can be decoded."""

    id: ClassVar[str] = "re_entanglement"
    title: ClassVar[str] = "re-entanglement"
    question: ClassVar[str] = (
        "Are factors entangled in some layer although they can still be decoded from it?"
    )

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        layers, means = evidence.layers, "fall of the factorisation score"
        if layers is None or not layers.hidden:
            askable, why = evidence.no_layers
            return cls.unclear(why, means) if askable else cls.not_applicable(why, means)
        scored = [one for one in layers if one.name != "output" and np.isfinite(one.factorisation.value)]
        hidden = [one for one in scored if one.name != "input"]
        if not hidden:
            return cls.unclear(NO_NEIGHBOURS, means)
        worst = _largest_fall(scored, hidden)
        if worst is None:
            unread = [layer for layer in hidden if not (layer.readable >= READABLE).all()]
            if np.isnan(hidden[0].readable).any():
                why = (
                    f"Too few cells to tell whether factors can be decoded ({MIN_DECODED_CELLS} are needed)."
                )
                return cls.unclear(why, means)
            if unread and len(hidden) > 1:
                which = f"from '{unread[0].name}' {_least_readable(unread[0], evidence.names)}"
                why = f"Not all factors can be decoded from the layers ({which}), so entanglement cannot be judged."
                return cls(False, UNKNOWN, means, why, _curve(layers))
            return cls.unclear("Needs two layers, or inputs and a layer, to compare scores.", means)
        fall, reference, layer = worst
        draws = reference.factorisation_draws - layer.factorisation_draws
        estimate = resampled_estimate(fall, draws, len(layers.measured))
        before, after = reference.factorisation.value, layer.factorisation.value
        from_to = f"{fixed(before, 2)} in '{reference.name}' to {fixed(after, 2)} in '{layer.name}'"
        narrow = (
            after >= random_factorisation(min(float(layer.units), reference.dimension)) - FACTORISATION_SLACK
        )
        as_targets = after >= layers.targets.value - FACTORISATION_SLACK  # false if the targets have no score
        falls = fall >= FACTORISATION_FALL and not (narrow or as_targets)
        if falls and not estimate.low >= FACTORISATION_FALL_SURELY:  # NaN without an interval
            why = f"The factorisation score falls from {from_to}, but on too few cells; more would decide."
            return cls(None, estimate, means, why, _curve(layers))
        if falls:
            why = (
                f"All factors can be decoded from '{layer.name}' ({_least_readable(layer, evidence.names)}), but they "
                f"no longer move it in independent directions: the factorisation score falls from {from_to} (1 is "
                "independent, 0.5 is the same direction)."
            )
        else:
            allowed = "so few dimensions allow" if narrow else "the targets need"
            as_far = f" as far as {allowed}" if fall >= FACTORISATION_FALL else ""
            why = (
                f"Where factors can be decoded, they stay independent{as_far}: the score goes from {from_to}."
            )
        return cls(falls, estimate, means, why, _curve(layers) | {"layer": layer.name})


def _largest_fall(scored: Sequence[Layer], hidden: Sequence[Layer]) -> tuple[float, Layer, Layer] | None:
    """The fall, the best layer before it, and the layer; `None` if no layer after another has all factors."""
    worst: tuple[float, Layer, Layer] | None = None
    for layer in hidden:
        earlier = scored[: scored.index(layer)]
        if not earlier or not (layer.readable >= READABLE).all():
            continue
        reference = max(earlier, key=lambda one: one.factorisation.value)
        fall = reference.factorisation.value - layer.factorisation.value
        if worst is None or fall > worst[0]:
            worst = (fall, reference, layer)
    return worst


def random_factorisation(dimension: float) -> float:
    """The factorisation score of random directions in d dimensions: 1 - E|cos| / 2, with E|cos| = sqrt(2 / (pi d)).

    ```python
    >>> from recombine.auditing.findings.re_entanglement import random_factorisation
    >>> [round(random_factorisation(d), 2) for d in (2, 8, 512)]
    [0.72, 0.86, 0.98]

    ```
    """
    return 1 - 0.5 * float(np.sqrt(2 / (np.pi * max(dimension, 1.0))))


def _least_readable(layer: Layer, names: Sequence[str]) -> str:
    worst = int(np.argmin(layer.readable))
    return f"least {names[worst]}, to {percent(max(0.0, float(layer.readable[worst])))}"


def _curve(layers: Layers) -> dict[str, Any]:
    return {
        "layers": [layer.name for layer in layers],
        "factorisation": [plain_number(layer.factorisation.value) for layer in layers],
        "readable": [[plain_number(float(one)) for one in layer.readable] for layer in layers],
    }
