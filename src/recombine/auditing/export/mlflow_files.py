"""A run in MLflow's file store (`mlruns`), which needs no package; or logged by MLflow where there is a server.

The layout is that of `mlflow.store.tracking.file_store`: an experiment is a folder with `meta.yaml`; a run is a folder
in it with `meta.yaml`, a file per metric (`timestamp value step`), parameter and tag. MLflow reads it with
`MLFLOW_ALLOW_FILE_STORE=true`, or moves it into a database by `mlflow migrate-filestore`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from pathlib import Path
from typing import Any

from recombine.auditing.export.tracked_run import EXPERIMENT, TrackedRun, is_installed
from recombine.durable import write_file
from recombine.errors import InputError, StoreError

_FINISHED, _LOCAL = 3, 4
"""MLflow's numbers for a run that has ended and for a source that is a local script."""


def write_mlflow(place: str, run: TrackedRun) -> str:
    """Adds a run to a folder, or to a tracking server by its address; says where."""
    if is_address(place):
        return _log_to_server(place, run)
    root = local_folder(place)
    try:
        return str(_write_run(root, run))
    except StoreError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write {root}: {reason}; choose another folder for the export") from error


def is_address(place: str) -> bool:
    """Whether a place is a tracking server's address, such as `http://localhost:5000`, rather than a folder."""
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", place)) and not place.startswith("file:")


def local_folder(place: str) -> Path:
    """A folder, which may be written as `file:///...`."""
    return Path(re.sub(r"^file:(//)?", "", place))


def _write_run(root: Path, run: TrackedRun) -> Path:
    now = int(time.time() * 1000)
    experiment = _experiment(root, now)
    run_id = uuid.uuid4().hex
    folder, unfinished = experiment / run_id, experiment / f".{run_id}.tmp"
    meta = {
        "artifact_uri": f"{folder.absolute().as_uri()}/artifacts",
        "end_time": now,
        "entry_point_name": "",
        "experiment_id": experiment.name,
        "lifecycle_stage": "active",
        "run_id": run_id,
        "run_name": run.name,
        "run_uuid": run_id,
        "source_name": "",
        "source_type": _LOCAL,
        "source_version": "",
        "start_time": now,
        "status": _FINISHED,
        "tags": [],
        "user_id": "",
    }
    tags = {"mlflow.runName": run.name, "mlflow.note.content": run.verdict, "mlflow.source.name": "recombine"}
    try:  # under another name until it is complete
        for part in ("artifacts", "metrics", "params", "tags"):
            (unfinished / part).mkdir(parents=True)
        for name, value in run.metrics.items():
            (unfinished / "metrics" / name).write_text(f"{now} {value!r} 0\n", encoding="utf-8")
        for name, text in run.params.items():
            (unfinished / "params" / name).write_text(text, encoding="utf-8")
        for name, text in tags.items():
            (unfinished / "tags" / name).write_text(text, encoding="utf-8")
        (unfinished / "meta.yaml").write_text(_yaml(meta), encoding="utf-8")
        os.replace(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return folder


def _experiment(root: Path, now: int) -> Path:
    """The folder of the experiment; it is created if there is none of this name."""
    line = re.compile(rf"^name: ['\"]?{re.escape(EXPERIMENT)}['\"]?$", re.MULTILINE)
    for meta in sorted(root.glob("*/meta.yaml")):
        text = meta.read_text(encoding="utf-8", errors="replace")
        if line.search(text) and "lifecycle_stage: active" in text.replace('"', ""):
            return meta.parent
    number = str(uuid.uuid4().int)[:18]
    folder = root / number
    plain = {
        "artifact_location": folder.absolute().as_uri(),
        "creation_time": now,
        "experiment_id": number,
        "last_update_time": now,
        "lifecycle_stage": "active",
        "name": EXPERIMENT,
    }
    write_file(folder / "meta.yaml", _yaml(plain).encode())
    return folder


def _yaml(plain: dict[str, Any]) -> str:
    """One line per key; JSON's strings, numbers and empty lists are YAML, too."""
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in plain.items())


def _log_to_server(place: str, run: TrackedRun) -> str:
    if not is_installed("mlflow"):
        expected = "a folder, or a tracking server with the package mlflow installed"
        raise InputError("export", f"mlflow:{place}", expected)
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    try:
        client = MlflowClient(tracking_uri=place)
        found = client.get_experiment_by_name(EXPERIMENT)
        experiment = found.experiment_id if found else client.create_experiment(EXPERIMENT)
        created = client.create_run(
            experiment, run_name=run.name, tags={"mlflow.note.content": run.verdict}
        ).info
        now = int(time.time() * 1000)
        metrics = [Metric(name, value, now, 0) for name, value in run.metrics.items()]
        client.log_batch(created.run_id, metrics=metrics, params=[Param(*one) for one in run.params.items()])
        client.set_terminated(created.run_id)
    except Exception as error:  # whatever the package raises for a server that does not answer
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            "export", f"mlflow:{place}", f"a tracking server that can be used ({reason})"
        ) from None
    return f"{place} (run {created.run_id})"
