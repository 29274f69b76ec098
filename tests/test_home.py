"""One folder for results, programs and data, and one variable that moves it."""

from pathlib import Path

from recombine.home import home
from recombine.runs import Store
from recombine.tasks import datasets


def test_the_variable_moves_results_and_data_alike(monkeypatch, tmp_path):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    assert home() == Store().path == datasets.cache_folder().parent == tmp_path


def test_a_tilde_is_the_users_home(monkeypatch):
    monkeypatch.setenv("RECOMBINE_HOME", "~/results")
    assert home() == Path.home() / "results"


def test_without_it_the_users_cache_is_used(monkeypatch):
    monkeypatch.delenv("RECOMBINE_HOME", raising=False)
    assert home().name == "recombine"
