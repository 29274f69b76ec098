"""Decoders from anywhere, and the errors for those that cannot be measured."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.metrics.interaction import as_slots, interaction_profile
from recombine.models import as_function

pytestmark = pytest.mark.usefixtures("compile_quickly")
Z = np.random.default_rng(0).normal(size=(10, 4))
WEIGHTS = np.random.default_rng(1).normal(size=(2, 4, 5))


def additive(z, xp):
    return xp.tanh(z[..., :2] @ WEIGHTS[0, :2]) + xp.tanh(z[..., 2:] @ WEIGHTS[1, 2:])


class TorchAdditive(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.tensor(WEIGHTS))

    def forward(self, z):
        return torch.tanh(z[:, :2] @ self.weights[0, :2]) + torch.tanh(z[:, 2:] @ self.weights[1, 2:])


def test_three_frameworks_agree():
    in_jax = interaction_profile(lambda z: additive(z, jnp), Z, 2)
    in_torch = interaction_profile(TorchAdditive(), Z, 2)
    in_numpy = interaction_profile(lambda z: additive(z, np), Z, 2)
    assert (in_jax.method, in_torch.method, in_numpy.method) == ("exact", "exact", "differences")
    np.testing.assert_allclose(
        [s.value for s in in_jax.shares], [s.value for s in in_torch.shares], rtol=1e-9, atol=1e-9
    )
    assert in_jax.order == in_torch.order == in_numpy.order == 1
    assert in_numpy.r2 < 1e-12


def test_torch_in_float32_and_with_kinks():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3)]
    net = torch.nn.Sequential(*layers)
    profile = interaction_profile(net, Z, 2, step=1.0)
    assert profile.method == "differences"
    assert any("training mode" in note for note in profile.notes)
    assert any("piecewise linear" in note for note in profile.notes)
    smooth = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
    assert interaction_profile(smooth, Z, 2, max_order=2).method == "exact"


def test_functions_of_tensors_need_the_framework_argument():
    profile = interaction_profile(
        lambda z: torch.sin(z) * z.sum(), Z, 2, framework="torch", batched=False, max_order=2
    )
    assert profile.method == "exact"
    assert profile.order is None


def test_a_black_box_from_scikit_learn():
    from sklearn.ensemble import RandomForestRegressor

    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(400, 2))
    forest = RandomForestRegressor(20, random_state=0).fit(x, np.sign(x[:, 0] * x[:, 1]))
    profile = interaction_profile(forest.predict, x[:20], 2, max_order=2, step=1.0)
    assert profile.method == "differences"
    assert profile.r2 > 0.5
    assert "because JAX cannot trace it" in profile.notes[0]


def test_batched_and_single_functions_are_distinguished():
    one = interaction_profile(lambda z: jnp.stack([z[0] * z[2], z[1]]), Z, 2)
    rows = interaction_profile(lambda z: jnp.stack([z[:, 0] * z[:, 2], z[:, 1]], axis=1), Z, 2)
    assert one.r2 == rows.r2 == pytest.approx(1.0)
    scalar = as_function(lambda z: z[0] * z[1], Z)
    assert scalar.output_shape == ()
    assert scalar.values(Z).shape == (10, 1)
    with pytest.raises(InputError, match=r"expected batched=True .rows. or batched=False"):
        as_function(lambda z: z[0] * z, Z)


def test_a_convolution_is_computed_in_float32():
    conv = eqx.nn.Conv1d(1, 2, 3, padding=1, key=jax.random.key(0))
    profile = interaction_profile(lambda z: jnp.tanh(conv(z[None])), Z, 2, max_order=2)
    assert "computed in float32: the decoder does not take float64" in profile.notes
    assert profile.output_shape == (2, 4)
    assert 0 < profile.share(2).resolution < 1e-3


def test_a_black_box_inside_jax():
    def decoder(z):
        shape = jax.ShapeDtypeStruct(z.shape, z.dtype)
        return jax.pure_callback(lambda x: np.sin(np.asarray(x)), shape, z, vmap_method="sequential")

    profile = interaction_profile(
        decoder, np.random.default_rng(0).normal(size=(10, 4)), 2, batched=False, max_order=2
    )
    assert profile.order == 0
    assert "callbacks do not support JVP" in " ".join(profile.notes)


@pytest.mark.parametrize("batched", [None, False])
def test_numpy_constants_keep_working_in_both_precisions(batched):
    scale = np.array([1.0, 2.0, 3.0])

    def decoder(z):
        return jnp.sin(z * scale + scale)

    latents = np.random.default_rng(0).normal(size=(10, 3))
    for _ in range(2):
        assert jax.jit(decoder)(jnp.ones(3)).dtype == decoder(jnp.ones(3)).dtype == np.float32
        profile = interaction_profile(decoder, latents, [[0], [1, 2]], max_order=2, batched=batched)
        assert profile.order == 0
        assert not profile.notes


def test_decoders_without_derivatives():
    @jax.custom_vjp
    def wave(z):
        return jnp.sin(z)

    wave.defvjp(lambda z: (wave(z), z), lambda z, g: (g * jnp.cos(z),))
    profile = interaction_profile(lambda z: wave(z[:2]) + wave(z[2:]), Z, 2, max_order=2)
    assert (profile.method, profile.order) == ("differences", 1)
    for decoder in (lambda z: wave(z), lambda z: np.sin(np.asarray(z))):
        for method in ("exact", "probes"):
            with pytest.raises(InputError, match=f"method: got '{method}', expected method='differences'"):
                interaction_profile(decoder, Z, 2, method=method)


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ([[0, 1], [1, 2, 3]], "slots: got 'latent 1 twice', expected every latent in one slot only"),
        ([[0, 1], [3]], "slots: got 'no slot with latent 2', expected all 4 latents in some slot"),
        ([[0, 1, 2, 3]], "at least two slots"),
        ([[0, 1, 2, 3], []], "at least one latent in every slot"),
        ([[0, 1, 2], [3, 4]], "slots: got 'latent 4', expected indices from 0 to 3"),
        (1, "slots: got 1, expected from 2 to 4 slots"),
        (5, "slots: got 5, expected from 2 to 4 slots"),
        (3, "slots: got 3, expected a number that divides 4 latents"),
        ("ab", "a number of slots, or the indices"),
    ],
)
def test_bad_slots(slots, message):
    with pytest.raises(InputError) as error:
        as_slots(slots, 4)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("decoder", "latents", "settings", "message"),
    [
        (jnp.sin, Z[0], {}, "latents: got 'shape (4,)'"),
        (jnp.sin, Z[:0], {}, "at least one sample"),
        (jnp.sin, "abc", {}, "latents: got 'str'"),
        (jnp.sin, np.full((2, 4), np.nan), {}, "latents: got 'nan at sample 0, latent 0', expected finite"),
        (3, Z, {}, "decoder: got 'int'"),
        (jnp.log, Z - 5, {}, "decoder: got 'outputs that are not finite at sample 0'"),
        (lambda z: jnp.sqrt(jnp.abs(z)), 0 * Z, {}, "derivatives of order 1 that are not finite at sample 0"),
        (lambda z: 1 / 0, Z, {}, "an error (ZeroDivisionError)"),
        (lambda z: jnp.zeros(3), Z, {"batched": True}, "one for every row"),
        (jnp.sin, Z, {"method": "magic"}, "method: got 'magic'"),
        (jnp.sin, Z, {"max_order": 5}, "max_order: got 5"),
        (jnp.sin, Z, {"probes": 0}, "probes: got 0"),
        (jnp.sin, Z, {"threshold": 1.0}, "threshold: got 1.0"),
        (jnp.sin, Z, {"step": 0.0}, "step: got 0.0"),
        (jnp.sin, Z, {"samples": 0}, "samples: got 0"),
        (jnp.sin, Z, {"resamples": 0}, "resamples: got 0"),
        (jnp.sin, Z, {"framework": "mxnet"}, "framework: got 'mxnet'"),
        (jnp.sin, Z, {"precision": "float16"}, "precision: got 'float16'"),
        (jnp.sin, Z, {"chunk": 0}, "chunk: got 0"),
        (lambda z: np.sin(z), Z, {"framework": "jax"}, "a function that JAX can trace"),
    ],
)
def test_bad_input(decoder, latents, settings, message):
    with pytest.raises(InputError) as error:
        interaction_profile(decoder, latents, 2, **settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_orders_that_were_not_measured():
    profile = interaction_profile(jnp.sin, Z, 2, max_order=2, batched=False)
    with pytest.raises(InputError, match="order: got 3, expected from 1 to 2"):
        _ = profile.r3
    with pytest.raises(InputError, match="order: got 3, expected 1 or 2"):
        profile.pairs(3)


def test_importing_probes_stays_light():
    import subprocess
    import sys

    code = (
        "import sys, recombine.metrics; first = 'recombine.metrics.interaction' in sys.modules; "
        "import recombine.metrics.interaction; print(first, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr
