"""Superposition: a mixture of seen images that share a level with the unseen one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, final

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import nnls

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of, centred
from recombine.auditing.seen_cells import SeenCells
from recombine.auditing.thresholds import MAX_MIXED_IMAGES, MIXTURE_PARTNERS, PERMUTATIONS
from recombine.metrics.superposition import superposition_image


@final
class Superposition(Rule):
    """A mixture of seen images that share a level, with non-negative weights and any background.

    Three choices of images are tried: for every factor, the mean of those that share its level and of those that share
    all others; single images that share all levels but one; single images that share any. More images than half of the
    pixels would fit anything and are not tried. The denominator is the distance to the target or to a blank image.
    """

    name: ClassVar[str] = "superposition"
    rank: ClassVar[float] = 6
    finding: ClassVar[str] = "superposition"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        if not test.images:
            return
        seen, unseen = test.seen, test.unseen
        rng = np.random.default_rng(79)
        some = np.sort(rng.permutation(len(unseen))[:MAX_MIXED_IMAGES])
        partners = rng.integers(len(unseen), size=(len(some), MIXTURE_PARTNERS))
        signs = rng.choice([-1.0, 1.0], size=(len(some), MIXTURE_PARTNERS, 1))
        error = test.predictions - test.targets
        shared = (unseen[some][:, None] == seen.cells[None]).sum(axis=2)
        picks = rng.integers(MIXTURE_PARTNERS, size=(PERMUTATIONS, len(some)))
        index, results = np.arange(len(some)), []
        choices = (
            _group_means,
            partial(_sharing, min_shared=len(seen.sizes) - 1),
            partial(_sharing, min_shared=1),
        )
        for choose in choices:
            # columns: the cell's own prediction, then with errors of other cells, then the predictions of other cells
            residual = np.full((len(some), 1 + 2 * MIXTURE_PARTNERS), np.nan)
            for row, cell in enumerate(some):
                images = choose(seen, unseen[cell], shared[row])
                if images is None:
                    break
                others = partners[row]
                moved = test.targets[cell] + signs[row] * error[others]
                outputs = np.concatenate([test.predictions[[cell]], moved, test.predictions[others]])
                residual[row] = mixture_residuals(images, outputs)
            if np.isnan(residual).any():
                continue
            permuted = [residual[index, start + picks].sum(axis=1) for start in (1, 1 + MIXTURE_PARTNERS)]
            reference = test.reference_error[some]
            results.append(test.evaluate(self, residual[:, 0], permuted, error=reference, corrected=True))
        yield best_of(results)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return "It draws unseen combinations as sums of seen outputs that share a level."


def _group_means(
    seen: SeenCells, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"]
) -> Float[np.ndarray, "images pixels"]:
    same = seen.cells == cell
    masks = [*same.T, *(shared - same[:, axis] == len(cell) - 1 for axis in range(len(cell)))]
    return np.stack([seen.values[mask].mean(axis=0) for mask in masks if mask.any()])


def _sharing(
    seen: SeenCells, cell: Int[np.ndarray, " factors"], shared: Int[np.ndarray, " seen"], *, min_shared: int
) -> Float[np.ndarray, "images pixels"] | None:
    """Single images that share enough levels; `None` if there are none, or too many for the pixels."""
    chosen = np.flatnonzero(shared >= min_shared)
    return seen.values[chosen] if 0 < len(chosen) <= seen.values.shape[1] // 2 else None


def mixture_residuals(
    images: Float[np.ndarray, "images pixels"], outputs: Float[np.ndarray, "outputs pixels"]
) -> Float[np.ndarray, " outputs"]:
    """The squared distance of every output to the closest non-negative mixture of images, whatever the backgrounds.

    Only the part of an output inside the span of the images needs the non-negative least squares; what is outside
    counts in full.
    """
    images, outputs = centred(images), centred(outputs)
    basis, triangle = np.linalg.qr(images.T)
    inside = outputs @ basis
    outside = squared_lengths(outputs) - squared_lengths(inside)
    return np.array(
        [max(0.0, rest) + nnls(triangle, one)[1] ** 2 for one, rest in zip(inside, outside, strict=True)]
    )


def superposed(
    seen: SeenCells, cells: Int[np.ndarray, "cells factors"]
) -> Float[np.ndarray, "cells outputs"]:
    """The superposition of seen outputs for every cell; see [`recombine.metrics.superposition_image`][]."""
    signals = np.concatenate([seen.values, np.zeros((len(cells), seen.values.shape[1]))])
    levels = np.concatenate([seen.cells, cells])
    return superposition_image(signals, levels, np.arange(len(levels)) < len(seen.cells))[len(seen.cells) :]
