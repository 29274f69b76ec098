"""Quantities that checks, tables and figures compute from an arm."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from recombine.studies.claims import Arm

FITS = 0.999
"""A decoder of vectors fits if its reconstruction R² is at least this."""


def mean(arm: Arm, name: str) -> float:
    """The mean over the seeds that have a value."""
    return float(np.nanmean(arm[name]))


def fits(arm: Arm) -> Bool[np.ndarray, " seeds"]:
    """Which nets reconstruct well enough for the theorems to apply."""
    values: np.ndarray = arm["fit_r2"] >= FITS
    return values


def of_fitting(arm: Arm, name: str) -> Float[np.ndarray, " some"]:
    """A value for the nets that fit; NaN if none does."""
    values: np.ndarray = arm[name][fits(arm)]
    return values if len(values) else np.array([np.nan])


def collapsed(arm: Arm) -> Bool[np.ndarray, " seeds"]:
    """Which nets have all objects in one slot: pixels depend on a single slot, the same for every object."""
    values: np.ndarray = (arm["jis"] >= 0.7) & (arm["j_ari"] < 0.2)
    return values
