"""Settings of all property tests: no test asserts a wall-clock time."""

from __future__ import annotations

from collections.abc import Iterator

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
