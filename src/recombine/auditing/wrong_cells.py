"""Which cells a model gets wrong: more than noise, and more than nearly all seen cells."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from recombine.auditing.cells import Cells
from recombine.auditing.thresholds import HOPELESS_CELL, SEEN_QUANTILE, WRONG_CELL, WRONG_LABELS

CHI_SQUARE = 2.8
"""The mean of n squared normal numbers of variance 1 is below 1 + 2.8 / sqrt(n) in 95% of cases (n = 1: 3.84)."""


def is_wrong(cells: Cells) -> Bool[np.ndarray, " cells"]:
    """Which cells the model gets wrong.

    Labels: most of the rows are wrong, or with noisy labels, the predicted label is probably not the true one.
    Quantities: the error, beyond the noise of its rows, is above that of nearly all seen cells and above a share of a
    constant's error.
    """
    if cells.measured.outputs.measure.name == "labels":
        if cells.label_noise > 0:
            probable = np.nan_to_num(np.einsum("cu,cu->c", cells.targets, cells.predictions), nan=1.0)
            return probable < 1 - WRONG_LABELS
        return np.nan_to_num(cells.error) > WRONG_LABELS
    known = cells.known & cells.familiar
    if not known.any():
        return np.zeros(len(cells.error), dtype=bool)
    beyond = np.nan_to_num(cells.error) - cells.row_noise
    noise = cells.row_noise * CHI_SQUARE / np.sqrt(np.maximum(cells.rows, 1) * cells.targets.shape[1])
    constant = max(float(cells.error_of_constant[known].mean()) - cells.row_noise, 0.0)
    usual = float(np.quantile(beyond[cells.inside], SEEN_QUANTILE)) if len(cells.inside) else 0.0
    bound = max(min(usual, HOPELESS_CELL * constant), WRONG_CELL * constant)
    return beyond > bound + noise
