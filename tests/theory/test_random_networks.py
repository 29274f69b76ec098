"""The recursions against tabulated values and against finite networks."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory import (
    OverlapKernel,
    addition_slope,
    estimate_salience,
    multi_hot,
    named_profile,
    random_features,
    random_network,
    salience_by_depth,
)

PAIRS = {
    "relu": (0.426422, 0.375639, 0.337326, 0.203256),
    "leaky": (0.445986, 0.404587, 0.371285, 0.24101),
    "step": (0.333333, 0.196839, 0.109308, 0.00119),
    "quadratic": (0.365399, 0.267101, 0.194212, 0.01865),
    "gaussian": (0.177555, 0.128704, 0.105969, 0.06835),
}
"""S(1; 2) at depths 1, 2, 3 and 10."""
TRIPLES = {
    "relu": [(0.270680, 0.055877, 0.020329), (0.203501, 0.094238, 0.106783)],
    "leaky": [(0.28734, 0.041019, 0.014924), (0.229336, 0.07902, 0.074933)],
    "step": [(0.216347, 0.031865, 0.255364), (0.067857, 0.025942, 0.718604)],
    "quadratic": [(0.217371, 0.108338, 0.022871), (0.101008, 0.139115, 0.279631)],
    "gaussian": [(0.075065, 0.190323, 0.203835), (0.042563, 0.136297, 0.46342)],
}
"""S(1; 3), S(2; 3), S(3; 3) at depths 1 and 3."""


@pytest.mark.parametrize("name", PAIRS)
def test_tabulated_saliences(name):
    result = salience_by_depth(2, 10, name)[[1, 2, 3, 10], 0]
    np.testing.assert_allclose(result, PAIRS[name], atol=5.1e-6)
    np.testing.assert_allclose(salience_by_depth(3, 3, name)[[1, 3]], TRIPLES[name], atol=5.1e-7)


@pytest.mark.parametrize("name", PAIRS)
def test_shares_add_up_at_every_depth(name):
    np.testing.assert_allclose(salience_by_depth(3, 20, name) @ [3, 3, 1], 1, atol=1e-12)


def test_deep_relu_networks_become_lookup_tables():
    assert random_network(3, 1000).order_shares[2] == pytest.approx(0.98403, abs=1e-5)
    assert random_network(3, 100, "gaussian").order_shares[2] == pytest.approx(0.6594, abs=1e-4)


def test_the_tangent_kernel():
    results = [random_network(2, depth, kind="ntk").order_shares[0] for depth in (1, 2, 3, 4)]
    np.testing.assert_allclose(results, [0.371068, 0.287678, 0.230458, 0.189579], atol=5e-7)
    np.testing.assert_allclose(
        random_network(3, 1, kind="ntk").order_shares, [0.230271, 0.071849, 0.09364], atol=5e-7
    )


def test_biases_of_the_first_layer():
    """Weights of variance 2 / fan-in, biases uniform within ±1 / sqrt(fan-in): a sixth of one shared level."""
    biased = random_network(2, 1, bias=1 / 12)
    assert biased.order_shares[0] == pytest.approx(0.4316, abs=5e-5)
    assert addition_slope(biased.order_shares[0], 1) == pytest.approx(0.759, abs=5e-4)


def test_finite_networks_come_close():
    cells = np.indices((4, 4, 3)).reshape(3, -1).T
    estimate = estimate_salience(random_features(cells, (4, 4, 3), units=3000, seed=1, depth=2), cells)
    np.testing.assert_allclose(estimate.order_shares, random_network(3, 2).order_shares, atol=0.02)
    assert estimate.unevenness.max() < 0.1


def test_unequal_inputs():
    kernel = multi_hot(2, [0.1, 0.9])
    np.testing.assert_allclose(kernel.normalised, [[0, 0.9], [0.1, 0]], atol=1e-15)
    deeper = random_network(kernel, 3).normalised
    assert deeper[0, 1] > deeper[1, 0] > 0
    assert deeper.sum() == pytest.approx(1)


@pytest.mark.parametrize("text", ["relu:3", "relu depth 3", "ReLU 3"])
def test_profiles_have_names(text):
    np.testing.assert_array_equal(named_profile(text, 3).similarity, random_network(3, 3).similarity)


def test_the_tangent_kernel_has_a_name():
    np.testing.assert_array_equal(
        named_profile("ntk:2", 2).similarity, random_network(2, 2, kind="ntk").similarity
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: named_profile("relu", 2), "salience: got 'relu', expected NAME:DEPTH"),
        (lambda: named_profile("sigmoid:2", 2), "a name of relu, leaky"),
        (lambda: random_network(2, -1), "depth: got -1"),
        (lambda: random_network(2, 1, "tanh"), "nonlinearity: got 'tanh'"),
        (lambda: random_network(2, 1, "step", kind="ntk"), "'relu' for the tangent kernel"),
        (lambda: random_network(2, 1, bias=-1.0), "bias"),
        (lambda: multi_hot(2, [0.5, 0.6]), "add up to 1"),
        (lambda: random_network(OverlapKernel.by_count([0, 0.5, 1]), 1, kind="x"), "one of nngp, ntk"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
