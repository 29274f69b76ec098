"""Answers in other units: right up to one factor and one offset, on seen cells and everywhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool

from recombine.auditing.answers import Answers

FOLLOWS = 0.95
"""Answers are the truth in other units if a line on the truth explains this share of them on training rows,"""
OFF = 0.05
"""and if without it their error is above this share of a constant's,"""
SHRUNKEN, CENTRED = 0.5, 0.1
"""unless they are the truth drawn towards its mean, as a cautious model's are: at least this factor of it, with a mean
that is off by at most this share of the standard deviation."""


@dataclass(frozen=True)
class Units:
    """Answers are `factor` times the truth plus `offset`, on training rows."""

    factor: float
    offset: float

    def __str__(self) -> str:
        return f"{self.factor:.3g} times the truth" + (f" plus {self.offset:.3g}" if self.offset else "")


def in_right_units(answers: Answers, seen: Bool[np.ndarray, " rows"]) -> tuple[Answers, Units | None]:
    """Answers in the units of the targets, and what they were in, if on training rows they follow them by a line.

    A forgotten normalisation is no failure to compose, and would look like one.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.answers import read_answers
    >>> from recombine.auditing.calibration import in_right_units
    >>> truth = np.array([0.5, 1.0, 3.0, 4.5])
    >>> _, units = in_right_units(read_answers(truth, 2 * truth - 1), np.array([True, True, True, False]))
    >>> print(units)
    2 times the truth plus -1

    ```
    """
    rows = seen & answers.known
    if answers.kind == "classification" or rows.sum() < 3:
        return answers, None
    truth, said = answers.targets[rows].astype(np.float64), answers.answers[rows].astype(np.float64)
    spread, varied = ((truth - truth.mean()) ** 2).sum(), ((said - said.mean()) ** 2).sum()
    if spread <= 0 or varied <= 0:
        return answers, None
    factor = float(((truth - truth.mean()) * (said - said.mean())).sum() / spread)
    offset = float(said.mean() - factor * truth.mean())
    left = ((said - factor * truth - offset) ** 2).sum()
    constant = ((truth - truth.mean(axis=0)) ** 2).sum()
    if left > (1 - FOLLOWS) * varied or ((said - truth) ** 2).sum() <= OFF * constant:
        return answers, None
    if SHRUNKEN <= factor < 1 and abs(said.mean() - truth.mean()) <= CENTRED * truth.std():
        return answers, None
    offset = 0.0 if abs(offset) <= 1e-9 * np.abs(said).max() else offset
    return replace(answers, answers=(answers.answers - offset) / factor), Units(factor, offset)
