import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from recombine.errors import InputError
from recombine.metrics import (
    factorisation,
    log10_volume,
    metric_summary,
    metric_tensor,
    metric_tensor_exact,
    volume,
    volume_gap,
)
from recombine.metrics.gram import unit_blocks


@pytest.mark.parametrize("name", ["one_hot", "bump", "ramp"])
def test_disentangled_codes_are_factorised_and_even(codes, name):
    g = metric_tensor(codes[name])
    assert factorisation(g) == pytest.approx(1.0, abs=1e-9)
    inner = log10_volume(g)[5:-5, 5:-5]
    assert np.ptp(inner) < 1e-4


def test_published_values_of_the_input_codes(codes, donut):
    bump = metric_summary(metric_tensor(codes["bump"]), donut.seen)
    assert (bump["in_log10_volume"], bump["out_log10_volume"]) == pytest.approx((-0.262, -0.252), abs=1e-3)
    ramp = metric_summary(metric_tensor(codes["ramp"]), donut.seen)
    assert (ramp["in_log10_volume"], ramp["out_log10_volume"]) == pytest.approx((0.0, 0.0), abs=1e-9)


def test_values_of_the_true_images(draw_bumps):
    """Computed once with other code: bright bumps, N = 32, sigma = 1.5, corner hole from 12."""
    bumps = draw_bumps(32, 1.5, 12, 31, "bright")
    g = metric_tensor(bumps.images.reshape(32, 32, -1))
    summary = metric_summary(g, bumps.seen)
    expected = {
        "in_log10_volume": 0.06216,
        "out_log10_volume": 0.07409,
        "factorisation": 0.99979,
        "in_factorisation": 0.99974,
        "out_factorisation": 0.99987,
        "volume_gap": 0.07409 - 0.06216,
    }
    assert summary == pytest.approx(expected, abs=2e-5)
    assert volume_gap(g, bumps.seen.reshape(32, 32)) == summary["volume_gap"]


def test_one_code_for_two_factors():
    x, y = np.mgrid[:9, :9]
    activations = np.stack([np.sin(x + y), (x + y) ** 2, np.exp(-(x + y))], axis=-1)
    inner = metric_tensor(activations)[1:-1, 1:-1]
    assert factorisation(inner) == pytest.approx(0.5)
    np.testing.assert_allclose(volume(inner), 0.0, atol=1e-5)


def test_redundant_codes_stay_factorised():
    x, y = np.mgrid[:9, :9]
    g = metric_tensor(np.stack([x, x, np.sin(y), y, y**2], axis=-1))
    assert factorisation(g) == pytest.approx(1.0)


@settings(max_examples=60, database=None)
@given(
    arrays(
        np.float64, array_shapes(min_dims=3, max_dims=4, min_side=2, max_side=4), elements=st.floats(-9, 9)
    )
)
def test_factorisation_lies_between_a_half_and_one(grid):
    g = metric_tensor(grid)
    assert 0.5 - 1e-12 <= factorisation(g) <= 1.0
    np.testing.assert_allclose(g, np.swapaxes(g, -1, -2), rtol=1e-12, atol=1e-12)
    assert (np.linalg.eigvalsh(g) > -1e-9).all()


def test_three_factors_average_the_pairs():
    x, y, z = np.mgrid[:5, :5, :5]
    g = metric_tensor(np.stack([x + y, z], axis=-1))  # x and y share a code, z has its own
    pairs = [factorisation(g[..., [[i], [j]], [i, j]]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert pairs == pytest.approx([0.5, 1.0, 1.0])
    assert factorisation(g) == pytest.approx(2.5 / 3)


def test_finite_differences_by_hand():
    grid = np.random.default_rng(0).normal(size=(5, 6, 7))
    g = metric_tensor(grid, spacing=(0.5, 2.0))
    dx, dy = (grid[3, 2] - grid[1, 2]) / 1.0, (grid[2, 3] - grid[2, 1]) / 4.0
    np.testing.assert_allclose(g[2, 2], [[dx @ dx, dx @ dy], [dx @ dy, dy @ dy]])
    edge = (grid[1, 0] - grid[0, 0]) / 0.5
    assert g[0, 0, 0, 0] == pytest.approx(edge @ edge)


def test_blocks_of_units_add_up(monkeypatch):
    grid = np.random.default_rng(0).normal(size=(4, 5, 23)).astype(np.float32)
    whole = metric_tensor(grid)
    monkeypatch.setattr(
        "recombine.metrics.geometry.unit_blocks", lambda n, **_: unit_blocks(n, 8, block_bytes=32)
    )
    np.testing.assert_allclose(metric_tensor(grid), whole, rtol=1e-12)


def smooth(point):
    x, y = point[0], point[1]
    return jnp.stack([jnp.sin(x + 2 * y), x * y, jnp.cos(x), jnp.exp(-(y**2))]).reshape(2, 2)


def smooth_grid(axis: np.ndarray) -> np.ndarray:
    x, y = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([np.sin(x + 2 * y), x * y, np.cos(x), np.exp(-(y**2))], axis=-1)


@pytest.mark.parametrize("chunk", [7, 64, 1000])
def test_exact_and_finite_differences_agree(chunk):
    axis = np.linspace(-1, 1, 41)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)[5:-5:6, 5:-5:6]
    finite = metric_tensor(smooth_grid(axis), spacing=axis[1] - axis[0])[5:-5:6, 5:-5:6]
    exact = metric_tensor_exact(smooth, points.reshape(-1, 2), chunk=chunk)
    assert exact.dtype == np.float64
    np.testing.assert_allclose(exact.reshape(finite.shape), finite, atol=2e-2)
    assert factorisation(exact) == pytest.approx(factorisation(finite), abs=2e-3)


def test_exact_metric_through_a_custom_backward_pass():
    @jax.custom_vjp
    def scaled_sine(x):
        return 3 * jnp.sin(x)

    scaled_sine.defvjp(lambda x: (scaled_sine(x), x), lambda x, u: (3 * jnp.cos(x) * u,))
    points = np.random.default_rng(0).normal(size=(11, 2))

    def net(sine):
        return lambda p: jax.nn.relu(smooth(sine(p)))

    exact = metric_tensor_exact(net(scaled_sine), points, chunk=4)
    np.testing.assert_allclose(
        exact, metric_tensor_exact(net(lambda x: 3 * jnp.sin(x)), points), rtol=1e-5, atol=1e-6
    )


def test_exact_metric_does_not_hide_mistakes():
    with pytest.raises(TypeError):
        metric_tensor_exact(lambda p: p + "a", np.zeros((1, 2)))


def test_volume_of_three_factors_and_the_floor():
    assert volume(np.diag([1.0, 4.0, 9.0])) == pytest.approx(6.0)
    assert log10_volume(np.zeros((2, 2))) == pytest.approx(-12.0)


def test_one_sided_splits_are_not_a_number():
    g = np.tile(np.eye(2), (3, 3, 1, 1))
    summary = metric_summary(g, np.ones((3, 3), bool))
    assert summary["factorisation"] == summary["in_factorisation"]
    assert np.isnan([summary["out_factorisation"], summary["volume_gap"]]).all()


def test_misfits_are_refused():
    with pytest.raises(InputError, match="at least two levels"):
        metric_tensor(np.zeros((1, 5, 3)))
    with pytest.raises(InputError, match="two factors"):
        factorisation(np.ones((4, 1, 1)))
    with pytest.raises(InputError, match="mask"):
        volume_gap(np.tile(np.eye(2), (3, 3, 1, 1)), np.ones(8, bool))
