"""Images side by side, each to be classified: a task with one independent part per frame (Qian et al.)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.tasks.images.exemplars import load_exemplars
from recombine.tasks.modular import train_and_test
from recombine.tasks.task import Task


def film_roll(
    *,
    frames: int = 2,
    source: str = "digits",
    enlarge: int = 1,
    passes: int = 1,
    held_out: float = 1 / 6,
    seed: int = 0,
) -> Task:
    """`frames` random images in a row, with a class label for each.

    The space has one factor, `part`, with the levels `train` and `test`; test rolls consist of images that are
    not in training.

    **Arguments:**

    - `source`, `enlarge`: see `load_exemplars`.
    - `passes`: how often every training image occurs, each time in another roll. The published task draws a new
        roll at every access, which equals one epoch over as many passes as it had epochs.
    - `held_out`: share of the images held out for testing, each used once.

    **Returns:**

    Inputs `(rolls, height, frames · width, channels)`, targets `(rolls, frames)`.

    ```python
    >>> from recombine.studies.poisson_modularity.film_roll import film_roll
    >>> task = film_roll(frames=3, passes=2)
    >>> task.inputs.shape[1:], task.targets.shape[1:], len(task.train)
    ((8, 24, 1), (3,), 998)

    ```
    """
    if not 0 < held_out < 1:
        raise InputError("held_out", held_out, "a share between 0 and 1")
    library = load_exemplars(source, enlarge=enlarge)
    order = np.random.default_rng([seed, 5]).permutation(len(library.images))
    n_test = round(held_out * len(order))
    test, train = order[:n_test], order[n_test:]
    if not 1 <= frames <= min(len(test), len(train)):
        raise InputError("frames", frames, f"from 1 to {min(len(test), len(train))} images in a row")
    if passes < 1:
        raise InputError("passes", passes, "1 or more")
    rng = np.random.default_rng([seed, 6])
    rolls = [_rolls(rng.permutation(train), frames) for _ in range(passes)]
    shown, held = np.concatenate(rolls), _rolls(test, frames)
    which = np.concatenate([shown, held])
    split, cell = train_and_test(len(shown), len(held))
    images = _side_by_side(library.images, which)
    return Task(split, images, library.labels[which], kind="classification", cell=cell)


def _rolls(numbers: Int[np.ndarray, " images"], frames: int) -> Int[np.ndarray, "rolls frames"]:
    """The images arranged in rolls; a remainder that does not fill a roll is dropped."""
    return numbers[: len(numbers) // frames * frames].reshape(-1, frames)


def _side_by_side(
    images: Float[np.ndarray, "n height width channels"], which: Int[np.ndarray, "rolls frames"]
) -> Float[np.ndarray, "rolls height all_width channels"]:
    _, height, width, channels = images.shape
    rolls, frames = which.shape
    joined = np.empty((rolls, height, frames * width, channels), dtype=np.float32)
    for frame in range(frames):
        joined[:, :, frame * width : (frame + 1) * width] = images[which[:, frame]]
    return joined
