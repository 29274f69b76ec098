"""Textures: patterns on the surfaces of objects, and random features of pictures as something else to predict."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks.draws import generator
from recombine.tasks.scene_task import SceneTask

DIM = 0.35
"""The brightness of a pattern's darkest places."""


def texture(
    place: tuple[np.ndarray, np.ndarray, np.ndarray], number: Float[np.ndarray, "*n"]
) -> Float[np.ndarray, "*n"]:
    """The brightness, from `DIM` to 1, of patterned surfaces at places in their own frames.

    `number`, from 0 to 1, picks the pattern: checks below one half, waves above; finer digits pick direction and
    pitch. Equal numbers are equal patterns.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.textures import texture
    >>> x = np.array([0.1, 0.4, 0.7, 1.0])
    >>> texture((x, 0 * x, 0 * x), np.full(4, 0.25)).tolist()
    [1.0, 1.0, 0.35, 0.35]

    ```
    """
    x, y, z = place
    number = np.asarray(number)
    angle, pitch = np.pi * (number * 8 % 1), 1.5 + 3 * (number * 64 % 1)
    cos, sin = np.cos(angle), np.sin(angle)
    u, v = pitch * (cos * x + sin * y), pitch * (cos * y - sin * x)
    # Far-away places are fine: floors of large numbers keep their parity.
    checks = (np.floor(u) + np.floor(v) + np.floor(pitch * z + 1e-3)) % 2
    waves = 0.5 - 0.5 * np.sin(np.pi * (u + pitch * z))
    return 1 - (1 - DIM) * np.where(number < 0.5, checks, waves)


def random_features(
    images: Float[np.ndarray, "n height width 3"],
    *,
    channels: int = 32,
    window: int = 4,
    stride: int = 4,
    seed: int = 0,
) -> Float[np.ndarray, "n rows columns channels"]:
    """Fixed random features of pictures: one convolution with Gaussian filters, without padding, and ReLU.

    A small stand-in for the features of a trained vision model. Features of white noise in [0, 1] have a variance of
    about 1 before the ReLU.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import random_features
    >>> random_features(np.zeros((2, 32, 32, 3))).shape
    (2, 8, 8, 32)

    ```
    """
    images = np.asarray(images, dtype=np.float32)
    if images.ndim != 4:
        raise InputError("images", images.shape, "(n, height, width, channels)")
    if not 1 <= window <= min(images.shape[1:3]):
        raise InputError("window", window, f"from 1 to {min(images.shape[1:3])} pixels")
    for field, value in (("channels", channels), ("stride", stride)):
        if value < 1:
            raise InputError(field, value, "at least 1")
    views = np.lib.stride_tricks.sliding_window_view(images, (window, window), axis=(1, 2))
    views = views[:, ::stride, ::stride]  # (n, rows, columns, channels in, window, window)
    fan_in = int(np.prod(views.shape[3:]))
    filters = generator(seed).normal(scale=np.sqrt(12 / fan_in), size=(fan_in, channels)).astype(np.float32)
    found = views.reshape(-1, fan_in) @ filters
    return np.maximum(found, 0).reshape(*views.shape[:3], channels)


def with_feature_targets(
    *, task: Part, channels: int = 32, window: int = 4, stride: int = 4, draw: int = 0, seed: int = 0
) -> SceneTask:
    """A task of scenes whose inputs and targets are random features of the pictures.

    **Arguments:**

    - `task`: the task of scenes as a part, built with `seed`.
    - `draw`: seed of the features, so that they stay the same over seeds.

    ```python
    >>> from recombine import Part
    >>> from recombine.tasks import sprites, with_feature_targets
    >>> pictures = Part(sprites, rows=10, test=2, size=16, objects=2)
    >>> with_feature_targets(task=pictures, channels=8).targets.shape
    (12, 4, 4, 8)

    ```
    """
    base = task(seed=seed)
    if not isinstance(base, SceneTask):
        raise InputError("task", task.name, "a task of scenes")
    features = random_features(base.scenes.images, channels=channels, window=window, stride=stride, seed=draw)
    return SceneTask(
        base.split,
        features,
        features,
        cell=base.cell,
        train=base.train,
        latents=base.latents,
        scenes=base.scenes,
        cell_of=base.cell_of,
    )
