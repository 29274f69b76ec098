"""Which outputs are images, and in which form they are drawn."""

import numpy as np
import pytest

from recombine.auditing.report.example_section import as_images, image_shape


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((8, 9), (8, 9)),
        ((3, 8, 9), (3, 8, 9)),
        ((8, 9, 3), (8, 9, 3)),
        ((8, 9, 1), (8, 9)),
        ((1, 8, 9), (8, 9)),
        ((1, 1, 8, 9), (8, 9)),
        ((5,), None),
        ((2, 3), None),
    ],
)
def test_shapes_of_images(shape, expected):
    assert image_shape(shape) == expected
    if expected:
        drawn = as_images(np.zeros((2, int(np.prod(shape)))), expected)
        assert drawn.shape[:3] == (2, 8, 9)
        assert drawn.shape[3:] in {(), (3,)}
