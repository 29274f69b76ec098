"""`recombine reuse`: activations, checkpoints of a model, and one line for bad input."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from recombine.cli import app

MODEL = """
from torch import nn
class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 1))
"""


def run(*arguments):
    return CliRunner().invoke(app, ["reuse", *map(str, arguments)])


@pytest.fixture
def activations(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 30)) * (np.arange(30) < 10)
    paths = []
    for name, hidden in (("before", x), ("after", x * (np.arange(30) < 3))):
        paths.append(tmp_path / f"{name}.npz")
        np.savez(paths[-1], hidden=hidden, output=hidden[:, :2])
    return paths


def test_activations(activations, tmp_path):
    done = run(*activations, "--quiet")
    assert done.exit_code == 0, done.output
    assert "nested: hidden" in done.output.replace("`", "")
    record = json.loads(run(*activations, "--json", "--quiet").stdout)
    assert (record["label"], record["name"]) == ("nested", "after")
    assert run(*activations, "--html", tmp_path / "reuse.html", "--quiet").exit_code == 0
    assert (tmp_path / "reuse.html").exists()


def test_two_checkpoints_of_a_model(tmp_path, monkeypatch):
    from torch import nn

    monkeypatch.chdir(tmp_path)
    (tmp_path / "reused_nets.py").write_text(MODEL, encoding="utf-8")
    for seed, name in ((0, "before"), (1, "after")):
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 1))
        np.savez(tmp_path / f"{name}.npz", **{k: v.numpy() for k, v in net.state_dict().items()})
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32))
    options = ("--model", "reused_nets:Net", "--inputs", "data.npz", "--json", "--quiet")
    done = run("before.npz", "after.npz", *options)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert [layer["label"] for layer in record["layers"][:2]] == ["rich", "rich"]
    same = json.loads(run("before.npz", "before.npz", *options).stdout)
    assert {layer["label"] for layer in same["layers"]} == {"lazy"}


def test_bad_input_is_one_line(activations, tmp_path):
    other = tmp_path / "other.npz"
    np.savez(other, fc=np.ones((300, 3)))
    for arguments, words in (
        ((activations[0], other), "layer 'hidden'"),
        ((activations[0], tmp_path / "missing.npz"), "after"),
        ((*activations, "--inputs", activations[0]), "--inputs"),
        ((*activations, "--model", "nowhere:net"), "--inputs"),
        ((*activations, "--layers", "x"), "layer 'x'"),
        ((*activations, "--html", "page.pdf"), "html"),
    ):
        done = run(*arguments, "--quiet")
        assert done.exit_code != 0
        assert words in str(done.exception) + done.output
