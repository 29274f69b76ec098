"""Reading and replacing settings by path."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import InputError, Part, Penalty, Recipe
from recombine.sweeps.paths import read, replaced
from recombine.training import adam

L2 = Part("recombine.remedies:l2")
RECIPE = Recipe(steps=10, optimiser=adam(0.1), penalties=(Penalty(L2, 0.5), Penalty(L2, 0.25, warmup=3)))
PART = Part("types:SimpleNamespace", a=1, b=Part("types:SimpleNamespace", c=(1, 2, 3)))
LEAVES = {
    ("optimiser", "learning_rate"): st.floats(0, 1),
    ("penalties", "0", "weight"): st.floats(0, 9),
    ("penalties", "1", "weight"): st.floats(0, 9),
    ("penalties", "1", "warmup"): st.integers(0, 9),
    ("steps",): st.integers(0, 9),
    ("batch",): st.one_of(st.none(), st.integers(1, 9)),
}


@given(st.fixed_dictionaries({}, optional=LEAVES))
def test_what_was_put_is_read_and_the_rest_stays(changes):
    changed = replaced(RECIPE, changes, "recipe")
    for path in LEAVES:
        assert read(changed, path, "recipe") == changes.get(path, read(RECIPE, path, "recipe"))
    assert replaced(changed, {path: read(RECIPE, path, "recipe") for path in changes}, "recipe") == RECIPE


@given(st.permutations(sorted(LEAVES)), st.data())
def test_the_order_of_changes_does_not_matter(order, data):
    changes = {path: data.draw(LEAVES[path]) for path in order}
    at_once = replaced(RECIPE, changes, "recipe")
    one_by_one = RECIPE
    for path, value in changes.items():
        one_by_one = replaced(one_by_one, {path: value}, "recipe")
    assert one_by_one == at_once


def test_nothing_changes_in_place_and_nothing_is_copied_in_vain():
    changed = replaced(RECIPE, {("penalties", "0", "weight"): 2.0}, "recipe")
    assert RECIPE.penalties[0].weight == 0.5
    assert changed.penalties[1] is RECIPE.penalties[1]
    assert changed.optimiser is RECIPE.optimiser
    assert replaced(RECIPE, {}, "recipe") is RECIPE


def test_paths_lead_into_parts_and_tuples():
    assert read(PART, ("b", "c", "2"), "task") == 3
    changed = replaced(PART, {("b", "c", "2"): 9, ("a",): 2, ("new",): 1}, "task")
    assert changed == Part("types:SimpleNamespace", a=2, b=Part("types:SimpleNamespace", c=(1, 2, 9)), new=1)


def test_a_whole_part_is_replaced_before_its_settings():
    changed = replaced(PART, {(): Part("types:SimpleNamespace", x=1), ("a",): 3}, "task")
    assert changed == Part("types:SimpleNamespace", x=1, a=3)


def test_defaults_of_functions_are_read():
    assert read(Part("recombine.tasks:bumps", n=8), ("hole",), "task") is None
    with pytest.raises(InputError, match="a setting that has a value"):
        read(Part("recombine.nets:mlp", width=8), ("outputs",), "net")


def test_settings_that_are_checked_together_are_changed_together():
    changed = replaced(RECIPE, {("steps",): None, ("epochs",): 3}, "recipe")
    assert (changed.epochs, changed.steps) == (3, None)
    assert dataclasses.replace(changed, epochs=None, steps=10) == RECIPE


@pytest.mark.parametrize(
    ("value", "path", "new", "words"),
    [
        (
            RECIPE,
            "penalties.2.weight",
            1.0,
            "a number from 0 to 1 after 'recipe.penalties': recipe.penalties has 2",
        ),
        (RECIPE, "penalties.-1.weight", 1.0, "a number from 0 to 1"),
        (RECIPE, "penalties.first.weight", 1.0, "a number from 0 to 1"),
        (Recipe(steps=1), "penalties.0.weight", 1.0, "recipe.penalties has 0 entries"),
        (RECIPE, "optimizer.learning_rate", 1.0, "did you mean 'recipe.optimiser'?"),
        (RECIPE, "optimiser.lerning_rate", 1.0, "did you mean 'recipe.optimiser.learning_rate'?"),
        (RECIPE, "steps.x", 1, "recipe.steps is 10, which has no settings"),
        (RECIPE, "steps", -1, "recipe.steps: got -1"),
        (RECIPE, "steps", "9", "recipe.steps: got '9', expected a whole number or None"),
        (RECIPE, "steps", True, "recipe.steps: got True"),
        (RECIPE, "penalties.0.weight", "big", "recipe.penalties.0.weight: got 'big', expected a number"),
        (RECIPE, "penalties", (3,), "expected a list (each entry: a Penalty)"),
        (RECIPE, "optimiser", 3, "expected an Optimiser"),
        (RECIPE, "optimiser.kind", "adamax", "'sgd', 'adam' or 'adamw'"),
        (RECIPE, "epochs", 1, "recipe.epochs: got 1, expected one of epochs and steps"),
        (None, "steps", 1, "which has no settings"),
    ],
)
def test_illegal_changes_name_the_path(value, path, new, words):
    with pytest.raises(InputError) as error:
        replaced(value, {tuple(path.split(".")): new}, "recipe")
    assert words in str(error.value)
