"""The finding on finetuning: its statuses, its place in reports, the remedy it leads to, and wrong versions."""

import copy
import json

import jax
import numpy as np
import pytest
import torch
from torch import nn

from recombine import InputError, audit
from recombine.nets import mlp

A, B = np.indices((8, 8)).reshape(2, -1)
SEEN = (3 * A + 2 * B) % 4 > 0
X = np.concatenate([np.eye(8)[A], np.eye(8)[B]], axis=1).astype(np.float32)
Y = ((A - 3.5) * (B - 3.5) / 4).astype(np.float32)


def net(seed=0, width=100):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 1))


def trained(start, steps=300):
    new = copy.deepcopy(start)
    x, y = torch.tensor(X[SEEN]), torch.tensor(Y[SEEN])[:, None]
    optimiser = torch.optim.Adam(new.parameters(), lr=2e-3)
    for _ in range(steps):
        optimiser.zero_grad()
        ((new(x) - y) ** 2).mean().backward()
        optimiser.step()
    return new


def run(model, before, **more):
    settings = {"factors": {"a": A, "b": B}, "seen": SEEN, "target": Y, "inputs": X} | more
    return audit(model=model, before=before, **settings)


@pytest.fixture(scope="module")
def failing():
    """A net that fits seen products of two factors and fails on unseen ones; only its readout was trained."""
    start = net(width=400)
    new = copy.deepcopy(start)
    hidden = np.maximum(X @ start[0].weight.detach().numpy().T + start[0].bias.detach().numpy(), 0)
    readout = np.linalg.lstsq(hidden[SEEN], Y[SEEN], rcond=None)[0]
    with torch.no_grad():
        new[2].weight.copy_(torch.tensor(readout)[None])
        new[2].bias.zero_()
    return start, new


def test_a_lazy_model_that_fails_gets_a_remedy(failing, tmp_path):
    report = run(failing[1], failing[0])
    finding = report.finding("lazy_finetuning")
    assert (finding.status, finding.details["regime"], finding.details["layer"]) == ("yes", "lazy", "1")
    assert report.finding("composes").holds is False
    assert "fails on unseen combinations" in finding.explanation
    assert "rescale_weights" in [one.id for one in report.remedies]
    assert "lazy finetuning" in str(report)
    record = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert record["reuse"]["label"] == "lazy"
    page = report.page().write(tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "What finetuning kept, layer by layer" in page


def test_other_regimes(failing):
    rich = run(trained(net(1)), net(0)).finding("lazy_finetuning")
    assert (rich.status, rich.details["regime"]) == ("no", "rich")
    assert rich.estimate.high < 0.5
    new = copy.deepcopy(failing[1])
    with torch.no_grad():
        new[0].weight[4:] = 0
        new[0].bias[4:] = 0
    nested = run(new, failing[0]).finding("lazy_finetuning")
    assert (nested.status, nested.details["regime"]) == ("no", "nested")
    with torch.no_grad():
        new[0].bias.fill_(-100)
    constant = run(new, failing[0]).finding("lazy_finetuning")
    assert constant.status == "unclear"
    assert "the same for every input" in constant.explanation


def test_where_versions_cannot_be_compared(failing):
    assert run(failing[1], None).finding("lazy_finetuning").status == "n/a"
    few = slice(0, 30)
    cut = {"factors": {"a": A[few], "b": B[few]}, "seen": SEEN[few], "target": Y[few], "inputs": X[few]}
    assert "too few" in run(failing[1], failing[0], **cut).finding("lazy_finetuning").explanation
    functions = {"layers": {"own": lambda x: x}}
    assert run(failing[1], failing[0], **functions).finding("lazy_finetuning").status == "unclear"
    plain = run(lambda x: x.sum(axis=1), lambda x: x.sum(axis=1)).finding("lazy_finetuning")
    assert "cannot be read" in plain.explanation


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (lambda: mlp(inputs=16, width=100, depth=1, outputs=1, key=jax.random.key(0)), "same framework, jax"),
        (lambda: nn.Sequential(nn.Linear(16, 1)), "layer '1': got 'missing before'"),
        (lambda: net(width=50), "layer '0': got \\(100,\\)"),
        (lambda: 3, "before: got 'int'"),
    ],
)
def test_versions_of_different_models_get_one_line(before, message):
    with pytest.raises(InputError, match=message) as error:
        run(net(), before())
    assert "\n" not in str(error.value)


def test_nan_weights_and_a_version_without_a_model():
    broken = net()
    with torch.no_grad():
        broken[0].weight[0, 0] = float("nan")
    with pytest.raises(InputError, match=r"before: got .*'0.weight'"):
        run(net(), broken)
    with pytest.raises(InputError, match="before: got 'Sequential', expected a model to go with it"):
        audit(factors={"a": A, "b": B}, seen=SEEN, target=Y, prediction=Y, before=net())
