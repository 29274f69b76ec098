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
        ("audit", ["--html", "p.html", "--export", "json:p.html"], "html writes this one"),
        ("audit", ["--junit", "j.xml", "--cells", "t.csv"], "this one is read"),
        ("audit", ["--html", "p.md", "--junit", "p"], "junit writes a file p"),
        ("audit", ["--html", "p.html", "--junit", "x" * 250], "too long"),
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
