"""The experimental arms: the nine regimes and their controls, linear nets, samples, held-out regions, film rolls."""

from __future__ import annotations

from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity.arms.blocks import block_arms
from recombine.studies.poisson_modularity.arms.compositions import composition_arms
from recombine.studies.poisson_modularity.arms.exact import exact_arms
from recombine.studies.poisson_modularity.arms.film import film_arms
from recombine.studies.poisson_modularity.arms.linear import linear_arms
from recombine.studies.poisson_modularity.arms.samples import sample_arms
from recombine.studies.poisson_modularity.arms.sine import sine_arms
from recombine.studies.study import Arms

GROUPS = (exact_arms, sine_arms, linear_arms, sample_arms, composition_arms, block_arms, film_arms)


def arms(scale: Scale) -> Arms:
    """All arms at a scale."""
    return {name: (trial,) for group in GROUPS for name, trial in group(scale).items()}
