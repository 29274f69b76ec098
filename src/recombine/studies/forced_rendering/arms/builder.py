"""What all arms share: scales, seeds, holes, codes, and the probes that every decoder gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.runs import Trial
from recombine.spaces import centre_hole, corner_hole
from recombine.studies.claims import Scale
from recombine.studies.study import split_seeds
from recombine.tasks import bump_code, bumps, ramp
from recombine.training import Recipe, adamw

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": (0, 1, 2)}
CENTRE = Part(centre_hole, low=6, high=22)
SMALL_CENTRE = Part(centre_hole, low=10, high=18)
CORNER = Part(corner_hole, low=14)
CODES = {"bump": (Part(bump_code), 56), "ramp": (Part(ramp), 2)}
SHOWN = ((14, 14), (12, 16), (8, 14), (14, 20))
"""Unseen cells whose images are recorded; centre hole, 28 pixels."""
CORNER_SHOWN = ((16, 16), (20, 18), (24, 22), (18, 26))

BEHAVIOUR = (Part(decoders.errors), Part(decoders.positions))
LAYERS = (Part(layers.geometry), Part(layers.readability))


class Builder:
    """Builds trials of one scale."""

    def __init__(self, scale: Scale) -> None:
        self.scale, self.seeds = scale, SEEDS[scale]

    def pick(self, smoke: Any, quick: Any, paper: Any) -> Any:
        """The setting of this scale."""
        return {"smoke": smoke, "quick": quick, "paper": paper}[self.scale]

    def some(self, values: Sequence[Any]) -> Sequence[Any]:
        """All values; at scale smoke only the first."""
        return values[:1] if self.scale == "smoke" else values

    def train(self, task: Part, net: Part, recipe: Recipe, probes: tuple[Part, ...]) -> tuple[Trial, ...]:
        """One arm as one trial per seed, so that seeds run on different cores."""
        return split_seeds(Trial(task, probes, self.seeds, net, recipe))

    def cnn(self, code: str, depth: int, width: int) -> Part:
        """A CNN decoder of 28 × 28 images."""
        return Part(cnn_decoder, inputs=CODES[code][1], width=width, depth=depth)

    def bump_task(self, code: str = "bump", hole: Part = CENTRE, draws: int = 2000) -> Part:
        """At scale paper training rows are drawn with replacement; otherwise each seen cell occurs once."""
        return Part(bumps, hole=hole, encoding=CODES[code][0], train=self.pick(None, None, draws))

    def cnn_recipe(self, quick_steps: int, epochs: int, **changes: Any) -> Recipe:
        """`quick_steps` at scale quick, the published `epochs` at scale paper."""
        length = self.pick({"steps": 2}, {"steps": quick_steps}, {"epochs": epochs})
        return Recipe(**length, optimiser=changes.pop("optimiser", adamw()), **changes)
