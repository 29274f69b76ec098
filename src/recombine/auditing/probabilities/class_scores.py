"""Scores of classes, next to the labels that they were reduced to: are they probabilities, and how high is the target?

The user's array is used as it is; whatever needs another form of it goes through its rows in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import PROBABILITY_SLACK

BLOCK = 2**22
"""Scores that are looked at together."""


@dataclass(frozen=True, eq=False)
class ClassScores:
    """A score for every row and class; or the ranks of the classes that a row names.

    **Attributes:**

    - `values`: `(rows, classes)` scores in the order of the classes, or `(rows,)` scores of the second of two classes.
    - `target`: `(rows,)` the number of the right class; meaningless where there is no target.
    - `classes`: how many there are.
    """

    values: np.ndarray
    target: Int[np.ndarray, " rows"]
    classes: int

    @cached_property
    def form(self) -> str:
        """`"probabilities"`, `"logits"`, or nothing if the scores are neither.

        Scores are probabilities if none is negative and the scores of every row sum to 1. Otherwise they are taken for
        logits, of which a softmax makes probabilities, if some are negative.
        """
        single = self.values.ndim == 1
        probable, negative = True, False
        for rows in self._blocks():
            scores = self.values[rows]
            negative = negative or bool((scores < 0).any())
            if single:
                probable = probable and bool(((scores >= 0) & (scores <= 1)).all())
            elif probable:
                off = np.abs(scores.sum(axis=1, dtype=np.float64) - 1)
                probable = not negative and bool((off <= PROBABILITY_SLACK).all())
        return "probabilities" if probable else "logits" if negative else ""

    def probabilities(self) -> Iterator[tuple[slice, Float[np.ndarray, "block classes"]]]:
        """Blocks of rows with their probabilities."""
        for rows in self._blocks():
            scores = self.values[rows].astype(np.float64)
            if scores.ndim == 1:
                second = (
                    scores if self.form == "probabilities" else 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
                )
                yield rows, np.stack([1 - second, second], axis=1)
                continue
            if self.form == "logits":
                scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            yield rows, scores / scores.sum(axis=1, keepdims=True)

    def ranks(self) -> Int[np.ndarray, " rows"]:
        """The rank of the target's score, from 1; of equal scores the first class comes first, as in a prediction."""
        ranks = np.empty(len(self.values), dtype=np.int64)
        number = np.arange(self.classes)
        for rows in self._blocks():
            scores, target = self.values[rows], self.target[rows, None]
            own = np.take_along_axis(scores, target, axis=1)
            before = (scores > own) | ((scores == own) & (number < target))
            ranks[rows] = before.sum(axis=1) + 1
        return ranks

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK // max(1, self.classes))
        for start in range(0, len(self.values), step):
            yield slice(start, start + step)


def class_scores(prediction: np.ndarray, outputs: Outputs) -> ClassScores | None:
    """The scores behind labels; `None` if predictions are labels themselves, or quantities.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.probabilities.class_scores import class_scores
    >>> from recombine.auditing.output_reading import read_outputs
    >>> scores = np.array([[0.2, 0.8], [0.6, 0.4]])
    >>> found = class_scores(scores, read_outputs(np.array(["cat", "dog"]), scores))
    >>> found.form, found.ranks().tolist()
    ('probabilities', [2, 2])

    ```
    """
    if outputs.kind != "classification" or prediction.dtype.kind not in "fiu":
        return None
    target = outputs.targets.argmax(axis=1)
    classes = outputs.targets.shape[1]
    if prediction.ndim == 2 and prediction.shape[1] == classes > 1:
        return ClassScores(prediction, target, classes)
    one_score = prediction.reshape(len(prediction)) if prediction.size == len(prediction) else None
    if classes != 2 or one_score is None or one_score.dtype.kind != "f":
        return None
    labels = [float(one) for one in outputs.classes if isinstance(one, int | float)]
    return None if np.isin(one_score, labels).all() else ClassScores(one_score, target, classes)
