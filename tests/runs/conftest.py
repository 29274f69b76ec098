"""Trials of parts that workers can import by name: a spawned process inherits `sys.path`."""

from pathlib import Path

import pytest

from recombine.parts import Part
from recombine.runs import Store, Trial


@pytest.fixture(autouse=True)
def _importable_parts(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def trial():
    return simple_trial()


@pytest.fixture
def make_trial():
    """A function that makes a trial of one probe in `counting_parts`."""
    return simple_trial


def simple_trial(probe="mean", *, n=3, seeds=(0, 1), **settings):
    probes = (Part(f"counting_parts:{probe}", **settings),)
    return Trial(task=Part("counting_parts:numbers", n=n), probes=probes, seeds=seeds)
