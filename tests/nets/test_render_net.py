from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import FactorCanvas, parameter_count, render_net, trace

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster


def one_hot_rows(*levels: int, rows: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([np.eye(n, dtype=np.float32)[rng.integers(n, size=rows)] for n in levels], axis=1)


def slow_matrix(canvas: FactorCanvas, level: int) -> np.ndarray:
    """Σ_j λ_j l_j r_jᵀ with unit vectors, entry by entry."""
    spectrum, columns, rows = (np.asarray(a[level]) for a in (canvas.spectrum, canvas.columns, canvas.rows))
    height, rank = columns.shape
    width = rows.shape[1]
    image = np.zeros((height, width))
    for j in range(rank):
        left = columns[:, j] / np.sqrt(sum(v**2 for v in columns[:, j]))
        right = rows[j] / np.sqrt(sum(v**2 for v in rows[j]))
        for r in range(height):
            for c in range(width):
                image[r, c] += spectrum[j] * left[r] * right[c]
    return image


@pytest.mark.parametrize(("height", "width"), [(3, 3), (3, 5)])
def test_a_canvas_is_its_decomposition_even_when_vectors_are_not_unit(height: int, width: int) -> None:
    canvas = FactorCanvas(3, height, width, key=KEY)
    assert canvas.spectrum.shape == (3, min(height, width))
    np.testing.assert_allclose(jnp.linalg.norm(canvas.columns, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(jnp.linalg.norm(canvas.rows, axis=2), 1, rtol=1e-5)
    scaled = jax.tree.map(lambda leaf: 3 * leaf, canvas)
    for image, level in zip(scaled(jnp.eye(3)), range(3), strict=True):
        np.testing.assert_allclose(image, slow_matrix(scaled, level), atol=1e-5)
        np.testing.assert_allclose(image, 3 * slow_matrix(canvas, level), atol=1e-5)


def test_three_factors_on_an_image_that_is_not_square() -> None:
    net = render_net(levels=(3, 2, 3), size=(3, 5), hidden=1, key=KEY)
    codes = one_hot_rows(3, 2, 3, rows=6)
    output, stages = eqx.filter_jit(trace)(net, jnp.asarray(codes))
    assert output.shape == (6, 3, 5)
    assert stages["embedding"].shape == (6, 3, 5, 3)
    for factor, code in enumerate(np.split(codes, [3, 5], axis=1)):
        canvas = net.layers[0].canvases[factor]
        expected = [slow_matrix(canvas, level) for level in code.argmax(axis=1)]
        np.testing.assert_allclose(stages["embedding"][..., factor], expected, atol=1e-5)
    head = 1 + (9 * 3 * 3 + 3) + 1 + (9 * 3 + 1)
    assert parameter_count(net) == (3 + 2 + 3) * (3 + 3 * 3 + 3 * 5) + head


def test_head_sizes() -> None:
    assert render_net(levels=(3, 3), hidden=0, key=KEY).names == ("embedding", "prelu0", "output")
    names = render_net(levels=(3, 3), hidden=1, key=KEY).names
    assert names == ("embedding", "prelu0", "conv0", "prelu1", "output")


def test_one_factor_is_refused() -> None:
    with pytest.raises(InputError, match="levels: got"):
        render_net(levels=(4,), key=KEY)


def test_an_absent_factor_draws_nothing_and_has_finite_gradients() -> None:
    net = render_net(levels=(5, 5), key=jax.random.key(0))
    absent = jnp.zeros((2, 10)).at[:, 1].set(1.0)

    @eqx.filter_jit
    @eqx.filter_grad(has_aux=True)
    def gradient(net):
        output, stages = trace(net, absent)
        return (output**2).sum(), stages["embedding"]

    gradients, embedding = gradient(net)
    assert not embedding[..., 1].any()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradients))
