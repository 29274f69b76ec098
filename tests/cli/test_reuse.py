"""`recombine reuse`: activations, checkpoints of a model, and one line for bad input."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from recombine.cli import app, main

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


def command(monkeypatch, capsys, *arguments):
    """As a user types it: the exit status, and what goes to standard error."""
    monkeypatch.setattr("sys.argv", ["recombine", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr().err.strip().splitlines()


@pytest.fixture
def checkpoints(tmp_path, monkeypatch):
    from torch import nn

    monkeypatch.chdir(tmp_path)
    (tmp_path / "checked_nets.py").write_text(MODEL, encoding="utf-8")
    net = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 1))
    state = {name: value.numpy() for name, value in net.state_dict().items()}
    np.savez(tmp_path / "good.npz", **state)
    np.savez(tmp_path / "nan.npz", **(state | {"0.weight": state["0.weight"] * np.nan}))
    np.savez(tmp_path / "narrow.npz", **(state | {"0.weight": state["0.weight"][:20]}))
    np.savez(tmp_path / "other.npz", fc=np.ones((3, 3)))
    x = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "few.npy", x[:10])
    np.save(tmp_path / "wide.npy", np.ones((50, 9), dtype=np.float32))
    for name, values in (("a", x), ("short", x[:10]), ("broken", x * np.nan)):
        np.savez(tmp_path / f"layers_{name}.npz", hidden=values)
    return tmp_path


MODEL_FLAGS = ("--model", "checked_nets:Net", "--inputs", "x.npy")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("good.npz",), "AFTER"),
        (("good.npz", "nan.npz", *MODEL_FLAGS), "after: got \"NaN or infinity in the weights '0.weight'\""),
        (("narrow.npz", "good.npz", *MODEL_FLAGS), "before, narrow.npz: got"),
        (("good.npz", "other.npz", *MODEL_FLAGS), "after, other.npz: got 'arrays without"),
        (("good.npz", "good.npz", *MODEL_FLAGS[:3], "few.npy"), "inputs: got 10, expected at least 40 rows"),
        (("good.npz", "good.npz", *MODEL_FLAGS[:3], "wide.npy"), "--inputs: got 'wide.npy'"),
        (("good.npz", "good.npz", *MODEL_FLAGS[:2]), "--inputs: got None"),
        (("good.npz", "good.npz", "--model", "math:sqrt", "--inputs", "x.npy"), "--model: got 'math:sqrt'"),
        (("layers_a.npz", "layers_short.npz"), "activations: got [10, 200]"),
        (("layers_a.npz", "layers_broken.npz"), "hidden, after: got 'NaN, infinity or no numbers'"),
        (("layers_short.npz", "layers_short.npz"), "inputs: got 10, expected at least 40 rows"),
        (("layers_a.npz", "other.npz"), "layer 'hidden': got 'missing after'"),
    ],
)
def test_bad_input_ends_with_status_2_and_one_line(checkpoints, monkeypatch, capsys, arguments, line):
    code, lines = command(monkeypatch, capsys, "reuse", *arguments, "--quiet")
    assert code == 2
    assert lines[-1].startswith("error: ")
    assert line in lines[-1]


def test_an_audit_with_the_version_before(checkpoints, monkeypatch, capsys):
    a, b = np.indices((10, 20)).reshape(2, -1)
    np.savez(
        "data.npz", inputs=np.load("x.npy"), targets=(a * b).astype(float), seen=(a + b) % 3 > 0, a=a, b=b
    )
    flags = ("--model", "checked_nets:Net", "--weights", "good.npz", "--data", "data.npz", "--quiet")
    done = CliRunner().invoke(
        app, ["audit", *flags, "--before", "good.npz", "--json"], catch_exceptions=False
    )
    found = {one["id"]: one for one in json.loads(done.stdout)["findings"]}["lazy_finetuning"]
    assert (found["holds"], found["details"]["regime"]) == (True, "lazy")
    for version, line in (
        ("nan.npz", "before: got"),
        ("other.npz", "--before: got 'arrays without"),
        ("nowhere:net", "--before: got"),
    ):
        code, lines = command(monkeypatch, capsys, "audit", *flags, "--before", version)
        assert code == 2
        assert line in lines[-1]
    code, lines = command(monkeypatch, capsys, "audit", "--data", "data.npz", "--before", "good.npz")
    assert code == 2
    assert "--before" in lines[-1]


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
