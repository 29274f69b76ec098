"""A run for Weights & Biases in a folder: an offline run by its package, or the plain files of one without it.

`wandb sync` uploads what the package wrote. Without the package there are `wandb-summary.json` and `config.yaml`, which
any program can read, but not the package's own log, so that `wandb sync` has nothing to upload.
"""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path

from recombine.auditing.export.tracked_run import EXPERIMENT, TrackedRun, is_installed
from recombine.durable import write_file
from recombine.errors import InputError


def write_wandb(place: str, run: TrackedRun) -> str:
    """Adds an offline run to a folder and says where it is. Nothing is sent anywhere."""
    root = Path(place)
    if is_installed("wandb"):
        return _log(root, run)
    stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime())
    folder = root / "wandb" / f"offline-run-{stamp}-{uuid.uuid4().hex[:8]}" / "files"
    config = {"verdict": run.verdict, **run.params}
    lines = [
        f"{key}:\n    desc: null\n    value: {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in config.items()
    ]
    write_file(folder / "config.yaml", ("wandb_version: 1\n\n" + "\n".join(lines)).encode())
    summary = json.dumps(dict(run.metrics), indent=2, ensure_ascii=False, allow_nan=False)
    write_file(folder / "wandb-summary.json", f"{summary}\n".encode())
    return str(folder.parent)


def _log(root: Path, run: TrackedRun) -> str:
    import wandb

    root.mkdir(parents=True, exist_ok=True)
    try:
        started = wandb.init(
            mode="offline",
            dir=str(root),
            project=EXPERIMENT,
            name=run.name,
            config={"verdict": run.verdict, **run.params},
            settings=wandb.Settings(silent=True, console="off"),
        )
        folder = str(started.dir)
        started.log(dict(run.metrics))
        started.finish()
    except Exception as error:  # whatever the package raises
        reason = " ".join(str(error).split())[:200]
        raise InputError("export", f"wandb:{root}", f"a folder that wandb can use ({reason})") from None
    return str(Path(folder).parent)
