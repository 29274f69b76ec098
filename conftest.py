"""Tests compile many programs and run each for a moment, so compiling is made cheap.

All processes of a test run share one cache of compiled programs, which ends with it, and compile at the lowest level
of optimisation; examples in docstrings are compiled without any. Linear algebra runs on one thread. A variable that is
set already is left alone, so that `XLA_FLAGS= pytest` tests programs as users get them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

import pytest

# Has no examples, and importing it loads Dynamo, which takes two seconds.
collect_ignore = ["src/recombine/models/torch/graph_break.py"]


def pytest_configure(config: pytest.Config) -> None:
    """Sets variables before JAX is imported; the processes that run tests, and those that tests start, inherit them."""
    if hasattr(config, "workerinput"):
        return
    for library in (
        "OMP",
        "OPENBLAS",
        "MKL",
    ):  # a test process has one core; threads would wait for each other
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        programs = tempfile.TemporaryDirectory(prefix="recombine-programs-", ignore_cleanup_errors=True)
        config.add_cleanup(programs.cleanup)
        os.environ["JAX_COMPILATION_CACHE_DIR"] = programs.name
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "0"


@pytest.fixture(autouse=True)
def compile_examples_quickly(request: pytest.FixtureRequest) -> Iterator[None]:
    """Only where JAX is loaded: most examples of the theory do without it."""
    if not isinstance(request.node, pytest.DoctestItem) or "jax" not in sys.modules:
        yield
        return
    jax = sys.modules["jax"]
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
