"""Examples in docstrings compile many small programs and run each once: they are compiled without optimisation."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


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
