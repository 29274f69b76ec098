"""Reports on two versions of a model: frameworks, forms, and wrong input."""

import copy
import json

import equinox as eqx
import jax
import numpy as np
import pytest
import torch
from sklearn.neural_network import MLPRegressor
from torch import nn

from recombine import InputError, reuse_report
from recombine.nets import mlp

X = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)


def torch_net(seed=0, width=40):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
    )


def deeper():
    return nn.Sequential(*torch_net(), nn.ReLU())


def jax_net(seed=0):
    return mlp(inputs=8, width=40, depth=2, outputs=1, key=jax.random.key(seed))


def finetuned(net, rate, steps=200):
    """A copy after some steps of gradient descent on a simple target."""
    net = copy.deepcopy(net)
    x, y = torch.tensor(X), torch.tensor(X[:, :1])
    optimiser = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(steps):
        optimiser.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        optimiser.step()
    return net


def test_a_torch_model_that_hardly_moved_is_lazy_and_another_one_is_rich():
    net = torch_net()
    same = reuse_report(net, finetuned(net, 1e-3), X)
    assert same.label == "lazy"
    assert all(moved < 0.3 for moved in same.displacement.values())
    assert {layer.label for layer in reuse_report(net, torch_net(1), X).layers[:-1]} == {"rich"}


def test_jax_and_sklearn_models():
    nets = [mlp(inputs=8, width=40, depth=2, outputs=1, key=jax.random.key(seed)) for seed in (0, 1)]
    assert reuse_report(nets[0], nets[0], X).label == "lazy"
    assert reuse_report(*nets, X).label == "rich"
    fitted = [
        MLPRegressor(hidden_layer_sizes=(40,), max_iter=2000, random_state=seed, solver="lbfgs").fit(
            X, X[:, 0]
        )
        for seed in (0, 1)
    ]
    assert reuse_report(fitted[0], fitted[0], X).layers[0].label == "lazy"
    assert reuse_report(*fitted, X).layers[0].label == "rich"


def test_activations_are_enough():
    x = np.maximum(X @ np.random.default_rng(1).normal(size=(8, 30)), 0)
    report = reuse_report({"hidden": x, "output": x[:, :2]}, {"hidden": x, "output": x[:, :2]})
    assert report.label == "lazy"
    assert report.decisive.name == "hidden"


def test_forms(tmp_path):
    net = torch_net()
    report = reuse_report(net, finetuned(net, 0.1), X, name="digits", progress=lambda share: None)
    record = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert record["label"] in {"lazy", "nested", "rich", "unclear"}
    assert len(record["layers"]) == len(report.layers) == report.table().height
    assert "What to try" in str(report)
    assert repr(report).startswith("ReuseReport(digits, 300 rows: ")
    assert "<figure" in report.page().write(tmp_path / "reuse.html").read_text(encoding="utf-8")


def test_only_some_layers_and_long_inputs():
    net = torch_net()
    report = reuse_report(net, net, np.tile(X, (20, 1)), layers=["1", "3"])
    assert [layer.name for layer in report.layers] == ["1", "3"]
    assert report.rows == 5000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: reuse_report(torch_net(), torch_net()), "inputs: got None"),
        (lambda: reuse_report(torch_net(), {"a": X}, X), "two models, or two mappings of activations"),
        (lambda: reuse_report({"a": X}, {"b": X}), "layer 'a': got 'missing after'"),
        (lambda: reuse_report({"a": X}, {"a": X, "b": X}), "layer 'b': got 'missing before'"),
        (lambda: reuse_report({"a": X}, {"a": X[:, :3]}), "as many rows and units as before"),
        (lambda: reuse_report({"a": X}, {"a": X[:100]}), "as many rows in every layer"),
        (lambda: reuse_report({}, {}), "layers: got 'none'"),
        (lambda: reuse_report(torch_net(), torch_net(width=20), X), "layer '0': got \\(20,\\)"),
        (lambda: reuse_report(torch_net(), torch_net(), X[:1]), "at least 40 rows"),
        (lambda: reuse_report(torch_net(), torch_net(), X, layers=["x"]), "layer 'x': got 'missing before'"),
        (lambda: reuse_report({"a": X}, {"a": X}, X), "nothing, where activations are given"),
        (lambda: reuse_report(torch_net(), None, X), "after: got None, expected a model or activations"),
        (lambda: reuse_report(None, {"a": X}), "before: got None, expected a model or activations"),
        (lambda: reuse_report(torch_net(), 3, X), "after: got 'int', expected a model that can be called"),
        (lambda: reuse_report(torch_net(), jax_net(), X), "after: got 'jax', expected a model of the same"),
        (lambda: reuse_report(torch_net(), deeper(), X), "layer '5': got 'missing before'"),
        (lambda: reuse_report({"a": X}, {"a": X * np.nan}), "a, after: got 'NaN, infinity"),
        (lambda: reuse_report({"a": X}, {"a": 3.0}), "activations of 'a': got 3.0"),
        (lambda: reuse_report({"a": X[:30]}, {"a": X[:30]}), "inputs: got 30, expected at least 40 rows"),
        (lambda: reuse_report(np.sin, np.cos, X), "layers: got 'none'"),
        (lambda: reuse_report({"a": [["x"]] * 50}, {"a": [["x"]] * 50}), "a, before: got 'NaN, infinity"),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_the_order_and_repetition_of_names_do_not_matter_and_a_string_is_refused():
    net = torch_net()
    for names in (["1", "3"], ["3", "1"], ["3", "3", "1"]):
        report = reuse_report(net, net, X, layers=names)
        assert ([layer.name for layer in report.layers], report.decided_by) == (["1", "3"], "3")
    with pytest.raises(InputError, match="layers: got '13', expected a list of names"):
        reuse_report(net, net, X, layers="13")


def test_nan_weights_are_refused():
    net, broken = torch_net(), torch_net()
    with torch.no_grad():
        broken[0].weight[0, 0] = float("nan")
    with pytest.raises(InputError, match=r"after: got \"NaN or infinity in the weights '0.weight'\""):
        reuse_report(net, broken, X)
    bad = jax.tree.map(lambda leaf: leaf * np.inf if eqx.is_inexact_array(leaf) else leaf, jax_net())
    with pytest.raises(InputError, match=r"before: got .*in the weights"):
        reuse_report(bad, jax_net(), X)


def test_movement_of_the_tangent_kernel():
    net = torch_net()
    same, other = reuse_report(net, finetuned(net, 1e-3), X), reuse_report(net, torch_net(1), X)
    assert same.tangent.moved.value < 0.1 * other.tangent.moved.value
    assert other.tangent.relative == pytest.approx(1, abs=0.5)
    assert other.tangent.moved.low <= other.tangent.moved.value <= other.tangent.moved.high
    assert "It stayed" in str(same)
    record = same.to_dict()["tangent_kernel"]
    assert record["rows"] == 64
    assert record["shuffled"] > 0
    fitted = MLPRegressor(hidden_layer_sizes=(40,), max_iter=500, random_state=0, solver="lbfgs").fit(
        X, X[:, 0]
    )
    without = reuse_report(fitted, fitted, X)
    assert without.tangent is None
    assert sum("tangent kernel was not measured" in note for note in without.notes) == 1
    assert reuse_report({"a": X}, {"a": X}).notes == ()


def test_a_softmax_behind_the_readout_does_not_decide():
    net = nn.Sequential(*torch_net(), nn.Softmax(dim=1))
    net[4] = nn.Linear(40, 3)
    assert reuse_report(net, net, X).decided_by == "3"
    assert reuse_report(net, net, X, layers=["1", "3"]).decided_by == "3"
    fitted = MLPRegressor(hidden_layer_sizes=(20, 20), max_iter=500, random_state=0, solver="lbfgs").fit(
        X, X[:, 0]
    )
    assert reuse_report(fitted, fitted, X).decided_by == "hidden1"


def test_a_new_readout_can_be_left_out():
    net, new = torch_net(), torch_net()
    new[4] = nn.Linear(40, 5)
    with pytest.raises(InputError, match=r"layer '4': got \(5,\).*compares the other layers only"):
        reuse_report(net, new, X)
    report = reuse_report(net, new, X, layers=["0", "1", "2", "3"])
    assert report.label == "lazy"
    assert report.units["2"].shares["reused"] == pytest.approx(1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)
        self.readout = nn.Linear(8, 2)

    def forward(self, x):
        tokens = x.reshape(len(x), 2, 4)
        return self.readout((tokens + self.attention(tokens, tokens, tokens)[0]).flatten(1))


def normalised():
    return nn.Sequential(nn.Linear(8, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.5), nn.Linear(20, 1))


@pytest.mark.parametrize("make", [Attention, normalised])
@pytest.mark.parametrize("training", [True, False])
def test_modes_are_kept_and_the_same_model_is_lazy(make, training):
    torch.manual_seed(0)
    net = make().train(training)
    report = reuse_report(net, copy.deepcopy(net), X)
    assert {layer.label for layer in report.layers} == {"lazy"}
    assert report.tangent.moved.value < 1e-6
    assert net.training is training


def test_dead_layers_and_whole_numbers():
    net, dead = torch_net(), torch_net()
    with torch.no_grad():
        dead[0].bias.fill_(-100.0)
    report = reuse_report(net, dead, X)
    labels = {layer.name: layer.label for layer in report.layers}
    assert labels["0"] == "lazy"
    assert labels["1"] == labels["3"] == report.label == "constant"
    assert "the same for every input" in str(report)
    json.dumps(report.to_dict(), allow_nan=False)
    whole = np.random.default_rng(0).integers(0, 5, size=(100, 8))
    assert reuse_report(net, net, whole).label == "lazy"


def test_a_softmax_behind_a_net_with_skips_does_not_decide():
    """Weights of such a net form no chain, so the readout is told by the shape of the outputs."""

    class Skips(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(6, 12), torch.nn.Linear(12, 12)
            self.head, self.softmax = torch.nn.Linear(12, 3), torch.nn.Softmax(dim=1)

        def forward(self, x):
            hidden = torch.relu(self.first(x))
            return self.softmax(self.head(hidden + torch.relu(self.second(hidden))))

    torch.manual_seed(0)
    net = Skips()
    x = np.random.default_rng(0).normal(size=(100, 6)).astype(np.float32)
    assert reuse_report(net, net, x).decided_by == "second"


def test_the_last_of_several_activations_is_said_to_be_the_readout():
    x = np.random.default_rng(0).normal(size=(200, 12))
    report = reuse_report({"hidden": x, "scores": x[:, :2]}, {"hidden": x, "scores": x[:, 2:4]})
    assert report.decided_by == "hidden"
    assert "'scores', the last entry, is taken for the readout" in str(report).replace("\n", " ")


def test_a_layer_that_has_grown_is_not_said_to_be_as_it_was():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 20))
    before = x * (np.arange(20) < 4)
    after = x * np.where(np.arange(20) < 4, 1.0, 0.45)
    report = reuse_report({"hidden": before}, {"hidden": after})
    assert report.layers[0].kept.low > 1.25
    assert report.label == "lazy"
    assert "adds directions to it" in str(report).replace("\n", " ")


def test_a_hidden_layer_as_wide_as_the_outputs_is_not_the_readout():
    class Skips(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.head = nn.Linear(8, 3), nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            hidden = torch.relu(self.first(x))
            return self.head(hidden + torch.relu(self.second(hidden)))

    torch.manual_seed(0)
    net = Skips()
    assert reuse_report(net, net, X).decided_by == "second"
