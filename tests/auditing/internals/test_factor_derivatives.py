"""Derivatives along factors that are inputs: known nets, every framework, and inputs that are not factors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import audit
from recombine.auditing.internals.factor_derivatives import factor_inputs
from recombine.auditing.reading import read_audit_inputs
from recombine.models import as_model
from recombine.models.model_inputs import InputColumn

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
XY = RNG.uniform(-1, 1, size=(600, 2)).astype(np.float32)
SEEN = ~(np.abs(XY).max(axis=1) < 0.5)
W1, W2 = RNG.normal(size=(2, 7)).astype(np.float32), RNG.normal(size=(7, 3)).astype(np.float32)


def found_in(inputs, factors, bins=None, unordered=()):
    seen = np.arange(len(next(iter(factors.values())))) % 3 > 0
    data = read_audit_inputs(None, factors=factors, seen=seen, inputs=inputs, bins=bins)
    cell_index = np.unique(data.table.codes, return_inverse=True)[1]
    result = factor_inputs(
        data, as_model(lambda *x, **y: (x or list(y.values()))[0], inputs).inputs, cell_index, unordered
    )
    return {data.table.space.names[axis]: one for axis, one in result.items()}


GRID = np.indices((6, 5)).reshape(2, -1)
FACTORS = {"a": GRID[0], "b": GRID[1]}


def test_columns_that_are_factors_are_found():
    inputs = GRID[::-1].T.astype(float)
    result = found_in(inputs, FACTORS)
    assert (result["a"].column, result["b"].column) == (InputColumn(0, 1), InputColumn(0, 0))
    assert result["a"].by_level == pytest.approx(1.0)
    scaled = found_in((inputs - 2) / 4, FACTORS)
    assert scaled["b"].by_level == pytest.approx(0.25)
    assert set(found_in(inputs, FACTORS, unordered=["a"])) == {"b"}


def test_inputs_that_other_columns_follow_are_not_factors():
    a, b = GRID.astype(float)
    for more in (a**2, a * b, np.eye(6)[GRID[0]][:, 2]):
        assert "a" not in found_in(np.stack([a, b, more], axis=1), FACTORS)
    assert not found_in(np.concatenate([np.eye(6)[GRID[0]], np.eye(5)[GRID[1]]], axis=1), FACTORS)
    assert not found_in(GRID.T, FACTORS)  # whole numbers may be indices
    assert set(found_in({"u": a, "v": b[:, None]}, FACTORS)) == {"a", "b"}


def test_added_noise_does_not_hide_a_factor():
    inputs = np.concatenate([XY, RNG.normal(size=(600, 4))], axis=1)
    result = found_in(inputs, {"x": XY[:, 0], "y": XY[:, 1]}, bins={"x": 5, "y": 4})
    assert set(result) == {"x", "y"}
    assert result["x"].by_level == pytest.approx(2 / 5, rel=0.05)


def models():
    net = torch.nn.Sequential(
        torch.nn.Linear(2, 7), torch.nn.Tanh(), torch.nn.Dropout(), torch.nn.Linear(7, 3)
    )
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor(W1.T))
        net[3].weight.copy_(torch.tensor(W2.T))
        net[0].bias.zero_()
        net[3].bias.zero_()
    mlp = eqx.nn.MLP(
        2, 3, 7, 1, activation=jnp.tanh, use_bias=False, use_final_bias=False, key=jax.random.key(0)
    )
    mlp = eqx.tree_at(
        lambda m: [layer.weight for layer in m.layers], mlp, [jnp.asarray(W1.T), jnp.asarray(W2.T)]
    )
    return {
        "torch": (net, None, "1"),
        "jax": (mlp, None, "hidden0"),
        "callable": (lambda x: np.tanh(x @ W1) @ W2, {"hidden": lambda x: np.tanh(x @ W1)}, "hidden"),
    }


@pytest.mark.parametrize("framework", ["torch", "jax", "callable"])
def test_derivatives_are_those_of_the_net(framework):
    model, layers, name = models()[framework]
    opened = as_model(model, XY, layers=layers)
    exact = (1 - np.tanh(XY @ W1) ** 2) * W1[1]
    rows = np.arange(0, 600, 7)
    automatic = opened.differentiable(InputColumn(0, 1), [name], 5e-3)
    assert automatic is (framework != "callable")
    for step, close in ((None, 1e-5), (5e-3, 2e-4)) if automatic else ((5e-3, 2e-4),):
        pieces = list(opened.slopes(InputColumn(0, 1), [name], rows, step=step))
        got = np.concatenate([piece.activities[name] for piece in pieces])
        np.testing.assert_allclose(got, exact[rows], atol=close * np.abs(exact).max())
        outputs = np.concatenate([piece.outputs for piece in pieces])
        np.testing.assert_allclose(outputs, exact[rows] @ W2, atol=10 * close)


class Frozen(torch.nn.Module):
    """Features without gradients: their derivatives are zero for PyTorch, not for anybody else."""

    def __init__(self, frozen):
        super().__init__()
        self.features, self.readout, self.frozen = torch.nn.Linear(2, 4), torch.nn.Linear(4, 1), frozen

    def forward(self, x):
        with torch.set_grad_enabled(not self.frozen and torch.is_grad_enabled()):
            return self.readout(torch.tanh(self.features(x)))


@pytest.mark.parametrize("frozen", [True, False])
def test_models_that_compute_without_gradients_are_compared_with_nearby_inputs(frozen):
    opened = as_model(Frozen(frozen), XY)
    assert opened.differentiable(InputColumn(0, 0), opened.layers, 5e-3) is not frozen
    piece = next(opened.slopes(InputColumn(0, 0), opened.layers, np.arange(20), step=5e-3))
    assert np.abs(piece.outputs).max() > 1e-3


def test_attention_and_recurrence_have_derivatives():
    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Linear(1, 8)
            self.attend = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
            self.remember = torch.nn.LSTM(8, 4, batch_first=True)

        def forward(self, x):
            return self.remember(self.attend(torch.relu_(self.embed(x[..., None]))))[0][:, -1]

    torch.manual_seed(0)
    opened = as_model(Both(), XY)
    assert opened.differentiable(InputColumn(0, 0), opened.layers, 5e-3)


def warp(x):
    """Both inputs squeezed to a third in the middle."""
    return jnp.where(jnp.abs(x).max() < 0.5, x / 3, x - jnp.sign(x) * jnp.where(jnp.abs(x) > 0.5, 1 / 3, 0))


def report(layer):
    return audit(
        factors={"x": XY[:, 0], "y": XY[:, 1]},
        bins={"x": 8, "y": 8},
        seen=SEEN,
        target=XY @ W2[:2],
        model=lambda x: x @ jnp.asarray(W2[:2]),
        layers={"first": lambda x: x @ jnp.asarray(W1), "second": layer},
        inputs=jnp.asarray(XY),
    )


def test_geometry_by_derivatives():
    plain = report(lambda x: 2 * x @ jnp.asarray(W1))
    assert any("automatic derivatives" in note for note in plain.notes)
    one, first, second, _ = plain.layers
    assert one.name == "input"
    assert one.factorisation.value == pytest.approx(1.0, abs=1e-6)
    assert second.factorisation.value == pytest.approx(first.factorisation.value, abs=1e-6)
    cosine = abs(W1[0] @ W1[1]) / (W1[0] @ W1[0] + W1[1] @ W1[1])
    assert first.factorisation.value == pytest.approx(1 - cosine, abs=1e-3)
    assert first.volume_gap.value == pytest.approx(0.0, abs=1e-5)
    assert plain.finding("warped_geometry").holds is False
    bent = report(jax.vmap(warp)).finding("warped_geometry")
    assert bent.holds is True
    assert bent.details["layer"] == "second"
    assert bent.estimate.value == pytest.approx(2 * np.log10(1 / 3), abs=0.25)
