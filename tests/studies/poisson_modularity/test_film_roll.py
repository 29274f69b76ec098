from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.tasks import load_exemplars


def shown(inputs: np.ndarray, frames: int) -> list[list[bytes]]:
    """The images of every roll."""
    return [[frame.tobytes() for frame in np.split(roll, frames, axis=1)] for roll in inputs]


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_every_label_is_that_of_its_image(frames: int) -> None:
    library = load_exemplars("digits")
    known = {image.tobytes(): label for image, label in zip(library.images, library.labels, strict=True)}
    assert len(known) == len(library.images)  # no image comes twice
    task = film_roll(frames=frames)
    labels = [[known[image] for image in roll] for roll in shown(task.inputs, frames)]
    np.testing.assert_array_equal(task.targets, labels)
    assert task.kind == "classification"


def test_test_images_are_never_in_training() -> None:
    task = film_roll(frames=2, passes=3)
    train, test = (
        [p for roll in shown(task.inputs[rows], 2) for p in roll] for rows in (task.rows_in, task.rows_out)
    )
    assert not set(train) & set(test)
    assert len(set(test)) == len(test) == 2 * (round(1797 / 6) // 2)
    assert np.unique([train.count(image) for image in set(train)]).tolist() in (
        [3],
        [2, 3],
    )  # one may be left over


def test_every_pass_makes_other_rolls() -> None:
    task = film_roll(frames=2, passes=2)
    rolls = [tuple(roll) for roll in shown(task.inputs[task.train], 2)]
    assert len(set(rolls)) > 0.99 * len(rolls)
    one, other = (film_roll(frames=2, seed=seed).targets for seed in (0, 1))
    assert (one != other).any()


def test_enlarged() -> None:
    assert film_roll(frames=2, enlarge=2).inputs.shape[1:] == (16, 32, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"frames": 0}, "frames: got 0, expected from 1 to 300 images in a row"),
        ({"frames": 400}, "frames: got 400, expected from 1 to 300 images in a row"),
        ({"passes": 0}, "passes: got 0, expected 1 or more"),
        ({"held_out": 0}, "held_out: got 0, expected a share between 0 and 1"),
        ({"held_out": 1.5}, "held_out: got 1.5"),
        ({"source": "letters"}, "source: got 'letters', expected one of digits, mnist, cifar10"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        film_roll(**settings)
