"""Compaction: the result files of a store, and its smaller segments, become one segment.

The order of steps makes it safe to kill at any moment: a new segment is written and flushed, then the files and
segments that it replaces are deleted. In between, a result is there twice, which readers do not see: a file counts
before a segment, and a later generation before an earlier one. A lease keeps two processes from compacting at once; if
they do nevertheless, work is wasted and nothing is lost.

Should a trial be run again, and its new result be written in the microseconds between the last look at its old file and
the deletion of that, the old result stays. Both are results of one trial and one code.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from recombine.runs.store.file_format import DamagedError, UnknownFormatError
from recombine.runs.store.result_files import FileIdentity, ResultFiles
from recombine.runs.store.segment import (
    GROUP_BYTES,
    Segment,
    SegmentRow,
    frame_of,
    generation_of,
    write_segment,
)
from recombine.runs.store.segments import Segments

if TYPE_CHECKING:
    import polars as pl

SEGMENT_BYTES = 2**28
"""Segments grow up to this size, which bounds the memory that a compaction takes. Below half of it, the next
compaction merges a segment with new results."""

MAX_BYTES = 2**24
"""Larger results stay files: it is many small files that are slow."""


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


def compact(files: ResultFiles, segments: Segments, *, older_than: float) -> Compaction:
    """Moves results into a segment, and sets damaged files aside; to be called with the lease.

    **Arguments:**

    - `older_than`: only files that were written this many seconds ago.
    """
    new = _old_files(files, older_than)
    lists = segments.dropped_lists()  # before anything is read, so that all that they name is left out
    merged = _to_merge(segments, any_new=bool(new))
    writer = _Writer(files, segments)
    if new or merged:
        for key in sorted({*new, *_keys_in(merged, segments)}):
            if key in new and (read := _read_file(files, key)) is not None:
                writer.add(*read)
            elif (row := segments.row(key, refresh=False)) is not None:
                writer.add(_intact(row, segments), None)
        writer.flush()
        for segment in merged:
            segments.retire(segment)
        for path in lists:
            path.unlink(missing_ok=True)
    return Compaction(writer.moved, len(files.keys()), len(segments.segments()))


class _Writer:
    """Collects rows, in the order of their keys, and writes a segment when there are enough."""

    def __init__(self, files: ResultFiles, segments: Segments) -> None:
        self.moved = 0
        self._files, self._folder = files, segments.folder
        # Later than all lists of dropped results, too: a list hides its keys in segments up to its generation.
        earlier = [segment.generation for segment in segments.segments()]
        earlier += [generation_of(path.name) for path in segments.dropped_lists()]
        self._generation = max(earlier, default=0) + 1
        self._rows: list[SegmentRow] = []
        self._frames: list[pl.DataFrame] = []
        self._identities: dict[str, FileIdentity] = {}
        self._n_bytes = self._n_waiting = 0

    def add(self, row: SegmentRow | None, identity: FileIdentity | None) -> None:
        if row is None:
            return
        if self._n_bytes + row.size > SEGMENT_BYTES:
            self.flush()
        self._rows.append(row)
        self._n_bytes += row.size
        self._n_waiting += row.size
        if identity is not None:
            self._identities[row.key] = identity
        if self._n_waiting > GROUP_BYTES:
            self._pack()

    def flush(self) -> None:
        """Writes the segment, then deletes the files whose results it holds."""
        import polars as pl

        self._pack()
        if self._frames:
            write_segment(self._folder, self._generation, pl.concat(self._frames))
        for key, identity in self._identities.items():
            self._files.remove_if_same(key, identity)
        self.moved += len(self._identities)
        self._frames, self._identities, self._n_bytes = [], {}, 0

    def _pack(self) -> None:
        if self._rows:
            self._frames.append(frame_of(self._rows))
        self._rows, self._n_waiting = [], 0


def _old_files(files: ResultFiles, older_than: float) -> set[str]:
    """The keys of files that are old enough and not too large."""
    latest = time.time() - older_than
    return {
        key
        for key, status in files.statuses()
        if status.st_size <= MAX_BYTES and (older_than <= 0 or status.st_mtime <= latest)
    }


def _to_merge(segments: Segments, *, any_new: bool) -> list[Segment]:
    """Small segments; all, if there are results in them that no longer count."""
    existing = segments.segments()
    if len(segments.keys()) < sum(len(segment.keys) for segment in existing):
        return existing
    small = [segment for segment in existing if segment.n_bytes < SEGMENT_BYTES // 2]
    return small if any_new or len(small) > 1 else []


def _keys_in(merged: list[Segment], segments: Segments) -> set[str]:
    return segments.keys() & {key for segment in merged for key in segment.keys}


def _read_file(files: ResultFiles, key: str) -> tuple[SegmentRow, FileIdentity] | None:
    try:
        read = files.read(key)
        return None if read is None else (SegmentRow.of(key, read[0]), read[1])
    except UnknownFormatError:
        return None  # another version may know it
    except DamagedError as error:
        files.set_aside(key, error)
        return None


def _intact(row: SegmentRow, segments: Segments) -> SegmentRow | None:
    """The row, written anew from its bytes if something else in it is damaged."""
    if row.is_intact():
        return row
    try:
        return SegmentRow.of(row.key, row.data)
    except DamagedError as error:
        segments.drop_damaged(row.key, error, row.data)
        return None
