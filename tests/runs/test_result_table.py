import os

import numpy as np
import polars as pl
import pytest

from recombine.errors import InputError, StoreError
from recombine.runs import export, run_trial, table
from recombine.runs.result_table import column as as_column


@pytest.fixture
def results(make_trial):
    return [run_trial(make_trial(n=n)) for n in (3, 4)]


def test_one_row_per_trial_and_seed(results):
    frame = table(results)
    assert frame.height == 4
    assert frame["task.n"].to_list() == [3, 3, 4, 4]
    assert frame["seed"].to_list() == [0, 1, 0, 1]
    np.testing.assert_array_equal(frame["mean"][:2], results[0].values["mean"])
    assert "sorted" not in frame.columns
    assert frame["task.n"].dtype == pl.Int64


def test_columns_that_differ_between_trials(make_trial):
    trials = [make_trial(n=3), make_trial(n=4, probe="logged", log=os.devnull, label=2)]
    frame = table([run_trial(trial) for trial in trials])
    assert frame["label"].to_list() == [None, None, 2, 2]
    assert frame["mean"].null_count() == 2


@pytest.mark.parametrize(
    ("values", "dtype", "column"),
    [
        ([1, 2.5, None], pl.Float64, [1.0, 2.5, None]),
        ([1, None], pl.Int64, [1, None]),
        ([True, None], pl.Boolean, [True, None]),
        ([1, "a"], pl.String, ["1", "a"]),
        ([True, 1], pl.String, ["True", "1"]),
        ([2**70], pl.String, [str(2**70)]),
    ],
)
def test_types_of_columns(values, dtype, column):
    series = as_column(values)
    assert series.dtype == dtype
    assert series.to_list() == column


def test_no_results_make_an_empty_table():
    assert table([]).shape == (0, 0)


@pytest.mark.parametrize(
    ("suffix", "read"), [(".csv", pl.read_csv), (".parquet", pl.read_parquet), (".CSV", pl.read_csv)]
)
def test_export(results, tmp_path, suffix, read):
    path = export(results, tmp_path / f"out{suffix}")
    assert read(path)["task.n"].to_list() == [3, 3, 4, 4]
    assert os.listdir(tmp_path) == [path.name]


def test_export_refuses_what_it_cannot_do(results, tmp_path):
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        export(results, tmp_path / "out.xlsx")
    with pytest.raises(StoreError, match=r"cannot write .*No such file or directory"):
        export(results, tmp_path / "missing" / "out.csv")
