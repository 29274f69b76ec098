"""`recombine modularity` as a person meets it."""

import json
import sys

import numpy as np
import pytest

from recombine.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*words):
        monkeypatch.setattr(sys, "argv", ["recombine", "modularity", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return ended.value.code, output.out, output.err

    return call


@pytest.fixture
def net(blocks, tmp_path):
    weights = blocks(3, between=0.01)
    named = {f"W{n + 1}": matrix for n, matrix in enumerate(weights)}
    named |= {f"b{n + 1}": np.zeros(matrix.shape[1]) for n, matrix in enumerate(weights)}
    np.savez(tmp_path / "net.npz", **named)
    return tmp_path / "net.npz"


def test_text_and_a_page(run, net, tmp_path):
    code, out, err = run(net, "--html", tmp_path / "page.html")
    assert (code, err) == (0, "")
    assert out.startswith("Modular: the net falls into 3 modules")
    assert (
        "net.npz: 3 layers of weights, 3-15-15-3 units; 3 modules (found in the weights, as many"
        in " ".join(out.split())
    )
    assert out.endswith(f"Page: {tmp_path / 'page.html'}\n")
    assert "Modularity of net.npz" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_one_json_object(run, net):
    code, out, err = run(net, "--inputs", "0,1,2", "--outputs", "own", "--modules", 3, "--json")
    assert (code, err) == (0, "")
    plain = json.loads(out)
    assert plain["verdict"]["word"] == "modular"
    assert plain["modules"]["source"] == "inputs"


def test_the_net_is_run_on_data(run, net, tmp_path):
    x = np.random.default_rng(0).normal(size=(40, 3))
    np.savez(tmp_path / "data.npz", x=x, y=np.tanh(x))
    words = ["--activation", "leaky_relu:0.1", "--data", tmp_path / "data.npz", "--inputs", "own", "--json"]
    plain = json.loads(run(net, *words)[1])
    assert plain["behaviour"]["pruned"] > 0
    assert plain["live_by"] == "activity"


def test_activity_and_orientation(run, net, tmp_path):
    with np.load(net) as arrays:
        np.savez(tmp_path / "turned.npz", **{name: arrays[name].T for name in arrays.files})
    np.savez(tmp_path / "acts.npz", *np.random.default_rng(0).normal(size=(2, 10, 15)))
    words = ["--orientation", "outputs-first", "--activations", tmp_path / "acts.npz", "--modules", 3]
    code, out, _ = run(tmp_path / "turned.npz", *words)
    assert code == 0
    assert "live units determined by activity" in " ".join(out.split())


def test_a_name_for_the_report(run, net):
    assert json.loads(run(net, "--name", "my net", "--json")[1])["name"] == "my net"


def test_long_searches_show_their_progress(run, net, monkeypatch):
    from recombine.modularity import module_search

    monkeypatch.setattr(module_search, "QUICK_UNITS", 10)
    code, out, err = run(net, "--modules", 3, "--json")
    assert code == 0
    assert json.loads(out)
    assert "finding modules   100" in err
    assert run(net, "--modules", 3, "--json", "--quiet")[2] == ""


BAD_FILES = {
    "missing": (None, "weights: got 'bad.npz', expected the path of an .npz or .safetensors file that exists"),
    "no arrays": (b"nonsense", "weights: got 'bad.npz', expected an .npz file of arrays that can be read"),
    "damaged": (b"PK\x03\x04 and then nothing", "weights: got 'bad.npz', expected an .npz file of arrays"),
    "chain": (
        {"W1": np.ones((2, 3)), "W2": np.ones((4, 5))},
        "weights[1] ('W2'): got 'shape (4, 5) behind (2, 3)', expected 3 rows",
    ),
    "nan": ({"W1": np.full((2, 2), np.nan)}, "weights[0] ('W1'): got '4 values that are not finite', expected finite"),
    "dead": (
        {"W1": np.ones((2, 3)), "W2": np.zeros((3, 2))},
        "weights[1] ('W2'): got 'all 3 units of hidden layer 1 dead'",
    ),
    "pickled": ({"W1": np.array([{}, None], dtype=object)}, 'weights: got "\'W1\' in bad.npz"'),
    "axes": ({"W1": np.ones((2, 2, 2))}, 'weights: got "\'W1\' of shape (2, 2, 2)", expected matrices'),
    "vectors": ({"b1": np.ones(2)}, "weights: got \"no matrix among ['b1']\", expected a matrix for every layer"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_line_and_exit_code_2(run, name, tmp_path, monkeypatch):
    content, message = BAD_FILES[name]
    monkeypatch.chdir(tmp_path)
    if isinstance(content, bytes):
        (tmp_path / "bad.npz").write_bytes(content)
    elif content is not None:
        np.savez(tmp_path / "bad.npz", **content)
    before = sorted(tmp_path.iterdir())
    code, out, err = run("bad.npz", "--html", "page.html")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--modules", "0"], "modules: got 0, expected 2 or more"),
        (["--modules", "500"], "modules: got 500, expected a number from 2 to"),
        (["--modules", "four"], "Invalid value for '--modules'"),
        (["--inputs", "0,1"], "inputs: got [0, 1], expected a module number, 0 or more, for each of 3 units"),
        (["--inputs", "a,b,c"], "inputs: got 'a,b,c', expected module numbers such as 0,0,1,1, or own"),
        (["--inputs", ""], "inputs: got '', expected module numbers"),
        (["--outputs", "0,1,2"], "outputs: got [0, 1, 2], expected the modules of inputs, too"),
        (
            ["--inputs", "own", "--outputs", "0,1,7"],
            "outputs: got [0, 1, 7], expected module numbers from 0 to 2",
        ),
        (
            ["--orientation", "columns"],
            "orientation: got 'columns', expected 'inputs-first' or 'outputs-first'",
        ),
        (
            ["--orientation", "outputs-first"],
            "weights[1] ('W2'): got 'shape (15, 15) behind (15, 3)', expected 3 rows, one for each unit of the layer "
            "before; transposed they fit together: orientation='inputs-first'",
        ),
        (
            ["--activations", "none.npz"],
            "activations: got 'none.npz', expected the path of an .npz or",
        ),
        (
            ["--activations", "net.npz"],
            "activations: got '6 arrays', expected one for each of 2 hidden layers",
        ),
        (["--activation", "swish"], "activation: got 'swish', expected a function, or one of linear, relu"),
        (["--data", "net.npz"], "data: got \"arrays ['W1', 'W2'"),
        (
            ["--data", "none.npz"],
            "data: got 'none.npz', expected the path of an .npz or .safetensors file that exists",
        ),
        (["--html", "page.pdf"], "html: got 'page.pdf', expected a file name that ends in .html or .md"),
        (["--html", "none/page.html"], "html: got 'none/page.html', expected a file in a folder that exists"),
    ],
)
def test_bad_arguments_give_one_line_and_exit_code_2(run, net, words, message, monkeypatch):
    monkeypatch.chdir(net.parent)
    code, out, err = run("net.npz", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert [path.name for path in net.parent.iterdir()] == ["net.npz"]


def test_help(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "--activations" in out
