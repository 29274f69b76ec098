from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import trace
from recombine.studies.poisson_modularity.film_net import PoolFrames, film_net

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster


def test_a_mean_per_frame() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 8, 5)).astype(np.float32)
    pooled = eqx.filter_jit(PoolFrames(2))(x)
    expected = np.concatenate([x[:, :, :4].mean(axis=(1, 2)), x[:, :, 4:].mean(axis=(1, 2))], axis=1)
    np.testing.assert_allclose(pooled, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(InputError, match="frames: got 3, expected a divisor of the width 8"):
        PoolFrames(3)(x)


@pytest.mark.parametrize(("frames", "hidden", "units"), [(3, None, 24), (2, 10, 10)])
def test_shapes(frames: int, hidden: int | None, units: int) -> None:
    net = film_net(frames=frames, widths=(4, 8), blocks=1, hidden=hidden, classes=7, key=KEY)
    shapes = jax.eval_shape(lambda x: trace(net, x)[1], np.ones((2, 8, 8 * frames, 1), np.float32))
    assert {name: stage.shape[1:] for name, stage in shapes.items()} == {
        "stem": (8, 8 * frames, 4),
        "block0.0": (8, 8 * frames, 4),
        "block1.0": (4, 4 * frames, 8),
        "pool": (8 * frames,),
        "head": (units,),
        "output": (frames, 7),
    }


def test_the_trunk_is_the_published_one() -> None:
    net = eqx.filter_eval_shape(lambda: film_net(frames=2, channels=3, key=KEY))
    assert len(net.names) == 1 + 8 + 3
    assert net.layers[-2].layers[0].weight.shape == (1024, 1024)
    assert net.layers[-1].layers[0].weight.shape == (1024, 20)
