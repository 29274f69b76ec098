"""Superposition: is the output for an unseen cell a mixture of seen outputs that share a level with it?"""

from __future__ import annotations

from functools import partial

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from recombine.auditing.extrapolation import FromSeen
from recombine.auditing.trial import REARRANGEMENTS, Explanation, Trial, best_of, centred, lengths
from recombine.probes.superposition import superposition_image

MOST_MIXED, MIXED_PARTNERS = 48, 12
"""Unseen pictures whose mixtures are looked for, and the errors of other cells that each is tried with."""


def superposition(trial: Trial, seen: FromSeen, wanted: np.ndarray) -> Explanation:
    """A mixture of seen pictures that share a level, with weights of at least 0 and any background.

    Three choices of pictures are tried: for every factor the mean of those that share its level and of those that share
    all others; single pictures that share all levels but one; single pictures that share any. More pictures than half
    of the pixels would fit anything and are not tried. Held against the better of the truth and a blank picture.
    """
    rng = np.random.default_rng(79)
    some = np.sort(rng.permutation(len(wanted))[:MOST_MIXED])
    partners = rng.integers(len(wanted), size=(len(some), MIXED_PARTNERS))
    signs = rng.choice([-1.0, 1.0], size=(len(some), MIXED_PARTNERS, 1))
    wrong = trial.said - trial.truth
    shared = (wanted[some][:, None] == seen.cells[None]).sum(axis=2)
    picks = rng.integers(MIXED_PARTNERS, size=(REARRANGEMENTS, len(some)))
    places, tried = np.arange(len(some)), []
    for choose in (_group_means, partial(_sharing, least=len(seen.sizes) - 1), partial(_sharing, least=1)):
        left = np.full((len(some), 1 + 2 * MIXED_PARTNERS), np.nan)
        for place, cell in enumerate(some):
            pictures = choose(seen, wanted[cell], shared[place])
            if pictures is None:
                break
            others = partners[place]
            moved = trial.truth[cell] + signs[place] * wrong[others]
            left[place] = mixture_residuals(
                pictures, np.concatenate([trial.said[[cell]], moved, trial.said[others]])
            )
        if np.isnan(left).any():
            continue
        nulls = [left[places, start + picks].sum(axis=1) for start in (1, 1 + MIXED_PARTNERS)]
        error = trial.against[some]
        tried.append(trial.judge("superposition", left[:, 0], nulls, error=error, corrected=True))
    return best_of(tried)


def _group_means(
    seen: FromSeen, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"]
) -> Float[np.ndarray, "pictures pixels"]:
    same = seen.cells == cell
    masks = [*same.T, *(shared - same[:, axis] == len(cell) - 1 for axis in range(len(cell)))]
    return np.stack([seen.values[mask].mean(axis=0) for mask in masks if mask.any()])


def _sharing(
    seen: FromSeen, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"], *, least: int
) -> Float[np.ndarray, "pictures pixels"] | None:
    """Single pictures that share enough levels; `None` if they are none, or too many for the pixels."""
    chosen = np.flatnonzero(shared >= least)
    return seen.values[chosen] if 0 < len(chosen) <= seen.values.shape[1] // 2 else None


def mixture_residuals(
    pictures: Float[np.ndarray, "pictures pixels"], wanted: Float[np.ndarray, "wanted pixels"]
) -> Float[np.ndarray, " wanted"]:
    """Squared distance of every wanted picture to the mixtures of pictures, backgrounds left out of account."""
    pictures, wanted = centred(pictures), centred(wanted)
    basis, triangle = np.linalg.qr(pictures.T)
    inside = wanted @ basis
    outside = lengths(wanted) - lengths(inside)
    return np.array(
        [max(0.0, rest) + nnls(triangle, one)[1] ** 2 for one, rest in zip(inside, outside, strict=True)]
    )


def superposed(
    seen: FromSeen, wanted: Int[np.ndarray, "cells factors"]
) -> Float[np.ndarray, "cells outputs"]:
    """The superposition of seen outputs for every wanted cell; see `recombine.probes.superposition_image`."""
    signals = np.concatenate([seen.values, np.zeros((len(wanted), seen.values.shape[1]))])
    levels = np.concatenate([seen.cells, wanted])
    return superposition_image(signals, levels, np.arange(len(levels)) < len(seen.cells))[len(seen.cells) :]
