"""What checks, tables and figures read off an arm."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from recombine.studies.claims import Arm

FITS = 0.999
"""R² of reconstruction from which on a decoder of vectors fits."""


def mean(arm: Arm, name: str) -> float:
    """The mean over seeds that are there."""
    return float(np.nanmean(arm[name]))


def fits(arm: Arm) -> Bool[np.ndarray, " seeds"]:
    """Which nets reconstruct so well that the theorems speak of them."""
    found: np.ndarray = arm["fit_r2"] >= FITS
    return found


def of_fitting(arm: Arm, name: str) -> Float[np.ndarray, " some"]:
    """A value of the nets that fit; NaN if none does."""
    found: np.ndarray = arm[name][fits(arm)]
    return found if len(found) else np.array([np.nan])


def collapsed(arm: Arm) -> Bool[np.ndarray, " seeds"]:
    """Which nets hold all objects in one slot: pixels depend on a single slot, the same for every object."""
    found: np.ndarray = (arm["jis"] >= 0.7) & (arm["j_ari"] < 0.2)
    return found
