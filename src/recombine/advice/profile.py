"""Whose saliences are assumed: of a named random network, a given kernel, a layer, or the usual ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recombine.errors import InputError
from recombine.theory import OverlapKernel, SalienceEstimate, named_profile

USUAL_PROFILE = "relu:3"
"""Saliences that are assumed if nothing is said: a random ReLU network of three layers."""
FROM_ACTIVITY = "activations"
"""The name of saliences that were estimated from a layer."""
BAND = ("relu:1", "relu:10")
"""The ends of the band that is shown with it."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Saliences that were estimated from activity: `rows` rows of `of` were used (both 0 if nobody said)."""

    found: SalienceEstimate
    rows: int = 0
    of: int = 0


@dataclass(frozen=True, eq=False)
class Profile:
    """A kernel and the name under which it is spoken of; `assumed` if nobody chose it."""

    name: str
    kernel: OverlapKernel
    assumed: bool = False
    estimate: Estimate | None = None

    def band(self) -> list[OverlapKernel]:
        """The kernels at the ends of the band, if the profile is only assumed."""
        return [named_profile(name, self.kernel.factors) for name in BAND] if self.assumed else []


def profile_of(salience: str | OverlapKernel | SalienceEstimate | None, factors: int) -> Profile:
    """The profile that was asked for."""
    kernel = salience.kernel if isinstance(salience, SalienceEstimate) else salience
    if isinstance(kernel, OverlapKernel) and kernel.factors != factors:
        raise InputError("salience", f"a kernel of {kernel.factors} factors", f"one of {factors} factors")
    if isinstance(salience, SalienceEstimate):
        return from_estimate(salience)
    if isinstance(salience, OverlapKernel):
        return Profile("given", salience)
    name = salience or USUAL_PROFILE
    return Profile(name, named_profile(name, factors), assumed=salience is None)


def from_estimate(found: SalienceEstimate, *, rows: int = 0, of: int = 0) -> Profile:
    """The profile of a layer.

    Noise can make a salience fall a little below 0, which no representation has, so forecasts use 0 there.
    """
    kernel = OverlapKernel.from_salience(np.maximum(found.kernel.salience, 0))
    return Profile(FROM_ACTIVITY, kernel, estimate=Estimate(found, rows, of))
