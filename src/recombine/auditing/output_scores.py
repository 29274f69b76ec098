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
from recombine.auditing.thresholds import MIN_IMAGE_OUTPUTS, OTHER_SCALE


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
        """The outputs in which the model does not compose, or that it has not even learned."""
        return tuple(
            number
            for number, one in enumerate(self.scores)
            if one.composes is False or not (one.learned or one.unjudged)
        )

    @property
    def judged(self) -> tuple[int, ...]:
        """The outputs that the verdict is about: the failing ones, else the undecided ones, else all."""
        undecided = tuple(number for number, one in enumerate(self.scores) if one.composes is None)
        return self.failing or undecided or tuple(range(len(self.scores)))

    @property
    def only_some(self) -> bool:
        """Whether the verdict is about some of the outputs."""
        return len(self.judged) < len(self.scores)

    @property
    def all_compose(self) -> bool:
        """Whether every output composes, so that their scales hide nothing."""
        return all(one.composes for one in self.scores)

    @property
    def sentence(self) -> str:
        """Which outputs the verdict is about; empty if about all."""
        if not self.only_some:
            return ""
        judged = ", ".join(self.names[number] for number in self.judged)
        rest = [one for number, one in enumerate(self.scores) if number not in self.judged]
        well = "in the others it composes" if all(one.composes for one in rest) else "not about the others"
        return f"This is about {judged} ({len(self.judged)} of {len(self.names)} outputs); {well}."


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
        scores.append(score(cells, refit_models(cells, data.table.space.names, seed=seed)))
    return OutputScores(tuple(titles), tuple(scores))


def some_outputs(outputs: Outputs, chosen: Sequence[int]) -> Outputs:
    """Some of the outputs; several are in units of their standard deviation, so that each counts."""
    index, spreads = list(chosen), outputs.spreads
    targets, predictions = outputs.targets[:, index], outputs.predictions[:, index]
    if len(index) > 1:
        spread = targets[outputs.known].std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        targets, predictions = targets / scale, predictions / scale
        spreads = scale if spreads is None else scale * spreads[index]
        measure = outputs.measure
        title = f"{measure.title}, in units of each output's standard deviation"
        outputs = replace(outputs, chosen_measure=replace(measure, title=title))
    elif spreads is not None:
        spreads = spreads[index]
    return replace(outputs, targets=targets, predictions=predictions, shape=(len(index),), spreads=spreads)


def on_one_scale(outputs: Outputs) -> Outputs:
    """Long vectors whose outputs have very different scales, in units of their standard deviations; others unchanged.

    Up to 15 outputs are scored one by one. More are usually pixels, which share a scale.
    """
    count = outputs.targets.shape[1]
    if outputs.kind == "classification" or count < MIN_IMAGE_OUTPUTS or len(outputs.shape) != 1:
        return outputs
    if outputs.measure.name == "function" or not outputs.known.any():
        return outputs
    spread = outputs.targets[outputs.known].std(axis=0)
    varied = spread[spread > 0]
    if not len(varied) or varied.max() <= OTHER_SCALE * np.median(varied):
        return outputs
    scaled = some_outputs(outputs, range(count))
    note = "outputs have very different scales and were divided by their standard deviations"
    return replace(scaled, shape=outputs.shape, notes=(*outputs.notes, note))
