import numpy as np
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Result, Trial, run_trial
from recombine.training.recipe import Penalty, Recipe


def made(trial, values, curves=None, **changes):
    facts = {
        "status": ("finished",) * len(trial.seeds),
        "seconds": 1.5,
        "version": "0",
        "machine": "m",
        "created": "c",
    }
    return Result(trial=trial, values=values, curves=curves or {}, **(facts | changes))


def test_rows_flatten_settings_and_leave_arrays_out():
    trial = Trial(
        task=Part("counting_parts:numbers", n=28, hole=Part("math:sin", low=6), sizes=(1, 2)),
        net=Part("math:cos", width=256),
        recipe=Recipe(steps=9, penalties=(Penalty(Part("math:tan"), 0.5),)),
        probes=(),
        seeds=(4, 5),
    )
    result = made(trial, {"error": [0.5, np.nan], "map": np.zeros((2, 3))}, status=("finished", "diverged"))
    first, second = result.to_rows()
    assert first["key"] == trial.key
    expected = {
        "seed": 4,
        "status": "finished",
        "seconds": 1.5,
        "task": "numbers",
        "task.n": 28,
        "task.hole": "sin",
        "task.hole.low": 6,
        "task.sizes": "1, 2",
        "net": "cos",
        "net.width": 256,
        "recipe.steps": 9,
        "recipe.loss": "squared_error",
        "recipe.optimiser": "Optimiser",
        "recipe.optimiser.kind": "adamw",
        "recipe.penalties.0.of": "tan",
        "recipe.penalties.0.weight": 0.5,
        "error": 0.5,
    }
    assert expected.items() <= first.items()
    assert "map" not in first
    assert second["seed"] == 5
    assert np.isnan(second["error"])


def test_a_value_named_like_a_column_is_kept_next_to_it(trial):
    row = made(trial, {"seed": [7, 8]}).to_rows()[0]
    assert row["seed"] == 0
    assert row["value.seed"] == 7


def test_arrays_cannot_be_changed(trial):
    source = np.zeros(2)
    result = made(trial, {"x": source})
    source[0] = 1
    assert result.values["x"][0] == 0
    with pytest.raises(ValueError, match="read-only"):
        result.values["x"][0] = 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"x": np.zeros(3)}, "leading axis of 2 seeds"),
        ({"x": np.array([{}, {}])}, "numbers, booleans or strings"),
    ],
)
def test_values_that_cannot_be_stored_are_refused(trial, values, message):
    with pytest.raises(InputError, match=message):
        made(trial, values)


def test_it_prints_what_it_is(trial):
    assert "numbers · 2 seeds; 2 finished" in repr(run_trial(trial))
