"""A segment: one immutable Parquet file that holds many results.

A row holds the bytes of one result file as they were, with their own checksum, and next to them what listings and
tables show of the result. Rows are sorted by key. A row group holds about a megabyte, so that one result can be read
without the others.
"""

from __future__ import annotations

import errno
import os
import re
import uuid
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recombine.durable import sync_folder, temporary_name
from recombine.errors import StoreError
from recombine.runs.store.file_format import DamagedError, verified
from recombine.runs.store.listing import StoredTrial
from recombine.runs.store.result_rows import rows_text

if TYPE_CHECKING:
    import polars as pl

GROUP_BYTES, MAX_GROUP_ROWS = 2**20, 1024

_NAME = re.compile(r"\d{8}-[0-9a-f]{32}\.parquet")
_LISTED = ("key", "size", "created", "summary")


class SegmentRow(NamedTuple):
    """One result.

    **Arguments:**

    - `rows`: what a table shows of it, as `recombine.runs.store.result_rows.rows_text` writes it; `None` if only the
        bytes tell.
    - `check`: a checksum of the fields before it.
    - `data`: the bytes of the result file.
    """

    key: str
    size: int
    created: str
    summary: str
    rows: str | None
    check: int
    data: bytes

    @staticmethod
    def of(key: str, data: bytes) -> SegmentRow:
        """The row of a result.

        **Raises:**

        `DamagedError` if the bytes are not what was written.
        """
        record, arrays = verified(data, key=key)
        fields = (key, len(data), record["created"], record["summary"], rows_text(record, arrays))
        return SegmentRow(*fields, _check(fields), data)

    def is_intact(self) -> bool:
        """Whether all fields but `data`, which has a checksum of its own, are what was written."""
        return self.check == _check(self[:5])


class Segment:
    """One file; its keys are read at once, everything else when it is asked for.

    All methods raise `DamagedError` if the content is not a segment, and `FileNotFoundError` if the file is gone.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        frame = self._read(("key", "size"))
        self.keys: list[str] = frame["key"].to_list()
        self.sizes: list[int] = frame["size"].to_list()
        self.n_bytes = sum(self.sizes)
        self.rows_per_group = _rows_per_group(frame)

    @property
    def generation(self) -> int:
        """Of two results with one key, that of the later generation counts."""
        return generation_of(self.path.name)

    def entries(self) -> list[StoredTrial]:
        """What a listing shows of all rows."""
        try:
            return [StoredTrial(*fields) for fields in self._read(_LISTED).iter_rows()]
        except DamagedError:
            created = datetime.fromtimestamp(self.path.stat().st_mtime, UTC).isoformat(timespec="seconds")
            listed = zip(self.keys, self.sizes, strict=True)
            return [StoredTrial(key, size, created, None) for key, size in listed]

    def group(self, number: int) -> list[SegmentRow]:
        """The rows of one row group."""
        frame = self._read(SegmentRow._fields, number * self.rows_per_group, self.rows_per_group)
        return [SegmentRow(*fields) for fields in frame.iter_rows()]

    def _read(self, columns: Sequence[str], start: int = 0, length: int | None = None) -> pl.DataFrame:
        import polars as pl

        try:
            self.path.open(
                "rb"
            ).close()  # Polars does not tell a file that cannot be opened from a damaged one
            lazy = pl.scan_parquet(self.path, glob=False).select(columns)
            frame = lazy.slice(start, length).collect()
        except (FileNotFoundError, MemoryError):
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(
                f"store {self.path.parent.parent}: cannot read {self.path.name} ({reason})"
            ) from error
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


def generation_of(name: str) -> int:
    """The generation in the name of a segment, or of a list of dropped results."""
    return int(name.partition("-")[0])


def new_name(generation: int, suffix: str) -> str:
    """A name that no other process uses."""
    return f"{generation:08d}-{uuid.uuid4().hex}.{suffix}"


def frame_of(rows: Sequence[SegmentRow]) -> pl.DataFrame:
    """Rows as a frame, which takes a third of the memory."""
    import polars as pl

    return pl.DataFrame(rows, schema=_schema(), orient="row")


def write_segment(folder: Path, generation: int, frame: pl.DataFrame) -> Path:
    """Writes a segment, durably and whole or not at all.

    **Arguments:**

    - `frame`: its rows, sorted by key.
    """
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / new_name(generation, "parquet")
    temporary = folder / temporary_name(path.name)
    try:
        with open(temporary, "xb") as file:
            # Compressed fast: results are compressed already, and the columns next to them repeat themselves.
            size = _rows_per_group(frame)
            try:
                frame.write_parquet(file, compression="lz4", row_group_size=size, statistics=False)
            except pl.exceptions.PolarsError as error:  # the only way in which Polars reports a full disk
                number = re.search(r"os error (\d+)", str(error))
                code = int(number[1]) if number else errno.EIO
                raise OSError(code, os.strerror(code)) from error
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(folder)
    return path


def _rows_per_group(frame: pl.DataFrame) -> int:
    n_bytes = int(frame["size"].sum())
    return max(1, min(MAX_GROUP_ROWS, frame.height * GROUP_BYTES // max(n_bytes, 1)))


def _check(fields: tuple[object, ...]) -> int:
    return zlib.crc32("\n".join(map(str, fields)).encode())


def _schema() -> dict[str, Any]:
    import polars as pl

    types = {"size": pl.Int64(), "check": pl.Int64(), "data": pl.Binary()}
    return {name: types.get(name, pl.String()) for name in SegmentRow._fields}
