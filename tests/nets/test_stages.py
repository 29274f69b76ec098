from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import (
    BatchNorm,
    Buffer,
    Chain,
    Dropout,
    Net,
    cnn_decoder,
    evaluate,
    mlp,
    observe,
    parameter_count,
    pixel_transformer,
    position_table,
    trace,
    trainable,
)

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster


def test_trace_gives_every_stage_in_order() -> None:
    net = cnn_decoder(inputs=3, width=2, depth=2, key=KEY)
    output, stages = trace(net, jnp.ones((2, 3)))
    shapes = {name: stage.shape for name, stage in stages.items()}
    assert shapes == {
        "block0": (2, 7, 7, 2),
        "block1": (2, 14, 14, 2),
        "block2": (2, 28, 28, 2),
        "output": (2, 28, 28),
    }
    np.testing.assert_array_equal(output, stages["output"])
    assert min(stages[f"block{i}"].min() for i in range(3)) >= 0  # after their ReLU
    np.testing.assert_array_equal(net(jnp.ones((2, 3))), output)


def test_stages_can_be_continued_from_the_middle() -> None:
    net = mlp(inputs=3, width=4, depth=2, outputs=2, key=KEY)
    output, stages = trace(net, jnp.ones((5, 3)))
    rest = Net(net.names[1:], net.layers[1:])
    np.testing.assert_allclose(rest(stages["hidden0"]), output, rtol=1e-6)


def test_perturb_changes_what_later_stages_see_and_only_in_training() -> None:
    net = Net(("first", "second"), (lambda x: x + 1, lambda x: 10 * x))

    def perturb(name: str, x: jax.Array, key: jax.Array) -> jax.Array:
        return x + 5 if name == "first" else x

    x = jnp.zeros((1, 1))
    assert trace(net, x, perturb=perturb)[0] == 10
    output, stages = trace(net, x, key=KEY, perturb=perturb)
    assert (output, stages["first"]) == (60, 6)


def test_noise_and_layers_never_share_a_key() -> None:
    """A key used twice would tie activity noise to dropout masks."""
    keys: list[Any] = []

    class Spy(eqx.Module):
        def __call__(self, x: jax.Array, *, key: Any = None) -> jax.Array:
            keys.append(key)
            return x

    def perturb(name: str, x: jax.Array, key: Any) -> jax.Array:
        keys.append(key)
        return x

    trace(Net(("a", "b"), (Chain(Spy(), Spy(), Spy()), Spy())), jnp.zeros((1, 1)), key=KEY, perturb=perturb)
    assert len(keys) == 6
    assert len({tuple(np.asarray(jax.random.key_data(key)).tolist()) for key in keys}) == 6


def test_evaluate_in_pieces() -> None:
    net = mlp(inputs=3, width=4, depth=1, outputs=2, key=KEY)
    inputs = np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    whole = evaluate(net, inputs)
    np.testing.assert_allclose(evaluate(net, inputs, batch=4), whole, rtol=1e-5)
    hidden = evaluate(net, inputs, stage="hidden0", batch=4)
    np.testing.assert_allclose(hidden, trace(net, jnp.asarray(inputs))[1]["hidden0"], rtol=1e-5)


def test_batch_normalisation_normalises_and_takes_in() -> None:
    x = 3 + 2 * jax.random.normal(KEY, (64, 5))
    net = Net(("norm",), (BatchNorm(5, momentum=1.0),))
    output, _, after = observe(net, x, key=KEY)
    np.testing.assert_allclose(output.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(output.var(0), 1, atol=1e-3)
    norm = after.layers[0]
    np.testing.assert_allclose(norm.mean.value, x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(norm.variance.value, x.var(0, ddof=1), rtol=1e-4)


def test_batch_normalisation_leaves_filling_rows_out() -> None:
    x = jax.random.normal(KEY, (6, 2, 2, 3))
    weight = jnp.array([1.0, 1, 1, 1, 0, 0])
    net = Net(("maps",), (Chain(jnp.tanh, BatchNorm(3)),))
    output, _, after = observe(net, x, key=KEY, weight=weight)
    alone, _, expected = observe(net, x[:4], key=KEY)
    np.testing.assert_allclose(output[:4], alone, atol=1e-5)
    for actual, wanted in zip(
        *(jax.tree.leaves(eqx.filter(net, eqx.is_array)) for net in (after, expected)), strict=True
    ):
        np.testing.assert_allclose(actual, wanted, atol=1e-6)


def test_buffers_are_not_trained() -> None:
    net = pixel_transformer(inputs=3, depth=1, size=4, width=8, heads=2, hidden=4, key=KEY)
    marks = jax.tree.leaves(trainable(net), is_leaf=lambda node: isinstance(node, Buffer))
    assert any(marks)
    assert parameter_count(net, buffers=True) - parameter_count(net) == 16 * 8


def test_dropout_keeps_the_mean() -> None:
    x = jnp.ones((200, 200))
    dropped = Dropout(0.25)(x, key=KEY)
    np.testing.assert_allclose((dropped == 0).mean(), 0.25, atol=0.02)
    np.testing.assert_allclose(dropped.mean(), 1, atol=0.02)
    np.testing.assert_array_equal(Dropout(0.25)(x), x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Net(("a", "a"), (jnp.tanh, jnp.tanh)),
            "names: got ('a', 'a'), expected 2 different",
        ),
        (lambda: cnn_decoder(inputs=2, width=4, depth=1, key=KEY), "depth: got 1, expected at least 2"),
        (lambda: mlp(inputs=2, width=4, depth=-1, outputs=1, key=KEY), "depth: got -1"),
        (lambda: position_table(4, 6), "width: got 6, expected a multiple of 4"),
    ],
)
def test_errors(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(message)
