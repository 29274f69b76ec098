"""`recombine sweep` as a person meets it."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from recombine.cli import app

PLAN = """
import os
from types import SimpleNamespace
from recombine import Part, sweeps

def numbers(*, n: int = 1, seed: int):
    if n < 0:
        raise ValueError("n is negative")
    return SimpleNamespace(value=n + seed)

def value(task):
    print("a probe that prints")
    os.write(1, b"and one that writes")
    return {"value": task.value}

print("while the file is read")
sweep = sweeps.plan(task=Part(numbers), probes=Part(value), seeds=2, over={"task.n": [1, 2]}, name="numbers")
failing = sweeps.plan(task=Part(numbers), probes=Part(value), seeds=1, over={"task.n": [1, -1]})
"""
_names = (f"plan_of_a_sweep_{i}" for i in itertools.count())


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file with a plan, under a name that no other test has imported."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{next(_names)}.py"
    path.write_text(PLAN)
    return path


@pytest.fixture
def run(tmp_path):
    def invoke(*words):
        return CliRunner().invoke(app, ["sweep", *map(str, words), "--store", str(tmp_path / "store")])

    return invoke


def shell(folder, *words, **options):
    """The command in a process of its own."""
    code = "from recombine.cli import main; main()"
    env = os.environ | {"RECOMBINE_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-c", code, "sweep", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=folder,
        env=env,
        check=False,
        timeout=120,
        **options,
    )


def test_a_plan_in_a_file_is_run_in_workers(file, tmp_path):
    first = shell(tmp_path, file.name, "--quiet", "--json")
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)  # whatever the file and its probes print is on standard error
    assert "while the file is read" in first.stderr
    assert "and one that writes" in first.stderr
    assert (found["trials"], found["ran"], found["failed_trials"]) == (4, 4, 0)
    assert [point["settings"] for point in found["points"]] == [{"task.n": 1}, {"task.n": 2}]
    assert found["points"][1]["values"]["value"]["value"] == 2.5
    again = shell(tmp_path, f"{file.stem}:sweep", "--jobs", "0")  # the same trials, as a module
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("numbers: 2 points over task.n, 2 seeds each · all from the store\n")


def test_failed_trials_are_exit_code_1(file, tmp_path):
    done = shell(tmp_path, f"{file.name}:failing", "--quiet", "--retries", "1")
    assert done.returncode == 1
    assert "1 seed failed: ValueError: n is negative" in done.stdout
    assert json.loads(shell(tmp_path, f"{file.name}:failing", "-q", "--json").stdout)["failed_trials"] == 1


def test_a_dry_run_runs_nothing(file, run, tmp_path):
    words = run(file, "--dry-run", "--jobs", 3)
    assert words.exit_code == 0
    assert words.stdout.startswith(
        "4 trials: 0 in the store, 4 to run, 0 programs to compile\nabout 0:00 on 3 workers"
    )
    found = json.loads(run(file, "--dry-run", "--json").stdout)
    assert (found["trials"], found["left"], found["programs"], found["workers"]) == (4, 4, 0, 2)
    assert not list((tmp_path / "store").glob("**/*.npz"))


def test_files_are_written(file, run, tmp_path):
    outputs = [tmp_path / name for name in ("a.parquet", "a.csv", "a.html", "a.md")]
    done = run(file, "--jobs", 0, "--quiet", *[word for path in outputs for word in ("--out", path)])
    assert done.exit_code == 0, done.output
    assert pl.read_parquet(outputs[0])["value"].to_list() == [1, 2, 2, 3]
    assert pl.read_csv(outputs[1]).height == 4
    assert "a point per seed" in outputs[2].read_text()
    assert all(path.exists() for path in outputs)
    assert "Written: " in done.stdout


def test_fresh_runs_again_what_is_stored(file, run):
    assert json.loads(run(file, "--jobs", 0, "--quiet", "--json").stdout)["ran"] == 4
    assert json.loads(run(file, "--jobs", 0, "--quiet", "--json").stdout)["ran"] == 0
    assert json.loads(run(file, "--jobs", 0, "--quiet", "--json", "--fresh").stdout)["ran"] == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(:", ", line 1', expected code that can be imported (SyntaxError: invalid syntax)"),
        (
            "x = 1\ny = 1 / 0",
            ", line 2', expected code that can be imported (ZeroDivisionError: division by zero)",
        ),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "got 'sweep', expected the name of a plan in it, as in sweep = recombine.sweeps.plan(...)"),
        ("from recombine import sweep", "expected the name of a plan in it"),
        ("sweep = 3", "got 'sweep = 3', expected a plan"),
        (PLAN.replace("sweep = ", "mine = "), ".py:mine, "),
        (
            PLAN.replace("task.n", "task.m"),
            "over: got 'task.m', expected a setting of task (known: task.n)",
        ),
        (PLAN.replace("[1, 2]", "[1, 'two']"), "task.n: got 'two', expected a whole number"),
        (PLAN.replace("seeds=2", "seeds=0"), "seeds: got 0"),
        (PLAN.replace("sweeps.plan(", "sweeps.sweep(quiet=True, store='s', "), "this sweep has run already"),
    ],
)
def test_a_file_without_a_legal_plan_is_one_line(file, run, text, words):
    file.write_text(text)
    done = run(file.name)
    assert words in str(done.exception)
    assert "\n" not in str(done.exception)
    assert done.exception.__class__.__name__ == "InputError"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["absent.py"], "got 'absent.py', expected a Python file that exists"),
        (["absent_module"], "got 'absent_module', expected a module that can be imported"),
        ([""], "a file such as my_sweep.py, or module:name"),
        (["a.b.py"], "Python file that exists"),
        (["random.py"], "another name: random is a module already (of Python itself)"),
        (["numpy.py"], "another name: numpy is a module already"),
        (["FILE:absent"], "got 'absent', expected the name of a plan in it (it has "),
        (["FILE", "--on", "mars"], "on: got 'mars'"),
        (["FILE", "--jobs", "-1"], "jobs: got -1"),
        (["FILE", "--retries", "-1"], "retries: got -1"),
        (["FILE", "--shared-store"], "unless the trials run on a Ray cluster"),
        (["FILE", "--out", "a.txt"], "--out: got 'a.txt', expected a file name that ends in"),
        (["FILE", "--out", "nowhere/a.csv"], "a file in a folder that exists"),
        (["FILE", "--out", "a.csv", "--out", "a.csv"], "another file"),
        (["FILE", "--out", "a.csv", "--dry-run"], "no file together with --dry-run"),
    ],
)
def test_bad_input_is_refused(file, run, words, message):
    for name in ("random.py", "numpy.py"):
        (file.parent / name).write_text("x = 1")
    done = run(*[word.replace("FILE", file.name) for word in words])
    assert message in str(done.exception)


def test_bad_input_is_one_line_and_exit_code_2(file, tmp_path):
    file.write_text(PLAN.replace("task.n", "task.m"))
    done = shell(tmp_path, file.name, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("error: over: got 'task.m'")
    assert len(done.stderr.splitlines()) == 2  # and what the file printed


def test_the_folder_of_the_file_stays_importable(file, run):
    (file.parent / f"{file.stem}_helper.py").write_text("VALUES = [1, 2, 3]\n")
    text = f"from {file.stem}_helper import VALUES\n" + PLAN.replace("[1, 2]", "VALUES")
    file.write_text(text)
    assert json.loads(run(Path(file.name), "--jobs", 0, "-q", "--json").stdout)["trials"] == 6
    assert sys.path[0] == str(file.parent)
