"""Worlds of scenes: how latents are drawn and rendered, and how a world becomes a task with a support."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.spaces.supports import Support, split_by_support
from recombine.tasks.draws import generator
from recombine.tasks.scenes.scene_arrays import Scenes
from recombine.tasks.scenes.scene_task import SceneTask

MIN_CHUNK, MAX_CHUNK = 64, 4096
"""Scenes drawn at a time by rejection sampling: enough to make use of arrays, few enough to fit into memory."""
MAX_CELLS = 4_000_000
"""Upper limit on the cells of a space of scenes; a mask over more would take as much memory as the images."""
MAX_EMPTY_CHUNKS = 200
"""Rejection sampling gives up after this many chunks without a single scene in the requested cells."""


@dataclass(frozen=True)
class Attribute:
    """A latent of an object: real values from `low` to `high`, or one of `levels`, coded 0, 1, 2 …"""

    name: str
    low: float = 0.0
    high: float = 1.0
    levels: tuple[Hashable, ...] | None = None

    def bins(self, count: int) -> tuple[Hashable, ...]:
        """The levels of the factor that the attribute becomes: bin numbers, or its own levels."""
        return tuple(range(count)) if self.levels is None else self.levels

    def level(self, values: Float[np.ndarray, "*n"], count: int) -> Int[np.ndarray, "*n"]:
        """The bin, of `count` with equal width, that a value falls into."""
        if self.levels is not None:
            return np.asarray(values).astype(int)
        unit = (np.asarray(values) - self.low) / (self.high - self.low)
        return np.clip(np.floor(unit * count), 0, count - 1).astype(int)


@dataclass(frozen=True, eq=False)
class World:
    """How the scenes of a world are sampled and rendered.

    **Attributes:**

    - `attributes`: of every object; `always`: the smallest number of objects in a scene.
    - `sample`: from a generator and a number to latents `(n, objects, attributes)` of legal scenes.
    - `draw`: from latents to `Scenes`.
    """

    attributes: tuple[Attribute, ...]
    always: int
    sample: Callable[[np.random.Generator, int], np.ndarray]
    draw: Callable[[np.ndarray], Scenes]


@dataclass(frozen=True, eq=False)
class AttributeFactors:
    """Attributes of objects as factors: `picked` holds (object, attribute) numbers from 0."""

    world: World
    picked: tuple[tuple[int, int], ...]
    bins: int

    @property
    def space(self) -> Space:
        """One factor per picked attribute, such as `object 1 hue`."""
        named = {
            f"object {number + 1} {self.world.attributes[axis].name}": self.world.attributes[axis].bins(
                self.bins
            )
            for number, axis in self.picked
        }
        return Space(named)

    def values(self, latents: Float[np.ndarray, "n objects attributes"]) -> Float[np.ndarray, "n factors"]:
        """The picked attributes."""
        numbers, axes = np.array(self.picked).T
        return latents[:, numbers, axes]

    def cell(self, latents: Float[np.ndarray, "n objects attributes"]) -> Int[np.ndarray, " n"]:
        """The cell of every scene."""
        values = self.values(latents)
        levels = [
            self.world.attributes[axis].level(values[:, i], self.bins)
            for i, (_, axis) in enumerate(self.picked)
        ]
        return self.space.index(np.stack(levels, axis=1))


def attribute_factors(world: World, on: Sequence[str], bins: int) -> AttributeFactors:
    """The factors that `on` names: `"hue"` stands for the hue of the first two objects (or of the only one), and
    `"object 3 hue"` for one factor. They are ordered by object, as a diagonal support requires."""
    names = [attribute.name for attribute in world.attributes]
    if isinstance(on, str) or not on:
        raise InputError("on", on, f"a tuple of attributes, such as ({names[-1]!r},)")
    if bins < 2:
        raise InputError("bins", bins, "at least 2")
    known = {
        f"object {number + 1} {name}": (number, axis)
        for number in range(world.always)
        for axis, name in enumerate(names)
    }
    pairs = [
        f"object {number + 1} {name}"
        for number in range(min(world.always, 2))
        for name in on
        if name in names
    ]
    single = [name for name in on if name not in names]
    for name in single:
        if name not in known:
            raise InputError("on", name, f"one of {', '.join(names)}, or one of {', '.join(known)}")
    return AttributeFactors(world, tuple(known[name] for name in dict.fromkeys([*pairs, *single])), bins)


def scene_task(
    world: World,
    *,
    rows: int,
    test: int,
    support: Support = None,
    on: Sequence[str],
    bins: int = 4,
    delta: float = 0.2,
    seed: int = 0,
) -> SceneTask:
    """Scenes of a world as a task: `rows` for training, `test` more of seen cells, and `test` of unseen cells if any.

    **Arguments:**

    - `world`: how scenes are drawn.
    - `support`: which cells training shows: `"l-shaped"`, `"diagonal"`, a hole, or `None` for all.
    - `on`: the attributes that are factors: `("hue",)` for the hues of the first two objects, `("object 1 hue",
        "object 1 x")` for two attributes of one.
    - `bins`: levels of a factor that is a real number.
    - `delta`: of a diagonal support.
    """
    for field, value, minimum in (("rows", rows, 1), ("test", test, 0)):
        if value < minimum:
            raise InputError(field, value, f"a whole number, at least {minimum}")
    factors, rng = attribute_factors(world, on, bins), generator(seed)
    if factors.space.n_cells > MAX_CELLS:
        raise InputError("bins", bins, f"fewer bins or factors than make {factors.space.n_cells} cells")
    objects = len({number for number, _ in factors.picked})
    split = split_by_support(factors.space, support, delta=delta, objects=objects)
    samples = [_sample_in_cells(world, factors, split.seen, rows + test, rng)]
    if split.unseen.any() and test:
        samples.append(_sample_in_cells(world, factors, split.unseen, test, rng))
    latents = np.concatenate(samples)
    cell = factors.cell(latents)
    if split.unseen.any():
        _check_levels(split, cell[:rows])
    return SceneTask(
        split,
        cell=cell,
        train=np.arange(rows),
        latents=factors.values(latents),
        scenes=world.draw(latents),
        cell_of=factors.cell,
    )


def _sample_in_cells(
    world: World, factors: AttributeFactors, cells: np.ndarray, count: int, rng: np.random.Generator
) -> Float[np.ndarray, "count objects attributes"]:
    """Latents in the cells where the mask `cells` is true, by rejection sampling."""
    accepted: list[np.ndarray] = []
    total = empty = 0
    while total < count:
        latents = world.sample(rng, min(MAX_CHUNK, max(count, MIN_CHUNK)))
        latents = latents[cells[factors.cell(latents)]]
        accepted.append(latents)
        total, empty = total + len(latents), 0 if len(latents) else empty + 1
        if empty == MAX_EMPTY_CHUNKS:
            raise InputError(
                "support", "cells that scenes hardly ever show", "a support that scenes can have"
            )
    return np.concatenate(accepted)[:count]


def _check_levels(split: Split, trained: Int[np.ndarray, " rows"]) -> None:
    """Refuses a level that no training scene shows: its cells would test a new level, not a new combination."""
    shown = split.space.cells[np.unique(trained)]
    for axis, factor in enumerate(split.space.factors):
        missing = np.setdiff1d(np.arange(factor.size), shown[:, axis])
        if missing.size:
            raise InputError(
                "support",
                f"no training scene with {factor.name} = {factor.levels[missing[0]]}",
                "a support that shows every level, fewer bins or more rows",
            )
