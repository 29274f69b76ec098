"""Drivers in processes of their own; the clusters are in `tests/conftest.py`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def drive(tmp_path):
    """Starts a driver: `drive(address, kind, **settings)`; see `drive_trials.py` for the kinds of trials."""
    path = os.pathsep.join([str(HERE), str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    started = []

    def start(address, kind, **settings):
        order = {"on": address, "kind": kind, "store": str(tmp_path / "store"), "log": str(tmp_path / "log")}
        process = subprocess.Popen(
            [sys.executable, str(HERE / "drive_trials.py"), json.dumps(order | settings)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path, "RECOMBINE_HOME": str(tmp_path / "home")},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def outcome():
    """What a driver printed when it ended, as a dictionary; nothing else may be on standard output."""

    def read(process):
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, err
        return json.loads(out)

    return read


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "log")


class Log:
    """The lines that `counting_parts.logged` left: a word, the trial's label, the worker's process number."""

    def __init__(self, path):
        self.path = path

    def labels(self, word):
        return [int(label) for w, label, _ in self._lines() if w == word]

    def pids(self):
        return {int(pid) for _, _, pid in self._lines()}

    def pid_of(self, label):
        return next(int(pid) for _, number, pid in self._lines() if int(number) == label)

    def wait_for(self, word, count):
        deadline = time.monotonic() + 120.0
        while len(self.labels(word)) < count:
            assert time.monotonic() < deadline, f"waited in vain for {count} x {word!r}: {self._lines()}"
            time.sleep(0.02)

    def open_gate(self):
        Path(f"{self.path}.gate").touch()

    def _lines(self):
        return [line.split() for line in self.path.read_text().splitlines()] if self.path.exists() else []
