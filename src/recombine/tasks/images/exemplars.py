"""Classes of images to draw examples from: scikit-learn's digits, and MNIST and CIFAR-10 if they are installed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.tasks import datasets

ExemplarSource = Literal["digits", "mnist", "cifar10"]
SCALES = {
    "mnist": ((0.1307,), (0.3081,)),
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)),
}
"""Published mean and standard deviation of every channel, for values from 0 to 1."""


@dataclass(frozen=True, eq=False)
class Exemplars:
    """Normalised images with their classes.

    **Attributes:**

    - `images` `(n, height, width, channels)`, float32, near mean 0 and variance 1; `labels` `(n,)`.
    """

    images: Float[np.ndarray, "n height width channels"]
    labels: Int[np.ndarray, " n"]


@lru_cache(maxsize=4)
def load_exemplars(source: str = "digits", *, enlarge: int = 1) -> Exemplars:
    """All training images of a source.

    **Arguments:**

    - `source`: `"digits"`, 1797 images of 8 × 8 that come with scikit-learn; `"mnist"` or `"cifar10"`, the official
        training files, which must be on this machine (`recombine data fetch mnist`).
    - `enlarge`: repeats every pixel this many times along both axes.

    ```python
    >>> from recombine.tasks import load_exemplars
    >>> load_exemplars("digits", enlarge=2).images.shape
    (1797, 16, 16, 1)

    ```
    """
    if source not in get_args(ExemplarSource):
        raise InputError("source", source, f"one of {', '.join(get_args(ExemplarSource))}")
    if enlarge < 1:
        raise InputError("enlarge", enlarge, "1 or more")
    if source == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        images, labels = digits.images[..., None] / 16, digits.target
        mean, spread = np.array([images.mean()]), np.array([images.std()])
    else:
        images, labels = datasets.load(source)
        images = images.reshape(*images.shape[:3], -1) / np.float32(255)
        mean, spread = (np.array(values, dtype=np.float32) for values in SCALES[source])
    images = ((images - mean) / spread).astype(np.float32)
    images = images.repeat(enlarge, axis=1).repeat(enlarge, axis=2)
    images.setflags(write=False)
    return Exemplars(images, labels.astype(int))


def black(source: str) -> tuple[float, ...]:
    """The normalised value of a black pixel of MNIST or CIFAR-10 in every channel."""
    return tuple(round(-mean / spread, 4) for mean, spread in zip(*SCALES[source], strict=True))
