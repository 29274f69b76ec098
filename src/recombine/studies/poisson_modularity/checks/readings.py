"""Quantities that several checks and figures compute from an arm."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from recombine.studies.claims import Arm, Condition, Evidence
from recombine.studies.poisson_modularity.arms.samples import COUNTS, SIZES, sample_arm
from recombine.studies.poisson_modularity.arms.shared import MODULES
from recombine.studies.poisson_modularity.arms.sine import STRENGTHS, strength_arm
from recombine.studies.poisson_modularity.module_probes import SHIFTS

MODULAR = 0.98
"""A net counts as modular if at least this share of squared weight is inside modules, in its worst layer."""
TARGET = "WA"
"""The regime to whose task loss others are matched."""


def worst_in_block(arm: Arm) -> np.ndarray:
    """The share of squared weight inside modules in the worst layer, for every seed."""
    return arm["in_block"].min(axis=1)


def last_eigenvalues(arm: Arm, name: str = "spectra", modules: int = MODULES) -> np.ndarray:
    """The K-th Laplacian eigenvalue of every layer, for every seed: near 0 if there are K modules."""
    return arm[name][:, :, modules - 1]


def other_outputs(arm: Arm, name: str) -> np.ndarray:
    """The mean error over all outputs but the first."""
    return arm[name][..., 1:].mean(axis=-1)


def shift_index(size: float) -> int:
    """The index of a shift in `shift_error`."""
    return int(np.argmin(np.abs(np.array((0.0, *SHIFTS)) - size)))


def relative_to(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Every seed of one arm divided by the median of another."""
    return values / np.median(others)


def median(values: np.ndarray) -> float:
    """The median over the seeds that have a value."""
    return float(np.nanmedian(values))


def in_order(label: str, values: dict[str, float]) -> list[Condition]:
    """Conditions that every entry is larger than the next."""
    names = list(values)
    return [Condition(f"{label}, {a} minus {b}", values[a] - values[b], ">", 0) for a, b in pairwise(names)]


def within(label: str, values: np.ndarray, low: float, high: float) -> list[Condition]:
    """Conditions for a lower and an upper bound."""
    return [Condition(label, values, ">=", low), Condition(label, values, "<=", high)]


def samples_needed(evidence: Evidence, modules: int, law: str) -> float:
    """The fewest samples with which the median net is modular; NaN if none of those tried is enough."""
    for samples in SIZES:
        if median(worst_in_block(evidence[sample_arm(modules, samples, law)])) >= MODULAR:
            return float(samples)
    return float("nan")


def growth(needed: dict[int, float]) -> float:
    """The factor by which the samples needed grow per module, from a linear fit to their logarithms."""
    if not np.isfinite(list(needed.values())).all():
        return float("nan")
    slope = np.polyfit(list(needed), np.log(list(needed.values())), 1)[0]
    return float(np.exp(slope))


def protocol(evidence: Evidence) -> dict[str, dict[int, float]]:
    """Samples needed by number of modules: standard frequencies, low ones, and the published mixture of the two."""
    usual, low = ({k: samples_needed(evidence, k, law) for k in COUNTS} for law in ("usual", "low"))
    return {"usual": usual, "low": low, "mixed": {k: (usual if k <= 4 else low)[k] for k in COUNTS}}


def matched(evidence: Evidence) -> dict[str, str]:
    """For every family of regularisers, the arm whose training loss is closest to that of weighted activity."""
    target = np.log(median(evidence[TARGET]["mse_train"]))
    chosen = {}
    for family, strengths in STRENGTHS.items():
        arms = [strength_arm(family, strength) for strength in strengths]
        chosen[family] = min(arms, key=lambda arm: abs(np.log(median(evidence[arm]["mse_train"])) - target))
    return chosen
