"""Cells are added: what `with_cells` says is what advice from scratch says."""

from importlib import import_module

import numpy as np
import pytest

from recombine import advise
from recombine.errors import InputError
from recombine.theory import retention_update

NAMES = ["a", "b", "c"]


def table_of(seed, *, rows=60, levels=(4, 3, 3), labelled=False):
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(0, size, rows) for size in levels], axis=1)
    table = {name: cells[:, axis] for axis, name in enumerate(NAMES)}
    # Some levels are rare in training, so that all three verdicts occur.
    table["train"] = (rng.random(rows) < 0.3) & (cells[:, 0] > 0)
    table["price"] = 1.0 + cells.sum(axis=1) % 4
    if labelled:
        table["y"] = np.where((cells[:, 0] > 1) ^ (cells[:, 1] > 0), 1.0, -1.0)
    return table


def from_scratch(table, added, **settings):
    cells = np.stack([table[name] for name in NAMES], axis=1)
    moved = (cells[:, None] == added).all(axis=2)
    table = table | {"train": table["train"] | moved.any(axis=1)}
    fresh = added[~moved.any(axis=0)]
    more = {name: fresh[:, axis] for axis, name in enumerate(NAMES)}
    more |= {"train": np.ones(len(fresh), dtype=bool), "price": np.full(len(fresh), table["price"].max())}
    if "y" in table:
        more["y"] = np.zeros(0)
    return advise({name: np.append(table[name], more[name]) for name in table}, **settings)


def assert_same(actual, expected):
    np.testing.assert_allclose(actual.retention, expected.retention, atol=1e-8)
    assert actual.leak.band == pytest.approx(expected.leak.band, abs=1e-8)
    plain, other = actual.to_dict(), expected.to_dict()
    for part in (plain, other):
        del part["leak"]["retention"], part["leak"]["band"]
    assert plain == other
    for order, verdicts in expected.orders.items():
        assert np.array_equal(actual.orders[order].determined, verdicts.determined)
        assert np.array_equal(actual.orders[order].norm_completed, verdicts.norm_completed)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "settings",
    [{}, {"interest": "table"}, {"cost": "price"}, {"ban": [{"a": 1}], "orders": [1]}],
    ids=["plain", "table", "cost", "ban"],
)
def test_more_training_is_as_from_scratch(seed, settings, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(
            import_module("recombine.theory.retention"), "MAX_CELLS", 0
        )  # by conjunctions of order 2
        monkeypatch.setattr(retention_update, "DENSE_ADVANTAGE", 0)  # and by conjugate gradients
    table, settings = table_of(seed), {"factors": NAMES, "seen": "train"} | settings
    advice = before = advise(table, **settings)
    everything = np.zeros((0, 3), dtype=int)
    rng = np.random.default_rng(seed)
    for count in (1, 3):
        added = rng.permutation(advice.targets)[:count]
        everything = np.concatenate([everything, added])
        advice = advice.with_cells(added)
        assert_same(advice, from_scratch(table, everything, **settings))
    assert len(before.targets) > len(advice.targets)


def test_labels_move_with_their_cells():
    table = table_of(1, rows=150, labelled=True)
    settings = {"factors": NAMES, "seen": "train", "target": "y", "interest": "table"}
    advice = advise(table, **settings)
    added = advice.targets[:2]
    assert_same(advice.with_cells(added), from_scratch(table, added, **settings))


def test_the_suggested_cells_determine_everything():
    advice = advise(table_of(0), factors=NAMES, seen="train", orders=[1])
    suggested = advice.to_dict()["orders"]["1"]["minimal_additions"]
    assert suggested
    assert not advice.orders[1].determined.all()
    grown = advice.with_cells(suggested)
    assert grown.orders[1].determined.all()
    assert len(grown.orders[1].additions.cells) == 0
    one = advice.with_cells(suggested[:1])
    assert len(one.orders[1].additions.cells) == len(suggested) - 1


def test_known_cells_change_nothing():
    advice = advise(table_of(0), factors=NAMES, seen="train")
    assert advice.with_cells(advice.train[:2]).to_dict() == advice.to_dict()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([{"a": 0, "b": 0}], "a level for each of a, b, c"),
        ([{"a": 9, "b": 0, "c": 0}], "cells: got 'a=9', expected a level of a: 0, 1, 2, 3"),
        (np.array([[0, 0]]), "level indices \\(3 for each cell\\)"),
        (np.array([[0, 0, 9]]), "level indices below"),
        (np.array([[0.0, 0, 0]]), "float64 of shape"),
        ([[0, 0, 0]], "or levels by factor: a, b, c"),
    ],
)
def test_bad_cells_are_named(cells, message):
    with pytest.raises(InputError, match=message):
        advise(table_of(0), factors=NAMES, seen="train").with_cells(cells)


def test_cells_without_a_label_are_refused():
    advice = advise(table_of(1, labelled=True), factors=NAMES, seen="train", target="y")
    codes = np.ravel_multi_index(tuple(advice.targets.T), (4, 3, 3))
    absent = advice.targets[~np.isin(codes, advice.table.codes)][:1]
    with pytest.raises(InputError, match="cells whose rows all have a label"):
        advice.with_cells(absent)


@pytest.mark.parametrize("target", ["quantity", "label", "colour"])
def test_large_tables_are_analysed_as_small_ones(target, monkeypatch):
    """The ways of large tables, on a small one: kept inverses, saturated row spaces, fits from counts."""
    rng = np.random.default_rng(3)
    cells = rng.integers((5, 4, 3), size=(600, 3))
    table = {name: cells[:, axis] for axis, name in enumerate(NAMES)}
    table["train"] = (cells.sum(axis=1) % 5 > 0) & ((cells[:, 0] > 0) | (cells[:, 1] > 0))
    table["quantity"] = np.sin(cells[:, 0]) + np.cos(cells[:, 1] * cells[:, 2])
    table["label"] = np.where(table["quantity"] > 0.5, "high", "low")
    table["colour"] = np.array(["red", "green", "blue"])[cells.sum(axis=1) % 3]
    settings = {"factors": NAMES, "seen": "train", "interest": "table", "target": target}
    theory = [import_module(f"recombine.theory.{name}") for name in ("retention", "saturation")]
    monkeypatch.setattr(theory[0], "MAX_CELLS", 0)
    expected = advise(table, **settings)
    monkeypatch.setattr(theory[1], "MIN_WIDTH", 0)
    monkeypatch.setattr(theory[1], "MIN_CELLS_PER_EFFECT", 1)
    monkeypatch.setattr(import_module("recombine.advice.labels"), "LARGE_FIT", 0)
    actual = advise(table, **settings)
    for order in (1, 2):
        one, other = actual.additivity[order], expected.additivity[order]
        assert one.explained == pytest.approx(other.explained, rel=1e-9)
        np.testing.assert_allclose(one.misses, other.misses, rtol=1e-8)
    plain, other = actual.to_dict(), expected.to_dict()
    for part in (plain, other):
        for fit in part["additivity"].values():
            del fit["explained"]
    assert plain == other
    added = actual.targets[:1]
    np.testing.assert_allclose(
        actual.with_cells(added).retention, from_scratch_of(table, added, settings).retention, atol=1e-9
    )


def from_scratch_of(table, added, settings):
    cells = np.stack([table[name] for name in NAMES], axis=1)
    moved = (cells[:, None] == added).all(axis=2).any(axis=1)
    return advise(table | {"train": table["train"] | moved}, **settings)
