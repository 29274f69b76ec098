"""Files that are damaged, or that would take far more memory or time than their size suggests."""

import json
import sys

import numpy as np
import polars as pl
import pytest

from recombine.auditing.reading import read_audit_file
from recombine.data import tables
from recombine.data.tables import read_table
from recombine.errors import InputError

NEEDED = {"colour": "factors", "shape": "factors"}


def test_a_file_with_two_kinds_of_line_ends_has_all_its_rows(tmp_path):
    file = tmp_path / "mixed.csv"
    file.write_bytes(b"colour,shape\rred,cat\rblue,dog\ngrey,owl\r\nred,dog\n")
    table = read_table(file, NEEDED)
    assert table.names == ["colour", "shape"]
    assert table.column("factors", "colour").values.to_list() == ["red", "blue", "grey", "red"]


def test_null_bytes_are_named(tmp_path):
    file = tmp_path / "binary.csv"
    file.write_bytes(b"colour,shape\nre\0d,cat\n")
    with pytest.raises(InputError, match="null bytes"):
        read_table(file, NEEDED)


def test_lines_that_all_have_other_names_are_refused(tmp_path):
    file = tmp_path / "wide.jsonl"
    file.write_text("".join(json.dumps({f"name{row}": 1}) + "\n" for row in range(4000)))
    with pytest.raises(InputError, match=r"different names in the first [0-9,]+ lines"):
        read_table(file, NEEDED)


def test_a_parquet_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "equal.parquet"
    pl.DataFrame({name: pl.repeat("red", 100_000, eager=True) for name in NEEDED}).write_parquet(file)
    assert read_table(file, NEEDED).rows(["colour"]) == 100_000
    monkeypatch.setattr(tables, "MAX_UNPACKED", 1_000_000)
    with pytest.raises(InputError, match="100,000 rows, which take about 3,200,000 bytes"):
        read_table(file, NEEDED)


def test_a_closed_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input, which is closed"):
        read_table("-", NEEDED)


def test_arrays_that_nobody_asked_for_are_not_read(tmp_path):
    a, b = np.indices((3, 3)).reshape(2, -1)
    objects = np.array([None, {}], dtype=object)
    np.savez(tmp_path / "data.npz", a=a, b=b, seen=a != b, prediction=a + b, objects=objects)
    arguments, unused = read_audit_file(tmp_path / "data.npz", factors=["a", "b"])
    assert list(arguments["factors"]) == ["a", "b"]
    assert unused == ["objects"]
    with pytest.raises(InputError, match=r"'objects' in data\.npz"):  # without names, it could be a factor
        read_audit_file(tmp_path / "data.npz")
    with pytest.raises(InputError, match=r"did you mean 'b'\?|arrays: "):
        read_audit_file(tmp_path / "data.npz", factors=["a", "bb"])
