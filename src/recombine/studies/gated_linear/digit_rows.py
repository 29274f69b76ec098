"""Digits 0 to 4 against 5 to 9: MNIST if it is on this machine, else the digits of scikit-learn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from recombine.studies.gated_linear.labelled_rows import SPLIT_STREAM, Array, LabelledRows
from recombine.tasks import datasets


@lru_cache(maxsize=2)
def _images(source: str) -> tuple[Array, Array]:
    if source == "mnist":
        images, labels = datasets.load("mnist")
        pixels = images.reshape(len(images), -1) / 127.5 - 1
    else:
        from sklearn.datasets import load_digits

        digits = load_digits()
        pixels, labels = digits.data / 8 - 1, digits.target
    x = np.concatenate([pixels, np.ones((len(pixels), 1))], axis=1).astype(np.float32)
    return x, np.where(labels < 5, 1.0, -1.0)


def digit_rows(*, source: str, train: int, test: int, seed: int = 0) -> LabelledRows:
    """Draws training and test rows without overlap.

    **Arguments:**

    - `source`: `"mnist"` or `"digits"`.
    """
    x, y = _images(source)
    order = np.random.default_rng([seed, SPLIT_STREAM]).permutation(len(x))
    first, last = order[:train], order[-test:]
    return LabelledRows(x[first].astype(float), y[first], x[last].astype(float), y[last], x, seed)


def source(scale: str) -> str:
    """MNIST if it is here, but the small digits at scale smoke."""
    return "mnist" if scale != "smoke" and datasets.find("mnist") is not None else "digits"
