"""Factors with gaps, of real numbers, and from embeddings: the same in `observe`, `advise` and `audit`."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine import InputError, advise, audit
from recombine.cli import app
from recombine.data import cluster_factor
from recombine.data.levels import MISSING, automatic_bins
from recombine.spaces.observations import observe

COLOURS = ["red", None, "blue", "red", "", "blue", "  ", "red"]
SIZES = [1, 2, 1, 2, 1, 2, 2, 1]
SEEN = [True] * 6 + [False] * 2


def test_missing_values_are_an_error_that_says_what_to_do():
    with pytest.raises(InputError, match=r"no value in row 2.*missing='level'"):
        observe(factors={"colour": COLOURS, "size": SIZES}, seen=SEEN)


def test_missing_values_can_be_a_level():
    rows = observe(factors={"colour": COLOURS, "size": SIZES}, seen=SEEN, missing="level")
    assert rows.space.factors[0].levels == ("blue", "red", MISSING)
    assert rows.cells[:, 0].tolist() == [1, 2, 0, 1, 2, 0, 2, 1]
    assert rows.space.factors[1].levels == (1, 2)
    assert rows.notes == ("3 rows have no value of colour; they count as a level of their own, (missing)",)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_numbers_with_gaps_become_text_in_the_order_of_numbers(gap):
    rows = observe(factors={"n": [10, gap, 9, 9.0], "b": [1, 1, 2, 2]}, seen=[True] * 4, missing="level")
    assert rows.space.factors[0].levels == ("9", "10", MISSING)


def test_every_form_has_the_same_missing_levels(tmp_path):
    columns = {
        "colour": ["red", None, "blue", "red"],
        "n": [1, 2, None, 2],
        "split": ["train"] * 3 + ["test"],
    }
    frame = pl.DataFrame(columns)
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    lines = [{name: value for name, value in row.items() if value is not None} for row in frame.to_dicts()]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "words.csv").write_text("colour,n,split\nred,1,train\n,2,train\nblue,NaN,train\nred,2,test\n")
    forms = [frame, frame.lazy(), pd.DataFrame(columns), columns, lines]
    for form in [*forms, *(tmp_path / name for name in ("t.csv", "t.parquet", "t.jsonl", "words.csv"))]:
        rows = observe(form, factors="colour,n", seen="split=train", missing="level")
        levels = [factor.levels for factor in rows.space.factors]
        assert levels == [("blue", "red", MISSING), ("1", "2", MISSING)]
        assert rows.cells.tolist() == [[1, 0], [2, 1], [0, 2], [1, 1]]


def test_a_word_for_nothing_is_a_level_among_words():
    rows = observe(
        factors={"a": ["none", "x", None, "x"], "b": [1, 1, 2, 2]}, seen=[True] * 4, missing="level"
    )
    assert rows.space.factors[0].levels == ("none", "x", MISSING)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([None] * 4, "no value in any row"),
        ([MISSING, None, "x", "x"], "another name for that level"),
        (["x", "x", "x", "x"], "the one level 'x'"),
    ],
)
def test_columns_without_levels_are_refused(column, words):
    with pytest.raises(InputError, match=words):
        observe(factors={"a": column, "b": [1, 1, 2, 2]}, seen=[True] * 4, missing="level")
    with pytest.raises(InputError, match="'error' or 'level'"):
        observe(factors={"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}, seen=[True] * 4, missing="drop")


def test_one_level_and_gaps_make_a_factor():
    rows = observe(factors={"a": ["x", None, "x", None], "b": [1, 1, 2, 2]}, seen=[True] * 4, missing="level")
    assert rows.space.factors[0].levels == ("x", MISSING)


def continuous(rows=125, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=rows)
    return {"weight": weight, "group": np.arange(rows) % 4, "height": weight**2 + rng.normal(size=rows)}


def test_automatic_ranges_follow_the_cube_root_of_the_rows():
    assert [automatic_bins(n) for n in (1, 8, 27, 125, 1000, 10**9)] == [2, 2, 3, 5, 10, 10]
    table, seen = continuous(), np.arange(125) < 100
    one = observe(factors=table | {"height": np.arange(125) % 2}, seen=seen, bins={"weight": "auto"})
    assert one.space.shape == (5, 4, 2)
    assert np.bincount(one.cells[:, 0]).tolist() == [25] * 5
    every = observe(factors=table, seen=seen, bins="auto")
    assert every.space.shape == (5, 4, 5)
    assert len(every.notes) == 2
    assert "weight was cut into 5 ranges" in every.notes[0]
    assert list(every.bins) == ["weight", "height"]


def test_automatic_ranges_and_gaps():
    table = continuous()
    table["weight"][::5] = np.nan
    rows = observe(factors=table, seen=np.arange(125) < 100, bins="auto", missing="level")
    assert rows.space.shape == (6, 4, 5)
    assert rows.space.factors[0].levels[-1] == MISSING
    assert (rows.cells[::5, 0] == 5).all()


@pytest.mark.parametrize(
    "bins", ["many", {"weight": "four"}, {"weight": 1}, {"weight": None}, {"other": 3}, 4, ["auto"]]
)
def test_other_bins_are_refused(bins):
    with pytest.raises(InputError, match="bins"):
        observe(factors=continuous(), seen=np.arange(125) < 100, bins=bins)


def test_advise_and_audit_read_factors_alike(tmp_path):
    table = continuous(600)
    seen = (table["group"] != 3) | (table["weight"] < 0)
    table["weight"][:30] = np.nan
    y = np.nan_to_num(table["weight"]) + table["group"]
    arguments = {"factors": ["weight", "group"], "seen": seen, "bins": "auto", "missing": "level"}
    advice, report = advise(table, **arguments), audit(table, target=y, prediction=y, **arguments)
    assert advice.table.space.factors == report.table.space.factors
    assert len(advice.to_dict()["notes"]) == 2
    assert set(advice.to_dict()["notes"]) <= set(report.to_dict()["notes"])
    assert "cube root" in str(advice)
    frame = pl.DataFrame(table | {"y": y, "split": seen}).with_columns(pl.col("weight").fill_nan(None))
    frame.write_csv(tmp_path / "t.csv")
    shared = [str(tmp_path / "t.csv"), "--factors", "weight,group", "--seen", "split", "--missing", "level"]
    for command in (["advise"], ["audit", "--target", "y", "--prediction", "y"]):
        for bins in ("auto", "weight=auto"):
            result = CliRunner().invoke(app, [*command, *shared, "--bins", bins, "--json"])
            assert result.exit_code == 0, result.output
            assert json.loads(result.stdout)["factors"]["weight"][-1] == MISSING


def blobs(rows, centres, seed=0):
    rng = np.random.default_rng(seed)
    which = np.arange(rows) % centres
    return which, 10 * np.eye(centres)[which] + rng.normal(scale=0.3, size=(rows, centres))


@pytest.mark.parametrize("centres", [2, 3, 5])
def test_clusters_are_found_and_counted(centres):
    which, embeddings = blobs(60, centres)
    levels = cluster_factor(embeddings)
    assert len(set(levels)) == centres
    assert all(len(set(levels[which == one])) == 1 for one in range(centres))
    assert (levels == cluster_factor(embeddings, centres)).all()
    assert (levels == cluster_factor(embeddings, seed=0)).all()


def test_clusters_are_named_by_size_and_reports_say_what_they_are():
    embeddings = np.array([[0.0], [0.1], [9.0], [9.1], [9.2], [0.2], [9.3], [0.3], [9.4]])
    levels = cluster_factor(embeddings, 2)
    assert levels.tolist() == [f"cluster {2 if x < 5 else 1}" for x in embeddings[:, 0]]
    size = np.arange(9) % 3
    seen = (levels == "cluster 1") | (size > 0)
    report = audit(
        factors={"scene": levels, "size": size}, seen=seen, target=size * 1.0, prediction=size * 1.0
    )
    assert any("scene were found by clustering and are not annotated" in note for note in report.notes)
    advice = advise(factors={"scene": levels, "size": size}, seen=seen)
    assert "not annotated" in " ".join(str(advice).split())


@pytest.mark.parametrize(
    ("embeddings", "clusters"),
    [
        (np.zeros((10, 2)), None),
        (np.zeros((10, 2)), 2),
        (np.ones(10), None),
        (np.array([[1.0], [np.nan], [2.0]]), None),
        (np.array([["a"], ["b"], ["c"]]), None),
        (np.zeros((0, 3)), None),
        (np.zeros((5, 0)), None),
        (np.arange(10.0)[:, None], 11),
        (np.arange(10.0)[:, None], 1),
        (np.arange(10.0)[:, None], 2.0),
        (np.arange(10.0)[:, None], True),
        (None, None),
    ],
)
def test_embeddings_that_cannot_be_clustered_are_refused(embeddings, clusters):
    with pytest.raises(InputError):
        cluster_factor(embeddings, clusters)
