"""PyTorch modules: what is read is what they compute, and afterwards they are as they were."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from recombine import InputError, modularity_report
from recombine.metrics.interaction import interaction_profile
from recombine.models import ModelError, as_model

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(11, 3, 6, 6))
ROWS = RNG.normal(size=(11, 4))


def joined(model, layers=(), **how):
    chunks = list(model.run(layers, **how))
    assert [chunk.rows.start for chunk in chunks[1:]] == [chunk.rows.stop for chunk in chunks[:-1]]
    outputs = np.concatenate([chunk.outputs for chunk in chunks])
    return outputs, {n: np.concatenate([chunk.activities[n] for chunk in chunks]) for n in layers}


def state_of(net):
    hooks = [len(m._forward_hooks) for m in net.modules()]
    return [m.training for m in net.modules()], hooks, torch.backends.mha.get_fastpath_enabled()


@pytest.fixture
def convnet():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Conv2d(4, 6, 3, groups=2),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(96, 5),
    )
    net(torch.randn(8, 3, 6, 6))  # running statistics
    net[1].eval()
    return net


def test_convolutions_in_pieces_in_eval_mode(convnet):
    before = state_of(convnet)
    statistics = convnet[1].running_mean.clone()
    model = as_model(convnet, IMAGES)
    assert (model.framework, model.name, model.rows) == ("torch", "Sequential", 11)
    assert model.layers == ("0", "1", "2", "3", "4", "5", "6")
    assert model.notes == ["the model (Dropout) was in training mode; evaluated in eval mode and restored"]
    outputs, activity = joined(model, model.layers, batch=4)
    whole, _ = joined(model)
    np.testing.assert_allclose(outputs, whole, rtol=1e-5, atol=1e-6)
    assert state_of(convnet) == before
    assert torch.equal(statistics, convnet[1].running_mean)
    with torch.no_grad():
        convnet.eval()
        x = torch.tensor(IMAGES, dtype=torch.float32)
        np.testing.assert_allclose(convnet[0](x).numpy(), activity["0"], rtol=1e-5, atol=1e-6)
        assert (convnet[1](convnet[0](x)) < 0).any()
        np.testing.assert_allclose(convnet[:2](x).numpy(), activity["1"], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(convnet(x).numpy(), outputs, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(activity["6"], outputs)
    assert model.shapes["3"] == (6, 4, 4)


def test_weights_of_convolutions_are_chained(convnet):
    weights = as_model(convnet, IMAGES).weights()
    assert {name: array.shape for name, array in weights.items()} == {
        "0": (3, 3, 3, 4),
        "3": (3, 3, 4, 6),
        "6": (96, 5),
    }
    kernel = convnet[3].weight.detach().numpy()
    np.testing.assert_allclose(weights["3"][:, :, :2, :3], kernel[:3].transpose(2, 3, 1, 0))
    assert not weights["3"][:, :, :2, 3:].any()
    report = modularity_report(list(weights.values()), permutations=5)
    dense = convnet[6].weight.detach().numpy().reshape(5, 6, 16)
    np.testing.assert_allclose(report.weights[2], np.sqrt((dense**2).sum(axis=2)).T, rtol=1e-6)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x):
        return self.second(x + torch.relu(self.first(x)))


class Plain(Residual):
    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.act = nn.Linear(4, 4), nn.Tanh()

    def forward(self, x):
        return self.act(self.step(self.act(self.step(x))))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.w = nn.Linear(4, 3), nn.Parameter(torch.ones(3, 2))

    def forward(self, x):
        return self.first(x) @ self.w


@pytest.mark.parametrize(
    ("net", "reason"),
    [
        (Residual(), "around 'first'"),
        (Twice(), "'step' is called more than once"),
        (Own(), "the model itself (Own) has weights"),
        (nn.Sequential(nn.ReLU()), "no dense layers"),
    ],
    ids=["residual", "twice", "own", "none"],
)
def test_models_without_a_chain_of_weights_say_why(net, reason):
    model = as_model(net, ROWS)
    assert model.weights() is None
    assert model.weights() is None
    assert sum("no chain of weights" in note for note in model.notes) == 1
    assert reason in model.notes[-1]


def test_functional_nonlinearities_leave_a_chain():
    weights = as_model(Plain(), ROWS).weights()
    assert [(name, array.shape) for name, array in weights.items()] == [("first", (4, 4)), ("second", (4, 2))]
    turned = nn.Sequential(nn.ConvTranspose2d(3, 4, 2, groups=1), nn.Conv2d(4, 2, 1))
    weights = as_model(turned, IMAGES).weights()
    expected = turned[0].weight.detach().numpy().transpose(2, 3, 0, 1)
    np.testing.assert_allclose(weights["0"], expected)


def test_repeated_modules_are_numbered():
    net = Twice()
    model = as_model(net, ROWS)
    assert model.layers == ("step", "act", "step#2", "act#2")
    outputs, activity = joined(model, ["act#2", "act"], batch=5)
    np.testing.assert_array_equal(outputs, activity["act#2"])
    assert not np.allclose(activity["act"], activity["act#2"])


@pytest.mark.parametrize("batch_first", [True, False])
def test_attention_is_read_although_it_has_a_fast_path(batch_first):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=batch_first)
            self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        def forward(self, x):
            x = x if batch_first else x.transpose(0, 1)
            x = self.encoder(x)
            return x.mean(dim=1 if batch_first else 0)

    net = Net().eval()
    before = state_of(net)
    model = as_model(net, RNG.normal(size=(9, 5, 8)), layers=["encoder", "encoder.layers.0.self_attn"])
    assert model.layers == ("encoder.layers.0.self_attn", "encoder")
    outputs, activity = joined(model, model.layers, batch=4)
    assert activity["encoder.layers.0.self_attn"].shape == activity["encoder"].shape == (9, 5, 8)
    np.testing.assert_allclose(activity["encoder"].mean(axis=1), outputs, rtol=1e-5, atol=1e-6)
    assert state_of(net) == before
    assert model.notes == []
    every = as_model(net, RNG.normal(size=(9, 5, 8)))
    assert "encoder.layers.0.self_attn" in every.layers
    assert "encoder" not in every.layers


class Several(nn.Module):
    def __init__(self, kind=tuple):
        super().__init__()
        self.body, self.kind = nn.LSTM(4, 3, batch_first=True), kind

    def forward(self, x):
        h, _ = self.body(x[:, None])
        results = {"loss": h.sum(), "logits": h[:, 0, :2], "value": h[:, 0, 2]}
        return results if self.kind is dict else tuple(results.values())


def test_one_of_several_outputs():
    model = as_model(Several(), ROWS)
    assert model.output_shape == (2,)
    assert model.layers == ("body",)
    assert model.shapes["body"] == (1, 3)
    assert model.notes == ["the model returns 0, 1, 2; 1 is read as its output (output= picks another)"]
    named = as_model(Several(dict), ROWS, output="value")
    assert (named.output_shape, named.notes) == ((), [])
    assert as_model(Several(dict), ROWS, output="1").output_shape == (2,)
    with pytest.raises(InputError, match=r"got 'logit', expected one of: loss, .* .did you mean logits"):
        as_model(Several(dict), ROWS, output="logit")
    with pytest.raises(InputError, match="a single number for 2 rows"):
        as_model(Several(dict), ROWS, output="loss")
    with pytest.raises(InputError, match="output: got 0, expected None"):
        as_model(Plain(), ROWS, output=0)


def test_kinds_of_inputs():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = nn.Embedding(5, 3), nn.Linear(5, 2, dtype=torch.float64)

        def forward(self, words, x):
            return self.out(torch.cat([self.words(words).double(), x.double()], dim=1))

    net, words, x = Two(), np.arange(11, dtype=np.int32) % 5, ROWS[:, :2]
    expected, _ = joined(as_model(net, (words, x)))
    for inputs in ([torch.tensor(words), torch.tensor(x)], {"x": x, "words": words}):
        np.testing.assert_allclose(joined(as_model(net, inputs), batch=3)[0], expected, rtol=1e-6)
    assert as_model(net, (words, x)).weights() is None
    whole = as_model(Plain(), np.arange(44).reshape(11, 4))
    assert whole.notes == ["inputs are whole numbers; the model got them as float32"]
    half = as_model(Plain().to(torch.bfloat16), torch.tensor(ROWS, requires_grad=True))
    assert joined(half)[0].dtype == np.float32
    frozen = ROWS.copy()
    frozen.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert joined(as_model(Plain(), frozen[::-1]))[0].shape == (11, 2)
    with pytest.raises(InputError, match="inputs: got 'values of type"):
        as_model(Plain(), np.array([["a"] * 4] * 3))


class Raising(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.drop = nn.Linear(4, 2), nn.Dropout()

    def forward(self, x):
        if (x > 90).any():
            raise RuntimeError("too large\nand more")
        return self.drop(self.body(x))


def test_exceptions_in_the_model_are_reported_and_state_is_restored():
    net, rows = Raising(), ROWS.copy()
    rows[6] = 99  # not among those that are tried
    before = state_of(net)
    model = as_model(net, rows)
    run = model.run(["body"], batch=3)
    assert [next(run).rows, next(run).rows] == [slice(0, 3), slice(3, 6)]
    assert state_of(net) == before
    with pytest.raises(ModelError) as caught:
        next(run)
    assert str(caught.value) == "the model failed while running rows 6 to 8: RuntimeError: too large"
    assert 'raise RuntimeError("too large' in caught.value.trace
    assert "recombine/auditing" not in caught.value.trace
    assert state_of(net) == before
    with pytest.raises(ModelError, match="while trying a few rows: RuntimeError: mat1 and mat2"):
        as_model(net, ROWS[:, :3])
    assert state_of(net) == before


def test_layers_by_name():
    with pytest.raises(
        InputError, match=r"layers: got 'bod', expected one of: body, drop .did you mean body"
    ):
        as_model(Raising(), ROWS, layers=["bod"])
    model = as_model(Raising(), ROWS, layers="drop")
    assert model.layers == ("drop",)
    with pytest.raises(InputError, match="layers: got 'none'"):
        model.run(["none"])
    net = Plain()
    model = as_model(net, ROWS, layers={"squares": lambda x: x**2, "first": net.first, "sum": nn.Dropout()})
    _, activity = joined(model, model.layers, batch=4)
    np.testing.assert_allclose(activity["squares"], ROWS**2, rtol=1e-5)
    np.testing.assert_allclose(activity["sum"], ROWS, rtol=1e-5)
    assert "Dropout" in model.notes[0]


def test_compiled_modules_and_methods():
    net = Plain()
    expected, _ = joined(as_model(net, ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = torch.compile(net)
    model = as_model(compiled, ROWS)
    assert (model.name, model.layers) == ("Plain", ("first", "second"))
    np.testing.assert_array_equal(joined(model)[0], expected)
    method = as_model(net.forward, ROWS)
    assert (method.framework, method.layers) == ("torch", ("first", "second"))
    np.testing.assert_array_equal(joined(method)[0], expected)


def test_pieces_stay_small():
    net = nn.Sequential(nn.Linear(4, 1 << 20), nn.ReLU(), nn.Linear(1 << 20, 1))
    model = as_model(net, np.zeros((100, 4)))
    assert model.batch_size() == 4096
    assert model.batch_size(["0"]) == 31
    assert model.batch_size(["0", "1"]) == 15
    assert [chunk.rows.stop - chunk.rows.start for chunk in model.run(["0"])] == [31, 31, 31, 7]
    with pytest.raises(InputError, match="batch: got 0"):
        as_model(net, np.zeros((100, 4)), batch=0)


def test_rows_that_are_dropped_random_or_mixed_up():
    class Net(nn.Module):
        def __init__(self, how):
            super().__init__()
            self.how = how

        def forward(self, x):
            return self.how(x)

    with pytest.raises(InputError, match=r"1 outputs \(shape \(1, 4\)\) for 2 rows of inputs"):
        as_model(Net(lambda x: x[1:]), ROWS)
    assert "random" in as_model(Net(torch.rand_like), ROWS).notes[0]
    assert "depend on the other rows" in as_model(Net(lambda x: x - x.mean(dim=0)), ROWS).notes[0]


def test_experts_that_see_only_some_rows():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, x):
            chosen = x[:, :1] > 0
            result = torch.zeros(len(x), 2)
            for net, rows in ((self.left, chosen[:, 0]), (self.right, ~chosen[:, 0])):
                result[rows] = net(x[rows])
            return result

    rows = np.abs(ROWS)
    model = as_model(Net(), rows)
    assert model.layers == ("left",)
    rows[4] *= -1
    with pytest.raises(InputError, match="a layer that every row goes through"):
        list(model.run(["left"]))


def test_derivatives_in_eval_mode():
    net = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.9), nn.Tanh(), nn.Linear(6, 2)).double()
    model = as_model(net, ROWS)
    profile = interaction_profile(model, ROWS, 2, max_order=2)
    assert (profile.method, profile.notes) == ("exact", ())
    assert net.training
    several = as_model(Several(), ROWS)
    with several.eval_mode():
        assert several.function(torch.tensor(ROWS, dtype=torch.float32)).shape == (11, 2)


def test_functions_of_tensors_and_bare_layers():
    net = Plain()
    model = as_model(lambda x: net(x)[:, 0], ROWS, layers={"first": net.first})
    assert (model.framework, model.output_shape, model.shapes) == ("callable", (), {"first": (4,)})
    assert "whether its modules are in eval mode cannot be seen" in model.notes[0]
    np.testing.assert_allclose(joined(model, batch=4)[0], joined(as_model(net, ROWS))[0][:, 0], rtol=1e-5)
    bare = as_model(net.first, ROWS)
    assert (bare.layers, list(bare.weights())) == ((), ["output"])
    alike = as_model(net, ROWS[:1])
    assert alike.weights() is None
    assert "the same outputs" in alike.notes[-1]


def test_modules_without_hooks_or_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 2), nn.Dropout()))
    model = as_model(scripted, ROWS)
    assert model.layers == ()
    assert "TorchScript" in " ".join(model.notes)
    assert scripted.training
    np.testing.assert_array_equal(joined(model)[0], joined(model)[0])
    with torch.device("meta"):
        empty = nn.Linear(4, 2)
    with pytest.raises(ModelError, match="Cannot copy out of meta tensor"):
        as_model(empty, ROWS)


def test_layers_over_tokens_are_left_out():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.token, self.out = nn.Linear(2, 3), nn.Linear(6, 2)

        def forward(self, x):
            return self.out(self.token(x.reshape(-1, 2)).reshape(len(x), -1))

    model = as_model(Net(), ROWS)
    assert model.layers == ("out",)
    assert model.notes == ["layers that do not give a row for every row are left out: token"]
