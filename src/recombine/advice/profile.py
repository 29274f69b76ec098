"""Whose saliences are assumed: of a named random network, a given kernel, or the usual ones."""

from __future__ import annotations

from dataclasses import dataclass

from recombine.errors import InputError
from recombine.theory import OverlapKernel, named_profile

USUAL_PROFILE = "relu:3"
"""Saliences that are assumed if nothing is said: a random ReLU network of three layers."""
BAND = ("relu:1", "relu:10")
"""The ends of the band that is shown with it."""


@dataclass(frozen=True, eq=False)
class Profile:
    """A kernel and the name under which it is spoken of; `assumed` if nobody chose it."""

    name: str
    kernel: OverlapKernel
    assumed: bool = False

    def band(self) -> list[OverlapKernel]:
        """The kernels at the ends of the band, if the profile is only assumed."""
        return [named_profile(name, self.kernel.factors) for name in BAND] if self.assumed else []


def profile_of(salience: str | OverlapKernel | None, factors: int) -> Profile:
    """The profile that was asked for."""
    if isinstance(salience, OverlapKernel):
        if salience.factors != factors:
            raise InputError(
                "salience", f"a kernel of {salience.factors} factors", f"one of {factors} factors"
            )
        return Profile("given", salience)
    name = salience or USUAL_PROFILE
    return Profile(name, named_profile(name, factors), assumed=salience is None)
