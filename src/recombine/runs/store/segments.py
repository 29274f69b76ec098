"""The folder of segments: results that were compacted, found by key.

Segments are never changed: a compaction writes new ones, then deletes those that they replace. Where two hold one key,
the later generation counts. Results that are deleted, or turn out to be damaged, are named in a list of dropped
results; it holds for segments up to the generation in its name, until the next compaction leaves them out.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from recombine.durable import write_durably
from recombine.errors import StoreError
from recombine.runs.store.file_format import DamagedError, UnknownFormatError
from recombine.runs.store.listing import StoredTrial, StoreWarning
from recombine.runs.store.segment import Segment, SegmentRow, generation_of, is_segment, new_name

CACHE_BYTES = 2**26
"""Row groups kept in memory. Whoever goes through results in the order of their keys needs one for each segment."""

MAX_ATTEMPTS = 100
"""How often a look-up starts again because compactions replace the files that it reads."""

_DROPPED = re.compile(r"\d{8}-[0-9a-f]{32}\.dropped")

T = TypeVar("T")


class Segments:
    """All segments of a store. Looks for changes on the disk before every look-up."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: tuple[str, ...] = ()
        self._segments: list[Segment] = []
        self._index: dict[
            str, tuple[int, int]
        ] = {}  # from a key to the number of its segment and its row there
        self._cache = _GroupCache()
        self._unreadable: set[str] = set()

    def keys(self) -> set[str]:
        """The keys of all compacted results."""
        self._refresh()
        return set(self._index)

    def segments(self) -> list[Segment]:
        """Earlier generations first."""
        self._refresh()
        return list(self._segments)

    def __contains__(self, key: str) -> bool:
        self._refresh()
        return key in self._index

    def entries(self) -> list[StoredTrial]:
        """What a listing shows of all compacted results."""

        def read() -> list[StoredTrial]:
            numbered = enumerate(self._segments)
            listed = ((i, j, entry) for i, segment in numbered for j, entry in enumerate(segment.entries()))
            return [entry for i, j, entry in listed if self._index.get(entry.key) == (i, j)]

        self._refresh()
        return self._look_up(read)

    def row(self, key: str, *, refresh: bool = True) -> SegmentRow | None:
        """One result, or `None` if there is none.

        **Arguments:**

        - `refresh`: whether to look for changes first. Whoever goes through all keys need not.
        """
        if refresh:
            self._refresh()

        def read() -> SegmentRow | None:
            if key not in self._index:
                return None
            i, j = self._index[key]
            segment = self._segments[i]
            number, offset = divmod(j, segment.rows_per_group)
            try:
                return self._cache.get(segment, number)[offset]
            except (DamagedError, IndexError) as error:
                self._unreadable.add(segment.path.name)
                self.drop_damaged(key, DamagedError(str(error)))
                return None

        return self._look_up(read)

    def drop(self, keys: Iterable[str]) -> None:
        """Makes results count as none; the next compaction removes them from their segments."""
        dropped = [key for key in keys if key in self._index]
        if dropped:
            generation = max(segment.generation for segment in self._segments)
            write_durably(self.folder / new_name(generation, "dropped"), "\n".join(dropped).encode())
            for key in dropped:
                del self._index[key]

    def drop_damaged(self, key: str, error: DamagedError, data: bytes | None = None) -> None:
        """Makes a result that cannot be used count as none, with a warning; its bytes are set aside."""
        is_unknown = isinstance(error, UnknownFormatError)
        name = "unknown-format" if is_unknown else "damaged"
        state = str(error) if is_unknown else f"is damaged ({error})"
        outcome = "it is left out"
        with suppress(OSError):
            if data is not None:
                aside = self.folder.parent / name
                aside.mkdir(exist_ok=True)
                write_durably(aside / f"{key}.npz", data)
                outcome = f"it is now in {name}/"
            self.drop([key])
        self._index.pop(key, None)
        self._warn(f"the compacted result {key} {state}; {outcome}, and its trial will be run again")

    def retire(self, segment: Segment) -> None:
        """Removes a segment whose results are in another; to `damaged/` if some of them could not be read."""
        if segment.path.name in self._unreadable:
            self._move_aside(segment.path.name)
        else:
            segment.path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Deletes everything."""
        for name in self._listed():
            (self.folder / name).unlink(missing_ok=True)

    def dropped_lists(self) -> list[Path]:
        """The lists of dropped results."""
        return [self.folder / name for name in self._listed() if not is_segment(name)]

    def _listed(self) -> tuple[str, ...]:
        """The names of segments and, after them, of lists; each in the order of generations."""
        try:
            names = sorted(os.listdir(self.folder))
        except OSError:
            return ()
        return (*filter(is_segment, names), *filter(_DROPPED.fullmatch, names))

    def _refresh(self) -> None:
        """Reads what was added since the last time."""
        for _ in range(MAX_ATTEMPTS):
            names = self._listed()
            if names == self._names:
                return
            with suppress(FileNotFoundError):  # replaced by another between the two: look again
                self._load(names)
                self._names = names
        raise StoreError(f"store {self.folder.parent}: compacted results change too often to be read")

    def _load(self, names: Iterable[str]) -> None:
        known = {segment.path.name: segment for segment in self._segments}
        segments: list[Segment] = []
        index: dict[str, tuple[int, int]] = {}
        for name in names:
            if is_segment(name):
                try:
                    segment = known.get(name) or Segment(self.folder / name)
                except DamagedError as error:
                    self._set_aside(name, error)
                else:
                    index.update((key, (len(segments), row)) for row, key in enumerate(segment.keys))
                    segments.append(segment)
            else:
                for key in (self.folder / name).read_text("ascii", errors="replace").split():
                    if key in index and segments[index[key][0]].generation <= generation_of(name):
                        del index[key]
        self._segments, self._index = segments, index

    def _look_up(self, read: Callable[[], T]) -> T:
        for _ in range(MAX_ATTEMPTS):
            try:
                return read()
            except FileNotFoundError:  # a compaction has just replaced it
                self._refresh()
        raise StoreError(f"store {self.folder.parent}: compacted results change too often to be read")

    def _set_aside(self, name: str, error: DamagedError) -> None:
        outcome = "it is now in damaged/" if self._move_aside(name) else "it could not be moved away"
        self._warn(f"{name} is damaged ({error}); {outcome}, and its trials will be run again")

    def _move_aside(self, name: str) -> bool:
        with suppress(OSError):
            aside = self.folder.parent / "damaged"
            aside.mkdir(exist_ok=True)
            os.replace(self.folder / name, aside / name)
            return True
        return False

    def _warn(self, message: str) -> None:
        warnings.warn(f"store {self.folder.parent}: {message}", StoreWarning, stacklevel=5)


class _GroupCache:
    """The row groups that were read last."""

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, int], list[SegmentRow]] = OrderedDict()
        self._n_bytes = 0

    def get(self, segment: Segment, number: int) -> list[SegmentRow]:
        key = (segment.path.name, number)
        if key in self._groups:
            self._groups.move_to_end(key)
            return self._groups[key]
        group = self._groups[key] = segment.group(number)
        self._n_bytes += _n_bytes(group)
        while self._n_bytes > CACHE_BYTES and len(self._groups) > 1:
            self._n_bytes -= _n_bytes(self._groups.popitem(last=False)[1])
        return group


def _n_bytes(group: Iterable[SegmentRow]) -> int:
    return sum(row.size + len(row.rows or "") for row in group)
