"""Settings of all property tests (no test asserts a wall-clock time), and Ray clusters for those that need one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("recombine", deadline=None)
settings.load_profile("recombine")


@pytest.fixture(autouse=True)
def terminal_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are wrapped at one width on every machine; test processes inherit other widths."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def compile_quickly() -> Iterator[None]:
    """For tests that compile many small programs and run each once."""
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


class RunningCluster:
    """A cluster that `run_cluster.py` has started: `address`, `client_address`, and commands."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address, self.client_address = process.stdout.readline().split()

    def tell(self, command: str) -> None:
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def running_cluster() -> Iterator[RunningCluster]:
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "runs" / "on_ray" / "run_cluster.py")],
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
def cluster() -> Iterator[RunningCluster]:
    """A real Ray cluster of two nodes with one core each, on this machine."""
    with running_cluster() as started:
        yield started


@pytest.fixture
def mortal_cluster() -> Iterator[RunningCluster]:
    """One for a single test, which may kill its head."""
    with running_cluster() as started:
        yield started
