import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Result, Trial, canonical_json
from recombine.runs.store.file_format import encode, verified
from recombine.runs.store.result_rows import rows_of_data, rows_of_text, rows_text
from recombine.training.recipe import Recipe, adam

TRICKY = ',"probes":[],"recipe":null,"seeds":[1],"task":{}'
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.just(TRICKY),
    lambda inner: st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.sampled_from(["n", "probes", "recipe", "seeds", "task", "net"]), inner, max_size=3).map(
        lambda items: Part("math:sin", **items)
    ),
    max_leaves=6,
)  # fmt: skip
parts = st.dictionaries(st.sampled_from(["n", "seeds", "task"]), plain, max_size=2).map(
    lambda items: Part("json:dumps", **items)
)


@st.composite
def results(draw):
    net = draw(st.none() | parts)
    recipe = (
        None if net is None else Recipe(steps=draw(st.integers(1, 9)), optimiser=adam(draw(st.floats(0, 1))))
    )
    seeds = tuple(draw(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3, unique=True)))
    trial = Trial(draw(parts), (Part("math:cos"),), seeds, net, recipe)
    kinds = [np.bool_, np.int64, np.float64, np.float32, np.uint8, np.complex64, "U5", np.longdouble]
    values = {
        draw(st.sampled_from(["seed", "key", "mean", "task.n", "é"])): np.ones(
            (len(seeds), *draw(st.sampled_from([(), (2,)]))), dtype=draw(st.sampled_from(kinds))
        )
        for _ in range(draw(st.integers(0, 3)))
    }
    return Result(trial, ("finished",) * len(seeds), values, {}, 0.5, "1", "m", "now", key="0" * 32)


@settings(max_examples=60, deadline=None)
@given(results())
def test_rows_are_those_of_the_result(result):
    data = encode(result)
    expected = repr(result.to_rows())
    assert repr(rows_of_data(result.key, data).to_rows()) == expected
    text = rows_text(*verified(data, key=result.key))
    if text is not None:
        assert repr(rows_of_text(result.key, text).to_rows()) == expected


@pytest.mark.parametrize(
    "change",
    [
        ('"seeds":[0,1]', '"seeds":[0,0]'),
        ('"seeds":[0,1]', '"seeds":[]'),
        ('"probes":[{"call":"counting_parts:mean","with":{}}]', '"probes":[]'),
        ('"recipe":null', '"recipe":{"class":"recombine.training:Nothing","fields":{}}'),
        ('"recipe":null', '"recipe":{"call":"a:b","with":{}}'),
        ('"task":{', '"task":null,"more":{'),
        ('{"net":', '{"nett":'),
    ],
)
def test_what_is_not_a_trial_is_refused(trial, change):
    text = canonical_json(trial).replace(*change)
    assert text != canonical_json(trial)
    with pytest.raises(InputError):
        rows_of_text("0" * 32, f'[["finished", "finished"], 1.0, {{}}]\n{text}')
