"""Images of digits to rotate: from MNIST if it is on this machine, otherwise from scikit-learn's digits."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.tasks import datasets

GlyphSource = Literal["auto", "mnist", "digits"]
"""`"mnist"`, `"digits"` (scikit-learn's), or `"auto"`: MNIST if it is on this machine, otherwise digits."""


@dataclass(frozen=True, eq=False)
class Glyph:
    """An image of one digit, and where it comes from.

    **Arguments:**

    - `image`: `(28, 28)` grey values between 0 (background) and 1.
    - `digit`: the digit it shows.
    - `source`: the data set and the image's number in it, for captions and tables.
    """

    image: Float[np.ndarray, "28 28"]
    digit: int
    source: str

    def __repr__(self) -> str:
        return f"Glyph({self.digit}, {self.source})"


def glyph_source(source: GlyphSource = "auto", *, path: str | os.PathLike[str] | None = None) -> str:
    """The source that `"auto"` stands for on this machine: `"mnist"` or `"digits"`; others are returned as they are.

    Results depend on it, so a trial should contain this source rather than `"auto"`.

    ```python
    >>> from recombine.studies.forced_rendering.glyphs import glyph_source
    >>> glyph_source("digits"), glyph_source("auto") in {"mnist", "digits"}
    ('digits', True)

    ```
    """
    if source not in {"auto", "mnist", "digits"}:
        raise InputError("source", source, "'auto', 'mnist' or 'digits'")
    if source != "auto":
        return source
    return "digits" if datasets.find("mnist", path) is None else "mnist"


def glyph(
    digit: int = 4, *, source: GlyphSource = "auto", path: str | os.PathLike[str] | None = None
) -> Glyph:
    """The first image of a digit in MNIST's training set (for 4: number 2), or a substitute.

    The substitute is the first such image of scikit-learn's 8 × 8 digits, enlarged linearly to the
    20 × 20 pixels that a digit covers in MNIST, with the same margin of 4. Nothing is downloaded (see
    `recombine.tasks.datasets.cache.fetch`).

    **Arguments:**

    - `digit`: 0 to 9.
    - `source`: see `GlyphSource`.
    - `path`: a folder with MNIST's files, if they are not in the default locations.

    **Returns:**

    A `Glyph`, whose `source` says what was used.

    ```python
    >>> from recombine.studies.forced_rendering.glyphs import glyph
    >>> glyph(4, source="digits")
    Glyph(4, scikit-learn digits, image 4, enlarged from 8 × 8)

    ```
    """
    if not isinstance(digit, int | np.integer) or not 0 <= digit <= 9:
        raise InputError("digit", digit, "a whole number from 0 to 9")
    if glyph_source(source, path=path) == "mnist":
        images, labels = datasets.load("mnist", "train", path=path)
        first = int(np.argmax(labels == digit))
        return Glyph(images[first] / 255.0, int(digit), f"MNIST training set, image {first}")
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    small = load_digits()
    first = int(np.argmax(small.target == digit))
    padded = np.pad(small.images[first] / 16.0, 2)  # (12, 12): a black border, so that edges fade out
    image = zoom(padded, 2.5, order=1, grid_mode=True, mode="grid-constant")[1:-1, 1:-1]  # 30 - 2 pixels
    return Glyph(image, int(digit), f"scikit-learn digits, image {first}, enlarged from 8 × 8")
