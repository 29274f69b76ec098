"""Supports: which combinations of latents training shows, as regions of the unit cube and as splits of binned factors.

The factors of a scene are attributes of its objects, cut into bins of equal width; a cell is seen if its centre lies in
the region. An L-shape in two factors leaves out one corner, so every level is seen. A diagonal support shows objects
only if they are alike (Wiedemer et al., Provable compositional generalization for object-centric learning, ICLR 2024).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.spaces.holes import Hole, split_by_hole


def in_l_shape(latents: Float[np.ndarray, "rows factors"]) -> Bool[np.ndarray, " rows"]:
    """Whether rows of the unit cube avoid the corner where every factor is in its upper half.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces import in_l_shape
    >>> in_l_shape(np.array([[0.2, 0.9], [0.9, 0.2], [0.9, 0.6]])).tolist()
    [True, True, False]

    ```
    """
    return np.any(latents <= 0.5, axis=1)


def near_diagonal(
    latents: Float[np.ndarray, "rows objects attributes"], delta: float
) -> Bool[np.ndarray, " rows"]:
    """Whether every attribute's vector of values over objects lies within `delta` of the diagonal of the unit cube.

    For two objects the distance is `|a - b| / √2`. The delta that Wiedemer et al. print is twice the one of their
    code, which is this one.

    ```python
    >>> import numpy as np
    >>> from recombine.spaces import near_diagonal
    >>> near_diagonal(np.array([[[0.2], [0.3]], [[0.2], [0.5]]]), delta=0.125).tolist()
    [True, False]

    ```
    """
    latents = np.asarray(latents)
    away = latents - latents.mean(axis=1, keepdims=True)
    return (np.sqrt((away**2).sum(axis=1)) <= delta).all(axis=1)


def centres(space: Space) -> Float[np.ndarray, "cells factors"]:
    """The middle of every cell in the unit cube, if levels are bins of equal width."""
    return (space.cells + 0.5) / np.array(space.shape)


def l_shaped(space: Space) -> Split:
    """All cells but the corner where every factor is in its upper half.

    ```python
    >>> from recombine.spaces import Space
    >>> from recombine.spaces import l_shaped
    >>> split = l_shaped(Space({"object 1 hue": 4, "object 2 hue": 4}))
    >>> split.space.grid(split.seen).astype(int).tolist()
    [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]

    ```
    """
    return Split(space, in_l_shape(centres(space)))


def diagonal(space: Space, *, delta: float, objects: int = 2) -> Split:
    """The cells whose centre is within `delta` of the diagonal (`near_diagonal`).

    Factors are in the order object by object: all attributes of the first, then the same of the second.

    ```python
    >>> from recombine.spaces import Space
    >>> from recombine.spaces import diagonal
    >>> split = diagonal(Space({"object 1 x": 4, "object 2 x": 4}), delta=0.2)
    >>> split.space.grid(split.seen).astype(int).tolist()
    [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]

    ```
    """
    if objects < 2 or len(space.shape) % objects:
        raise InputError("objects", objects, f"a divisor of the {len(space.shape)} factors, at least 2")
    if not delta >= 0:
        raise InputError("delta", delta, "a distance in the unit cube, at least 0")
    return Split(space, near_diagonal(centres(space).reshape(space.n_cells, objects, -1), delta))


Support = str | Hole
"""`"l-shaped"`, `"diagonal"`, a hole (see `recombine.tasks.split_by_hole`), or `None` to show everything."""


def split_by_support(space: Space, support: Support, *, delta: float, objects: int) -> Split:
    """The split that a world's `support` setting stands for."""
    if support == "l-shaped":
        return l_shaped(space)
    if support == "diagonal":
        return diagonal(space, delta=delta, objects=objects)
    if isinstance(support, str):
        raise InputError("support", support, "'l-shaped', 'diagonal', a hole or None")
    return split_by_hole(space, support)
