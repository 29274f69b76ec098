"""Files and mappings: their order, and one clear line for each thing that is wrong with them."""

import numpy as np
import pytest

from recombine import InputError, modularity_report
from recombine.data.nets import natural, read_net


def test_arrays_come_in_natural_order(blocks, tmp_path):
    weights = blocks(2, units=3, depth=10)
    named = {f"W{number}": weights[number - 1] for number in (11, 2, 10, 1, 9, 3, 4, 5, 6, 7, 8)}
    np.savez(
        tmp_path / "net.npz", **named, **{f"b{n + 1}": np.zeros(m.shape[1]) for n, m in enumerate(weights)}
    )
    report = modularity_report(tmp_path / "net.npz", inputs="own", activation="relu")
    assert report.name == "net.npz"
    assert [matrix.shape for matrix in report.weights] == [matrix.shape for matrix in weights]
    assert len(report.extract()) == 2
    assert modularity_report(str(tmp_path / "net.npz"), inputs="own").mass == pytest.approx(report.mass)


def test_names_of_other_frameworks(blocks):
    weights = blocks(2, units=8, depth=1)
    state = {
        "net.2.weight": weights[1].T,
        "net.0.weight": weights[0].T,
        "net.0.bias": np.zeros(16),
        "epoch": 3,
    }
    net = read_net(dict(sorted(state.items())))
    assert list(net.names) == ["net.0.weight", "net.2.weight"]
    assert modularity_report(state, inputs="own").mass == pytest.approx(1)


def test_unnamed_arrays_keep_their_order(blocks, tmp_path):
    np.savez_compressed(tmp_path / "net.npz", *blocks(3))
    assert modularity_report(tmp_path / "net.npz").modules == 3


def test_activations_from_a_file(blocks, tmp_path):
    rng = np.random.default_rng(0)
    acts = {"layer10": rng.normal(size=(9, 10)), "layer9": rng.normal(size=(9, 10))}
    acts["layer9"][:, 4] = 1.0
    np.savez(tmp_path / "acts.npz", **acts)
    for activations in (tmp_path / "acts.npz", acts):
        report = modularity_report(blocks(2), inputs="own", activations=activations)
        assert not report.live[1][4]
        assert report.live[2].all()


def test_natural_order_of_any_names():
    names = ["b", "a10", "a9/x", "a9", "10", "2", "²3", ""]
    assert sorted(names, key=natural)[:3] == ["", "2", "10"]
    assert [name for name in sorted(names, key=natural) if name.startswith("a")] == ["a9", "a9/x", "a10"]


def test_errors_name_the_array_of_the_file(blocks, tmp_path):
    weights = blocks(2)
    weights[1][3, 4] = np.nan
    np.savez(tmp_path / "net.npz", first=weights[0], second=weights[1])
    with pytest.raises(InputError, match=r"weights\[1\] \('second'\): got '1 values that are not finite'"):
        modularity_report(tmp_path / "net.npz")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([], "weights: got 'no matrix'"),
        (np.ones((2, 2)), r"weights: got 'one matrix \(2, 2\)'"),
        (7, "weights: got 'int', expected a list of matrices, a mapping, or the path"),
        ({}, "weights: got 'no matrix among"),
        ({"b": np.ones(3)}, r"weights: got \"no matrix among \['b'\]\""),
        ({"W": np.ones((2, 2, 2))}, r"weights: got \"'W' of shape \(2, 2, 2\)\""),
        (
            [np.ones((2, 3)), np.ones((4, 5))],
            r"weights\[1\]: got 'shape \(4, 5\) behind \(2, 3\)', expected 3 rows",
        ),
        ([np.array([["a"]])], r"weights\[0\]: got 'str"),
        ([np.ones((2, 3)), np.zeros((3, 2))], "all 3 units of hidden layer 1 dead"),
        ([np.zeros((2, 2))], "only zeros between live units|no connection"),
    ],
)
def test_weights_that_are_none(weights, message):
    with pytest.raises(InputError, match=message):
        modularity_report(weights)
