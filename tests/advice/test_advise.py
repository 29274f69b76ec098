"""Advice on whole tables: the theory's tasks, the fewest additions, and every part of the report."""

import json
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import advise
from recombine.advice import labels, minimal_additions
from recombine.errors import InputError
from recombine.tasks import (
    addition,
    context_dependence,
    dispersed_addition,
    invariance,
    logical,
    partial_exposure,
    transitive_chain,
    transitive_equivalence,
    transitive_ordering,
)
from recombine.theory import Determinacy, OverlapKernel


def table_of(task):
    """A task as a user would have it: one row per cell, levels, split and target."""
    space = task.split.space
    cells = space.cells[task.cell]
    columns = {f.name: [str(f.levels[i]) for i in cells[:, axis]] for axis, f in enumerate(space.factors)}
    columns["split"] = np.where(task.split.seen[task.cell], "train", "test")
    return pl.DataFrame(columns | {"y": task.targets.ravel().astype(float)})


def advice_on(task, **settings):
    settings = {"seen": "split=train", "target": "y", "interest": "table"} | settings
    return advise(table_of(task), factors=task.split.space.names, **settings)


def counts(advice, order):
    result = advice.to_dict()["orders"][str(order)]
    return result["determined"], result["norm_completed"], result["undetermined"]


@pytest.mark.parametrize(
    ("task", "order", "expected"),
    [
        (addition(), 1, (64, 0, 0)),
        (addition(anchors="interpolation"), 1, (49, 0, 0)),
        (dispersed_addition(seed=3), 1, (63, 0, 0)),
        (context_dependence(hidden=3), 2, (0, 18, 0)),
        (context_dependence(hidden=1), 2, (0, 2, 0)),
        (transitive_equivalence(), 1, (4, 0, 0)),
        (transitive_ordering(), 1, (12, 0, 18)),
        (invariance(), 1, (0, 2, 0)),
        (partial_exposure(), 1, (1, 0, 0)),
        (logical(operation="and"), 1, (1, 0, 0)),
    ],
)
def test_verdicts_of_the_theory(task, order, expected):
    assert counts(advice_on(task), order) == expected


def test_labels_out_of_reach_are_named():
    for task in (transitive_equivalence(), transitive_chain()):
        assert len(advice_on(task).contradiction)
    for task in (context_dependence(), transitive_ordering(), logical(operation="and")):
        assert not len(advice_on(task).contradiction)
    assert "out of reach" in str(advice_on(transitive_equivalence()))


def test_labels_that_are_too_many_to_check_are_reported(monkeypatch):
    monkeypatch.setattr(labels, "MAX_CONJUNCTIONS", 1)
    advice = advice_on(transitive_equivalence())
    assert advice.contradiction is None
    assert advice.to_dict()["out_of_reach"] is None
    assert "not checked: whether the unseen labels are out of reach" in " ".join(str(advice).split())


def test_pairwise_connection_is_not_enough():
    rows = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [0, 1, 1, 0], "train": [True, True, True, False]}
    advice = advise(rows, factors=["a", "b", "c"], seen="train", interest="table")
    assert counts(advice, 1) == (0, 0, 1)
    assert advice.to_dict()["orders"]["1"]["minimal_additions"] == [{"a": 1, "b": 1, "c": 0}]


def test_additivity_of_labels():
    result = advice_on(context_dependence()).to_dict()["additivity"]
    assert (result["1"]["additive"], result["2"]["additive"]) == (False, True)
    assert result["1"]["worst"]
    assert advice_on(addition()).additivity[1].additive


def test_the_shortcut_of_context_dependence():
    first = advice_on(context_dependence()).shortcuts[0]
    assert first.factors == (0,)
    assert (first.train, first.target) == pytest.approx((2 / 3, 0))
    assert first.misleads
    losses = advice_on(context_dependence()).losses
    assert losses.squared == (1.0,) * 10
    assert losses.margin == (0.0,) * 7 + (1.0,) * 3  # passes from depth 8 on
    assert not any(rule.misleads for rule in advice_on(addition()).shortcuts)


@st.composite
def small_tables(draw):
    sizes = draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (2, 4), (2, 2, 2), (3, 2, 2), (2, 5), (3, 4)]))
    cells = list(product(*map(range, sizes)))
    seen = draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)).filter(any))
    order = draw(st.integers(1, len(sizes)))
    interest = draw(st.sampled_from(["unseen", "table"]))
    present = [s or draw(st.booleans()) for s in seen]
    return sizes, cells, seen, order, interest, present


@settings(max_examples=250)
@given(small_tables())
def test_the_additions_are_as_few_as_can_be(drawn):
    """Brute force over all sets of cells that are one smaller, whether anyone asked about them or not."""
    sizes, cells, seen, order, interest, present = drawn
    rows = [(c, s) for c, s, p in zip(cells, seen, present, strict=True) if p]
    names = [f"f{axis}" for axis in range(len(sizes))]
    table = {name: [f"l{c[axis]}" for c, _ in rows] for axis, name in enumerate(names)}
    if any(len(set(values)) in {1, len(rows)} for values in table.values()):
        return  # not a factor; refused, which other tests look at
    advice = advise(
        table | {"train": [s for _, s in rows]},
        factors=names,
        seen="train",
        orders=[order],
        interest=interest,
    )
    result, shape = advice.orders[order], advice.table.space.shape
    known = Determinacy(shape, order)
    known.add(advice.train)
    grown = known.copy()
    grown.add(result.additions.cells)
    assert grown.determined(advice.targets).all()
    assert result.additions.optimal
    assert result.certain
    everything = np.array(list(product(*map(range, shape))))
    fewer = len(result.additions.cells) - 1
    if 0 <= fewer <= 3:
        for chosen in combinations(range(len(everything)), fewer):
            tried = known.copy()
            tried.add(everything[list(chosen)])
            assert not tried.determined(advice.targets).all()
    total = sum(counts(advice, order))
    assert total == len(advice.targets)


def test_cheap_cells_and_cells_that_exist_come_first():
    table = pl.DataFrame(
        {
            "a": [0, 1, 0, 1, 2, 2],
            "b": [0, 1, 1, 0, 0, 2],
            "split": ["train", "train", "test", "test", "train", "train"],
            "price": [1.0, 1, 5, 2, 1, 1],
        }
    )
    advice = advise(table, factors=["a", "b"], seen="split=train", orders=[1], cost="price")
    assert advice.to_dict()["orders"]["1"]["minimal_additions"] == [{"a": 1, "b": 0}]
    without = advise(table, factors=["a", "b"], seen="split=train", orders=[1])
    assert without.to_dict()["orders"]["1"]["minimal_additions"] == [{"a": 0, "b": 1}]


def test_bans_and_exclusions():
    task = transitive_ordering()
    advice = advise(
        table_of(task),
        factors=["first", "second"],
        seen="split=train",
        orders=[1],
        ban=[{"first": "0"}, {"first": "1"}],
        exclude=[{"first": str(i), "second": str(i)} for i in range(7)],
    )
    assert advice.excluded == 7
    assert len(advice.targets) == 30
    (added,) = advice.to_dict()["orders"]["1"]["minimal_additions"]
    assert int(added["first"]) > 1
    assert advice.orders[1].additions.optimal


def test_other_cells_stand_in_for_banned_targets():
    """The target 11 is banned; 10 and 01 are not of interest, but together they determine it."""
    known = Determinacy((2, 2), 1)
    known.add(np.array([[0, 0]]))
    target, others = np.array([[1, 1]]), np.array([[0, 1], [1, 0]])
    result = minimal_additions(known, target, banned=np.array([True]), others=others)
    assert result.complete
    assert (len(result.cells), result.lower_bound, result.optimal) == (2, 1, False)
    nothing = minimal_additions(known, target, banned=np.array([True]), others=others[:1])
    assert not nothing.complete


def test_everything_in_one_object():
    plain = json.loads(json.dumps(advice_on(context_dependence()).to_dict()))
    assert {"orders", "leak", "shortcuts", "additivity", "warnings"} <= set(plain)
    assert plain["cells"] == {"all": 72, "seen": 54, "interest": 18, "excluded": 0}
    assert plain["coverage"]["2"]["unseen_conjunctions"] == 9
    assert plain["coverage"]["2"]["examples"][0] == {"feature1": "0", "feature2": "3"}
    assert plain["coverage"]["1"]["examples"] == []


def test_cells_as_a_table():
    cells = advice_on(transitive_ordering()).cells()
    assert cells.columns == ["first", "second", "order_1", "order_2", "retention"]
    assert cells["order_1"].value_counts(sort=True).to_dicts() == [
        {"order_1": "undetermined", "count": 18},
        {"order_1": "determined", "count": 12},
    ]


def test_nothing_unseen():
    rows = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "train": [True] * 4}
    advice = advise(rows, factors=["a", "b"], seen="train")
    assert not len(advice.targets)
    assert "training has every combination" in str(advice)
    assert advice.to_dict()["leak"] is None


def test_a_single_factor_carries_nothing_over():
    rows = {"a": [0, 0, 1, 1, 2], "train": [True] * 4 + [False]}
    advice = advise(rows, factors=["a"], seen="train")
    assert advice.leak.median == 0
    assert str(advice)


def test_bad_settings_are_named():
    with pytest.raises(InputError, match="interest: got 'all'"):
        advice_on(addition(), interest="all")
    with pytest.raises(InputError, match="order: got"):
        advice_on(addition(), orders=[0])
    with pytest.raises(InputError, match="salience: got 'deep'"):
        advice_on(addition(), salience="deep")
    with pytest.raises(InputError, match="a kernel of 3 factors"):
        advice_on(addition(), salience=OverlapKernel.by_count([0, 1, 2, 3]))
    with pytest.raises(InputError, match="ban: got 'first=nine'"):
        advice_on(addition(), ban=[{"first": "nine"}])
