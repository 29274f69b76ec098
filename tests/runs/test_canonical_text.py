"""The fast writer of trials gives the text that defines their keys."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Trial, canonical_json, canonical_text, code_fingerprint
from recombine.runs.trial import _encode, _fields, _parts, _slow_json
from recombine.training.losses import squared_error
from recombine.training.recipe import Noise, Penalty, Recipe, adam, sgd

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([-0.0, 1e16, 1e-7, 5e-324])
    | st.text()
    | st.sampled_from(['"', "\\", "\u2028", "\ud800", "\x7f", "é"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abcz_"), inner, max_size=3).map(
            lambda items: Part("math:sin", **items)
        )
    ),
    max_leaves=8,
)
parts = st.dictionaries(st.sampled_from("abcz_"), values, max_size=3).map(
    lambda items: Part("json:dumps", **items)
)
recipes = st.builds(
    Recipe,
    steps=st.integers(1, 10**6),
    loss=st.sampled_from([squared_error, Part(squared_error)]),
    optimiser=st.builds(adam, st.floats(0, 1)) | st.builds(sgd, st.floats(0, 1), momentum=st.floats(0, 1)),
    penalties=st.lists(st.builds(Penalty, parts, st.floats(0, 9)), max_size=2).map(tuple),
    noise=st.lists(st.builds(Noise, st.just(("out",)), st.floats(0, 1)), max_size=1).map(tuple),
)


@st.composite
def trials(draw):
    net = draw(st.none() | parts)
    seeds = draw(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3, unique=True))
    return Trial(draw(parts), (draw(parts),), tuple(seeds), net, None if net is None else draw(recipes))


def old_text(trial):
    """The text as `json` writes it: what the keys of stored results were computed from."""
    tree = {field.name: _encode(getattr(trial, field.name), field.name) for field in _fields(trial)}
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(trials())
def test_the_text_is_what_json_writes(trial):
    names = set()
    canonical_text.write(trial.task, names)
    assert canonical_json(trial) == _slow_json(trial) == old_text(trial)
    assert names == {part.name for part in _parts(trial.task, with_classes=True)}


def test_the_names_of_a_recipe_are_those_of_its_classes_and_functions(make_trial):
    recipe = Recipe(
        steps=3, loss=squared_error, optimiser=adam(0.1), penalties=(Penalty(Part("math:sin"), 1.0),)
    )
    trial = replace(make_trial(), net=Part("math:cos"), recipe=recipe)
    names = set()
    for field in ("net", "probes", "recipe", "seeds", "task"):
        canonical_text.write(getattr(trial, field), names)
    assert names == {part.name for part in _parts(trial, with_classes=True)}


def test_equal_values_of_different_types_are_not_confused(make_trial):
    for _ in range(2):  # the second time from memory
        texts = {canonical_json(make_trial(n=n)) for n in (1, 1.0, True, "1", (1,))}
        assert len(texts) == 5


def test_more_parts_than_are_remembered(make_trial, monkeypatch):
    monkeypatch.setattr(canonical_text, "_MAX_WRITTEN", 3)
    for n in range(20):
        assert f'"n":{n}}}' in canonical_json(make_trial(n=n))
    assert len(canonical_text._WRITTEN) <= 3


class Whole(int):
    pass


def test_unusual_values_are_left_to_the_slow_writer(make_trial):
    assert canonical_json(make_trial(n=Whole(3))) == canonical_json(make_trial(n=3))
    trial = make_trial()
    object.__setattr__(trial.task, "settings", (("n", float("nan")),))
    with pytest.raises(InputError, match="finite"):
        canonical_json(trial)


def test_the_key_is_text_and_code(make_trial):
    import hashlib

    trial = make_trial(n=4)
    code = code_fingerprint(trial.parts(), trains=False)
    assert trial.key == hashlib.sha256(f"{old_text(trial)}\n{code}".encode()).hexdigest()[:32]
