"""Every example, every README snippet and every documented command runs."""

import importlib
import importlib.util
import inspect
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALL = {
    "add_cells": {},
    "compare_models": {},
    "interaction_of_a_decoder": {"samples": 10},
    "modularity_report": {},
    "demo": {"n": 8, "steps": 2, "width": 4, "seeds": (0,)},
    "own_task_and_net": {"steps": 20},
    "audit_arrays": {},
    "audit_free_text": {},
    "audit_bump_decoder": {"steps": 5, "n": 8, "width": 4},
    "audit_shortcut": {"steps": 5, "n": 500, "width": 4},
    "audit_sprites": {"steps": 5, "copies": 4, "width": 4},
    "penalty_in_your_own_loop": {"steps": 20},
    "penalty_in_torch": {"steps": 20},
    "predict_transfer": {"rows": (8, 16)},
    "diagnose_finetuning": {},
    "rescale_before_finetuning": {"steps": 20},
    "distance_to_the_limit": {"steps": 50},
    "width_sweep": {"steps": 5, "n": 6, "seeds": 1},
}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(path, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    spec = importlib.util.spec_from_file_location(f"examples_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.main(**SMALL[path.stem])
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "advice",
        "auditing",
        "bias",
        "data",
        "metrics",
        "models",
        "modularity",
        "probes",
        "remedies",
        "reuse",
        "sweeps",
        "theory",
    ],
)
def test_every_public_function_has_an_example(name):
    package = importlib.import_module(f"recombine.{name}")
    functions = [
        one for one in (getattr(package, name) for name in package.__all__) if inspect.isfunction(one)
    ]
    assert [one.__name__ for one in functions if ">>>" not in one.__doc__] == []


def test_readme_snippets_run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    space = {}
    for snippet in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(compile(snippet, "README.md", "exec"), space)
    assert "unseen" in capsys.readouterr().out


def test_the_plan_in_the_guide_is_legal():
    from recombine.sweeps import SweepPlan

    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    space = {}
    exec(
        compile(re.search(r"```python\n(# my_sweep.py.*?)```", guide, re.DOTALL)[1], "guide.md", "exec"),
        space,
    )
    assert isinstance(space["sweep"], SweepPlan)


def test_readme_shows_both_set_up_commands():
    assert "pip install . && recombine demo" in README
    assert 'pip install -e ".[dev]" && pytest' in README


def test_local_links_lead_somewhere():
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "guide.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.parametrize("name", ["advise", "audit"])
def test_readme_shows_what_the_command_prints(name, monkeypatch):
    from typer.testing import CliRunner

    from recombine.cli import app

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    shown = re.findall(rf"```bash\nrecombine ({name} [^`]*?)\n```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert shown
    for command, printed in shown:
        words = shlex.split(command.replace("\\\n", " "))
        assert CliRunner().invoke(app, words).stdout.startswith(printed)


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("github-action.yml", r"run: >-\n( +recombine .*?)\n      - "),
        ("pre-commit-config.yaml", r"entry: >-\n(.*?)\n +language"),
    ],
)
def test_examples_for_continuous_integration_run(file, pattern, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from recombine.cli import app

    text = (ROOT / "docs" / "ci" / file).read_text(encoding="utf-8")
    words = shlex.split(re.search(pattern, text, re.DOTALL)[1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions.csv").write_bytes((ROOT / "examples" / "predictions.csv").read_bytes())
    audited = ["audit", *words[2:9], "--prediction", "prediction", "--json"]
    (tmp_path / "audit-baseline.json").write_text(CliRunner().invoke(app, audited).stdout)
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 1
    assert "gate FAILED: does-not-compose, unseen/seen > 2\n" in result.stdout


def test_readme_commands_exist():
    from typer.testing import CliRunner

    from recombine.cli import app

    for line in re.findall(r"^recombine (\w+)", README, flags=re.MULTILINE):
        assert CliRunner().invoke(app, [line, "--help"]).exit_code == 0, line


def test_readme_shows_the_headlines_as_the_results_do():
    """The README shows the first seed set of the overview; whoever makes the results anew copies its columns."""
    overview = (ROOT / "docs" / "results" / "README.md").read_text(encoding="utf-8")
    shown, made = (
        [line.split(" | ")[:6] for line in re.findall(r"^\| (\d+ \|.*?) \|$", text, flags=re.MULTILINE)]
        for text in (README, overview)
    )
    assert shown
    assert shown == made


def test_readme_counts_the_amendments():
    from recombine.studies import STUDIES, load

    count = sum(len(claim.amendments) for study in STUDIES for claim in load(study).claims)
    assert f"the {count} amendments made since" in README.replace("\n", " ")
