from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.training import Noise, Penalty, Recipe, Schedule, adam, adamw, sgd


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({}, "recipe"),
        ({"epochs": 1, "steps": 1}, "recipe"),
        ({"steps": -1}, "steps"),
        ({"epochs": 1, "batch": 0}, "batch"),
        ({"epochs": 1, "record_every": 0}, "record_every"),
        ({"epochs": 1, "record_rows": 0}, "record_rows"),
        ({"epochs": 1, "sampling": "sorted"}, "sampling"),
        ({"epochs": 1, "validation": 1.0}, "validation"),
    ],
)
def test_bad_settings_name_the_field(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        Recipe(**settings)
    assert caught.value.field == field


@pytest.mark.parametrize("rate", [-1.0, float("nan"), float("inf")])
def test_bad_learning_rate(rate: float) -> None:
    with pytest.raises(InputError, match="learning_rate: got"):
        adam(rate)


def test_bad_schedule() -> None:
    with pytest.raises(InputError, match="schedule: got 'linear'"):
        Schedule("linear")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="every >= 1"):
        Schedule("drops", every=0)


@given(rows=st.integers(1, 3000), batch=st.none() | st.integers(1, 200), epochs=st.integers(1, 300))
def test_lengths(rows: int, batch: int | None, epochs: int) -> None:
    recipe = Recipe(epochs=epochs, batch=batch)
    steps, every = recipe.steps_for(rows), recipe.record_every_for(rows)
    size = recipe.batch_for(rows)
    assert (steps // epochs - 1) * size < rows <= steps // epochs * size
    assert 1 <= every <= steps
    assert steps / every <= 100


def test_numbers_do_not_change_the_structure() -> None:
    """Recipes with one structure share one compiled program."""
    penalty = Penalty(Part("recombine.remedies.canvas_penalties:flatness"), 0.1)
    noise = Noise(("hidden0",), level=0.1, exponent=1.0)
    recipe = Recipe(steps=10, optimiser=adamw(1e-3), penalties=(penalty,), noise=(noise,), clip_norm=1.0)
    others = [
        replace(recipe, optimiser=adamw(0.5, weight_decay=0.3)),
        replace(recipe, penalties=(replace(penalty, weight=7.0),)),
        replace(recipe, noise=(replace(noise, level=2.0),)),
        replace(recipe, clip_norm=9.0, initial_scale=0.1, stop_below=0.1, diverge_above=5.0),
        replace(recipe, steps=None, epochs=3),
    ]
    assert {other.structure() for other in others} == {recipe.structure()}
    assert all(other.numbers() != recipe.numbers() for other in others[:4])
    kinds = [sgd(0.1), sgd(0.1, momentum=0.9), adam(0.1), adam(0.1, weight_decay=0.1), adamw(0.1)]
    assert len({replace(recipe, optimiser=kind).structure() for kind in kinds}) == len(kinds)


def test_how_long_a_penalty_warms_up_is_a_number() -> None:
    penalty = Penalty(Part("recombine.remedies.canvas_penalties:flatness"), 0.1)
    recipes = [Recipe(steps=10, penalties=(replace(penalty, warmup=steps),)) for steps in (0, 3, 7)]
    none, three, seven = (recipe.structure() for recipe in recipes)
    assert three == seven != none
    assert [recipe.numbers()["penalties"] for recipe in recipes[1:]] == [((0.1, 3.0),), ((0.1, 7.0),)]
    with pytest.raises(InputError, match="penalty warmup: got -1, expected a number of steps, 0 or more"):
        replace(penalty, warmup=-1)


def test_a_late_decay_and_recorded_rows_are_numbers() -> None:
    late = [Schedule("exponential", start=start, drop=drop) for start, drop in ((0, 1.0), (5, 0.2))]
    recipes = [
        Recipe(steps=10, schedule=schedule, record_rows=rows) for schedule in late for rows in (None, 3)
    ]
    assert len({recipe.structure() for recipe in recipes}) == 1


def test_changed_lists_what_is_not_default() -> None:
    assert Recipe(steps=5, batch=None).changed() == {"steps": 5, "batch": None}


def test_recipes_need_no_jax() -> None:
    check = (
        "import sys, recombine.training; recombine.training.Recipe(steps=1); sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
