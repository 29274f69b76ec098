import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Result, Trial, canonical_json, table
from recombine.runs.result_table import column
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


def expected_table(several):
    """Row by row, as `Result.to_rows` describes them."""
    rows = [row for result in several for row in result.to_rows()]
    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame({name: column([row.get(name) for row in rows]) for name in names})


@settings(max_examples=60, deadline=None)
@given(st.lists(results(), min_size=1, max_size=3))
def test_rows_are_those_of_the_results(several):
    several = [*several, several[0]]  # the same settings once more
    expected = expected_table(several)
    assert table(several).equals(expected)
    stored = [encode(result) for result in several]
    assert table([rows_of_data("0" * 32, data) for data in stored]).equals(expected)
    texts = [rows_text(*verified(data, key="0" * 32)) for data in stored]
    if None not in texts:
        assert table([rows_of_text("0" * 32, text) for text in texts]).equals(expected)


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
