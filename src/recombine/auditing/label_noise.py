"""Wrong labels: how many there are, from rows of the same cell, and what each cell's label is in spite of them.

A label that depends on the cell is the same in all of its rows, so rows of one cell that disagree show noise. If every
label is replaced with probability e, by any other of K classes, two rows of a cell agree with probability
`(1 - e)² + e² / (K - 1)`, from which e follows. With it, the rows of a cell vote: the probability of every class, given
the labels that occur, replaces their frequencies.

Rows may also disagree because the label depends on something that is not among the factors. A model that knows it
predicts the label of a row better than the labels of other rows of the cell, also where it was not trained; then
disagreement is not noise.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import KNOWN_DISAGREEMENT, MIN_REPLICATES


def label_noise(
    outputs: Outputs,
    cell_index: Int[np.ndarray, " rows"],
    trained: Bool[np.ndarray, " rows"],
) -> float:
    """The share of labels that are wrong; 0 for quantities, NaN if no cell has several rows.

    **Arguments:**

    - `trained`: training rows, which a model may know by heart.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.label_noise import label_noise
    >>> from recombine.auditing.outputs import Outputs
    >>> rng = np.random.default_rng(0)
    >>> cell = np.repeat(np.arange(200), 5)
    >>> label = np.where(rng.random(1000) < 0.2, 1 - cell % 2, cell % 2)
    >>> outputs = Outputs("classification", np.eye(2)[label], np.eye(2)[cell % 2], np.ones(1000, bool), (), (0, 1), ())
    >>> round(label_noise(outputs, cell, np.zeros(1000, bool)), 1)
    0.2

    ```
    """
    if outputs.kind == "regression":
        return 0.0
    labels, answers = (x.argmax(axis=1) for x in (outputs.targets, outputs.predictions))
    disagreement, free = _disagreement(labels, labels, cell_index, outputs.known)
    if free < MIN_REPLICATES:
        return float("nan")
    if disagreement <= 0 or _knows_rows(labels, answers, cell_index, outputs.known & ~trained):
        return 0.0
    classes = outputs.targets.shape[1]
    worst = (classes - 1) / classes
    return float(worst * (1 - np.sqrt(max(0.0, 1 - disagreement / worst))))


def _disagreement(
    ours: Int[np.ndarray, " rows"],
    theirs: Int[np.ndarray, " rows"],
    cell_index: Int[np.ndarray, " rows"],
    counted: Bool[np.ndarray, " rows"],
) -> tuple[float, int]:
    """How often our label of a row differs from theirs of another row in the same cell, over rows with others; and how
    many rows there are beyond the first of their cell."""
    one, other, cell = ours[counted], theirs[counted], cell_index[counted]
    rows = np.bincount(cell)
    free = int(np.maximum(rows - 1, 0).sum())
    if not free:
        return 0.0, 0
    classes = int(max(one.max(), other.max())) + 1
    codes, counts = np.unique(cell * classes + other, return_counts=True)
    asked = cell * classes + one
    place = np.minimum(np.searchsorted(codes, asked), len(codes) - 1)
    agree = np.where(codes[place] == asked, counts[place], 0) - (one == other)
    several = rows[cell] > 1
    return float(1 - np.mean(agree[several] / (rows[cell] - 1)[several])), free


def _knows_rows(
    labels: Int[np.ndarray, " rows"],
    answers: Int[np.ndarray, " rows"],
    cell_index: Int[np.ndarray, " rows"],
    fresh: Bool[np.ndarray, " rows"],
) -> bool:
    """Whether predictions for new rows follow the labels of the rows themselves, not only those of their cells."""
    elsewhere, free = _disagreement(answers, labels, cell_index, fresh)
    if free < MIN_REPLICATES:
        return False
    several = fresh & (np.bincount(cell_index[fresh], minlength=int(cell_index.max()) + 1)[cell_index] > 1)
    wrong = float(np.mean(answers[several] != labels[several]))
    own, _ = _disagreement(labels, labels, cell_index, fresh)
    luck = 2 * np.sqrt(own * (1 - own) / max(1, int(several.sum())))  # two standard errors
    return bool(elsewhere - wrong > max(KNOWN_DISAGREEMENT * own, luck))


def voted(
    votes: Float[np.ndarray, "cells classes"], rows: Int[np.ndarray, " cells"], noise: float
) -> Float[np.ndarray, "cells classes"]:
    """The probability of every class in every cell, from shares of labels among its rows (and over all cells).

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.label_noise import voted
    >>> voted(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([4, 4]), 0.2).round(3).tolist()  # three against one
    [[0.941, 0.059], [0.059, 0.941]]

    ```
    """
    known = np.isfinite(votes).all(axis=1)
    scores = np.where(known[:, None], votes, 0.0)
    common = scores.sum(axis=0) / known.sum() if known.any() else np.ones(votes.shape[1])
    odds = np.log((1 - noise) * (votes.shape[1] - 1) / noise)
    scores *= odds * rows[:, None]  # in place, because there may be many cells and classes
    scores += np.log(np.maximum(common, 1e-12))
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= weights.sum(axis=1, keepdims=True)
    weights[~known] = np.nan
    return weights
