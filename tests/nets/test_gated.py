"""Gated nets: gates, contexts, weights picked by context, thresholds that survive saving."""

import equinox as eqx
import jax
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import mlp, trainable
from recombine.nets.gated import (
    at_quantiles,
    frozen_gates,
    k_means_gates,
    one_layer_gated,
    parts,
    random_gates,
    two_layer_gated,
)
from recombine.theory.gated import GatedRows

X = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)


def gates(bits=2, units=3, **settings):
    return random_gates(units=units, inputs=6, bits=bits, key=jax.random.key(1), **settings)


def test_contexts_are_the_sides_of_the_hyperplanes():
    drawn = gates()
    sides = np.einsum("ni,ubi->nub", X, drawn.directions.value) > np.asarray(drawn.thresholds.value)
    np.testing.assert_array_equal(drawn(X), sides[:, :, 0] + 2 * sides[:, :, 1])
    assert gates(bits=0)(X).max() == 0
    shared = np.asarray(gates(shared=True)(X))
    assert (shared == shared[:, :1]).all()


@pytest.mark.parametrize(
    "make", [lambda: gates(), lambda: k_means_gates(X, units=3, contexts=3), lambda: frozen_gates(X[:3].T)]
)
def test_the_forward_pass_picks_the_weights_of_the_context(make):
    own = make()
    net = two_layer_gated(own, inputs=6, key=jax.random.key(2))
    rows = GatedRows.of(X, np.asarray(own(X)), n_contexts=own.shape[1])
    np.testing.assert_allclose(net(X)[:, 0], rows.predict(parts(net)), rtol=1e-4, atol=1e-5)


def test_one_layer_is_linear_in_each_context():
    net = one_layer_gated(gates(units=1), inputs=6, key=jax.random.key(2))
    rows = GatedRows.of(X, np.asarray(gates(units=1)(X)), n_contexts=4)
    np.testing.assert_allclose(net(X)[:, 0], rows.predict(parts(net)), rtol=1e-4, atol=1e-5)


def test_frozen_gates_are_those_of_the_rectified_net():
    relu = mlp(inputs=6, width=5, depth=1, outputs=1, key=jax.random.key(3))
    linear = relu.layers[0].layers[0]
    on = np.asarray(frozen_gates(linear.weight, linear.bias)(X)) == 0
    np.testing.assert_array_equal(on, np.asarray(linear(X)) > 0)


def test_medians_and_quantiles_split_the_data():
    for quantile in (0.5, 0.25):
        drawn = at_quantiles(gates(bits=1), X, quantile)
        np.testing.assert_allclose(np.asarray(drawn(X)).mean(axis=0), 1 - quantile, atol=0.03)


def test_thresholds_are_saved_and_not_trained(tmp_path):
    """A restored net predicts bit for bit what the saved one did, although its own gates were drawn anew."""
    net = two_layer_gated(at_quantiles(gates(), X), inputs=6, key=jax.random.key(2))
    path = tmp_path / "net.eqx"
    eqx.tree_serialise_leaves(path, net)
    other = two_layer_gated(
        random_gates(units=3, inputs=6, bits=2, key=jax.random.key(9)), inputs=6, key=jax.random.key(8)
    )
    restored = eqx.tree_deserialise_leaves(path, other)
    np.testing.assert_array_equal(restored(X), net(X))
    trained = [leaf.shape for leaf in jax.tree.leaves(eqx.filter(net, trainable(net)))]
    assert trained == [(3, 4, 6), (3, 1)]


def test_gates_weights_and_data_have_separate_seeds():
    same = two_layer_gated(gates(), inputs=6, key=jax.random.key(5))
    other = two_layer_gated(gates(), inputs=6, key=jax.random.key(6))
    np.testing.assert_array_equal(same.layers[0].gates(X), other.layers[0].gates(X))
    assert not np.allclose(same.layers[0].weight, other.layers[0].weight)


def test_rows_of_weights_are_orthonormal_while_they_fit():
    weight = np.asarray(two_layer_gated(gates(bits=1), inputs=6, key=jax.random.key(0)).layers[0].weight)
    flat = weight.reshape(6, 6)
    np.testing.assert_allclose(flat @ flat.T, np.eye(6), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: random_gates(units=0, inputs=2, key=jax.random.key(0)), "units, inputs, bits"),
        (lambda: at_quantiles(gates(), X, 1.0), "quantile: got 1.0"),
        (lambda: at_quantiles(gates(), X[:, :2]), "x: got \\(40, 2\\), expected at least two rows of 6"),
        (lambda: k_means_gates(X, units=1, contexts=30, share=0.1), "share: got 0.1"),
        (lambda: one_layer_gated(gates(), inputs=6, key=jax.random.key(0)), "gates: got \\(3, 4\\)"),
        (lambda: parts(mlp(inputs=2, width=2, depth=1, outputs=1, key=jax.random.key(0))), "net: got"),
    ],
)
def test_bad_settings_are_refused(make, line):
    with pytest.raises(InputError, match=line):
        make()
