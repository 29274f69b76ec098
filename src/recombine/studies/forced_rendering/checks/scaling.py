"""The check of data scaling (Figure 4c): how much data 90% accuracy needs, as a function of image size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recombine.report import fitted_slope
from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.stripes import (
    KINDS,
    SCALING_SIZES,
    multiples,
    scaling_arm,
    scaling_arms,
)

ENOUGH = 0.9


def points(evidence: Evidence, n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Training images and accuracy `(sizes, seeds)`, within one pixel, of the arms of one image size.

    Accuracy is on whole positions in the hole, or, where nothing is held out, on whole positions everywhere, which
    are never trained on because training positions are real-valued.
    """
    value = "accuracy_untrained" if kind == "everywhere" else "accuracy1_out"
    run = [m for m in multiples(n, kind) if scaling_arm(n, kind, m) in evidence]
    sizes = np.array([m * n + (2 * n if kind == "stripes" else 0) for m in run], dtype=float)
    accuracy = [evidence[scaling_arm(n, kind, m)][value] for m in run]
    return sizes, np.array(accuracy).reshape(len(run), -1)


def needed(sizes: np.ndarray, accuracy: np.ndarray) -> float:
    """The data size at which `ENOUGH` is reached, interpolated in log size; infinite if it never is.

    If the smallest size is already enough, it is returned as an upper bound.
    """
    reached = np.flatnonzero(accuracy >= ENOUGH)
    if not reached.size:
        return float("inf")
    i = int(reached[0])
    if i == 0:
        return float(sizes[0])
    share = (ENOUGH - accuracy[i - 1]) / (accuracy[i] - accuracy[i - 1])
    return float(np.exp(np.log(sizes[i - 1]) + share * np.log(sizes[i] / sizes[i - 1])))


def data_needed(evidence: Evidence, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Image sizes, and the number of training images that each needs `(sizes, seeds)`."""
    run = [n for n in SCALING_SIZES if len(points(evidence, n, kind)[0])]
    values = []
    for n in run:
        sizes, accuracy = points(evidence, n, kind)
        values.append([needed(sizes, column) for column in accuracy.T])
    return np.array(run), np.array(values)


def exponents(sizes: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The exponent of the number of images over N for every seed; NaN if some size was not reached."""
    return np.array([fitted_slope(sizes, own)[0] if np.isfinite(own).all() else np.nan for own in images.T])


def data_scaling(evidence: Evidence) -> Verdict:
    """An exponent is compared with its bound only if 90% was reached at every image size, in every seed."""
    bounds: dict[str, tuple[Any, ...]] = {"stripes": ("<=", 1.5), "alone": (">=", 2.0)}
    slopes = {kind: exponents(*data_needed(evidence, kind)) for kind in KINDS}
    missing = [kind for kind, slope in slopes.items() if not np.isfinite(slope).all()]
    conditions = [
        Condition(f"exponent, {KINDS[kind]}", slope, *(() if kind in missing else bounds.get(kind, ())))
        for kind, slope in slopes.items()
    ]
    notes = [_not_reached(evidence, kind) for kind in missing]
    notes += [note for kind in KINDS if (note := _enough_at_once(evidence, kind))]
    status = [word for name in scaling_arms() for word in evidence[name].status]
    notes.append(f"{status.count('stopped')} of {len(status)} nets reached the required training loss")
    n_seeds = len(evidence[scaling_arms()[0]].seeds)
    verdict = Verdict.of(conditions, n_seeds=n_seeds, note="; ".join(notes))
    if verdict.holds and not bounds.keys().isdisjoint(missing):
        return replace(verdict, holds=None, reason="one of the two exponents does not exist")
    return verdict


def _enough_at_once(evidence: Evidence, kind: str) -> str:
    """Names the sizes at which the smallest set is enough, so that the exponent is only a bound."""
    run = {n: points(evidence, n, kind)[1] for n in SCALING_SIZES}
    sizes = [str(n) for n, accuracy in run.items() if (accuracy[0] >= ENOUGH).any()]
    return f"{KINDS[kind]}: the smallest set is enough at N = {', '.join(sizes)}" if sizes else ""


def _not_reached(evidence: Evidence, kind: str) -> str:
    sizes, images = data_needed(evidence, kind)
    missing = [int(n) for n in sizes[~np.isfinite(images).all(axis=1)]]
    best = max(float(points(evidence, n, kind)[1].max()) for n in missing)
    largest = ", ".join(str(multiples(n, kind)[-1] * n) for n in missing)
    return (
        f"{KINDS[kind]}: {ENOUGH:.0%} is not reached in every seed at N = {', '.join(map(str, missing))} with up to "
        f"{largest} bumps (best {best:.0%})"
    )
