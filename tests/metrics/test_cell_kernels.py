import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import additive_kernel, binary_kernel, gaussian_kernel
from recombine.spaces import Space


def test_binary_and_additive_kernels_by_their_definition():
    cells = Space({"a": 3, "b": 2, "c": 2}).cells
    for i, z in enumerate(cells):
        for j, other in enumerate(cells):
            shared = sum(int(p == q) for p, q in zip(z, other, strict=True))
            assert additive_kernel(cells)[i, j] == shared
            assert binary_kernel(cells)[i, j] == (shared > 0)


def test_for_two_factors_binary_is_additive_minus_identity():
    cells = Space({"x": 4, "y": 5}).cells
    np.testing.assert_array_equal(binary_kernel(cells), additive_kernel(cells) - np.eye(20))


def test_equal_widths_make_the_factorised_kernel_radial():
    cells = Space({"x": 5, "y": 4}).cells
    squared = ((cells[:, None] - cells[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(gaussian_kernel(cells, widths=1.5), np.exp(-squared / (2 * 1.5**2)))
    product = gaussian_kernel(cells[:, :1], widths=0.5) * gaussian_kernel(cells[:, 1:], widths=2.0)
    np.testing.assert_allclose(gaussian_kernel(cells, widths=(0.5, 2.0)), product)
    with pytest.raises(InputError, match="widths"):
        gaussian_kernel(cells, widths=0.0)
