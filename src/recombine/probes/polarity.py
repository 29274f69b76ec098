"""Polarity: whether a picture is drawn dark on white or bright on black, and what counts as its signal."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Real

from recombine.errors import InputError
from recombine.tasks.bump_images import Polarity


def signal(images: Real[np.ndarray, "*shape"], polarity: Polarity) -> Float[np.ndarray, "*shape"]:
    """What a picture shows against its background: `1 - I` (darkness) of dark images, `I` of bright ones.

    **Arguments:**

    - `images`: grey values of any shape, nominally from 0 to 1.
    - `polarity`: `"dark"` or `"bright"`.

    **Returns:**

    The signal as float64, 0 on the background and 1 at the centre of a perfect bump.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import signal
    >>> signal(np.array([1.0, 0.25]), "dark").tolist()
    [0.0, 0.75]

    ```
    """
    images = np.asarray(images, dtype=np.float64)
    return 1.0 - images if check_polarity(polarity) == "dark" else images


def check_polarity(polarity: str) -> str:
    """Returns a polarity unchanged, or raises if there is no such polarity."""
    if polarity not in {"dark", "bright"}:
        raise InputError("polarity", polarity, "'dark' or 'bright'")
    return polarity
