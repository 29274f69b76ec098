"""Equinox modules and JAX functions: batches or single examples, compiled once, with stages as layers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import InputError
from recombine.models import ModelError, as_model
from recombine.nets import Chain, Conv2d, Linear, Net, Reshape, mlp

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(11, 3))
KEY = jax.random.key(0)
pytestmark = pytest.mark.usefixtures("compile_quickly")


def joined(model, layers=(), **how):
    chunks = list(model.run(layers, **how))
    outputs = np.concatenate([chunk.outputs for chunk in chunks])
    return outputs, {n: np.concatenate([chunk.activities[n] for chunk in chunks]) for n in layers}


def test_nets_of_this_package_and_of_equinox():
    for net, call in (
        (mlp(inputs=3, width=8, depth=1, outputs=2, key=KEY), lambda net: net),
        (eqx.nn.MLP(3, 2, 8, 1, key=KEY), jax.vmap),
    ):
        model = as_model(net, ROWS)
        assert (model.framework, model.layers, model.notes) == ("jax", ("hidden0", "output"), [])
        outputs, activity = joined(model, model.layers, batch=4)
        np.testing.assert_allclose(outputs, call(net)(jnp.asarray(ROWS)), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(outputs, activity["output"])
        assert activity["hidden0"].shape == (11, 8)
        assert (activity["hidden0"] >= 0).all()
        weights = model.weights()
        assert [(n, w.shape) for n, w in weights.items()] == [("hidden0", (3, 8)), ("output", (8, 2))]


def test_images_and_their_weights():
    net = Net(
        ("pixels", "output"),
        (Conv2d(1, 4, 3, padding=1, key=KEY), Chain(Reshape((100,)), Linear(100, 3, key=KEY))),
    )
    model = as_model(net, RNG.normal(size=(6, 5, 5, 1)))
    assert {n: w.shape for n, w in model.weights().items()} == {"pixels": (1, 4), "output": (4, 3)}
    assert model.shapes == {"pixels": (5, 5, 4), "output": (3,)}


class Attending(eqx.Module):
    weight: jax.Array
    drop: eqx.nn.Dropout

    def __call__(self, x):
        return {"logits": self.drop(jnp.tanh(self.weight @ x)), "size": x @ x}


def test_single_examples_in_inference_mode():
    net = Attending(jnp.ones((2, 3)), eqx.nn.Dropout(0.5))
    model = as_model(net, ROWS, layers={"twice": lambda x: 2 * x, "size": lambda x: x @ x})
    assert model.notes == [
        "the model (Dropout) was in training mode; a copy in inference mode is evaluated",
        "the model returns logits, size; logits is read as its output (output= picks another)",
    ]
    assert net.drop.inference is False
    outputs, activity = joined(model, model.layers, batch=4)
    np.testing.assert_allclose(outputs, np.tanh(ROWS.sum(axis=1))[:, None].repeat(2, 1), rtol=1e-5)
    np.testing.assert_allclose(activity["size"], (ROWS**2).sum(axis=1), rtol=1e-5)
    assert model.weights() is None
    assert model.function(jnp.ones(3)).shape == (2,)
    with pytest.raises(InputError, match="a mapping from names to functions"):
        as_model(net, ROWS, layers=["drop"])


def test_square_maps_are_not_mistaken_for_batched_ones():
    layer = eqx.nn.Linear(2, 2, key=KEY)
    expected = jax.vmap(layer)(jnp.asarray(ROWS[:, :2]))
    np.testing.assert_allclose(joined(as_model(layer, ROWS[:, :2]))[0], expected, rtol=1e-5)


def test_functions_and_several_inputs():
    @jax.jit
    def model(x, t):
        return jnp.where(t[:, None] > 2, x, -x)

    result = as_model(model, {"x": jnp.asarray(ROWS), "t": np.arange(11)})
    assert (result.framework, result.name) == ("jax", "model")
    expected = np.where(np.arange(11)[:, None] > 2, ROWS, -ROWS)
    np.testing.assert_allclose(joined(result, batch=4)[0], expected, rtol=1e-6)
    mixed = as_model(jax.jit(lambda x: x / jnp.linalg.norm(x)), ROWS)
    assert "different outputs than one row at a time" in mixed.notes[0]


def test_one_program_serves_all_pieces():
    traced = []

    @jax.jit
    def model(x):
        traced.append(x.shape)
        return x @ jnp.ones(3)

    list(as_model(model, ROWS).run(batch=4))
    assert traced.count((4, 3)) == 1
    assert (11 % 4, 3) not in traced[traced.index((4, 3)) :]


def test_functions_that_cannot_be_traced():
    def model(x):
        return x if float(x.sum()) > 1e9 else -x

    result = as_model(model, jnp.asarray(ROWS))
    assert result.framework == "jax"
    assert "without being compiled" in result.notes[0]
    np.testing.assert_allclose(joined(result)[0], -ROWS, rtol=1e-6)


def test_exceptions_in_the_model():
    def broken(x):
        raise KeyError("no such thing")

    with pytest.raises(ModelError, match="while trying a few rows: KeyError: 'no such thing'") as caught:
        as_model(eqx.filter_jit(broken), ROWS)
    assert "in broken" in caught.value.trace


def test_precision_of_the_model():
    net = jax.tree.map(
        lambda leaf: leaf.astype(jnp.bfloat16) if eqx.is_inexact_array(leaf) else leaf,
        eqx.nn.Linear(3, 2, key=KEY),
    )
    assert joined(as_model(net, ROWS))[0].dtype == np.float32
    table = eqx.nn.Embedding(5, 2, key=KEY)
    np.testing.assert_allclose(joined(as_model(table, np.arange(11) % 5))[0], table.weight[np.arange(11) % 5])


def test_stages_that_hold_other_weights():
    norm = eqx.nn.Sequential([eqx.nn.Linear(3, 4, key=KEY), eqx.nn.LayerNorm(4)])
    model = as_model(norm, ROWS)
    assert model.layers == ()
    assert "layers of Sequential cannot be read" in model.notes[0]
