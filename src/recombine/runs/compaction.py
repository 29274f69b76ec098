"""Compaction: the result files of a store, and its smaller segments, become one segment.

The order of steps makes it safe to kill at any moment: new segments are written and flushed, then the files and
segments that they replace are deleted. In between, a result is there twice, which readers do not see: a file counts
before a segment, and a later generation before an earlier one. A lease keeps two processes from compacting at once; if
they do nevertheless, work is wasted and nothing is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from recombine.runs.file_format import DamagedError, UnknownFormatError, verified
from recombine.runs.result_files import FileIdentity, ResultFiles
from recombine.runs.result_rows import rows_text
from recombine.runs.segment import Segment, SegmentRow, write_frame, write_segment
from recombine.runs.segments import Segments

SEGMENT_BYTES = 2**28
"""Segments grow up to this size, which bounds the memory that a compaction takes. Below half of it, the next
compaction merges a segment with new results."""


@dataclass(frozen=True)
class Compaction:
    """What a compaction did.

    **Attributes:**

    - `moved`: results that were files and are now in a segment.
    - `files`, `segments`: how many of each there are now.
    """

    moved: int
    files: int
    segments: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


def compact(
    files: ResultFiles,
    segments: Segments,
    *,
    older_than: float,
    set_aside: Callable[[str, DamagedError], None],
) -> Compaction:
    """Moves results into a segment; to be called with the lease.

    **Arguments:**

    - `older_than`: only files that were written this many seconds ago.
    - `set_aside`: called with the keys of damaged files.
    """
    files.recover()
    chosen = _chosen(files, older_than)
    merged = _to_merge(segments, any_new=bool(chosen))
    moved = 0
    if chosen or merged:
        generation = max((segment.generation for segment in segments.segments()), default=0) + 1
        obsolete = segments.dropped()
        batch = _Batch(files, segments, generation)
        for key, row, data, identity in _rows(files, segments, chosen, merged, set_aside):
            moved += identity is not None
            batch.add(key, row, data, identity)
        batch.flush()
        for path in (*(segment.path for segment in merged), *obsolete):
            path.unlink(missing_ok=True)
    return Compaction(moved, len(files.keys()), len(segments.segments()))


def remove_rows(segments: Segments, prefix: str) -> int:
    """Deletes the compacted results whose keys start with `prefix`; to be called with the lease.

    **Returns:**

    How many they were.
    """
    import polars as pl

    count = sum(key.startswith(prefix) for key in segments.keys())
    for segment in segments.segments():
        if any(key.startswith(prefix) for key in segment.keys):
            left = pl.read_parquet(segment.path, glob=False).filter(~pl.col("key").str.starts_with(prefix))
            if left.height:
                write_frame(segments.folder, segment.generation, left)
            segment.path.unlink(missing_ok=True)
    if not prefix:
        for path in segments.dropped():
            path.unlink(missing_ok=True)
    return count


class _Batch:
    """Results on their way into a segment."""

    def __init__(self, files: ResultFiles, segments: Segments, generation: int) -> None:
        self._files, self._segments, self._generation = files, segments, generation
        self._rows: list[SegmentRow] = []
        self._results: list[bytes] = []
        self._written: list[tuple[str, FileIdentity]] = []
        self._n_bytes = 0

    def add(self, key: str, row: SegmentRow, data: bytes, identity: FileIdentity | None) -> None:
        if self._rows and self._n_bytes + len(data) > SEGMENT_BYTES:
            self.flush()
        self._rows.append(row)
        self._results.append(data)
        self._n_bytes += len(data)
        if identity is not None:
            self._written.append((key, identity))

    def flush(self) -> None:
        """Writes the segment, then removes the files that it holds."""
        if self._rows:
            write_segment(self._segments.folder, self._generation, self._rows, self._results)
        for key, identity in self._written:
            self._files.remove_if_same(key, identity)
        self._rows, self._results, self._written, self._n_bytes = [], [], [], 0


def _chosen(files: ResultFiles, older_than: float) -> list[str]:
    keys = files.keys()
    if older_than <= 0:
        return keys
    latest, chosen = time.time() - older_than, []
    for key in keys:
        try:
            if files.path(key).stat().st_mtime <= latest:
                chosen.append(key)
        except OSError:
            continue  # cleared meanwhile
    return chosen


def _to_merge(segments: Segments, *, any_new: bool) -> list[Segment]:
    """Small segments, and those of which some results no longer count."""
    all_segments = segments.segments()
    small = [segment for segment in all_segments if segment.n_bytes < SEGMENT_BYTES // 2]
    n_live, n_rows = len(list(segments.keys())), sum(len(segment.keys) for segment in all_segments)
    if n_live < n_rows:
        return all_segments
    return small if any_new or len(small) > 1 else []


def _rows(
    files: ResultFiles,
    segments: Segments,
    chosen: list[str],
    merged: list[Segment],
    set_aside: Callable[[str, DamagedError], None],
) -> Iterator[tuple[str, SegmentRow, bytes, FileIdentity | None]]:
    """All results of the new segments, in the order of their keys; those of files with the identity of the file."""
    new = set(chosen)
    live = set(segments.keys())
    old = {key for segment in merged for key in segment.keys} & live
    for key in sorted(new | old):
        if key in new and (read := _read_file(files, key, set_aside)) is not None:
            yield key, *read
        elif key in old and (row := _read_row(segments, key)) is not None:
            yield key, *row, None


def _read_file(
    files: ResultFiles, key: str, set_aside: Callable[[str, DamagedError], None]
) -> tuple[SegmentRow, bytes, FileIdentity] | None:
    try:
        read = files.read(key)
        return None if read is None else (_described(key, read[0]), *read)
    except UnknownFormatError:
        return None  # another version may know it
    except DamagedError as error:
        set_aside(key, error)
        return None


def _read_row(segments: Segments, key: str) -> tuple[SegmentRow, bytes] | None:
    row = segments.row(key, refresh=False)
    data = segments.data(key, refresh=False)
    if data is None:
        return None
    try:
        return (_described(key, data) if row is None else row), data
    except DamagedError as error:
        segments.drop(key, error, data)
        return None


def _described(key: str, data: bytes) -> SegmentRow:
    """What a segment says about a result, after its bytes were verified."""
    record, arrays = verified(data, key=key)
    return SegmentRow(key, len(data), record["created"], record["summary"], rows_text(record, arrays))
