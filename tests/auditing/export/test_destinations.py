"""Metrics in the files of experiment trackers."""

import csv
import json
import sys
import types

import numpy as np
import pytest
from tests.auditing.gate.tables import TRUTH as Y
from tests.auditing.gate.tables import audited, composing, failing

from recombine import InputError, audit
from recombine.auditing.export import metric_name, parse_destination, unique_names
from recombine.errors import StoreError


@pytest.fixture
def no_packages(monkeypatch):
    for module in ("mlflow_files", "wandb_files"):
        monkeypatch.setattr(f"recombine.auditing.export.{module}.is_installed", lambda package: False)


def test_mlflow_files_as_its_file_store_reads_them(tmp_path, no_packages):
    root = tmp_path / "mlruns"
    (first,) = parse_destination(f"mlflow:{root}").write({"": failing()})
    parse_destination(f"mlflow:file://{root}").write({"": composing()})
    (experiment,) = [path for path in root.iterdir() if (path / "meta.yaml").exists()]
    assert 'name: "recombine"' in (experiment / "meta.yaml").read_text()
    runs = sorted(path.name for path in experiment.iterdir() if path.is_dir())
    assert len(runs) == 2
    assert first.endswith(tuple(runs))
    run = experiment / runs[0]
    assert f'run_id: "{run.name}"' in (run / "meta.yaml").read_text()
    assert {path.name for path in run.iterdir()} == {"artifacts", "metrics", "params", "tags", "meta.yaml"}
    values = {path.name: path.read_text().split() for path in (run / "metrics").iterdir()}
    assert all(len(fields) == 3 and float(fields[1]) == float(fields[1]) for fields in values.values())
    assert {len(fields[0]) for fields in values.values()} == {13}  # milliseconds
    assert (run / "tags" / "mlflow.runName").read_text() == "the model"


def test_several_models_are_several_runs(tmp_path, no_packages):
    both = audited({"v1": Y * 0.5, "v2": Y})
    places = parse_destination(f"mlflow:{tmp_path}").write(both.reports)
    assert len(set(places)) == 2
    parse_destination(f"json:{tmp_path / 'm.json'}").write(both.reports)
    assert json.loads((tmp_path / "m.json").read_text())["v2"]["unseen_error"] == 0.0
    parse_destination(f"csv:{tmp_path / 'm.csv'}").write(both.reports)
    with open(tmp_path / "m.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["model"] for row in rows} == {"v1", "v2"}


def test_wandb_files_without_the_package(tmp_path, no_packages):
    (place,) = parse_destination(f"wandb:{tmp_path}").write({"": failing()})
    (folder,) = (tmp_path / "wandb").iterdir()
    assert place == str(folder)
    assert folder.name.startswith("offline-run-")
    assert json.loads((folder / "files" / "wandb-summary.json").read_text()) == failing().metrics()
    assert (folder / "files" / "config.yaml").read_text().startswith("wandb_version: 1\n")


def test_wandb_logs_an_offline_run_where_it_is_installed(tmp_path, monkeypatch):
    logged = {}

    def init(**options):
        logged.update(options)
        return types.SimpleNamespace(
            dir=str(tmp_path / "run" / "files"),
            log=lambda values: logged.update(metrics=values),
            finish=lambda: None,
        )

    fake = types.SimpleNamespace(init=init, Settings=lambda **options: options)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.setattr("recombine.auditing.export.wandb_files.is_installed", lambda package: True)
    assert parse_destination(f"wandb:{tmp_path}").write({"": failing()}) == [str(tmp_path / "run")]
    assert logged["mode"] == "offline"
    assert logged["metrics"] == failing().metrics()


def test_a_server_needs_the_package(no_packages):
    with pytest.raises(InputError, match="the package mlflow installed"):
        parse_destination("mlflow:http://localhost:5000").write({"": failing()})


def test_a_folder_called_like_a_package_is_not_one(tmp_path, monkeypatch):
    from recombine.auditing.export.tracked_run import is_installed

    (tmp_path / "some_runs").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert not is_installed("some_runs")
    assert is_installed("json")


def test_a_place_that_cannot_be_written_is_one_line(tmp_path, no_packages):
    (tmp_path / "file").write_text("")
    with pytest.raises((StoreError, OSError)) as caught:
        parse_destination(f"mlflow:{tmp_path / 'file'}").write({"": failing()})
    assert isinstance(caught.value, StoreError)


@pytest.mark.parametrize("text", ["mlflow", "mlflow:", "tensorboard:x", "", 3, "json:", "csv:a\0b"])
def test_other_destinations_are_refused(text):
    with pytest.raises(InputError, match="mlflow:FOLDER"):
        parse_destination(text)


def test_names_of_metrics():
    assert metric_name("../../weight (kg)/é") == "weight_kg"
    assert metric_name("…") == "unnamed"
    assert unique_names(["a", "a", "b", "a"]) == ["a", "a_2", "b", "a_3"]


def test_names_of_factors_and_outputs_stay_in_the_folder(tmp_path, no_packages):
    from tests.auditing.gate.tables import SEEN, A, B

    targets = np.stack([Y, Y * B], axis=1)
    names = ["../../a", "/b"]
    table = {"../../x": A, "/y": B, "s": SEEN} | dict(zip(names, targets.T, strict=True))
    report = audit(table, factors=["../../x", "/y"], seen="s", target=names, prediction=names)
    parse_destination(f"mlflow:{tmp_path / 'deep' / 'runs'}").write({"": report})
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert all(name == metric_name(name) for name in report.metrics())
