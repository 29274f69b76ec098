"""Parts that workers can import by name: a spawned process inherits `sys.path`."""

from pathlib import Path

import pytest

from recombine import Part
from recombine.runs import Store
from recombine.sweeps import plan


@pytest.fixture(autouse=True)
def _importable_parts(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def plan_numbers():
    """Plans a sweep of a task that is not trained on; its value is `n + low + seed / 10`."""

    def make(over=None, seeds=2, probe="value", settings=None, **others):
        probes = Part(f"sweep_parts:{probe}", **(settings or {}))
        return plan(task=Part("sweep_parts:numbers"), probes=probes, seeds=seeds, over=over, **others)

    return make
