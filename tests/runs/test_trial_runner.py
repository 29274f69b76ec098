from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import recombine.training
from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Trial, run_trial
from recombine.training.recipe import Recipe


def test_values_have_a_seed_axis(trial):
    result = run_trial(trial)
    assert result.values["mean"].shape == (2,)
    assert result.values["sorted"].shape == (2, 3)
    np.testing.assert_allclose(result.values["sorted"].mean(axis=1), result.values["mean"])
    assert result.status == ("finished", "finished")
    assert result.key == trial.key
    assert result.seconds > 0


def test_progress_ends_at_one(make_trial):
    seen = []
    run_trial(make_trial(seeds=(0, 1, 2, 3)), progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ("twice", "no other probe"),
        ("ragged", "one shape"),
        ("changing_names", "same names"),
        ("not_a_dictionary", "a dictionary"),
        ("unstorable", "numbers, booleans or strings"),
    ],
)
def test_probes_that_break_the_contract(trial, probe, message):
    probes = (*trial.probes, Part(f"counting_parts:{probe}"))
    with pytest.raises(InputError, match=message):
        run_trial(replace(trial, probes=probes))


@pytest.fixture
def trained(trial, monkeypatch):
    """A function that runs a trial whose training, a stub, ends with the given statuses; net `i` is `i`."""

    def run(status, **options):
        def fit(net_fn, tasks, recipe, seeds, *, progress):
            assert len(tasks) == len(seeds) == len(status)
            progress(1, 2)
            curves = {"step": np.arange(4), "train": np.ones((len(seeds), 4))}
            nets = {i: i for i, word in enumerate(status) if word != "diverged"}
            return SimpleNamespace(status=status, curves=curves, net=nets.__getitem__, seconds=1.0)

        monkeypatch.setitem(vars(recombine.training), "fit", fit)
        seeds, probes = tuple(range(len(status))), (Part("counting_parts:net_values"),)
        net = Part("counting_parts:a_net")
        return run_trial(Trial(trial.task, probes, seeds, net, Recipe(steps=1)), **options)

    return run


def test_a_diverged_seed_has_nan_values_and_is_not_probed(trained):
    seen = []
    result = trained(("finished", "diverged", "stopped"), progress=seen.append)
    assert result.status == ("finished", "diverged", "stopped")
    np.testing.assert_array_equal(result.values["net"], [0, np.nan, 2])
    np.testing.assert_array_equal(result.values["big"], [0, np.nan, 1])
    np.testing.assert_array_equal(result.values["row"][1], [np.nan, np.nan])
    assert result.values["single"].dtype == np.float32
    assert seen == [0.5]
    assert "JAX" in result.machine


def test_curves_that_seeds_share_get_a_seed_axis(trained):
    curves = trained(("finished", "finished")).curves
    np.testing.assert_array_equal(curves["step"], [[0, 1, 2, 3]] * 2)
    assert curves["train"].shape == (2, 4)


def test_if_all_seeds_diverged_there_are_no_values(trained):
    result = trained(("diverged", "diverged"))
    assert result.values == {}
    assert len(result.to_rows()) == 2
