"""The command `recombine advise`: its help, the names it takes, and its use as a gate."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recombine.cli import app
from recombine.errors import InputError

SPLIT = ("--factors", "colour,shape", "--seen", "split=train")
ANIMALS = Path(__file__).parents[2] / "examples" / "animals.csv"


@pytest.fixture
def table(tmp_path):
    """'cyan' is a new level (L2); colour decides the training labels and is wrong about (blue, dog)."""
    path = tmp_path / "animals.csv"
    rows = ["colour,shape,split,y"]
    rows += [
        "red,cat,train,1",
        "red,dog,train,1",
        "blue,cat,train,0",
        "green,cat,train,0",
        "green,dog,train,0",
    ]
    path.write_text("\n".join([*rows, "blue,dog,test,1", "cyan,cat,test,0"]) + "\n")
    return path


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, ["advise", *map(str, words)])


def test_dash_h_shows_help_and_flags_have_no_type(run):
    short, long = run("-h"), run("--help")
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    flags = [line for line in short.output.splitlines() if re.search(r"--(average|json|quiet)\b", line)]
    assert len(flags) >= 3
    assert not any("<bool>" in line for line in flags)
    assert "--jobs" not in short.output


def test_the_report_uses_the_name_option(run, table):
    assert run(table, *SPLIT).output.startswith("animals.csv: 7 rows")
    assert run(table, *SPLIT, "--name", "my split").output.startswith("my split: 7 rows")
    assert json.loads(run(table, *SPLIT, "--name", "my split", "--json").stdout)["table"] == "my split"


@pytest.mark.parametrize(
    ("words", "failed"),
    [
        (["errors"], "errors"),
        (["L1"], ""),
        (["L1,L2"], "L2"),
        (["undetermined", "leak"], "undetermined, leak"),
        (["shortcut"], ""),  # so few cells cannot show that it is not chance
    ],
)
def test_the_gate(run, table, words, failed):
    conditions = [part for word in words for part in ("--fail-on", word)]
    result = run(table, *SPLIT, "--target", "y", *conditions)
    assert result.exit_code == (1 if failed else 0)
    assert result.stdout.startswith("animals.csv")
    assert result.stderr == (f"failed: {failed} (--fail-on)\n" if failed else "")


def test_the_gate_for_a_shortcut(run):
    split = ("--factors", "colour,shape,size", "--seen", "split=train", "--target", "label")
    result = run(ANIMALS, *split, "--fail-on", "shortcut")
    assert result.exit_code == 1
    assert result.stderr == "failed: shortcut (--fail-on)\n"


def test_a_gate_that_fails_still_writes_its_files(run, table, tmp_path):
    page = tmp_path / "page.html"
    result = run(table, *SPLIT, "--quiet", "--json", "--fail-on", "L2", "--html", page)
    assert (result.exit_code, result.stderr) == (1, "failed: L2 (--fail-on)\n")
    assert json.loads(result.stdout)["table"] == "animals.csv"
    assert page.is_file()


def test_progress_is_shown_for_large_tables_unless_quiet(run, table, monkeypatch):
    monkeypatch.setattr("recombine.advice.analysis.LARGE_TABLE", 0)
    assert "analysing the split" in run(table, *SPLIT).stderr
    assert run(table, *SPLIT, "--quiet").stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--fail-on", "typo"],
            "expected one of errors, L1, L2, L3, L4, L5, L6, L7, undetermined, shortcut, leak",
        ),
        (["--fail-on", "shortcut"], "expected labels \\(--target\\)"),
    ],
)
def test_conditions_that_cannot_be_checked_are_refused(run, tmp_path, words, message):
    result = run(tmp_path / "never-read.csv", *SPLIT, *words)  # refused before the table is read
    with pytest.raises(InputError, match=f"fail-on: got.*{message}"):
        raise result.exception
