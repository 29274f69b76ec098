"""The same sweep here and on a cluster of two nodes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("ray")
pytestmark = pytest.mark.ray

HERE = Path(__file__).parent


def swept(tmp_path, on, jobs=0):
    """The frame of `run_sweep.py`, run in a process of its own: Ray forks, and tests have threads."""
    name = on.partition(":")[0]
    order = {
        "on": on,
        "jobs": jobs,
        "store": str(tmp_path / name),
        "frame": str(tmp_path / f"{name}.parquet"),
    }
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, str(HERE / "run_sweep.py"), json.dumps(order)],
        env=os.environ | {"PYTHONPATH": path, "RECOMBINE_HOME": str(tmp_path / "home")},
        check=True,
        timeout=180,
    )
    return pl.read_parquet(order["frame"])


def test_a_cluster_gives_the_same_frame(cluster, tmp_path):
    here = swept(tmp_path, "local", jobs=2)
    there = swept(tmp_path, cluster.address)
    assert set(here["status"]) == {"finished", "diverged", "failed"}
    assert len(here) == 12
    assert here.drop("seconds").equals(there.drop("seconds"), null_equal=True)
