"""Nets that run: errors before and after cutting, derivatives, and modules as separate nets."""

import numpy as np
import pytest

from recombine import InputError, modularity_report
from recombine.metrics.connectivity import Perceptron
from recombine.modularity.numpy_net import activation_function

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(300, 3))


def runnable(blocks, between=0.0, **settings):
    weights = blocks(3, between=between)
    biases = [np.linspace(-1, 1, matrix.shape[1]) for matrix in weights]
    net = Perceptron(tuple(weights), tuple(biases), np.tanh)
    noise = 0.01 * RNG.normal(size=(300, 3))
    arguments = {
        "biases": biases,
        "activation": "tanh",
        "x": X,
        "y": net(X) + noise,
        "inputs": "own",
    } | settings
    return net, modularity_report(weights, **arguments)


def test_cutting_a_modular_net_changes_nothing(blocks):
    net, report = runnable(blocks)
    test = report.separability
    assert test.error == pytest.approx(1e-4, rel=0.2)
    assert test.pruned == pytest.approx(test.error, rel=0.05)  # dead units have become biases
    assert test.ratio == pytest.approx(1, abs=0.05)
    assert test.constant > 0.1
    assert test.jacobian_ratio == pytest.approx(0, abs=1e-6)
    for module in report.extract():
        assert module.inputs.tolist() == module.outputs.tolist() == [module.number]
        assert module(X)[:, 0] == pytest.approx(net(X)[:, module.number], abs=0.1)


def test_cutting_a_mixed_net_costs(blocks):
    _, report = runnable(blocks, between=0.5, outputs="own")
    assert report.separability.ratio > 100
    assert report.separability.jacobian_ratio > 0.1
    assert f"{report.separability.constant:.1f}"[:2] in str(report)


def test_inputs_alone_give_derivatives_and_activity(blocks):
    _, report = runnable(blocks, y=None)
    assert report.by_activity
    assert report.separability.error is report.separability.pruned is report.separability.ratio is None
    assert report.separability.jacobian_ratio == pytest.approx(0, abs=1e-6)
    assert "derivatives" in str(report)
    assert "constant prediction" not in str(report)


def test_without_data_modules_can_be_extracted_but_not_tested(blocks):
    _, report = runnable(blocks, x=None, y=None)
    assert report.separability is None
    assert len(report.extract()) == 3


def test_one_module_has_no_ratio_of_derivatives():
    weights = [np.ones((2, 3)), np.ones((3, 1))]
    report = modularity_report(
        weights, biases=[np.zeros(3), np.zeros(1)], activation="relu", x=X[:, :2], modules=2
    )
    assert report.separability.jacobian_ratio is None or report.separability.jacobian_ratio >= 0
    alone = modularity_report(weights, biases=[np.zeros(3), np.zeros(1)], activation="relu", x=X[:, :2])
    assert alone.modules == 1
    assert alone.separability.jacobian_ratio is None


def test_modules_cannot_be_extracted_from_weights_alone(blocks):
    with pytest.raises(InputError, match="activation: got None, expected the net's biases and activation"):
        modularity_report(blocks(2)).extract()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": X[:, :2]}, r"x: got 'float64 of shape \(300, 2\)', expected numbers of shape \(rows, 3\)"),
        ({"x": np.where(X > 1.9, np.nan, X)}, "x: got 'values that are not finite'"),
        ({"x": [["a", "b", "c"]]}, "x: got 'str"),
        ({"y": X[:9]}, "y: got '9 rows', expected 300, as x has"),
        ({"y": X[:, :1]}, r"y: got 'float64 of shape \(300, 1\)', expected numbers of shape \(300, 3\)"),
        (
            {"biases": [np.full(15, np.nan)] * 2 + [np.ones(3)]},
            "biases: got 'values that are not finite numbers'",
        ),
    ],
)
def test_bad_data_is_refused(blocks, changed, message):
    with pytest.raises(InputError, match=message):
        runnable(blocks, **changed)


def test_convolutions_are_not_run():
    kernel, matrix = np.ones((3, 3, 1, 4)), np.ones((4, 2))
    with pytest.raises(
        InputError, match="activation: got 'a net with 1 convolutions', expected dense layers only"
    ):
        modularity_report([kernel, matrix], biases=[np.ones(4), np.ones(2)], activation="relu", modules=2)


def test_named_functions():
    x = np.array([-2.0, 0.0, 3.0])
    assert activation_function("relu")(x).tolist() == [0, 0, 3]
    assert activation_function("linear")(x).tolist() == [-2, 0, 3]
    assert activation_function("sigmoid")(x) == pytest.approx(1 / (1 + np.exp(-x)))
    assert activation_function("leaky_relu:0.2")(x).tolist() == [-0.4, 0, 3]
    assert activation_function(np.sin) is np.sin
