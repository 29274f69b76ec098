"""The command `recombine bias`: a model by its import name, data from a file, text, JSON and page."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from recombine.cli import app

MODEL = """
import numpy as np
from sklearn.neural_network import MLPClassifier
rng = np.random.default_rng(0)
x = rng.normal(size=(40, 4))
net = MLPClassifier((12,), solver="lbfgs", max_iter=100, random_state=0).fit(x, np.abs(x[:, 0]) > 0.6)
linear = np.tanh
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    (tmp_path / "bias_nets.py").write_text(MODEL)
    monkeypatch.syspath_prepend(str(tmp_path))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4))
    np.savez(tmp_path / "data.npz", inputs=x, targets=np.abs(x[:, 0]) > 0.6, others=rng.normal(size=(50, 4)))
    np.savez(tmp_path / "short.npz", inputs=x)
    np.savez(tmp_path / "wide.npz", inputs=np.ones((40, 7)), targets=np.arange(40) % 2)
    yield lambda *words: CliRunner().invoke(app, ["bias", *map(str, words)])
    sys.modules.pop("bias_nets", None)


def test_text_json_and_page(run, tmp_path):
    page = tmp_path / "page.html"
    data = ("--data", tmp_path / "data.npz")
    text = run("bias_nets:net", *data, "--html", page, "--quiet")
    assert text.exit_code == 0, text.output
    assert "What explains its predictions" in text.output
    assert page.exists()
    found = json.loads(run("bias_nets:net", *data, "--json", "--quiet").stdout)
    assert (found["layer"], found["compared"], found["mixtures"]) == ("hidden0", 50, False)
    assert [one["source"] for one in found["explanations"]] == [
        "hidden layer",
        "learned gates",
        "random gates",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("bias_nets:net", "--data", "short.npz"), "data: got 'inputs', expected an array named targets"),
        (("bias_nets:linear", "--data", "data.npz"), "model: got"),
        (("bias_nets:other", "--data", "data.npz"), "model: got 'other'"),
        (("bias_nets:net", "--data", "none.npz"), "none.npz"),
        (
            ("bias_nets:net", "--data", "wide.npz"),
            "--data: got 'wide.npz', expected inputs on which bias_nets:net",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(run, tmp_path, monkeypatch, words, line):
    monkeypatch.chdir(tmp_path)
    from recombine.errors import InputError

    result = run(*words)
    assert isinstance(result.exception, InputError)
    assert line in str(result.exception)
