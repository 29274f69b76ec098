"""Tables in all their forms: the same cells from each, and levels as they were written."""

import io
import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.data.columns import as_column, number_as_written
from recombine.data.export import csv_bytes
from recombine.data.levels import binned, levels_of
from recombine.data.limits import MAX_BINS, MAX_LEVELS, MAX_NAME_LENGTH
from recombine.data.tables import read_table
from recombine.errors import InputError
from recombine.spaces.observations import observe


def levels(values, *, untyped=False):
    return levels_of(as_column("factor 'f'", values, name="f", untyped=untyped)).levels


def test_text_stays_text_and_numbers_stay_numbers():
    assert levels(["01", "1", "1.0", "01"]) == ["01", "1", "1.0"]
    assert levels([1, 1.0, 2.0]) == [1, 2]
    assert levels([2**53, 2**53 + 1, 2**53]) == [2**53, 2**53 + 1]
    assert levels(["10", "9", "10"]) == ["9", "10"]
    assert levels(["b10", "b9", "a"]) == ["a", "b10", "b9"]
    assert levels([True, False]) == [False, True]
    assert levels(np.array([0.5, 0.25])) == [0.25, 0.5]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["10", "9"], [9, 10]),
        (["-3", "0"], [-3, 0]),
        (["0.5", "1e-07", "2"], [1e-07, 0.5, 2.0]),
        (["1.0", "2.0"], [1, 2]),
        (["01", "1", "1.0"], ["01", "1", "1.0"]),
        (["1", "1.0"], ["1", "1.0"]),
        (["1.10", "1.9"], ["1.10", "1.9"]),
        (["+1", "2"], ["+1", "2"]),
        ([str(2**53), str(2**53 + 1)], [2**53, 2**53 + 1]),
        ([str(2**70), str(2**70 + 1)], [str(2**70), str(2**70 + 1)]),
    ],
)
def test_columns_of_csv_files_are_numbers_only_if_written_as_numbers(texts, expected):
    result = levels(texts, untyped=True)
    assert result == expected
    assert [type(level) for level in result] == [type(level) for level in expected]


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_is_read_back_as_it_is_printed(number):
    if number == 0:
        number = 0
    assert number_as_written(str(number)) == number
    assert number_as_written("0" + str(abs(number))) is None


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
CELLS = st.one_of(
    st.lists(TEXT, min_size=3, max_size=8),
    st.lists(st.sampled_from(["01", "1", "1.0", "+1", "1e0", "NaN", "x", " x", "X"]), min_size=3, max_size=8),
    st.lists(st.integers(2**53 - 2, 2**53 + 2), min_size=3, max_size=8),
    st.lists(st.sampled_from([0.1, 0.25, 1.0, -2.0, 1e22, 1e-9]), min_size=3, max_size=8),
    st.lists(st.booleans(), min_size=3, max_size=8),
)


def same_rows(values):
    """Which rows have the same level, as pairs; the same in every form."""
    codes = np.asarray(values)
    return (codes[:, None] == codes[None, :]).tolist()


@settings(max_examples=150)
@given(CELLS)
def test_every_form_of_a_table_gives_the_same_cells_or_an_error(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("forms")
    frame = pl.DataFrame({"f": values, "g": list(range(len(values)))})
    frame.write_csv(folder / "t.csv")
    frame.write_parquet(folder / "t.parquet")
    lines = [json.dumps(row, ensure_ascii=False) for row in frame.to_dicts()]
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8", newline="\n")
    forms = [
        folder / "t.csv",
        folder / "t.parquet",
        folder / "t.jsonl",
        frame,
        pd.DataFrame({"f": values}),
        {"f": values},
    ]
    results = []
    for form in forms:
        try:
            results.append(levels_of(read_table(form, {"f": "factors"}).column("factor 'f'", "f")).codes)
        except InputError:
            continue
    expected = same_rows([values.index(value) for value in values])
    for codes in results:
        assert same_rows(codes) == expected


def test_quantities_of_csv_files_may_be_written_in_any_way(tmp_path):
    (tmp_path / "t.csv").write_text("y,z,w\n0.50,01,\n1e3,2,3\n.5,10,x\n")
    table = read_table(tmp_path / "t.csv", {"y": "target"})
    assert table.column("target", "y").quantities().tolist() == [0.5, 1000.0, 0.5]
    assert table.column("target", "z").quantities().tolist() == ["01", "2", "10"]
    assert table.column("target", "w").quantities().tolist() == [None, "3", "x"]
    text = as_column("target", ["1", "2"])
    assert text.quantities().tolist() == ["1", "2"]
    assert as_column("target", [2**53, 2**53 + 1]).quantities().tolist() == [str(2**53), str(2**53 + 1)]


ROWS = "a,b,split\nred,1,train\nblue,1,train\nred,2,train\nblue,2,test\n"


@pytest.mark.parametrize(
    "data",
    [
        ROWS.encode(),
        b"\xef\xbb\xbf" + ROWS.encode(),
        ROWS.replace("\n", "\r").encode(),
        ROWS.replace("\n", "\r\n").encode(),
        ROWS.replace("\n", "\n\n").encode(),
        ROWS.replace(",", " ; ").replace(" ; ", ";").encode(),
        ROWS.replace("a,b", " a , b ").encode(),
    ],
    ids=["plain", "byte order mark", "CR", "CRLF", "blank lines", "semicolons", "spaces in the header"],
)
@pytest.mark.parametrize("source", ["file", "-"])
def test_csv_files_of_any_program(tmp_path, monkeypatch, data, source):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table = observe(path if source == "file" else "-", factors="a,b", seen="split=train")
    assert [factor.levels for factor in table.space.factors] == [("blue", "red"), (1, 2)]
    assert table.cells.tolist() == [[1, 0], [0, 0], [1, 1], [0, 1]]
    assert table.seen.tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", ["t.json", "t.xlsx", "t.csv.gz", "t.pkl", "t.npz"])
def test_other_files_are_refused_by_name(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=r"table: got .*, expected .*(CSV|Parquet)"):
        read_table(tmp_path / name, {})


@pytest.mark.parametrize("path", ["x" * 300, "nul\0byte", "nowhere.csv", "."])
def test_paths_that_are_not_files(path):
    with pytest.raises(InputError, match="that exists"):
        read_table(path, {})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([2**70, 1], "a whole number of 71 bits"),
        (["\ud800", "b"], "lone surrogates"),
        (["x" * (MAX_NAME_LENGTH + 1), "b"], "characters"),
        ([1, "1"], "mixed types \\(int, str\\)"),
        ([1 + 2j, 2j], "values of type complex"),
        (np.array([1 + 2j]), "values of type complex128"),
        (np.zeros((2, 2)), r"shape \(2, 2\)"),
        ("text", "a value for each row"),
        (None, "a value for each row"),
        ([[1], [2]], "values of type list"),
        (np.arange(MAX_LEVELS + 1), "10,001 levels"),
        ([1.0, np.inf], "an infinite value in row 2"),
        (["a", " "], "no value in row 2"),
    ],
)
def test_columns_that_are_not_factors(values, message):
    with pytest.raises(InputError, match=message):
        levels(values)


def test_unused_columns_are_not_touched():
    class Untouchable:
        def __len__(self):
            raise AssertionError("touched")

        __iter__ = __array__ = __len__

    sound = {"a": ["x", "y", "x", "y"], "b": [0, 0, 1, 1], "train": [True, True, True, False]}
    spare = {
        "object": [object()] * 4,
        "complex": np.arange(4) * 1j,
        "when": np.arange(4).astype("datetime64[D]"),
        "short": [1],
        "never": Untouchable(),
    }
    table = observe(sound | spare, factors=["a", "b"], seen="train")
    assert table.cells.tolist() == observe(sound, factors=["a", "b"], seen="train").cells.tolist()
    frame = pd.DataFrame(sound | {"complex": np.arange(4) * 1j, "when": spare["when"]})
    assert observe(frame, factors=["a", "b"], seen="train").cells.tolist() == table.cells.tolist()


def test_bins_are_bounded_and_have_rows():
    column = as_column("factor 'w'", [0.0, 0.0, 0.0, 1.0, 5.0, 5.0], name="w")
    levels = binned(column, 4)
    assert sorted(set(levels.codes.tolist())) == list(range(len(levels.levels)))
    for bins in (1, MAX_BINS + 1, 2**70, 2.0, True, None):
        with pytest.raises(InputError, match=r"bins: got .* at least 2 ranges"):
            binned(column, bins)


@pytest.mark.parametrize("text", ["01", "1.0", "/a", ",", ":", "<b>", "?", "a=1"])
def test_text_that_is_not_a_formula_is_exported_as_written(text):
    """As a range of characters, "+-@" would include the digits."""
    exported = pl.read_csv(csv_bytes(pl.DataFrame({"level": [text]})), schema={"level": pl.String})
    assert exported["level"].to_list() == [text]


def test_spreadsheets_run_no_formula():
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "\rx", "red", "a=b"]
    written = csv_bytes(pl.DataFrame({"level": names, "error": [-0.5] * 8, "n": [-1] * 8}))
    back = pl.read_csv(io.BytesIO(written))
    assert back["level"].to_list() == [f"'{name}" for name in names[:6]] + names[6:]
    assert back["error"].to_list() == [-0.5] * 8
    assert back["n"].to_list() == [-1] * 8
    assert csv_bytes(pl.DataFrame({"=x": [1]})) == b"'=x\n1\n"
