"""What scores and ranked lists say beyond the first label: calibration, and whether the target is among the first k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from recombine.auditing.cells import Cells
from recombine.auditing.label_reading import label_name
from recombine.auditing.outputs import Outputs
from recombine.auditing.probabilities.calibration import Calibration, calibrate
from recombine.auditing.probabilities.class_scores import class_scores
from recombine.auditing.probabilities.top_k import TopK, top_k_accuracy
from recombine.errors import InputError
from recombine.spaces.observations import Observations

MAX_RANKED_LABELS = 1_000
"""Labels of one ranked list; there are not more classes."""


def ranked_lists(field: str, values: Any) -> np.ndarray | None:
    """Lists of labels, best first, as an array `(rows, longest)` padded with `None`; `None` if it is something else.

    Lists of numbers are scores or quantities, so only lists with text are ranked labels.

    ```python
    >>> from recombine.auditing.probabilities.score_measures import ranked_lists
    >>> ranked_lists("prediction", [["cat", "dog"], ["fox"]]).tolist()
    [['cat', 'dog'], ['fox', None]]

    ```
    """
    if isinstance(values, pl.Series) and values.dtype.is_nested():
        values = values.to_list()
    if isinstance(values, np.ndarray) and values.dtype.kind in "OUT":
        values = values.tolist()
    if not isinstance(values, list | tuple) or not values:
        return None
    if not all(isinstance(one, list | tuple | np.ndarray) for one in values):
        return None
    lists = [list(one) for one in values]
    if not any(isinstance(label, str) for one in lists for label in one[:1]):
        return None
    for row, one in enumerate(lists, start=1):
        if not one or one[0] is None:
            raise InputError(
                field, f"an empty list in row {row}", "at least one label in every row, best first"
            )
        if len(one) > MAX_RANKED_LABELS:
            got = f"{len(one):,} labels in row {row}"
            raise InputError(field, got, f"at most {MAX_RANKED_LABELS:,}")
        if not all(label is None or isinstance(label, str | int | float) for label in one):
            raise InputError(field, f"a list of other things in row {row}", "labels, best first")
    ranked = np.full((len(lists), max(map(len, lists))), None, dtype=object)
    for row, one in enumerate(lists):
        ranked[row, : len(one)] = one
    return ranked


def is_ranked(prediction: np.ndarray | None) -> bool:
    """Whether predictions are ranked lists, as `ranked_lists` returns them."""
    return prediction is not None and prediction.ndim == 2 and prediction.dtype == object


def measure_scores(
    table: Observations,
    cells: Cells,
    outputs: Outputs,
    prediction: np.ndarray,
    top_k: Sequence[int] | None,
    *,
    seed: int = 0,
) -> tuple[Calibration | None, tuple[TopK, ...]]:
    """Calibration and top-k accuracy; nothing if predictions are single labels, or quantities."""
    if outputs.kind == "classification" and outputs.known.any():
        if is_ranked(prediction):
            ranks = _ranks_in_lists(prediction, outputs)
            classes, length = outputs.targets.shape[1], prediction.shape[1]
            shown = top_k_accuracy(table, cells, outputs, ranks, top_k, classes=classes, ranked=length)
            return None, shown
        scores = class_scores(prediction, outputs)
        if scores is not None:
            calibration = calibrate(table, cells, outputs, scores, seed=seed)
            if scores.values.ndim == 1:
                return calibration, ()
            ranks = scores.ranks()
            return calibration, top_k_accuracy(table, cells, outputs, ranks, top_k, classes=scores.classes)
    if top_k is not None:
        expected = "predictions that are scores (rows, classes) of labels, or ranked lists of labels"
        raise InputError("top_k", list(top_k), expected)
    return None, ()


def _ranks_in_lists(prediction: np.ndarray, outputs: Outputs) -> Int[np.ndarray, " rows"]:
    """The place of every target in its row's list; one beyond the longest list if it is not there."""
    longest = prediction.shape[1]
    targets = [outputs.classes[number] for number in outputs.targets.argmax(axis=1).tolist()]
    text = isinstance(outputs.classes[0], str)
    ranks = np.full(len(prediction), longest + 1)
    for row, (labels, target) in enumerate(zip(prediction.tolist(), targets, strict=True)):
        for place, label in enumerate(labels, start=1):
            if label is not None and (str(label) if text else label_name(label)) == target:
                ranks[row] = place
                break
    return ranks
