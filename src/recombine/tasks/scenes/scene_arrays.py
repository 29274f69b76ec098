"""Scenes: images of several objects, with their masks and attributes and a function that renders new ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError


@dataclass(frozen=True, eq=False)
class Scenes:
    """Images of objects, the masks of the objects, and the attributes that each object was rendered with.

    A world can render any attributes, so recombined scenes have a true image: see `recombined` and `replaced`.

    **Arguments:**

    - `images`: float32 from 0 to 1.
    - `masks`: 0 where the background shows, `o` where object `o` (counted from 1) is on top.
    - `latents`: attributes of every object; NaN for an object that a scene does not have.
    - `attributes`: the names of the attributes.
    - `draw`: from latents `(n, objects, attributes)` to `Scenes`.
    - `legal`: from latents to whether the world would show such a scene, `(n,)`: objects inside the frame, and apart
        from each other where the world keeps them apart.

    ```python
    >>> from recombine.tasks import line_world
    >>> scenes = line_world(rows=100, test=10).scenes
    >>> scenes
    Scenes(110 of 1 × 32 pixels, 2 objects with position, half-width, hue)
    >>> swapped = scenes[:10].replaced(2, scenes[10:20])    # the right bar of other scenes
    >>> bool((swapped.latents[:, 0] == scenes.latents[:10, 0]).all())
    True

    ```
    """

    images: Float[np.ndarray, "n height width 3"]
    masks: Int[np.ndarray, "n height width"]
    latents: Float[np.ndarray, "n objects attributes"]
    attributes: tuple[str, ...]
    draw: Callable[[np.ndarray], Scenes]
    legal: Callable[[np.ndarray], np.ndarray]

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, rows: Any) -> Scenes:
        """Some of the scenes: a slice, row numbers or a boolean mask."""
        rows = np.arange(len(self))[rows].reshape(-1)
        return replace(self, images=self.images[rows], masks=self.masks[rows], latents=self.latents[rows])

    @property
    def present(self) -> Bool[np.ndarray, "n objects"]:
        """Which objects a scene has."""
        return ~np.isnan(self.latents).all(axis=2)

    def attribute(self, name: str) -> Float[np.ndarray, "n objects"]:
        """One attribute of all objects."""
        if name not in self.attributes:
            raise InputError("attribute", name, f"one of {', '.join(self.attributes)}")
        return self.latents[:, :, self.attributes.index(name)]

    def recombined(
        self, rows: Int[np.ndarray, "new objects"], objects: Int[np.ndarray, "new objects"] | None = None
    ) -> Scenes:
        """New scenes whose objects come from scenes of this collection.

        Object `o` of new scene `i` is object `objects[i, o]` (counted from 0; by default `o`) of scene `rows[i, o]`.
        Whether the world would show the result is `legal(latents)`.
        """
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.shape[1] != self.latents.shape[1]:
            raise InputError("rows", rows.shape, f"(new scenes, {self.latents.shape[1]} objects)")
        objects = np.broadcast_to(np.arange(rows.shape[1]) if objects is None else objects, rows.shape)
        return self.draw(self.latents[rows, objects])

    def replaced(self, number: int, other: Scenes, *, by: int | None = None) -> Scenes:
        """The scenes with object `number` (counted from 1) exchanged for object `by` of as many other scenes.

        By default the object of the same number.
        """
        count = self.latents.shape[1]
        by = number if by is None else by
        for field, value, maximum in (("number", number, count), ("by", by, other.latents.shape[1])):
            if not 1 <= value <= maximum:
                raise InputError(field, value, f"an object from 1 to {maximum}")
        if len(other) != len(self) or other.attributes != self.attributes:
            raise InputError("other", other, f"{len(self)} scenes with {', '.join(self.attributes)}")
        latents = self.latents.copy()
        latents[:, number - 1] = other.latents[:, by - 1]
        return self.draw(latents)

    def __repr__(self) -> str:
        (height, width), objects = self.masks.shape[1:], self.latents.shape[1]
        return (
            f"Scenes({len(self)} of {height} × {width} pixels, "
            f"{objects} objects with {', '.join(self.attributes)})"
        )
