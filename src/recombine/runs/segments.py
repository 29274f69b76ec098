"""The folder of segments: results that were compacted, found by key.

Segments are never changed: a compaction writes new ones, then deletes those that they replace. Where two hold one key,
the later generation counts. A result that turns out to be damaged is dropped by a file named after its key and the
generation, until the next compaction leaves it out.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from recombine.durable import write_durably
from recombine.errors import StoreError
from recombine.runs.file_format import DamagedError
from recombine.runs.listing import StoreWarning
from recombine.runs.segment import BATCH_ROWS, Segment, SegmentRow, is_segment

CACHE_BYTES = 2**28
"""Row groups kept in memory. They hold 100,000 small results, which are then read from the disk once."""

_DROPPED = re.compile(r"([0-9a-f]{32})\.(\d{8})\.dropped")
_ROW_BITS = 32

MAX_ATTEMPTS = 100
"""How often a look-up starts again because compactions replace the files that it reads."""

T = TypeVar("T")


class Segments:
    """All segments of a store. Reads what changed on the disk before every look-up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: tuple[str, ...] = ()
        self._segments: list[Segment] = []
        self._index: dict[str, int] = {}  # from a key to the number of its segment and its row there
        self._groups = _Cache(CACHE_BYTES)
        self._batches = _Cache(2**26)

    def keys(self) -> Iterable[str]:
        """The keys of all compacted results."""
        self.refresh()
        return self._index.keys()

    def segments(self) -> list[Segment]:
        """Earlier generations first."""
        self.refresh()
        return list(self._segments)

    def data(self, key: str, *, refresh: bool = True) -> bytes | None:
        """The bytes of one result, or `None` if there is none.

        **Arguments:**

        - `refresh`: whether to look for changes first. Anything that goes through all keys need not.
        """
        if refresh:
            self.refresh()
        return self._look_up(key, self._data_at)

    def row(self, key: str, *, refresh: bool = True) -> SegmentRow | None:
        """What is known of one result without its bytes, or `None` if there is none or it is damaged."""
        if refresh:
            self.refresh()
        return self._look_up(key, self._row_at)

    def refresh(self) -> None:
        """Reads the indices of all segments again if any was added or deleted."""
        for _ in range(MAX_ATTEMPTS):
            names = self._listed()
            if names == self._names:
                return
            with suppress(FileNotFoundError):  # replaced by another between the two: look again
                self._load(names)
                self._names = names
        raise StoreError(f"store {self.folder.parent}: compacted results change too often to be read")

    def drop(self, key: str, error: DamagedError, data: bytes | None = None) -> None:
        """Makes a damaged result count as none, with a warning; its bytes go to `damaged/`."""
        place = self._index.pop(key, None)
        outcome = "it could not be moved away"
        with suppress(OSError):
            if data is not None:
                aside = self.folder.parent / "damaged"
                aside.mkdir(exist_ok=True)
                write_durably(aside / f"{key}.npz", data)
            if place is not None:
                generation = self._segments[place >> _ROW_BITS].generation
                (self.folder / f"{key}.{generation:08d}.dropped").touch()
            outcome = "it is now in damaged/" if data is not None else "it is left out"
        message = (
            f"store {self.folder.parent}: the compacted result {key} is damaged ({error}); {outcome}, and its trial will "
            "be run again"
        )
        warnings.warn(message, StoreWarning, stacklevel=4)

    def dropped(self) -> list[Path]:
        """The files that drop damaged results."""
        return [self.folder / name for name in self._listed() if _DROPPED.fullmatch(name)]

    def _listed(self) -> tuple[str, ...]:
        try:
            names = os.listdir(self.folder)
        except OSError:
            return ()
        return tuple(sorted(name for name in names if is_segment(name) or _DROPPED.fullmatch(name)))

    def _load(self, names: Iterable[str]) -> None:
        known = {segment.path.name: segment for segment in self._segments}
        segments: list[Segment] = []
        index: dict[str, int] = {}
        for name in filter(is_segment, names):  # sorted, so earlier generations come first
            segment = known.get(name) or Segment(self.folder / name)
            try:
                first = len(segments) << _ROW_BITS
                index.update(zip(segment.keys, range(first, first + len(segment.keys)), strict=True))
                segment.group_rows  # noqa: B018 (all that look-ups need is read now)
            except DamagedError as error:
                self._set_aside(segment, error)
            else:
                segments.append(segment)
        for match in filter(None, map(_DROPPED.fullmatch, names)):
            place = index.get(match[1])
            if place is not None and segments[place >> _ROW_BITS].generation <= int(match[2]):
                del index[match[1]]
        self._segments, self._index = segments, index

    def _set_aside(self, segment: Segment, error: DamagedError) -> None:
        outcome = "it could not be moved away"
        with suppress(OSError):
            aside = self.folder.parent / "damaged"
            aside.mkdir(exist_ok=True)
            os.replace(segment.path, aside / segment.path.name)
            outcome = "it is now in damaged/"
        message = (
            f"store {self.folder.parent}: {segment.path.name} is damaged ({error}); {outcome}, and its trials will be run "
            "again"
        )
        warnings.warn(message, StoreWarning, stacklevel=5)

    def _look_up(self, key: str, read: Callable[[Segment, int], T]) -> T | None:
        for _ in range(MAX_ATTEMPTS):
            place = self._index.get(key)
            if place is None:
                return None
            try:
                return read(self._segments[place >> _ROW_BITS], place & (2**_ROW_BITS - 1))
            except FileNotFoundError:  # a compaction has just replaced it
                self.refresh()
        raise StoreError(f"store {self.folder.parent}: compacted results change too often to be read")

    def _data_at(self, segment: Segment, row: int) -> bytes | None:
        number, offset = divmod(row, segment.group_rows)
        try:
            group = self._groups.get((segment.path.name, number), lambda: segment.group(number), _n_bytes)
            return group[offset]
        except (DamagedError, IndexError) as error:
            self.drop(segment.keys[row], DamagedError(str(error)))
            return None

    def _row_at(self, segment: Segment, row: int) -> SegmentRow | None:
        number, offset = divmod(row, BATCH_ROWS)
        key = (segment.path.name, number)
        try:
            batch = self._batches.get(key, lambda: segment.batch(number), lambda rows: 2048 * len(rows))
        except DamagedError:
            return None
        found = batch[offset] if offset < len(batch) else None
        return found if found is not None and found.key == segment.keys[row] else None


class _Cache:
    """What was read last, up to a number of bytes; the newest entry is always kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._n_bytes = max_bytes, 0
        self._entries: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()

    def get(self, key: Hashable, read: Callable[[], list[T]], size: Callable[[list[T]], int]) -> list[T]:
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key][0]  # type: ignore[return-value]
        entry = read()
        self._entries[key] = entry, size(entry)
        self._n_bytes += self._entries[key][1]
        while self._n_bytes > self._max_bytes and len(self._entries) > 1:
            self._n_bytes -= self._entries.popitem(last=False)[1][1]
        return entry


def _n_bytes(group: list[bytes]) -> int:
    return sum(map(len, group))
