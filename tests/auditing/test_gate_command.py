"""The audit as a gate, as a user types it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine.cli import app, main

X, Y = np.indices((6, 7)).reshape(2, -1)
SEEN = (3 * X + 2 * Y) % 4 > 0
TRUTH = X * 1.5 + Y
FLAGS = ["predictions.csv", "--factors", "colour,shape", "--seen", "split=train", "--target", "y"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"colour": X, "shape": Y, "split": np.where(SEEN, "train", "test"), "y": TRUTH}
    predictions = {"old": np.where(SEEN, TRUTH, 0.0), "new": TRUTH, "a=b": TRUTH}
    pl.DataFrame(columns | predictions).write_csv("predictions.csv")
    np.savez("data.npz", y=TRUTH, seen=SEEN, colour=X, shape=Y, old=predictions["old"], new=TRUTH)
    (tmp_path / f"nets_{tmp_path.name.replace('-', '_')}.py").write_text(
        "def good(rows):\n    return rows @ [1.5, 1.0]\n\ndef broken(rows):\n    raise RuntimeError('out of order')\n"
    )
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_comparisons_fail_a_gate():
    result = run(*FLAGS, "--prediction", "old", "--fail-on", "unseen/seen > 2, transfer < 90%", code=1)
    assert "failed on unseen/seen > 2: The ratio" in result.stderr
    assert "failed on transfer < 0.9: The transfer" in result.stderr
    assert "Gate: failed" in result.stdout
    run(*FLAGS, "--prediction", "new", "--fail-on", "unseen/seen > 2, transfer < 90%")


def test_a_baseline_from_json(folder):
    Path("previous.json").write_text(run(*FLAGS, "--prediction", "new", "--json").stdout)
    flags = [*FLAGS, "--prediction", "old", "--baseline", "previous.json"]
    result = run(*flags, "--fail-on", "worse > 0.05", "--html", "page.html", code=1)
    assert "Since previous.json" in result.stdout
    assert "failed on worse > 0.05" in result.stderr
    assert "Since previous.json" in Path("page.html").read_text()
    plain = json.loads(run(*flags, "--json").stdout)
    assert plain["baseline"]["unseen"]["worse"] is True
    assert plain["format"] == "recombine-audit/1"


def test_one_line_for_a_log():
    line = run(*FLAGS, "--prediction", "old", "--summary", "--fail-on", "does-not-compose", code=1).stdout
    assert line == (
        "recombine audit: predictions.csv: does not compose (unseen 47 vs seen 0, 11 unseen cells); gate FAILED: "
        "does-not-compose\n"
    )
    assert run(*FLAGS, "--prediction", "new", "--summary").stdout.count("\n") == 1


def test_json_stands_alone():
    result = run(*FLAGS, "--prediction", "old", "--summary", "--json", "--fail-on", "unseen > 1", code=1)
    assert json.loads(result.stdout)["gate"]["passed"] is False
    assert "gate FAILED" in result.stderr


def test_lists_of_numbers_are_on_one_line():
    output = run(*FLAGS, "--prediction", "old", "--json").stdout
    assert max(map(len, output.splitlines())) > 200
    assert len(output.splitlines()) < 800


def test_junit_and_exports(folder):
    result = run(
        *FLAGS,
        "--prediction",
        "old",
        "--junit",
        "junit.xml",
        "--export",
        "json:m.json",
        "--export",
        "csv:m.csv",
    )
    assert "JUnit: junit.xml" in result.stdout
    assert "Metrics (json): m.json" in result.stdout
    assert ElementTree.parse("junit.xml").getroot().tag == "testsuites"
    assert json.loads(Path("m.json").read_text())["composes"] == 0.0
    assert Path("m.csv").read_text().startswith("metric,value\n")


def test_several_models():
    flags = [*FLAGS, "--prediction", "v1=old", "--prediction", "v2=new"]
    output = run(*flags, "--html", "page.html", "--cells", "cells.csv").stdout
    assert output.startswith("Verdict: v2 is better than v1 on unseen combinations")
    assert "2 models compared on predictions.csv" in Path("page.html").read_text()
    assert pl.read_csv("cells.csv").columns[-2:] == ["error v1", "error v2"]
    run(*flags, "--fail-on", "v2: does-not-compose")
    assert "failed on v1: unseen > 0.3" in run(*flags, "--fail-on", "unseen > 0.3", code=1).stderr
    unnamed = [*FLAGS, "--prediction", "old", "--prediction", "new", "--summary"]
    assert "predictions.csv: old: does not compose" in run(*unnamed).stdout


def test_a_single_model_may_be_named():
    plain = json.loads(run(*FLAGS, "--prediction", "v1=old", "--json").stdout)
    assert plain["model"] == "v1"
    plain = json.loads(run(*FLAGS, "--prediction", "v1=a=b", "--json").stdout)
    assert plain["verdict"].startswith("The model composes")


def test_several_models_of_arrays_and_modules(folder):
    flags = ["--data", "data.npz", "--factors", "colour,shape"]
    output = run(*flags, "--prediction", "v1=old", "--prediction", "v2=new").stdout
    assert output.startswith("Verdict: v2 is better than v1")
    assert "data.npz: 42 rows" in output
    net = f"nets_{folder.name.replace('-', '_')}"
    models = ["--model", f"good={net}:good", "--model", f"bad={net}:broken"]
    result = run(*FLAGS, "--inputs", "colour,shape", *models, "--fail-on", "model-error", code=1)
    assert "failed on bad: model-error: RuntimeError: out of order" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--prediction", "old", "--fail-on", "unsen > 0.3"], "did you mean 'unseen'?"),
        (["--prediction", "old", "--fail-on", ""], "at least one condition"),
        (["--prediction", "old", "--fail-on", "worse"], "--baseline previous.json"),
        (["--prediction", "old", "--fail-on", "v1: unseen > 1"], "only one model"),
        (["--prediction", "old", "--strict"], "--fail-on"),
        (["--prediction", "old", "--baseline", "none.json"], "a JSON file that exists"),
        (["--prediction", "old", "--baseline", "predictions.csv"], "which is not JSON"),
        (["--prediction", "old", "--junit", "none/junit.xml"], "a folder that exists"),
        (["--prediction", "old", "--export", "tensorboard:x"], "mlflow:FOLDER"),
        (["--prediction", "old", "--prediction", "old"], "a different name for every model"),
        (["--prediction", "=old", "--prediction", "new"], "NAME=VALUE"),
        (["--prediction", "v1=old", "--prediction", "v2=no"], "prediction of 'v2'"),
        (["--prediction", "v1=old", "--prediction", "v2=new", "--name", "x"], "the mapping names the models"),
        (["--prediction", "v1=old", "--prediction", "v2=new", "--weights", "w.npz"], "one model at a time"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, words, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["recombine", "audit", *FLAGS, *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert words in error
    assert error.count("\n") == 1
