"""A segment: one immutable Parquet file that holds many results.

A row holds the bytes of one result file as they were, and next to them what listings and tables show of it. Rows are
sorted by key. Row groups are about a megabyte, so that one result can be read without the others.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.durable import sync_folder, temporary_name
from recombine.runs.file_format import DamagedError

if TYPE_CHECKING:
    import polars as pl

GROUP_BYTES, MAX_GROUP_ROWS = 2**20, 1024
BATCH_ROWS = 4096
"""Rows whose columns, without the results' bytes, are read at once."""

_NAME = re.compile(r"(\d{8})-[0-9a-f]{32}\.parquet")
_COLUMNS = ("key", "size", "created", "summary", "rows", "check")


class SegmentRow(NamedTuple):
    """What is kept of a result next to its bytes.

    - `rows`: what a table shows of it, as `recombine.runs.result_rows.rows_text` writes it; `None` if only its bytes
        tell.
    """

    key: str
    size: int
    created: str
    summary: str
    rows: str | None

    def check(self) -> bytes:
        """A checksum of all fields."""
        return hashlib.sha256(repr(tuple(self)).encode()).digest()[:16]


@dataclass(frozen=True)
class Segment:
    """One file. Nothing is read until it is needed; all methods raise `DamagedError` if the file cannot be read, and
    `FileNotFoundError` if it is gone.
    """

    path: Path

    @property
    def generation(self) -> int:
        """Of two results with one key, that of the later generation counts."""
        return int(self.path.name.partition("-")[0])

    @cached_property
    def keys(self) -> list[str]:
        """The keys of all rows."""
        return self._scan(("key", "size"))["key"].to_list()

    @cached_property
    def n_bytes(self) -> int:
        """Of all results."""
        return int(self._scan(("size",))["size"].sum())

    @cached_property
    def group_rows(self) -> int:
        """The number of rows in a row group."""
        return _group_rows(len(self.keys), self.n_bytes)

    def batch(self, number: int) -> list[SegmentRow | None]:
        """The columns of `BATCH_ROWS` rows; `None` for damaged ones."""
        frame = self._scan(_COLUMNS, number * BATCH_ROWS, BATCH_ROWS)
        rows = [(SegmentRow(*fields), check) for *fields, check in frame.iter_rows()]
        return [row if row.check() == check else None for row, check in rows]

    def group(self, number: int) -> list[bytes]:
        """The results of one row group."""
        return self._scan(("data",), number * self.group_rows, self.group_rows)["data"].to_list()

    def _scan(self, columns: Sequence[str], start: int = 0, length: int | None = None) -> pl.DataFrame:
        import polars as pl

        try:
            os.stat(self.path)  # Polars has its own errors for files that are gone
            lazy = pl.scan_parquet(self.path, glob=False).select(columns)
            frame = lazy.slice(start, length).collect()
        except (FileNotFoundError, MemoryError):
            raise
        except (Exception, pl.exceptions.PanicException) as error:
            if not self.path.exists():
                raise FileNotFoundError(str(self.path)) from error
            reason = (str(error).splitlines() or [""])[0]
            raise DamagedError(f"{type(error).__name__}: {reason}") from error
        for name, dtype in frame.schema.items():
            if dtype != _schema()[name] or (name != "rows" and frame[name].null_count()):
                raise DamagedError(f"its column {name!r} is not what was written")
        return frame


def is_segment(name: str) -> bool:
    """Whether a file of this name is a segment."""
    return _NAME.fullmatch(name) is not None


def write_segment(
    folder: Path, generation: int, rows: Sequence[SegmentRow], results: Sequence[bytes]
) -> Segment:
    """Writes a segment, durably and whole or not at all.

    **Arguments:**

    - `rows`: sorted by key.
    - `results`: the bytes of each.
    """
    import polars as pl

    columns: dict[str, list[Any]] = {name: list(items) for name, items in zip(_COLUMNS, zip(*rows), strict=False)}
    columns |= {"check": [row.check() for row in rows], "data": list(results)}
    return write_frame(folder, generation, pl.DataFrame(columns, schema=_schema()))


def write_frame(folder: Path, generation: int, frame: pl.DataFrame) -> Segment:
    """The same from a frame with the columns of a segment."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{generation:08d}-{uuid.uuid4().hex}.parquet"
    temporary = folder / temporary_name(path.name)
    try:
        # Compressed fast: results are compressed already, and the columns next to them repeat themselves.
        size = _group_rows(frame.height, int(frame["size"].sum()))
        frame.write_parquet(temporary, compression="lz4", row_group_size=size, statistics=False)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(folder)
    return Segment(path)


def _group_rows(n_rows: int, n_bytes: int) -> int:
    return max(1, min(MAX_GROUP_ROWS, n_rows * GROUP_BYTES // max(n_bytes, 1)))


def _schema() -> dict[str, Any]:
    import polars as pl

    text = dict.fromkeys(("key", "created", "summary", "rows"), pl.String)
    types = {**text, "size": pl.Int64, "check": pl.Binary, "data": pl.Binary}
    return {name: types[name]() for name in (*_COLUMNS, "data")}
