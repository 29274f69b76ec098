"""From energies to shares: how much of a derivative lies across slots, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.intervals import percentile_interval
from recombine.metrics.interaction.energies import Energies


@dataclass(frozen=True)
class Share:
    """The cross-slot share of one order: q1 (order 1) or r_m (order m), from 0 to 1.

    `low` to `high` covers 95% of resamples of the latents; `error` is the standard error over latents and random
    directions, `probe_error` that over random directions alone. `cross` and `within` are the energies X_m and W_m.
    The value is NaN if the decoder has no derivatives of that order; `resolution` is what rounding alone can produce.
    """

    name: str
    value: float
    low: float
    high: float
    error: float
    probe_error: float
    cross: float
    within: float
    resolution: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, `None` for what is not defined."""
        return {key: plain_value(value) for key, value in vars(self).items()}

    @property
    def text(self) -> str:
        """The value with its interval; a dash if there are no derivatives of that order."""
        if np.isnan(self.value):
            return "–"
        interval = "" if np.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{interval}"

    def __str__(self) -> str:
        return f"{self.name} {self.text}"


def plain_value(value: Any) -> Any:
    """A value for JSON: `None` instead of NaN, whole numbers and everything else as they are."""
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return int(value) if isinstance(value, np.integer) else value


def share_of(cross: Any, total: Any, order: int, slots: int) -> Any:
    """q1 = X / ((1 - 1/K)(X + W)) for order 1, r_m = sqrt(X / (X + W)) above; NaN where X + W is 0.

    ```python
    >>> from recombine.metrics.interaction.shares import share_of
    >>> float(share_of(1.0, 2.0, order=1, slots=2)), float(share_of(1.0, 4.0, order=2, slots=2))
    (1.0, 0.5)

    ```
    """
    cross, total = np.asarray(cross, dtype=np.float64), np.asarray(total, dtype=np.float64)
    ratio = np.divide(cross, total, out=np.full(np.shape(total), np.nan), where=total > 0)
    return ratio / (1 - 1 / slots) if order == 1 else np.sqrt(ratio)


def summarise_share(
    energies: Energies,
    slots: int,
    *,
    exact: bool,
    floor: float,
    relative: float,
    resamples: Float[np.ndarray, "n samples"],
) -> tuple[Share, Float[np.ndarray, " n"]]:
    """The share of one order, and its value in every resample of the latents.

    **Arguments:**

    - `exact`: whether the energies come without random directions.
    - `floor`: energies up to this are rounding error.
    - `relative`: the relative rounding error of a derivative.
    - `resamples`: how often every sample occurs in every resample.
    """
    crossing, order = energies.crossing, energies.order
    x, t = energies.values[..., crossing].sum(axis=-1), energies.values.sum(axis=-1)  # (samples, probes)
    samples, probes = x.shape
    cross, total = float(x.mean()), float(t.mean())
    name = f"{'q' if order == 1 else 'r'}{order}"
    if total <= floor:
        empty = Share(name, np.nan, np.nan, np.nan, np.nan, np.nan, 0.0, 0.0, np.nan)
        return empty, np.full(len(resamples), np.nan)
    value = float(share_of(cross, total, order, slots))
    slope = 1 / (1 - 1 / slots) if order == 1 else (0.5 / value if value > 0 else 0.0)
    rest = (x - cross / total * t) / total
    own = rest.mean(axis=1)
    error = slope * np.sqrt((own**2).sum() / (samples * (samples - 1))) if samples > 1 else np.nan
    if exact or order == 1:
        probe_error = 0.0
    elif probes == 1:
        probe_error = np.nan
    else:
        probe_error = slope * np.sqrt((rest.var(axis=1, ddof=1) / probes).sum()) / samples
    again = share_of(resamples @ x.mean(axis=1), resamples @ t.mean(axis=1), order, slots)
    low, high = np.nan, np.nan
    if samples > 1:
        low, high = percentile_interval(again)
    resolution = relative + float(np.sqrt(floor / total))
    share = Share(name, value, low, high, float(error), float(probe_error), cross, total - cross, resolution)
    return share, again


def estimated_orders(
    values: Float[np.ndarray, "n orders"], thresholds: Float[np.ndarray, " orders"]
) -> Float[np.ndarray, " n"]:
    """The smallest order n whose condition holds: column n up to its threshold (or undefined); else their number."""
    small = ~(values > thresholds)
    return np.where(small.any(axis=1), small.argmax(axis=1), values.shape[1])
