"""Small tasks whose rows are given directly (one factor with a level per row), and what XLA compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np
import pytest

from recombine.spaces import Space, Split
from recombine.tasks import Task

MakeTask = Callable[..., Task]


@pytest.fixture
def make_task() -> MakeTask:
    """`make_task(inputs, targets, seen=row numbers)`; by default all rows are seen."""

    def make(inputs: np.ndarray, targets: np.ndarray, seen: Sequence[int] | None = None) -> Task:
        space = Space({"row": len(inputs)})
        rows = range(len(inputs)) if seen is None else seen
        return Task(Split(space, np.array(rows), allow_unseen_levels=True), inputs, targets)

    return make


@pytest.fixture
def gaussian_task(make_task: MakeTask) -> Task:
    """Ten rows, three inputs, two outputs."""
    rng = np.random.default_rng(0)
    return make_task(rng.normal(size=(10, 3)), rng.normal(size=(10, 2)))


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """The names of the functions that XLA compiles while the test runs."""
    names: list[str] = []
    listening = True

    def listen(event: str, seconds: float, **labels: Any) -> None:
        if listening and event == "/jax/core/compile/backend_compile_duration":
            names.append(labels.get("fun_name", "unknown"))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    listening = False
