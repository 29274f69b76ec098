import json
import math
import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Trial, canonical_json, from_json
from recombine.training.losses import squared_error
from recombine.training.recipe import Noise, Penalty, Recipe, adam, sgd

names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)


@st.composite
def parts(draw, values):
    return Part(
        draw(st.sampled_from(["math:sin", "json:dumps", "counting_parts:mean"])),
        **draw(st.dictionaries(names, values, max_size=3)),
    )


plain_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3).map(tuple) | parts(inner), max_leaves=6
)
recipes = st.builds(
    Recipe,
    steps=st.integers(1, 10**6),
    optimiser=st.builds(adam, st.floats(0, 1)) | st.builds(sgd, st.floats(0, 1), momentum=st.floats(0, 1)),
    penalties=st.lists(st.builds(Penalty, parts(scalars), st.floats(0, 9)), max_size=2).map(tuple),
    noise=st.lists(st.builds(Noise, st.just(("out",)), st.floats(0, 1)), max_size=1).map(tuple),
)
seeds = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4, unique=True)


@st.composite
def trials(draw):
    net, recipe = draw(st.none() | parts(plain_values)), draw(recipes)
    return Trial(
        task=draw(parts(plain_values)),
        probes=tuple(draw(st.lists(parts(plain_values), min_size=1, max_size=3))),
        seeds=draw(seeds),
        net=net,
        recipe=None if net is None else recipe,
    )


def shuffled(value):
    """The same JSON with every object's keys in reverse order."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    else:
        yield path, value


@settings(max_examples=50)
@given(trials())
def test_json_round_trip(trial):
    again = from_json(canonical_json(trial))
    assert again == trial
    assert again.key == trial.key
    assert again.program == trial.program
    assert canonical_json(again) == canonical_json(trial)


@settings(max_examples=50)
@given(trials())
def test_key_does_not_depend_on_the_order_of_settings(trial):
    text = json.dumps(shuffled(json.loads(canonical_json(trial))), indent=1)
    assert from_json(text).key == trial.key


@settings(max_examples=50)
@given(trials(), st.data())
def test_key_changes_with_any_value(trial, data):
    tree = json.loads(canonical_json(trial))
    candidates = [
        (path, value)
        for path, value in leaves(tree)
        if path[-1] not in {"call", "class", "kind", "sampling"} and "stages" not in path
    ]
    path, value = data.draw(st.sampled_from(candidates))
    holder = tree
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = 1 if path[0] in {"recipe", "seeds"} and value != 1 else 2
    if path == ("net",) or (path[0] == "recipe" and path[-1] in {"epochs", "steps"}):
        return  # one without the other is refused
    try:
        changed = from_json(json.dumps(tree))
    except InputError:
        return
    assert changed.key != trial.key


def test_numbers_that_functions_distinguish_give_different_trials(make_trial):
    keys = {make_trial(n=n).key for n in (1, 1.0, True, "1")}
    assert len(keys) == 4


def test_minus_zero_is_zero(make_trial):
    assert make_trial(n=-0.0).key == make_trial(n=0.0).key
    assert math.copysign(1, from_json(canonical_json(make_trial(n=-0.0))).task["n"]) == 1


def test_canonical_text_has_not_changed(make_trial):
    assert canonical_json(make_trial(n=0.1)) == (
        '{"net":null,"probes":[{"call":"counting_parts:mean","with":{}}],"recipe":null,"seeds":[0,1],'
        '"task":{"call":"counting_parts:numbers","with":{"n":0.1}}}'
    )


def test_program_ignores_numbers_but_not_structure(make_trial):
    trial = replace(make_trial(), net=Part("a:net", width=8), recipe=Recipe(steps=10, optimiser=adam(1e-3)))
    assert trial.program == replace(trial, recipe=Recipe(steps=10, optimiser=adam(1e-2))).program
    assert trial.program == replace(trial, task=Part("b:other")).program
    assert trial.program != replace(trial, recipe=Recipe(steps=10, optimiser=sgd(1e-3))).program
    assert trial.program != replace(trial, net=Part("a:net", width=9)).program


def test_a_function_in_a_recipe_is_its_part(make_trial):
    net = Part("json:dumps")
    bare = replace(make_trial(), net=net, recipe=Recipe(steps=1, loss=squared_error))
    named = replace(make_trial(), net=net, recipe=Recipe(steps=1, loss=Part(squared_error)))
    assert bare.key == named.key
    assert from_json(canonical_json(bare)) == named
    with pytest.raises(InputError, match="importable"):
        canonical_json(replace(bare, recipe=Recipe(steps=1, loss=lambda a, b: a)))


@dataclass(frozen=True)
class Foreign:
    steps: int = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": ()}, "at least one seed"),
        ({"seeds": (1, 1)}, "all different"),
        ({"seeds": (-1,)}, "whole numbers from 0"),
        ({"seeds": (True,)}, "whole numbers from 0"),
        ({"task": "bumps"}, "task: got 'bumps', expected a Part"),
        ({"probes": ("mean",)}, r"probes\[0\]"),
        ({"probes": ()}, "at least one probe"),
        ({"net": Part("a:b")}, "a Recipe"),
        ({"recipe": Recipe(steps=1)}, "without a net"),
    ],
)
def test_bad_trials_are_refused(trial, changes, message):
    with pytest.raises(InputError, match=message):
        replace(trial, **changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "canonical JSON"),
        ("[]", "its fields should be"),
        ('{"task": 1}', "its fields should be"),
        ('{"net":null,"probes":[],"recipe":null,"seeds":[0],"task":{"with":{}}}', "canonical JSON"),
        (
            '{"net":null,"probes":[],"recipe":{"class":"os:system","fields":{}},"seeds":[0],"task":null}',
            "recombine",
        ),
        (
            '{"net":null,"probes":[],"recipe":{"class":"recombine.runs.trial:json.JSONDecoder","fields":{}},'
            '"seeds":[0],"task":null}',
            "a dataclass",
        ),
    ],
)
def test_bad_json_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        from_json(text)


def test_dataclasses_from_elsewhere_are_refused(trial):
    with pytest.raises(InputError, match="a dataclass of recombine"):
        canonical_json(replace(trial, net=Part("a:b"), recipe=Foreign()))


def test_importing_runs_does_not_import_jax():
    code = "import sys, recombine.runs; sys.exit('jax' in sys.modules or 'polars' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
