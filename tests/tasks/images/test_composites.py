from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks import addition, composite_images, context_dependence, load_exemplars

ADDITION = Part(addition)


def test_every_row_shows_its_cell() -> None:
    """The images in a row, looked up among all digits, are of the classes that the row's levels stand for."""
    task = composite_images(task=ADDITION, distance=3, total=500, fresh=3, seed=1)
    library = load_exemplars("digits")
    known = {image.tobytes(): label for image, label in zip(library.images, library.labels, strict=True)}
    shown = np.array(
        [[known[row[:, 3 * i : 3 * i + 8, i : i + 1].tobytes()] for i in (0, 1)] for row in task.inputs]
    )
    cells = task.split.space.cells[task.cell]
    for axis in (0, 1):
        pairs = set(zip(cells[:, axis].tolist(), shown[:, axis].tolist(), strict=True))
        assert len(pairs) == 9
        assert {kind for _, kind in pairs} == set(range(9))
    np.testing.assert_array_equal(task.targets, addition().targets[task.cell])


def test_training_and_fresh_images_differ() -> None:
    task = composite_images(task=ADDITION, total=1700, pool=120, fresh=20)
    trained, fresh = (
        {row[..., :1].tobytes() for row in task.inputs[rows]}
        for rows in (task.train, np.setdiff1d(np.arange(len(task.inputs)), task.train))
    )
    assert not trained & fresh
    assert np.bincount(task.cell[task.train], minlength=81)[task.split.seen].tolist() == [100] * 17
    assert np.bincount(task.cell).min() == 20


def test_edges_fill_the_canvas() -> None:
    task = composite_images(task=Part(context_dependence), distance=5, total=54, fresh=1)
    assert task.inputs.shape[1:] == (8, 18, 3)
    np.testing.assert_array_equal(task.inputs[:, :, 8:, 0], np.repeat(task.inputs[:, :, 7:8, 0], 10, axis=2))
    np.testing.assert_array_equal(
        task.inputs[:, :, :10, 2], np.repeat(task.inputs[:, :, 10:11, 2], 10, axis=2)
    )


def test_seeds_decide() -> None:
    one, same, other = (composite_images(task=ADDITION, total=170, fresh=1, seed=s).inputs for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_digits_are_normalised() -> None:
    exemplars = load_exemplars("digits", enlarge=3)
    assert exemplars.images.shape == (1797, 24, 24, 1)
    np.testing.assert_allclose([exemplars.images.mean(), exemplars.images.std()], [0, 1], atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"source": "faces"}, "source: got 'faces', expected one of digits, mnist, cifar10"),
        ({"distance": -1}, "distance: got -1"),
        ({"fresh": -1}, "fresh: got -1"),
        ({"total": 3}, "total: got 3, expected at least one example for each of 17"),
        ({"pool": 500}, "pool: got 500, expected from 1 to"),
        ({"task": Part(addition, n=11, anchors=(5,))}, "task: got 'a factor of 11 levels'"),
    ],
)
def test_errors(settings: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        composite_images(**{"task": ADDITION, **settings})
    assert str(caught.value).startswith(message)
