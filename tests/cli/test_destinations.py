"""What a command writes is checked before it does anything."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine import InputError
from recombine.cli import app
from recombine.cli.destinations import check_destinations


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = np.indices((4, 4)).reshape(2, -1)
    split = np.where((a + b) % 4 > 0, "train", "test")
    pl.DataFrame({"a": a, "b": b, "split": split, "y": a + b / 2, "p": a + b / 2}).write_csv("t.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "options", "words"),
    [
        ("audit", ["--html", "p.html", "--junit", "."], "junit: got '.'"),
        ("audit", ["--html", "p.html", "--export", "mlflow:t.csv"], "t.csv is not a folder"),
        ("audit", ["--html", "p.html", "--export", "mlflow:http://localhost:1"], "package mlflow installed"),
        ("audit", ["--cells", "p.csv", "--export", "csv:p.csv"], "cells writes this one"),
        ("audit", ["--html", "p.html", "--junit", "model.py"], "a file name that ends in .xml"),
        ("audit", ["--html", "p.html", "--export", "json:model.py"], "a file name that ends in .json"),
        ("audit", ["--html", "p.html", "--export", "csv:m.json"], "a file name that ends in .csv"),
        ("audit", ["--junit", "j.xml", "--cells", "t.csv"], "this one is read"),
        ("audit", ["--html", "p.xml.md", "--junit", "p.xml"], "junit writes a file p.xml"),
        ("audit", ["--html", "p.html", "--junit", "x" * 250 + ".xml"], "too long"),
        ("advise", ["--cells", "c.csv", "--additions", "./c.csv"], "cells writes this one"),
    ],
)
def test_a_bad_destination_leaves_nothing_behind(folder, command, options, words):
    words_of = ["t.csv", "--factors", "a,b", "--seen", "split=train", "--target", "y", *options]
    words_of += ["--prediction", "p"] if command == "audit" else []
    result = CliRunner().invoke(app, [command, *words_of])
    assert isinstance(result.exception, InputError)
    assert words in str(result.exception)
    assert [one.name for one in folder.iterdir()] == ["t.csv"]


def test_folders_that_do_not_exist_yet_are_fine_and_are_not_created(tmp_path):
    runs = tmp_path / "runs"
    check_destinations([("export", runs / "m.json")], folders=[("export", runs), ("export", runs)])
    assert not runs.exists()


def test_links_are_followed(tmp_path):
    (tmp_path / "t.csv").write_text("a")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    with pytest.raises(InputError, match="this one is read"):
        check_destinations([("cells", tmp_path / "link.csv")], inputs=[tmp_path / "t.csv"])


@pytest.mark.parametrize(
    "option", [["--model", "nets.planted:f"], ["--model", "math:sin", "--before", "nets.planted:f"]]
)
def test_the_source_of_a_model_is_not_written_and_not_run(folder, option):
    package = folder / "nets"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit\n")
    (package / "planted.py").write_text("raise SystemExit\n")
    (folder / "j.xml").symlink_to(package / "planted.py")
    table = ["t.csv", "--factors", "a,b", "--seen", "split=train", "--target", "y", "--inputs", "a,b"]
    result = CliRunner().invoke(app, ["audit", *table, *option, "--junit", "j.xml"])
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == "junit: got 'j.xml', expected another file: this one is read"
    assert (package / "planted.py").read_text() == "raise SystemExit\n"
