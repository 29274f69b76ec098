"""What became of the units of layers with weights: shares of reused, rotated and fresh ones, compared with chance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from recombine.metrics.reuse import FATES, REUSED, ROTATED, Fate, match_units
from recombine.report import plain_number


@dataclass(frozen=True)
class UnitShares:
    """How much of a layer's outgoing magnitude its reused, rotated and fresh units carry after finetuning.

    **Attributes:**

    - `shares`: of the summed magnitudes (norm of incoming times norm of outgoing weights), by kind; they add up to 1.
    - `chance`: the same for units whose directions are unrelated to the old ones.
    - `units`, `inputs`: of the layer; for a convolution, channels and the entries of one channel's kernel.
    """

    shares: dict[Fate, float]
    chance: dict[Fate, float]
    units: int
    inputs: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "shares": {fate: plain_number(share) for fate, share in self.shares.items()},
            "chance": {fate: plain_number(share) for fate, share in self.chance.items()},
            "units": self.units,
            "inputs": self.inputs,
        }


def unit_shares(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> dict[str, UnitShares]:
    """Shares for every layer but the last, whose outgoing weights are not part of the model.

    **Arguments:**

    - `before`, `after`: matrices `(inputs, units)` and kernels `(height, width, channels, channels)` from input to
        output; a dense layer behind a convolution has its rows pixel by pixel. The last may differ in its outputs.

    ```python
    >>> import numpy as np
    >>> from recombine.reuse.units import unit_shares
    >>> hidden, readout = np.eye(3, 4), np.array([[1.0], [1.0], [2.0], [0.0]])
    >>> turned = hidden.copy()
    >>> turned[:, 2] = [1.0, 0.0, 0.0]
    >>> found = unit_shares({"hidden": hidden, "out": readout}, {"hidden": turned, "out": readout})
    >>> found["hidden"].shares
    {'reused': 0.5, 'rotated': 0.0, 'fresh': 0.5}

    ```
    """
    names = list(after)
    found = {}
    for name, following in itertools.pairwise(names):
        if name not in before or before[name].shape != after[name].shape:
            continue
        old, new = (_incoming(weights[name]) for weights in (before, after))
        match = match_units(old, new, _outgoing(after[following], units=len(new)))
        found[name] = UnitShares(match.shares, chance_shares(old.shape[1]), *old.shape)
    return found


def chance_shares(inputs: int) -> dict[Fate, float]:
    """Shares for random directions: the cosine of two of them exceeds t in half of `I((n - 1) / 2, 1 / 2; 1 - t²)`.

    ```python
    >>> from recombine.reuse.units import chance_shares
    >>> round(chance_shares(2)["reused"], 3), round(chance_shares(50)["fresh"], 3)  # an arc of 36 degrees; nearly all
    (0.101, 1.0)

    ```
    """

    def beyond(cosine: float) -> float:
        return 0.5 if inputs < 2 else float(betainc((inputs - 1) / 2, 0.5, 1 - cosine**2) / 2)

    reused, known = beyond(REUSED), beyond(ROTATED)
    return dict(zip(FATES, (reused, known - reused, 1 - known), strict=True))


def _incoming(weights: np.ndarray) -> np.ndarray:
    return np.moveaxis(weights, -1, 0).reshape(weights.shape[-1], -1)


def _outgoing(weights: np.ndarray, units: int) -> np.ndarray:
    """`(units, ...)`; a dense layer that reads every pixel has several rows for a channel."""
    if weights.ndim == 2:
        weights = weights.reshape(-1, units, weights.shape[1])
    return np.moveaxis(weights, -2, 0).reshape(units, -1)
