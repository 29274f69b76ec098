"""What the sections share: image sizes, holes, codes, seeds, and the probes that every decoder gets.

Scale `paper` uses the published settings, from the authors' scripts where the paper is silent. Scale `quick` draws
smaller images (16 × 16 instead of 28 × 28) with smaller CNNs, but trains them until they fit the cells that they have
seen. Scale `smoke` only checks that everything runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.runs import Trial
from recombine.spaces import centre_hole, corner_hole
from recombine.studies.evidence import Arm, ArmPlan, Scale
from recombine.tasks import bump_code, bumps, ramp
from recombine.training import Recipe, adamw

FITTED = 0.05
"""A net is fitted if its error on seen cells is below this share of a blank image's (2e-4 of 3.8e-3, as published)."""
LOOSELY_FITTED = 0.25
"""The same for nets that learn slowly; the published ramp CNN ended at 0.18."""
COMPOSES = 0.25
"""A net whose error on unseen cells is below this share of a blank image's draws the bump, if not perfectly."""

CODES = ("bump", "ramp")
ENCODINGS = {"bump": Part(bump_code), "ramp": Part(ramp)}
BEHAVIOUR = (Part(decoders.errors), Part(decoders.positions))
LAYERS = (Part(layers.geometry), Part(layers.readability))

REDUCED = (
    "16 × 16 images and a CNN of 32 channels and 3 hidden blocks (published: 28 × 28, 64 to 256 channels)"
)
"""How the CNNs of scale quick differ from the published ones."""

ALIKE = (
    "ramp",
    "scalar",
    "superposition",
    "head 1",
    "code width",
    "200 epochs",
    "depth 4",
    "no stripes",
    "bumps only",
    "4 N",
    "everywhere",
    "rotation digits",
    "rotation circle",
    "scaling ",
    "size ",
    "depth 3",
    "render flatness",
)
"""Words in the names of arms that differ from others only in code, data or a number; scale smoke leaves them out."""


@dataclass(frozen=True)
class Setup:
    """The settings of one scale."""

    scale: Scale

    def pick(self, smoke: Any, quick: Any, paper: Any) -> Any:
        """The setting of this scale."""
        return {"smoke": smoke, "quick": quick, "paper": paper}[self.scale]

    def some(self, values: Sequence[Any]) -> Sequence[Any]:
        """All values; at scale smoke only the first."""
        return values[:1] if self.scale == "smoke" else values

    def distinct(self, plans: Mapping[str, ArmPlan]) -> dict[str, ArmPlan]:
        """All arms; at scale smoke without those that are `ALIKE`."""
        smoke = self.scale == "smoke"
        return {name: plan for name, plan in plans.items() if not (smoke and any(w in name for w in ALIKE))}

    @property
    def size(self) -> int:
        """Pixels along one side of the images that CNNs draw."""
        return int(self.pick(16, 16, 28))

    @property
    def hole(self) -> Part:
        """The square of unseen combinations in the middle."""
        return Part(centre_hole, **self.pick({"low": 4, "high": 12}, {"low": 4, "high": 12}, PUBLISHED_HOLE))

    @property
    def small_hole(self) -> Part:
        """The smaller square of the authors' sweep over code widths."""
        quick = {"low": 6, "high": 10}
        return Part(centre_hole, **self.pick(quick, quick, {"low": 10, "high": 18}))

    @property
    def corner(self) -> Part:
        """The corner of unseen combinations in the stripes experiments: large x and large y."""
        return Part(corner_hole, low=self.size // 2)

    @property
    def shown(self) -> tuple[tuple[int, int], ...]:
        """Unseen cells of the hole whose images are recorded."""
        quick = ((8, 8), (7, 10), (5, 8), (8, 11))
        return tuple(self.pick(quick, quick, ((14, 14), (12, 16), (8, 14), (14, 20))))

    @property
    def corner_shown(self) -> tuple[tuple[int, int], ...]:
        """Unseen cells of the corner whose images are recorded."""
        quick = ((9, 9), (12, 10), (14, 12), (10, 14))
        return tuple(self.pick(quick, quick, ((16, 16), (20, 18), (24, 22), (18, 26))))

    def code_size(self, code: str) -> int:
        """The number of inputs of a CNN."""
        return 2 * self.size if code == "bump" else 2

    def bump_task(self, code: str = "bump", *, hole: Part | None = None, draws: int = 2000) -> Part:
        """At scale paper training rows are drawn with replacement; otherwise each seen cell occurs once."""
        train = self.pick(None, None, draws)
        return Part(bumps, n=self.size, hole=hole or self.hole, encoding=ENCODINGS[code], train=train)

    def cnn(self, inputs: int, *, quick: tuple[int, int] = (32, 3), paper: tuple[int, int] = (64, 4)) -> Part:
        """A CNN decoder; `quick` and `paper` are its channels and hidden blocks at these scales."""
        width, depth = self.pick((4, 2), quick, paper)
        start = self.pick(4, 4, 7)
        return Part(cnn_decoder, inputs=inputs, width=width, depth=depth, size=self.size, start=start)

    def recipe(self, quick_steps: int, epochs: int, **changes: Any) -> Recipe:
        """`quick_steps` at scale quick, the published `epochs` at scale paper."""
        length = self.pick({"steps": 2}, {"steps": quick_steps}, {"epochs": epochs})
        return Recipe(**length, optimiser=changes.pop("optimiser", adamw()), **changes)

    def plan(
        self,
        task: Part,
        net: Part,
        recipe: Recipe,
        probes: tuple[Part, ...],
        *,
        seeds: tuple[int, int] = (10, 6),
        together: int = 1,
    ) -> ArmPlan:
        """An arm with that many seeds at scales quick and paper, `together` of them in one program."""
        trial = Trial(task, probes, (0,), net, recipe)
        return ArmPlan(trial, seeds=self.pick(1, *seeds), together=together)


PUBLISHED_HOLE = {"low": 6, "high": 22}
"""The hole in images of 28 × 28 pixels, both ends included."""


def error_ratio(arm: Arm) -> np.ndarray:
    """The error on unseen cells divided by that on seen cells, for every seed."""
    return arm["error_out"] / arm["error_in"]


def fitted(arm: Arm, limit: float = FITTED) -> dict[str, np.ndarray]:
    """The precondition that an arm has learned what it was shown, by its text."""
    return {f"fitted (seen error below {limit:.0%} of blank)": arm.share_of_blank("in") < limit}


def shares(label: str, arm: Arm) -> dict[str, np.ndarray]:
    """Seen and unseen error of an arm as shares of the blank image's, to qualify a result."""
    return {
        f"{label}: unseen error / blank": arm.share_of_blank("out"),
        f"{label}: seen error / blank": arm.share_of_blank("in"),
    }


def uneven(arm: Arm, layer: int) -> np.ndarray:
    """The spread of log10 volume over unseen cells divided by that over seen cells, in one layer, for every seed."""
    return np.asarray(arm["volume_spread_out"][:, layer] / arm["volume_spread_in"][:, layer])
