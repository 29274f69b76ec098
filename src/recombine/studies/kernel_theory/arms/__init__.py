"""The experimental arms: exact statements, small networks, images, and tests of the forecasts."""

from __future__ import annotations

from recombine.studies.claims import Scale
from recombine.studies.kernel_theory.arms.exact import exact_arms
from recombine.studies.kernel_theory.arms.forecasts import forecast_arms
from recombine.studies.kernel_theory.arms.images import image_arms
from recombine.studies.kernel_theory.arms.networks import network_arms
from recombine.studies.kernel_theory.arms.shared import SEEDS
from recombine.studies.study import Arms


def arms(scale: Scale) -> Arms:
    """All arms at a scale."""
    whole = exact_arms(SEEDS[scale]) | network_arms(scale) | forecast_arms(scale)
    return {**{name: (trial,) for name, trial in whole.items()}, **image_arms(scale)}
