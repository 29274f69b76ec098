"""The command, as a user types it."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine.cli import app, main

X, Y = np.indices((6, 7)).reshape(2, -1)
SEEN = (3 * X + 2 * Y) % 4 > 0
TRUTH = X * 1.5 + Y
FLAGS = ["--factors", "colour,shape", "--seen", "split=train", "--target", "y", "--prediction", "p"]
MODEL = """
import numpy as np

def predict(rows):
    return rows @ np.array([1.5, 1.0])

def broken(rows):
    raise RuntimeError("out of order")

def make():
    return predict

def chatty(rows):
    print("hello")
    return predict(rows)

def nothing():
    return None

def with_sibling(rows):
    from SIBLING import weights
    return rows @ np.array(weights)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "colour": X,
            "shape": Y,
            "split": np.where(SEEN, "train", "test"),
            "y": TRUTH,
            "p": X * 1.5 + Y * SEEN,
        }
    ).write_csv("predictions.csv")
    name = f"model_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODEL.replace("SIBLING", f"sibling_{name}"))
    (tmp_path / f"sibling_{name}.py").write_text("weights = [1.5, 1.0]")
    np.savez(tmp_path / "data.npz", x=np.stack([X, Y], axis=1), y=TRUTH, seen=SEEN, colour=X, shape=Y)
    return name


def run(*arguments):
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_of_predictions(folder):
    assert run("predictions.csv", *FLAGS).startswith("Verdict: The model does not compose colour and shape.")


def test_json_and_files(folder, tmp_path):
    plain = json.loads(run("predictions.csv", *FLAGS, "--json"))
    assert {one["id"]: one["holds"] for one in plain["findings"]}["composes"] is False
    output = run("predictions.csv", *FLAGS, "--html", "page.html", "--cells", "cells.csv")
    assert "Page: page.html" in output
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert len(pl.read_csv(tmp_path / "cells.csv")) == 42


@pytest.mark.parametrize("name", ["predict", "make"])
def test_a_model_by_name_with_data(folder, name):
    assert run("--model", f"{folder}:{name}", "--data", "data.npz").startswith("Verdict: The model composes")


def test_a_model_may_import_a_sibling_module_when_it_is_called(folder):
    output = run("--model", f"{folder}:with_sibling", "--data", "data.npz")
    assert output.startswith("Verdict: The model composes")


def test_the_report_calls_the_model_by_its_name(folder):
    assert "my-net" in run("predictions.csv", *FLAGS, "--name", "my-net", "--quiet")
    assert json.loads(run("predictions.csv", *FLAGS, "--name", "my-net", "--json"))["model"] == "my-net"


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["does-not-compose"], 1),
        (["superposition"], 0),
        (["superposition,does-not-compose"], 1),
        (["superposition", "--fail-on", "does_not_compose"], 1),
    ],
)
def test_a_gate_fails_with_status_1(folder, gates, code):
    result = CliRunner().invoke(app, ["audit", "predictions.csv", *FLAGS, "--fail-on", *gates])
    assert result.exit_code == code
    assert result.stdout.startswith("Verdict")
    assert ("failed on does-not-compose" in result.stderr) == (code == 1)


def test_a_gate_passes_for_a_model_that_composes(folder):
    flags = [flag if flag != "p" else "y" for flag in FLAGS]
    assert run("predictions.csv", *flags, "--fail-on", "does-not-compose,shortcut")


def test_a_model_on_columns_of_a_table(folder):
    arguments = ["predictions.csv", "--factors", "colour,shape", "--seen", "split=train", "--target", "y"]
    assert (
        "composes"
        in run(*arguments, "--model", f"{folder}:predict", "--inputs", "colour,shape").splitlines()[0]
    )


def test_a_model_that_raises_shows_its_traceback(folder):
    output = run("--model", f"{folder}:broken", "--data", "data.npz")
    assert "RuntimeError: out of order" in output
    assert "split forecast" in output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["predictions.csv", "--data", "data.npz"], "not both"),
        ([], "--data FILE.npz with --model, not both"),
        (["predictions.csv", *FLAGS[:-1], "q"], "expected a column of predictions.csv"),
        (["predictions.csv", *FLAGS, "--slots", "a;b"], "numbers of inputs"),
        (["predictions.csv", *FLAGS, "--html", "page.pdf"], ".html"),
        (["predictions.csv", *FLAGS, "--fail-on", "composing"], "one of does-not-compose, memorisation-leak"),
        (["--data", "nothing.npz"], "that exists"),
        (
            ["--data", "data.npz", "--factors", "colour,size"],
            "an array with an entry per row (arrays: colour, shape)",
        ),
        (["--data", "data.npz", "--model", "nothing_here:at_all"], "nothing_here"),
        (["--data", "predictions.csv"], "npz"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(folder, arguments, words, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["recombine", "audit", *arguments])
    before = set(tmp_path.iterdir())
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
    assert {path for path in tmp_path.iterdir() if path.name != "__pycache__"} <= before


def test_what_a_model_prints_does_not_spoil_the_json(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["recombine", "audit", "--model", f"{folder}:chatty", "--data", "data.npz", "--json"]
    )
    with pytest.raises(SystemExit) as caught:
        main()
    output = capsys.readouterr()
    assert caught.value.code == 0
    assert json.loads(output.out)["table"] == "data.npz"
    assert "hello" in output.err


def test_arrays_by_name_and_predictions_in_a_data_file(folder, tmp_path):
    np.savez(
        tmp_path / "other.npz",
        u=np.stack([X, Y], axis=1),
        z=TRUTH,
        fit=SEEN,
        colour=X,
        shape=Y,
        mean=np.zeros(3),
    )
    names = ["--inputs", "u", "--target", "z", "--seen", "fit"]
    output = run("--model", f"{folder}:predict", "--data", "other.npz", *names)
    assert output.startswith("Verdict: The model composes")
    assert "arrays of other.npz that were not used: mean" in output
    np.savez(tmp_path / "predictions.npz", prediction=TRUTH, y=TRUTH, seen=SEEN, colour=X, shape=Y)
    assert run("--data", "predictions.npz").startswith("Verdict: The model composes")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import torch_that_is_not_there", "No module named 'torch_that_is_not_there'"),
        ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("def (", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        (
            "import builtins; raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')",
            "recombine[torch]",
        ),
    ],
)
def test_modules_that_cannot_be_imported_are_one_line_and_exit_2(
    folder, source, words, monkeypatch, capsys, tmp_path
):
    (tmp_path / f"broken_{folder}.py").write_text(source)
    monkeypatch.setattr(
        "sys.argv", ["recombine", "audit", "--model", f"broken_{folder}:net", "--data", "data.npz"]
    )
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    last = capsys.readouterr().err.rstrip().splitlines()[-1]
    assert last.startswith("error: model: got")
    assert words in last


def test_functions_that_return_nothing_are_reported(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        "sys.argv", ["recombine", "audit", "--model", f"{folder}:nothing", "--data", "data.npz"]
    )
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "nothing() returns None" in capsys.readouterr().err
