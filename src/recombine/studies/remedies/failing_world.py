"""A world of one of the papers with seen and unseen cells, and the plain net that fails there."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from recombine.parts import Part
from recombine.training import Recipe

OutputKind = Literal["images", "labels", "quantities"]


@dataclass(frozen=True)
class FailingWorld:
    """A world, its plain net and recipe, and what remedies need to know about it.

    Where a remedy cannot be applied, a text says why in a few words.

    **Arguments:**

    - `name`: the column of the matrix; `title`: one sentence; `paper`: the study that it comes from.
    - `outputs`: what the net predicts.
    - `task`, `net`, `recipe`: the plain arm. Inputs are vectors, except for images that are encoded.
    - `loss_size`: the loss of the best constant, roughly. Weights of penalties are multiples of it, so that one grid
        of strengths suits all worlds.
    - `noisy`: the stages that get activity noise.
    - `blocks`: how many inputs describe each factor, in order; a text if inputs do not come by factor.
    - `alone`: from the task to inputs and targets that show one factor at a time.
    - `rendering`: the levels of the factors whose one-hot codes an image is drawn from.
    - `autoencoder`: whether the net has an encoder and a decoder of slots.
    - `pretrained`: whether the plain net is pretrained on another task.
    """

    name: str
    title: str
    paper: str
    _: KW_ONLY
    outputs: OutputKind
    task: Part
    net: Part
    recipe: Recipe
    loss_size: float
    noisy: tuple[str, ...]
    blocks: tuple[int, ...] | str
    alone: Part | str
    rendering: tuple[int, ...] | str
    autoencoder: bool = False
    pretrained: bool = False

    def with_net(self, **settings: Any) -> Part:
        """The plain net with other settings."""
        return Part(self.net.name, **(dict(self.net.settings) | settings))


LABELS_ARE_NOT_DRAWN = "outputs are labels: there is nothing to render"
NUMBERS_ARE_NOT_DRAWN = "outputs are numbers: there is nothing to render"
