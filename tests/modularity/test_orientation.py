"""Matrices are read the right way round, or the report says that it cannot tell."""

import numpy as np
import pytest

from recombine import InputError, modularity_report

RNG = np.random.default_rng(0)
SQUARE = [RNG.normal(size=(5, 5)) for _ in range(3)]


def codes(report):
    return [pitfall.code for pitfall in report.warnings]


def is_read_as(report, weights):
    return all((one == other).all() for one, other in zip(report.weights, weights, strict=True))


def test_square_matrices_come_with_a_warning():
    report = modularity_report(SQUARE, inputs="own")
    assert (report.orientation, report.orientation_source) == ("inputs-first", "assumed")
    assert "M13" in codes(report)
    assert "outputs-first" in str(report)
    assert is_read_as(report, SQUARE)


@pytest.mark.parametrize("orientation", ["inputs-first", "outputs-first"])
def test_a_stated_orientation_is_used_without_a_warning(orientation):
    report = modularity_report(SQUARE, inputs="own", orientation=orientation)
    assert "M13" not in codes(report)
    turned = [matrix.T for matrix in SQUARE]
    assert is_read_as(report, SQUARE if orientation == "inputs-first" else turned)


def test_names_of_frameworks_state_it():
    torch_names = {f"fc{i}.weight": matrix for i, matrix in enumerate(SQUARE)}
    flax_names = {f"params/Dense_{i}/kernel": matrix for i, matrix in enumerate(SQUARE)}
    for names, read in ((torch_names, [matrix.T for matrix in SQUARE]), (flax_names, SQUARE)):
        report = modularity_report(names, inputs="own")
        assert report.orientation_source == "names"
        assert "M13" not in codes(report)
        assert is_read_as(report, read)


def test_shapes_state_it_where_only_one_way_fits():
    weights = [RNG.normal(size=shape) for shape in ((8, 3), (6, 8), (2, 6))]  # as in PyTorch
    report = modularity_report(weights, modules=2)
    assert (report.orientation, report.orientation_source) == ("outputs-first", "shapes")
    assert [len(mask) for mask in report.live] == [3, 8, 6, 2]
    assert "M13" not in codes(report)


def test_a_bottleneck_fits_both_ways_until_something_else_is_known():
    weights = [RNG.normal(size=(3, 9)), RNG.normal(size=(9, 3))]
    assert "M13" in codes(modularity_report(weights, modules=2))
    known = (
        {"biases": [np.zeros(3), np.zeros(9)]},
        {"inputs": [0, 0, 0, 1, 1, 1, 2, 2, 2]},
    )
    for settings in known:  # a net 9-3-9 in PyTorch
        report = modularity_report(weights, **settings)
        assert (report.orientation, report.orientation_source) == ("outputs-first", "shapes")
    report = modularity_report(weights, modules=2, biases=[np.zeros(9), np.zeros(3)])
    assert report.orientation == "inputs-first"


def test_a_wrong_orientation_error_says_what_would_fit():
    weights = [RNG.normal(size=(8, 3)), RNG.normal(size=(2, 8))]
    with pytest.raises(InputError, match="transposed they fit together: orientation='outputs-first'"):
        modularity_report(weights, orientation="inputs-first")


def test_matrices_that_fit_neither_way_are_refused():
    with pytest.raises(InputError, match=r"weights\[1\]: got 'shape \(4, 5\) behind \(2, 3\)'"):
        modularity_report([np.ones((2, 3)), np.ones((4, 5))])


def test_torch_modules_are_read_in_order():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = torch.nn.Linear(4, 4)
            self.decoder = torch.nn.Linear(4, 4)  # sorted by name, it would come first

    net = Net()
    report = modularity_report(net, modules=2, activation="tanh", x=RNG.normal(size=(10, 4)))
    assert (report.name, report.orientation, report.orientation_source) == ("Net", "outputs-first", "stated")
    encoder, decoder = (layer.weight.detach().numpy().T for layer in (net.encoder, net.decoder))
    assert is_read_as(report, [encoder, decoder])
    with pytest.raises(InputError, match="weights: got 'Dropout', expected a module with dense layers"):
        modularity_report(torch.nn.Dropout())


def test_equinox_modules_state_it():
    eqx, jax = pytest.importorskip("equinox"), pytest.importorskip("jax")
    net = eqx.nn.MLP(3, 3, 3, 1, key=jax.random.key(0))
    report = modularity_report(net, modules=2)
    assert report.orientation_source == "stated"
    assert is_read_as(report, [np.asarray(layer.weight, dtype=np.float64).T for layer in net.layers])
