"""How far a trained net is from the limit that gradient descent would reach behind the gates that it has now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.bias.explanations import fit_gates
from recombine.bias.rectified_layer import RectifiedLayer
from recombine.metrics.implicit_bias import (
    balancedness,
    kkt_residual,
    norm_ratio,
    normalised_margin,
)
from recombine.theory import group_norm
from recombine.theory.gated import GatedRows

Array = np.ndarray
State = Literal["at its limit", "on its way", "far from its limit", "not separated", "unknown"]
STATES: tuple[State, ...] = get_args(State)
AT_LIMIT = 1.1
"""Up to this multiple of the smallest norm a net is at its limit: predictions then differ on a few rows at most."""
ON_ITS_WAY = 2.0
"""Up to this multiple it is on its way: half of the largest possible margin is reached."""


@dataclass(frozen=True)
class Distance:
    """A trained net compared with the machine of minimum norm behind its gates.

    - `ratio`: its norm over the smallest one, at equal margins; NaN if a training row is wrong.
    - `margin`, `best_margin`: the smallest output over the training rows, relative to the norm: reached, and possible.
    - `residual`: share of the weights that the gradients of the training rows do not explain (0 at the limit).
    - `imbalance`: of incoming and outgoing weights.
    - `dead`: units that are silent for every training row; `bias_share`: of the outputs, carried by the readout's bias.
    """

    ratio: float
    margin: float
    best_margin: float
    residual: float
    imbalance: float
    dead: int
    bias_share: float

    @property
    def state(self) -> State:
        """How far training is, in words."""
        if np.isnan(self.ratio):
            return "not separated"
        if self.ratio <= AT_LIMIT:
            return "at its limit"
        return "on its way" if self.ratio <= ON_ITS_WAY else "far from its limit"


def distance_to_limit(layer: RectifiedLayer, train: Array, labels: Float[Array, " train"]) -> Distance | None:
    """For nets with two classes whose weights can be read; `None` for others, or if their gates do not separate."""
    found = layer.weights
    if found is None or found.outgoing.shape[1] > 2:
        return None
    one = found.outgoing.shape[1] == 1
    readout = found.outgoing[:, 0] if one else found.outgoing[:, 1] - found.outgoing[:, 0]
    bias = float(found.output_bias[0]) if one else float(found.output_bias[1] - found.output_bias[0])
    x, gates, hidden = layer.inputs[train], layer.gates[train], layer.activities[train]
    alive = gates.any(axis=0)
    # A unit that is silent for every training row has no gradient: training leaves it as it is, and so does its limit.
    incoming, readout, gates, hidden = (
        found.incoming[:, alive],
        readout[alive],
        gates[:, alive],
        hidden[:, alive],
    )
    outputs = hidden @ readout
    size = group_norm(incoming * readout)
    if not size > 0:
        return None
    machine, hard = fit_gates(GatedRows.of(x, gates), labels)
    if not hard:
        return None
    on = gates.astype(np.float64)
    gram = (x @ x.T) * ((on * readout**2) @ on.T) + hidden @ hidden.T
    squared = float((incoming**2).sum() + (readout**2).sum())
    return Distance(
        ratio=norm_ratio(outputs, labels, size, machine.bound),
        margin=normalised_margin(outputs, labels, size),
        best_margin=1 / machine.norm,
        residual=kkt_residual(gram * np.outer(labels, labels), 2 * labels * outputs, squared),
        imbalance=balancedness(incoming.T, readout),
        dead=int((~alive).sum()),
        bias_share=abs(bias) / max(float(np.abs(outputs).mean()) + abs(bias), 1e-300),
    )
