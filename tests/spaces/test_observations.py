"""Reading tables: many forms in, one clear line for each thing that is wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from recombine.errors import InputError
from recombine.spaces.observations import observe

ROWS = {
    "colour": ["red", "red", "blue", "blue", "red"],
    "shape": ["cat", "dog", "cat", "dog", "cat"],
    "split": ["train", "train", "train", "test", "train"],
    "y": [1.0, 2.0, 3.0, 4.0, 1.0],
}


def read(table=None, **settings):
    return observe(
        ROWS if table is None else table, **{"factors": ["colour", "shape"], "seen": "split=train"} | settings
    )


@pytest.fixture
def write(tmp_path):
    def save(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return save


@pytest.mark.parametrize(
    "form", ["mapping", "polars", "pandas", "lazy", "csv", "semicolon", "tab", "parquet"]
)
def test_forms(form, tmp_path):
    frame, path = pl.DataFrame(ROWS), tmp_path / f"table.{'parquet' if form == 'parquet' else 'csv'}"
    tables = {"mapping": ROWS, "polars": frame, "pandas": pd.DataFrame(ROWS), "lazy": frame.lazy()}
    if form == "parquet":
        frame.write_parquet(path)
    elif form not in tables:
        frame.write_csv(path, separator={"csv": ",", "semicolon": ";", "tab": "\t"}[form])
    table = read(tables.get(form, path), target="y")
    assert [factor.levels for factor in table.space.factors] == [("blue", "red"), ("cat", "dog")]
    assert table.cells.tolist() == [[1, 0], [1, 1], [0, 0], [0, 1], [1, 0]]
    assert table.seen.tolist() == [True, True, True, False, True]
    np.testing.assert_array_equal(table.target, ROWS["y"])


@pytest.mark.parametrize(
    ("seen", "column"),
    [
        ("split!=test", ROWS["split"]),
        ("split", [True, True, True, False, True]),
        ("split", [1, 1, 1, 0, 1]),
        ("split", ["True", "True", "true", "false", "TRUE"]),
    ],
)
def test_marks_of_training_rows(seen, column):
    assert read(ROWS | {"split": column}, seen=seen).seen.tolist() == [True, True, True, False, True]


def test_numbers_are_sorted_as_numbers(write):
    table = read(write("colour,shape,split\n10,a,train\n9,b,train\n10,b,test\n9,a,train\n"))
    assert table.space.factors[0].levels == (9, 10)


def test_bins_are_shown():
    weights = np.linspace(0, 1, 40)
    table = {"weight": weights, "shape": ["cat", "dog"] * 20, "split": ["train"] * 40}
    result = read(table, factors=["weight", "shape"], bins={"weight": 4})
    assert result.bins == {"weight": ["0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"]}
    assert np.bincount(result.cells[:, 0]).tolist() == [10, 10, 10, 10]


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (
            None,
            {"factors": ["color", "shape"]},
            "factors: got 'color', expected a column of the table; did you mean 'colour'?",
        ),
        (None, {"factors": []}, "at least one column"),
        (None, {"factors": ["shape", "shape"]}, "each column once"),
        (None, {"seen": "part=train"}, "seen: got 'part', expected a column of the table"),
        (None, {"seen": "split=tain"}, "did you mean 'train'?"),
        (None, {"seen": "y"}, "COLUMN=VALUE"),
        (None, {"target": "z"}, "target: got 'z'"),
        (None, {"cost": "y2"}, "cost: got 'y2'"),
        (None, {"factors": ["colour", "split"]}, "columns other than the training mark"),
        (ROWS | {"split": [False] * 5}, {"seen": "split"}, "at least one training row"),
        (
            ROWS | {"colour": ["red", None, "blue", "blue", "red"]},
            {},
            "factor 'colour': got 'no value in row 2'",
        ),
        (ROWS | {"colour": ["red", "", "blue", "blue", "red"]}, {}, "no value in row 2"),
        (ROWS | {"colour": [1.0, np.nan, 2.0, 2.0, 1.0]}, {}, "no value in row 2"),
        (ROWS | {"colour": np.array([1, "a", 2, 2, 1], dtype=object)}, {}, "mixed types (int, str)"),
        (
            ROWS | {"colour": ["red"] * 5},
            {},
            "factor 'colour': got \"the one level 'red'\", expected at least two levels",
        ),
        (ROWS | {"colour": list("abcde")}, {}, "as many levels as rows (5)"),
        (ROWS | {"colour": [1, 2]}, {}, "columns of equal length"),
        ({name: [] for name in ROWS}, {}, "at least one row"),
        (
            ROWS | {"y": [1, -2, 3, 4, 5]},
            {"cost": "y"},
            "cost 'y': got '-2 in row 2', expected numbers of at least 0",
        ),
        (ROWS | {"y": np.arange(5) / 7}, {"factors": ["y", "shape"], "bins": {"y": 1}}, "at least 2 ranges"),
        (None, {"bins": {"shape": 2}}, "a column of numbers"),
        (None, {"bins": {"y": 2}}, "one of the factors"),
        (42, {}, "a path, a data frame, a dataset, a list of rows"),
    ],
)
def test_bad_tables_are_named(table, settings, message):
    with pytest.raises(InputError) as error:
        read(table, **settings)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_real_numbers_must_be_binned():
    table = {"weight": np.linspace(0, 1, 40), "shape": ["cat", "dog"] * 20, "split": ["train"] * 40}
    with pytest.raises(InputError, match="40 different real numbers"):
        read(table, factors=["weight", "shape"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\x89PNG\r\n\0\0", "a CSV file with column names in its first line"),
        ("", "a CSV file with column names"),
        ("colour:shape:split\nred:cat:train\n", "factors: got 'colour', expected a column of table.csv"),
        (
            "colour,shape,split,split\nred,cat,train,1\n",
            "different column names; table.csv has this one twice",
        ),
        ("colour,shape,split\n", "at least one row"),
        (
            "colour,shape,split\n1,cat,train\n2,dog,train\nx,cat,test\n2,cat,test\n",
            "factor 'colour': got \"'x' in row 3 among numbers\"",
        ),
        (
            "colour,shape,split\n1,cat,train\n2,dog,train\nNaN,cat,test\n2,cat,test\n",
            "'NaN' in row 3 among numbers",
        ),
        (
            "colour,shape,split\nbl\u00e5,cat,train\n".encode("latin-1"),
            "which is not UTF-8 (perhaps Latin-1)",
        ),
        ("bl\u00e5,shape,split\nred,cat,train\n".encode("latin-1"), "a file in UTF-8"),
        ("colour,shape,split\nred,cat,train\n".encode("utf-16"), "in UTF-16"),
        ('colour,shape,split\n"red,cat,train\n', "table"),
    ],
)
def test_bad_files_are_named(write, text, message):
    with pytest.raises(InputError) as error:
        read(write(text))
    assert message in str(error.value)


def test_a_file_that_is_not_there_or_not_parquet(write, tmp_path):
    with pytest.raises(InputError, match="that exists"):
        read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="that can be read"):
        read(write("colour,shape\n", "table.parquet"))


def test_columns_are_looked_for_before_the_file_is_read(write, monkeypatch):
    """A huge file with the wrong columns is refused by its first line."""
    monkeypatch.setattr(pl, "read_csv", lambda *_, **__: pytest.fail("the file was read"))
    with pytest.raises(InputError, match=r"factors: got .* a column of table\.csv"):
        read(write("colour shape split\n" + "red cat train\n" * 1000))
