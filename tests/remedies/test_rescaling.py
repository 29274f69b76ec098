"""Weight rescaling in JAX and PyTorch: what changes, what does not, and the search on a validation split."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from recombine import InputError
from recombine.nets import mlp
from recombine.remedies import rescale, rescaled_rate, search_rescaling
from recombine.remedies.rescaling import RescalingSearch
from recombine.torch import rescale as torch_rescale

KEY = jax.random.key(0)
X = np.random.default_rng(0).normal(size=(64, 5)).astype(np.float32)


def net(**options):
    return mlp(inputs=5, width=8, depth=2, outputs=1, key=KEY, **options)


def weights(stage):
    return jax.tree.leaves(eqx.filter(stage, eqx.is_inexact_array))


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_outputs_of_a_net_without_biases_scale_with_every_layer(factor):
    plain = net(bias=False)
    np.testing.assert_allclose(rescale(plain, factor)(X), factor**3 * plain(X), rtol=1e-5)
    module = nn.Sequential(nn.Linear(5, 8, bias=False), nn.ReLU(), nn.Linear(8, 1, bias=False))
    x = torch.tensor(X)
    torch.testing.assert_close(rescale(module, factor)(x), factor**2 * module(x))


def test_layers_and_readout():
    plain = net()
    some = rescale(plain, {"hidden0": 0.5})
    assert all(
        jnp.array_equal(a, 0.5 * b)
        for a, b in zip(weights(some.stages[0][1]), weights(plain.stages[0][1]), strict=True)
    )
    for kept in (some.stages[1:], rescale(plain, 0.5, readout="keep").stages[2:]):
        for (name, stage), (_, old) in zip(kept, plain.stages[-len(kept) :], strict=True):
            assert all(jnp.array_equal(a, b) for a, b in zip(weights(stage), weights(old), strict=True)), name
    fresh = rescale(plain, 0.5, readout="reset", key=jax.random.key(1))
    new = weights(fresh.stages[-1][1])[0]
    assert float(jnp.abs(new).max()) <= 0.5 * 8**-0.5
    assert not jnp.allclose(new, 0.5 * weights(plain.stages[-1][1])[0])


def test_torch_modules_are_copied_and_heads_can_start_anew():
    module = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    before = [p.clone() for p in module.parameters()]
    state = torch.random.get_rng_state()
    fresh, again = (torch_rescale(module, 0.1, readout="reset", key=3) for _ in range(2))
    assert torch.equal(state, torch.random.get_rng_state())  # nobody else's random numbers change
    assert torch.equal(fresh[2].weight, again[2].weight)
    assert all(torch.equal(p, q) for p, q in zip(module.parameters(), before, strict=True))
    assert float(fresh[2].weight.detach().abs().max()) <= 0.1 * 8**-0.5
    torch.testing.assert_close(fresh[0].weight, 0.1 * module[0].weight)


def test_batch_statistics_are_kept_or_measured_again():
    normalised = net(normalise=True)
    trained = rescale(normalised, 0.5, inputs=X)
    kept = rescale(normalised, 0.5)
    stats = next(stage for name, stage in kept.stages if name == "norm0")
    np.testing.assert_array_equal(stats.mean.value, 0)
    measured = next(stage for name, stage in trained.stages if name == "norm0")
    assert float(jnp.abs(measured.mean.value).max()) > 0
    module = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1)).eval()
    again = torch_rescale(module, 0.5, inputs=X)
    first = again[0](torch.tensor(X)).detach()
    torch.testing.assert_close(again[1].running_mean, first.mean(dim=0))
    torch.testing.assert_close(again[1].running_var, first.var(dim=0))
    assert not again.training
    assert again[1].momentum == 0.1
    torch.testing.assert_close(torch_rescale(module, 0.5)[1].running_mean, torch.zeros(8))


def test_any_equinox_module_can_be_rescaled_as_a_whole():
    layer = eqx.nn.Linear(3, 2, key=KEY)
    np.testing.assert_allclose(rescale(layer, 2.0).weight, 2 * layer.weight)


def test_learning_rates():
    assert rescaled_rate(0.1, 0.25, layers=2) == pytest.approx(0.1)
    assert rescaled_rate(0.1, 0.25, layers=3) == pytest.approx(0.4)


def test_the_search_finds_the_factor_that_helps():
    """Finetuning that only trains the readout by ridge: the search sees what each factor leads to."""
    module = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
    y = X[:, :1]
    seen = []

    def finetune(candidate, x, targets):
        seen.append(len(x))
        return candidate

    def validate(candidate, x, targets):
        return abs(float(candidate[0].weight.detach().norm() / module[0].weight.detach().norm()) - 0.25)

    found = search_rescaling(module, finetune, validate, X, y, repeats=2)
    assert found.best == 0.25
    assert set(seen) == {48}
    assert found.table().shape == (8, 3)
    assert repr(found).startswith("RescalingSearch(best 0.25; 1: 0.75")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rescale(net(), 0), "factor: got 0, expected a positive number"),
        (lambda: rescale(net(), -1.0), "factor: got -1.0"),
        (lambda: rescale(net(), float("nan")), "factor: got nan"),
        (lambda: rescale(net(), "half"), "factor: got 'half'"),
        (
            lambda: rescale(net(), {"hiden0": 0.5}),
            "factor: got 'hiden0', expected stages of the net: hidden0",
        ),
        (lambda: rescale(nn.Linear(2, 2), {"x": 0.5}), "beginnings of parameter names, such as weight"),
        (lambda: rescale(net(), 0.5, readout="new"), "readout: got 'new'"),
        (lambda: rescale(net(), 0.5, readout="reset"), "key: got None"),
        (lambda: rescale(nn.Linear(2, 1), 0.5, readout="reset"), "key: got None, expected a whole number"),
        (lambda: rescale(net(), 0.5, readout="reset", key=1), "key: got 1, expected a JAX random key"),
        (lambda: rescale(net(), {}), "a factor for at least one layer"),
        (lambda: search_rescaling(net(), None, None, X, X, factors=0.5), "factors: got 0.5"),
        (lambda: search_rescaling(net(), None, None, X, X, factors=()), "factors: got ()"),
        (lambda: rescale(np.ones(3), 0.5), "model: got 'ndarray'"),
        (lambda: rescale(nn.ReLU(), 0.5), "a module with parameters"),
        (lambda: rescaled_rate(0.1, 0.0, 2), "factor: got 0.0"),
        (lambda: search_rescaling(net(), None, None, X, X[:3]), "as many inputs as targets"),
        (lambda: search_rescaling(net(), None, None, X, X, validation=1.5), "validation: got 1.5"),
        (
            lambda: search_rescaling(net(), None, None, X, X, factors=[{"hidden0": 1.0}]),
            "positive numbers, one",
        ),
        (
            lambda: search_rescaling(net(), lambda *_: None, None, X, X),
            "finetune: got None, expected a function",
        ),
        (
            lambda: search_rescaling(net(), lambda model, *_: model, lambda *_: np.nan, X, X),
            "validate: got 'no finite loss'",
        ),
        (lambda: rescale(net(), 1e39), "factor: got 1e\\+39, expected a factor that leaves weights within"),
        (lambda: rescale(nn.Linear(2, 1), 1e-46), "factor: got 1e-46, expected a factor that leaves weights"),
        (lambda: rescale(net(), 0.5, inputs=np.full((4, 5), np.nan)), "inputs: got 'NaN or infinity'"),
        (lambda: rescale(nn.Linear(2, 1), 0.5, inputs=[[np.nan, 1.0]]), "inputs: got 'NaN or infinity'"),
        (
            lambda: rescale(net(), 0.5, readout="keep", head="fc"),
            "head: got 'fc', expected a stage with weights",
        ),
        (
            lambda: rescale(nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)), 0.5, readout="keep"),
            "head: got '1 .LayerNorm., the last module with parameters', expected the name of the readout",
        ),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_nan_weights_are_refused():
    module = nn.Linear(2, 1)
    with torch.no_grad():
        module.weight[0, 0] = float("nan")
    with pytest.raises(InputError, match="parameter 'weight': got 'NaN or infinity'"):
        rescale(module, 0.5)


def test_nan_weights_of_jax_nets_are_refused():
    broken = jax.tree.map(lambda leaf: leaf * jnp.nan if eqx.is_inexact_array(leaf) else leaf, net())
    with pytest.raises(InputError, match="NaN or infinite weights"):
        rescale(broken, 0.5)


def test_a_rescaling_that_diverges_is_not_the_best():
    assert RescalingSearch((1.0, 0.1), np.array([[0.5, 0.5], [np.nan, np.nan]])).best == 1.0


def test_a_head_that_was_defined_first_is_named():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 1)
            self.body = nn.Linear(5, 8)

        def forward(self, x):
            return self.fc(torch.relu(self.body(x)))

    module = Net()
    kept = rescale(module, 0.5, readout="keep", head="fc")
    assert torch.equal(kept.fc.weight, module.fc.weight)
    assert torch.equal(kept.body.weight, 0.5 * module.body.weight)
    plain = net()
    first = rescale(plain, 0.5, readout="keep", head="hidden0")
    assert jnp.array_equal(weights(first.stages[0][1])[0], weights(plain.stages[0][1])[0])


def test_statistics_behind_an_embedding():
    module = nn.Sequential(nn.Embedding(5, 4), nn.Flatten(), nn.BatchNorm1d(8), nn.Linear(8, 1))
    tokens = np.random.default_rng(0).integers(5, size=(64, 2))
    smaller = rescale(module, 0.5, inputs=tokens)
    expected = 0.5 * module[0].weight.detach()[tokens].reshape(64, 8).mean(dim=0)
    torch.testing.assert_close(smaller[2].running_mean, expected)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5)
        self.head.weight = self.words.weight

    def forward(self, x):
        return self.head(self.words(x))


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.readout = nn.Linear(5, 8), nn.Parameter(torch.ones(8))

    def forward(self, x):
        return self.body(x) @ self.readout


def test_a_normalised_readout_is_kept_as_a_whole_and_cannot_be_drawn_anew():
    module = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.utils.parametrizations.weight_norm(nn.Linear(8, 1)))
    kept = rescale(module, 0.5, readout="keep")
    torch.testing.assert_close(kept[2].weight, module[2].weight)
    torch.testing.assert_close(kept[0].weight, 0.5 * module[0].weight)
    with pytest.raises(InputError, match="without parametrisation"):
        rescale(module, 0.5, readout="reset", key=0)


def test_shared_and_bare_readouts_are_refused():
    with pytest.raises(InputError, match=r"it shares them with 'words\.weight'"):
        rescale(Tied(), 0.5, readout="keep", head="head")
    with pytest.raises(InputError, match=r"head: got 'body \(Linear\), the last module with parameters'"):
        rescale(Bare(), 0.5, readout="keep")
