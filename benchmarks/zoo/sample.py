"""What a kind of model draws: a task with its noise-free targets, and how the model is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.zoo.designs import Design

Predict = Callable[[np.ndarray], np.ndarray]
"""From level indices `(rows, factors)` to labels `(rows,)` or quantities `(rows, outputs)`."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model.

    **Attributes:**

    - `predict`: for any cells.
    - `stored`: for models that average what they stored, the weight `(cells, training rows)` of every training row in
        the prediction for every given cell.
    """

    predict: Predict
    stored: Callable[[np.ndarray], np.ndarray] | None = None


Fit = Callable[[Design, np.ndarray, int], Fitted]
"""From a design, the targets of all its rows (only training rows may be used) and a seed to a trained model."""


@dataclass(frozen=True, eq=False)
class Sample:
    """A task and a way to train a model on it.

    **Attributes:**

    - `clean`: the noise-free target of every cell: labels `(cells,)` or quantities `(cells, outputs)`.
    - `target`: the noisy targets of the rows.
    - `images`: height and width if the outputs are pictures.
    - `varies`: whether two rows of a cell have different inputs, so that predictions differ.
    """

    design: Design
    clean: np.ndarray
    target: np.ndarray
    fit: Fit
    note: str
    images: tuple[int, int] | None = None
    varies: bool = False

    @property
    def kind(self) -> Literal["labels", "quantities"]:
        """What the targets are."""
        return "labels" if self.clean.ndim == 1 else "quantities"


def noisy_numbers(
    rng: np.random.Generator, design: Design, clean: np.ndarray, shares: tuple[float, ...] = (0.0, 0.1, 0.3)
) -> tuple[np.ndarray, str]:
    """Rows with normal noise, whose standard deviation is a share of the targets' own; by output."""
    share = float(rng.choice(shares))
    noise = rng.normal(size=(len(design.cell), clean.shape[1])) * clean.std(axis=0) * share
    return clean[design.cell] + noise, f"noise {share:g}"


def noisy_labels(
    rng: np.random.Generator, design: Design, clean: np.ndarray, shares: tuple[float, ...] = (0.0, 0.1, 0.3)
) -> tuple[np.ndarray, str]:
    """Rows of which a share has another label, drawn at random."""
    share, classes = float(rng.choice(shares)), int(clean.max()) + 1
    labels = clean[design.cell]
    flipped = rng.random(len(labels)) < share
    other = (labels + rng.integers(1, classes, size=len(labels))) % classes
    return np.where(flipped, other, labels), f"{share:.0%} flipped"
