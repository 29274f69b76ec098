"""Tables in memory: the same cells from every form, and one line for what is not a table."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from recombine import InputError, advise, audit
from recombine.data.frames import columns_in_memory
from recombine.spaces.observations import observe

FRAME = pl.DataFrame(
    {
        "colour": ["red", "blue", "red", "blue", "red", "blue"],
        "size": [1, 1, 2, 2, 10, 10],
        "code": ["01", "1", "01", "1.0", "1", "1"],
        "split": ["train", "train", "train", "train", "train", "test"],
        "y": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0],
    }
)


class Dataset:
    """Has what a Hugging Face dataset has, as far as it is used."""

    def __init__(self, frame):
        self.frame = frame

    @property
    def features(self):
        return dict(self.frame.schema)

    @property
    def column_names(self):
        return self.frame.columns

    def __len__(self):
        return len(self.frame)

    def to_polars(self):
        return self.frame


class StreamedDataset:
    features, column_names = {"a": "string"}, ["a"]

    def to_polars(self):
        raise AssertionError("a streamed dataset must not be read to its end")


class Arrow:
    """A table that only offers its columns as an Arrow stream, as pyarrow does."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


def datasets_by_split():
    return {
        split: Dataset(FRAME.filter(pl.col("split") == split).drop("split")) for split in ("train", "test")
    }


def forms(folder):
    FRAME.write_csv(folder / "t.csv")
    FRAME.write_parquet(folder / "t.parquet")
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, FRAME.to_dicts())))
    columns = FRAME.to_dict(as_series=False)
    return {
        "CSV": folder / "t.csv",
        "Parquet": folder / "t.parquet",
        "JSON lines": folder / "t.jsonl",
        "Polars": FRAME,
        "lazy": FRAME.lazy(),
        "pandas": pd.DataFrame(columns),
        "Arrow": Arrow(FRAME),
        "rows": FRAME.to_dicts(),
        "columns": columns,
        "arrays": {name: np.array(values) for name, values in columns.items()},
        "dataset": Dataset(FRAME),
        "datasets by split": datasets_by_split(),
    }


def test_every_form_gives_the_same_cells(tmp_path):
    for name, form in forms(tmp_path).items():
        rows = observe(form, factors="colour,size,code", seen="split=train", target="y")
        levels = [factor.levels for factor in rows.space.factors]
        assert levels == [("blue", "red"), (1, 2, 10), ("01", "1", "1.0")], name
        assert rows.cells.tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 2], [1, 2, 1], [0, 2, 1]], name
        assert rows.seen.tolist() == [True] * 5 + [False], name
        assert rows.target.tolist() == FRAME["y"].to_list(), name


def test_every_form_can_be_advised_on_and_audited(tmp_path):
    arguments = {"factors": ["colour", "size"], "seen": "split=train"}
    for name, form in forms(tmp_path).items():
        assert advise(form, **arguments).to_dict()["rows"] == 6, name
        report = audit(form, target="y", prediction="y", **arguments)
        assert report.scores.unseen.value == 0.0, name


def test_rows_may_lack_keys():
    assert columns_in_memory([{"a": 1}, {"b": 2, "a": 3}]) == {"a": [1, 3], "b": [None, 2]}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([{"a": 1}, "x"], "str as row 2 of a list"),
        ([{"a": 1}, {"A": 1, "a": 2}, None], "NoneType as row 3"),
        (StreamedDataset(), "without streaming"),
        ({"train": Dataset(FRAME), "test": Dataset(FRAME)}, "rename_column"),
        (
            {"train": Dataset(FRAME.select("y")), "test": Dataset(FRAME.select("size"))},
            "the columns of split",
        ),
        (
            {"train": Dataset(FRAME.select("y")), "test": Dataset(FRAME.select(y="code"))},
            "the same type in every split",
        ),
        (object(), "a data frame, a dataset, a list of rows"),
        (3, "a data frame, a dataset, a list of rows"),
    ],
)
def test_what_is_not_a_table_is_refused_in_a_line(table, words):
    with pytest.raises(InputError, match=words) as refused:
        columns_in_memory(table)
    assert "\n" not in str(refused.value)


def test_rows_with_very_many_different_names_are_refused():
    rows = [{str(number): number} for number in range(5000)]
    with pytest.raises(InputError, match="mostly have the same names"):
        columns_in_memory(rows)
