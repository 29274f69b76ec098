"""Several quantities as outputs: each is scored on its own scale, so that none hides the failure of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recombine.auditing.cells import Weighting, gather
from recombine.auditing.outputs import Outputs
from recombine.auditing.reading import AuditInputs
from recombine.auditing.refits import refit_models
from recombine.auditing.scores import Scores, score
from recombine.auditing.thresholds import MIN_IMAGE_OUTPUTS


@dataclass(frozen=True, eq=False)
class OutputScores:
    """The scores of every output by itself.

    **Attributes:**

    - `names`, `scores`: one each; none if there is a single output, if outputs are classes or the pixels of an image.
    """

    names: tuple[str, ...] = ()
    scores: tuple[Scores, ...] = ()

    @property
    def failing(self) -> tuple[int, ...]:
        """The outputs in which the model does not compose."""
        return tuple(number for number, one in enumerate(self.scores) if one.composes is False)

    @property
    def only_some_fail(self) -> bool:
        """Whether the model fails in some outputs, but not in all."""
        return 0 < len(self.failing) < len(self.scores)

    @property
    def sentence(self) -> str:
        """Which outputs the verdict is about; empty if about all."""
        if not self.only_some_fail:
            return ""
        failing = ", ".join(self.names[number] for number in self.failing)
        rest = [one for number, one in enumerate(self.scores) if number not in self.failing]
        well = "in the others it composes" if all(one.composes for one in rest) else "not about the others"
        return f"This is about {failing} ({len(self.failing)} of {len(self.names)} outputs); {well}."


def score_outputs(
    data: AuditInputs, outputs: Outputs, weighting: Weighting = "cells", *, seed: int = 0
) -> OutputScores:
    """Scores every output by itself, if there are several quantities and the error of one is defined."""
    count = outputs.targets.shape[1]
    if outputs.kind == "classification" or not 1 < count < MIN_IMAGE_OUTPUTS:
        return OutputScores()
    if outputs.measure.name == "function":
        return OutputScores()
    names = data.score_names
    titles = names if len(names) == count else [f"output {number + 1}" for number in range(count)]
    scores = []
    for number in range(count):
        cells = gather(data.table, some_outputs(outputs, [number]), weighting)
        scores.append(score(cells, refit_models(cells, data.table.space.names, seed=seed), seed=seed))
    return OutputScores(tuple(titles), tuple(scores))


def some_outputs(outputs: Outputs, chosen: Sequence[int]) -> Outputs:
    """Some of the outputs; several are in units of their standard deviation, so that each counts."""
    index = list(chosen)
    targets, predictions = outputs.targets[:, index], outputs.predictions[:, index]
    if len(index) > 1:
        spread = targets[outputs.known].std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        targets, predictions = targets / scale, predictions / scale
    return replace(outputs, targets=targets, predictions=predictions, shape=(len(index),))
