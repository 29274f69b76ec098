"""Colours by hue."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float


def hue_to_rgb(hue: Float[np.ndarray, "*n"], *, saturation: float = 1.0) -> Float[np.ndarray, "*n 3"]:
    """Red, green and blue of a hue on the colour wheel (0 and 1 are red) at full value.

    A channel is `1 - saturation · m`, where m is 0 on the third of the wheel around the channel's hue, 1 on the third
    opposite and linear between. A saturation above 1 makes channels negative; the caller has to deal with them.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.scenes.colours import hue_to_rgb
    >>> hue_to_rgb(np.array([0, 1 / 6, 1 / 3, 1 / 12])).round(3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.5, 0.0]]

    ```
    """
    sixth = (np.asarray(hue)[..., None] * 6 + np.array([5, 3, 1])) % 6
    return 1 - saturation * np.clip(np.minimum(sixth, 4 - sixth), 0, 1)


def wrapped_hue_to_rgb(hue: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n 3"]:
    """Hues at a saturation of 3, cast to bytes without clipping: the smallest channel is 2 of 255 and the middle one
    runs up three times in every sixth of the wheel.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks.scenes.colours import wrapped_hue_to_rgb
    >>> (255 * wrapped_hue_to_rgb(np.array([1 / 12, 0.25]))).round().tolist()
    [[255.0, 129.0, 2.0], [129.0, 255.0, 2.0]]

    ```
    """
    return np.trunc(255 * hue_to_rgb(hue, saturation=3.0)) % 256 / 255
