"""A real Ray cluster of two nodes with one core each, on this machine, and drivers in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class RunningCluster:
    """A cluster that `run_cluster.py` has started: `address`, `client_address`, and commands."""

    def __init__(self, process):
        self._process = process
        self.address, self.client_address = process.stdout.readline().split()

    def tell(self, command):
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def running_cluster():
    process = subprocess.Popen(
        [sys.executable, str(HERE / "run_cluster.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield RunningCluster(process)
        process.stdin.close()
        process.wait(timeout=30)
    finally:
        with suppress(ProcessLookupError):  # all of it may have ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def cluster():
    with running_cluster() as started:
        yield started


@pytest.fixture
def mortal_cluster():
    """One for a single test, which may kill its head."""
    with running_cluster() as started:
        yield started


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
