"""The memorisation leak, as forecast: how much of their true size predictions for unseen cells keep.

What a model stores for whole cells does not transfer to cells it has not seen, so predictions for those are too small.
The formula is `recombine.theory.retention`; the leak of a trained model is measured by an audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.advice.coverage import training_cells_by_level
from recombine.advice.forecasts.salience_profile import SalienceProfile
from recombine.advice.thresholds import MIN_RETENTION
from recombine.report import percent
from recombine.spaces.observations import Observations
from recombine.theory import Conjunctions
from recombine.theory.retention import feature_order, uses_exact_kernel


@dataclass(frozen=True)
class LeakForecast:
    """The retention of the cells of interest: the share of their true value that predictions keep.

    **Attributes:**

    - `profile`: whose saliences; `median`, `low`, `high`: of the cells' retention.
    - `order`: the largest conjunctions that count; `None` for all, which small tables allow.
    - `band`: the median for the saliences of random ReLU networks with 1 and with 10 layers, if none were chosen.
    - `partners`: for every factor its levels with the number of training cells that have them, rarest first.
    """

    profile: str
    median: float
    low: float
    high: float
    band: tuple[float, float] | None
    partners: Mapping[str, Sequence[tuple[Any, int]]]
    order: int | None = None

    @property
    def is_large(self) -> bool:
        """Whether predictions shrink so much that something should be done about it."""
        return self.median < MIN_RETENTION

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain values."""
        return {
            "profile": self.profile,
            "retention": {"median": self.median, "low": self.low, "high": self.high},
            "order": self.order,
            "band": None if self.band is None else list(self.band),
            "partners": {
                name: {str(level): number for level, number in levels}
                for name, levels in self.partners.items()
            },
        }

    def sentence(self, saliences: str) -> str:
        """How much predictions shrink, and why; `saliences` says whose representation is assumed."""
        if self.band is not None:
            shallow, deep = self.band
            saliences += f"; {percent(shallow)} with 1 layer, {percent(deep)} with 10"
        coarse = "; single levels only, because there are too many pairs" if self.order == 1 else ""
        only = "only " if self.is_large else ""
        return (
            f"predictions on unseen cells reach {only}about {percent(self.median)} of their true size, because what is "
            f"learned about whole cells does not transfer ({saliences}{coarse})"
        )


def leak_forecast(
    table: Observations, retentions: Sequence[np.ndarray], profile: SalienceProfile, seen: Conjunctions
) -> LeakForecast:
    """Summarises the retention of the cells of interest for the profile's kernel, then for the ends of its band.

    **Arguments:**

    - `seen`: the conjunctions of the training cells.
    """
    chosen, *band = retentions
    exact = uses_exact_kernel(len(table.train), len(chosen))
    return LeakForecast(
        profile.name,
        float(np.median(chosen)),
        float(chosen.min()),
        float(chosen.max()),
        (float(np.median(band[0])), float(np.median(band[1]))) if band else None,
        training_cells_by_level(table),
        None if exact else feature_order(table.train, table.space.shape, seen),
    )
