"""The command line as a person meets it."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from recombine import Part
from recombine.cli import app, main
from recombine.runs import Store, Trial, run_trial


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *words: runner.invoke(app, [str(word) for word in words], catch_exceptions=True)


@pytest.fixture
def store(tmp_path):
    kept = Store(tmp_path / "store")
    probes = (Part("builtins:vars"),)
    for n in (3, 4):
        kept.put(run_trial(Trial(Part("types:SimpleNamespace", n=n), probes=probes, seeds=(0, 1))))
    return kept.path


@pytest.fixture
def command(monkeypatch, capsys):
    """The command as the shell runs it, but for the process."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["recombine", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        output = capsys.readouterr()
        return SimpleNamespace(returncode=ended.value.code, stdout=output.out, stderr=output.err)

    return run


def test_the_command_in_a_separate_process():
    words = [sys.executable, "-c", "from recombine.cli import main; main()", "nosuch"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: No such command 'nosuch'.\n"


@pytest.mark.parametrize("words", [(), ("runs",), ("data",)])
def test_a_command_without_arguments_shows_its_help(command, words):
    done = command(*words)
    assert done.returncode == 2
    shown = done.stdout + done.stderr
    assert shown.startswith(" ".join(["Usage: recombine", *words]))
    assert "\n  list" in shown if words else "\n  advise" in shown
    assert "..." not in shown.partition("Commands:")[2]


def test_help_starts_neither_jax_nor_matplotlib():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from recombine.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = {'jax', 'matplotlib', 'sklearn', 'polars', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def every_command(group=None, path=()):
    group = group or typer.main.get_command(app)
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from every_command(command, (*path, name))


@pytest.mark.parametrize("words", list(every_command()), ids=" ".join)
def test_every_command_explains_itself(run, words):
    short, long = run(*words, "-h"), run(*words, "--help")
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    assert "Usage" in short.output
    assert "-h, --help" in short.output
    assert "bool" not in short.output


def test_only_commands_that_train_have_jobs(run):
    with_jobs = {words for words in every_command() if "--jobs" in run(*words, "--help").output}
    assert with_jobs == {("demo",), ("reproduce",), ("sweep",)}


def test_the_version(run):
    assert run("--version").output.startswith("recombine 0.")


def test_claims_lists_sources_and_published_values(run):
    result = run("claims", "forced-rendering", "--json")
    (study,) = json.loads(result.stdout)
    assert study["study"] == "forced-rendering"
    assert {str(i) for i in range(1, 26)} <= {claim["id"] for claim in study["claims"]}
    assert {claim["verdict"] for claim in study["claims"]} == {"not run"}
    assert "a standard decoder with disentangled inputs fails" in " ".join(run("claims").output.split())


def test_reproduce_prints_one_json_object(run, tmp_path):
    result = run("reproduce", "forced-rendering", "--claim", "1", "--claim", "3", "--jobs", "0",
                 "--store", tmp_path, "--json")  # fmt: skip
    plain = json.loads(result.stdout)
    assert set(plain) >= {"study", "scale", "version", "claims"}
    assert [(claim["id"], claim["verdict"]) for claim in plain["claims"]] == [
        ("1", "verified"),
        ("3", "verified"),
    ]
    again = run("reproduce", "forced-rendering", "--claim", "1", "--jobs", "0", "--store", tmp_path)
    assert "1 verified" in again.output


def test_report_writes_a_page_from_the_store(run, command, tmp_path):
    missing = command("report", "forced-rendering", "--store", tmp_path, "--out", tmp_path / "page.html")
    assert missing.returncode == 2
    assert "run `recombine reproduce forced-rendering` first" in missing.stderr
    run("reproduce", "forced-rendering", "--claim", "1", "--jobs", "0", "--store", tmp_path)
    result = run("report", "forced-rendering", "--store", tmp_path, "--out", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "forced rendering of disentangled latents" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_runs_list_show_export_and_clear(run, store, tmp_path):
    entries = json.loads(run("runs", "list", "--store", store, "--json").stdout)
    assert len(entries) == 2
    assert "2 results in" in run("runs", "list", "--store", store).output
    key = entries[0]["key"]
    assert json.loads(run("runs", "show", key[:10], "--store", store, "--json").stdout)["key"] == key
    assert key in run("runs", "show", key, "--store", store).output
    for name, read in (("table.parquet", pl.read_parquet), ("table.csv", pl.read_csv)):
        assert "2 trials written" in run("runs", "export", tmp_path / name, "--store", store).output
        assert sorted(read(tmp_path / name)["n"].to_list()) == [3, 3, 4, 4]
    assert "1 result deleted" in run("runs", "clear", key, "--yes", "--store", store).output
    assert json.loads(run("runs", "clear", "--yes", "--json", "--store", store).stdout) == {"removed": 1}
    assert "The store is empty" in run("runs", "list", "--store", store).output


def test_runs_compact_changes_nothing_that_is_shown(run, store, tmp_path):
    def shown():
        table = tmp_path / "table.parquet"
        assert run("runs", "export", table, "--store", store).exit_code == 0
        return run("runs", "list", "--store", store).output, pl.read_parquet(table).rows()

    before = shown()
    young = run("runs", "compact", "--older-than", "1", "--store", store)
    assert "0 results compacted" in young.output
    done = json.loads(run("runs", "compact", "--store", store, "--json").stdout)
    assert done == {"moved": 2, "files": 0, "segments": 1}
    assert shown() == before
    key = json.loads(run("runs", "list", "--store", store, "--json").stdout)[0]["key"]
    assert "1 result deleted" in run("runs", "clear", key, "--yes", "--store", store).output
    assert json.loads(run("runs", "clear", "--yes", "--json", "--store", store).stdout) == {"removed": 1}


def test_a_question_answered_with_no_removes_nothing_and_is_not_an_error(store):
    result = CliRunner().invoke(app, ["runs", "clear", "--store", str(store)], input="n\n")
    assert result.exit_code == 0
    assert "Nothing removed" in result.output
    assert Store(store).count() == 2


def test_a_question_without_a_reply_changes_nothing(store, command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    result = command("runs", "clear", "--store", store)
    assert result.returncode == 1
    assert "error: there was no answer; nothing was changed" in result.stderr
    assert Store(store).count() == 2


def test_data_lists_what_is_here(run, tmp_path, monkeypatch):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    names = [entry["name"] for entry in json.loads(run("data", "list", "--json").stdout)]
    assert names == ["mnist", "cifar10"] or set(names) == {"mnist", "cifar10"}
    assert "recombine data fetch mnist" in run("data", "list").output


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["reproduce", "forced-drawing"],
            "error: study: got 'forced-drawing', expected one of forced-rendering",
        ),
        (
            ["reproduce", "forced-rendering", "--scale", "huge"],
            "error: scale: got 'huge', expected one of smoke",
        ),
        (
            ["reproduce", "forced-rendering", "--claim", "99"],
            "error: claim: got '99', expected one of 1, 2, 3",
        ),
        (["reproduce", "forced-rendering", "--claim", "1", "--jobs", "-1"], "error: jobs: got -1"),
        (
            ["reproduce", "forced-rendering", "--out", "page.pdf"],
            "error: out: got 'page.pdf', expected a file name",
        ),
        (
            ["demo", "--out", "nowhere/page.html"],
            "error: out: got 'nowhere/page.html', expected a file in a folder",
        ),
        (["runs", "export", "table.xlsx"], "error: "),
        (["runs", "show", "zzz"], "error: key: got 'zzz'"),
        (["runs", "compact", "--older-than", "-1"], "error: older_than: got -1.0"),
        (["data", "verify", "imagenet"], "error: "),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, line, tmp_path, command, monkeypatch):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    result = command(*words)
    assert result.returncode == 2
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not list(Path(tmp_path).glob("*.xlsx"))


def test_a_store_that_is_a_file_is_refused(tmp_path, command):
    (tmp_path / "file").write_text("")
    result = command("runs", "list", "--store", tmp_path / "file")
    assert result.returncode == 2
    assert "error: store: got" in result.stderr


def test_main_is_the_entry_point():
    assert callable(main)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["report", "forced-rendering", "--compare", "x"], "error: Invalid value for '--compare'"),
        (["nosuch"], "error: No such command 'nosuch'"),
        (["reproduce", "forced-rendering", "--wat"], "error: No such option: --wat"),
        (["claims", "nosuch"], "error: study: got 'nosuch', expected one of forced-rendering"),
    ],
)
def test_bad_arguments_give_one_line_and_exit_code_2(words, line, command):
    result = command(*words)
    assert result.returncode == 2
    assert result.stderr.startswith(line)
    assert result.stderr.count("\n") == 1


@pytest.fixture
def animals(tmp_path):
    path = tmp_path / "animals.csv"
    rows = ["red,cat,train,1", "red,dog,train,2", "blue,cat,train,3", "blue,dog,test,4", "blue,cat,train,3"]
    path.write_text("colour,shape,split,y\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_advice_as_text_and_files(run, animals, tmp_path):
    files = {name: tmp_path / name for name in ("page.html", "cells.csv", "more.parquet")}
    words = ["advise", animals, "--factors", "colour,shape", "--seen", "split=train", "--target", "y"]
    words += [
        "--html",
        files["page.html"],
        "--cells",
        files["cells.csv"],
        "--additions",
        files["more.parquet"],
    ]
    result = run(*words)
    assert result.exit_code == 0, result.output
    assert "the only unseen cell" in result.output
    assert pl.read_csv(files["cells.csv"]).to_dicts()[0]["order_1"] == "determined"
    assert pl.read_parquet(files["more.parquet"]).to_dicts() == [
        {"order": 2, "colour": "blue", "shape": "dog"}
    ]
    assert "Advice on animals.csv" in files["page.html"].read_text(encoding="utf-8")


def test_advice_as_json(run, animals):
    result = run(
        "advise", animals, "--factors", "colour,shape", "--seen", "split=train", "--json", "--order", "1"
    )
    plain = json.loads(result.output)
    assert (
        plain["orders"]["1"] | {"determined": 1, "norm_completed": 0, "undetermined": 0}
        == plain["orders"]["1"]
    )


def test_advice_with_saliences_of_a_layer(run, animals, tmp_path):
    np.save(tmp_path / "layer.npy", np.eye(5)[[0, 1, 2, 3, 0]] + 0.1)
    words = ["--factors", "colour,shape", "--seen", "split=train", "--activations", tmp_path / "layer.npy"]
    result = run("advise", animals, *words)
    assert result.exit_code == 0, result.output
    assert "S(1) =" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--factors", "color,shape"], "error: factors: got 'color'"),
        (["--order", "one"], "error: order: got 'one'"),
        (["--ban", "colour"], "error: ban: got 'colour', expected FACTOR=LEVEL"),
        (["--bins", "y"], "error: bins: got 'y', expected COLUMN=NUMBER"),
        (["--cells", "cells.txt"], "error: cells: got 'cells.txt'"),
        (["--html", "page.pdf"], "error: html: got 'page.pdf'"),
        (["--target", "z"], "error: target: got 'z'"),
        (["--activations", "none.npy"], "error: activations: got 'none.npy'"),
    ],
)
def test_bad_advice_is_one_line(animals, tmp_path, words, message, command):
    arguments = ["advise", animals, "--factors", "colour,shape", "--seen", "split=train", *words]
    result = command(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["animals.csv"]


def test_advice_needs_no_jax(animals):
    code = (
        "import sys\n"
        "from recombine import advise\n"
        f"advise({str(animals)!r}, factors=['colour', 'shape'], seen='split=train').to_dict()\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_warning_is_one_line_without_code(store):
    next((store / "results").glob("*.npz")).write_bytes(b"")
    words = [
        sys.executable,
        "-m",
        "recombine",
        "runs",
        "export",
        str(store.parent / "all.csv"),
        "--store",
        str(store),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("warning: store ")
    assert "is damaged" in done.stderr
