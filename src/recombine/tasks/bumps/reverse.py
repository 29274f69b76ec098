"""The reverse task: from the image of a bump to the code of its position."""

from __future__ import annotations

from recombine.spaces import Space
from recombine.spaces.holes import Hole, split_by_hole
from recombine.tasks.bumps.bump_images import Order, Polarity, bump_images, check_image_settings, check_memory
from recombine.tasks.draws import draw_with_replacement
from recombine.tasks.encodings import Encoding, bump_code, encoded
from recombine.tasks.task import Task


def reverse_bumps(
    n: int = 28,
    sigma: float = 1.0,
    *,
    hole: Hole = None,
    code: Encoding = bump_code,
    polarity: Polarity = "bright",
    order: Order = "xy",
    train: int | None = 2000,
    seed: int = 0,
) -> Task:
    """The task of an encoder: inputs are images `(n, n, 1)`, targets are codes of the bump's position.

    Published settings ([Liang et al., 2025](https://arxiv.org/abs/2501.18797)): bright bumps, `image[row=x,
    col=y]`, 2000 draws outside the hole 6 ... 22 of 28, and as code either `bump_code` (56 numbers) or
    `ramp` (x and y).

    **Arguments:**

    - `n`, `sigma`, `hole`, `polarity`, `order`: as for `bumps`.
    - `code`: an encoding: the target of the net.
    - `train`: draw this many training rows with replacement from the seen cells; `None`: every seen cell
        once.
    - `seed`: for `train`; not used otherwise.

    **Returns:**

    A `Task` with one row per cell; `latents` are positions. Its `blank`, a target of zero, is the code of a blank
    image in a population code and has no such meaning for `ramp`.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.spaces import centre_hole
    >>> from recombine.tasks import ramp, reverse_bumps
    >>> task = reverse_bumps(hole=Part(centre_hole, low=6, high=22), code=Part(ramp))
    >>> task.split, task.inputs.shape, task.targets.shape
    (Split(x 28 × y 28: 495 seen, 289 unseen), (784, 28, 28, 1), (784, 2))

    ```
    """
    check_image_settings(n, sigma, polarity=polarity, order=order)
    check_memory(n, images=n**2)
    space = Space({"x": n, "y": n})
    split = split_by_hole(space, hole)
    images = bump_images(space.cells, n, sigma, polarity=polarity, order=order)
    return Task(
        split,
        inputs=images[..., None],
        targets=encoded(code, space.cells, n),
        train=None if train is None else draw_with_replacement(split, train, seed=seed, field="train"),
        latents=space.cells.astype(float),
    )
