"""Reports on two versions of a model: frameworks, forms, and wrong input."""

import copy
import json

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
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_nan_weights_are_refused():
    net, broken = torch_net(), torch_net()
    with torch.no_grad():
        broken[0].weight[0, 0] = float("nan")
    with pytest.raises(InputError, match="finite"):
        reuse_report(net, broken, X)
