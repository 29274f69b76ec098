"""Progress on standard error: bars with the time left on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, TextIO, runtime_checkable

EVERY = 5.0
"""Seconds between plain lines."""


@runtime_checkable
class ProgressLine(Protocol):
    """One line of work."""

    def update(self, fraction: float) -> None:
        """Says how much is done, from 0 to 1."""

    def finish(self, note: str = "") -> None:
        """Says that all is done; `note`, for example "from the store", replaces the line's detail."""


@runtime_checkable
class ProgressDisplay(Protocol):
    """A context in which lines of progress are shown."""

    def line(self, label: str, detail: str = "") -> ProgressLine:
        """Adds a line of work, which starts now."""

    def __enter__(self) -> ProgressDisplay: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress(
    *, file: TextIO | None = None, every: float = EVERY, clock: Callable[[], float] = time.monotonic
) -> ProgressDisplay:
    """Shows progress: a bar for every line of work on a terminal, plain lines elsewhere.

    **Arguments:**

    - `file`: default standard error, so that results on standard output stay clean.
    - `every`: seconds between plain lines; the end of a line of work is always told.
    - `clock`: seconds that only grow; for tests.

    ```python
    >>> import sys
    >>> from recombine.report import progress
    >>> with progress(file=sys.stdout) as shown:
    ...     line = shown.line("ordinary decoder", "3 seeds")
    ...     line.update(0.5)
    ...     line.finish()
    ordinary decoder   3 seeds   100 %   0:00

    ```
    """
    file = file or sys.stderr
    return _Bars(file) if file.isatty() else _PlainLines(file, every, clock)


def duration(seconds: float) -> str:
    """A time as `m:ss` or `h:mm:ss`.

    ```python
    >>> from recombine.report import duration
    >>> duration(48.4), duration(3700.0)
    ('0:48', '1:01:40')

    ```
    """
    whole = round(max(seconds, 0.0))
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class _PlainLines:
    """At most one line every few seconds, and one at the end of each line of work."""

    def __init__(self, file: TextIO, every: float, clock: Callable[[], float]) -> None:
        self._file, self._every, self.clock = file, every, clock
        self._last = clock()

    def line(self, label: str, detail: str = "") -> ProgressLine:
        return _PlainLine(self, label, detail)

    def is_due(self) -> bool:
        return self.clock() - self._last >= self._every

    def tell(self, *parts: str) -> None:
        self._last = self.clock()
        self._file.write("   ".join(part for part in parts if part) + "\n")
        self._file.flush()

    def __enter__(self) -> _PlainLines:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.flush()


class _PlainLine:
    def __init__(self, display: _PlainLines, label: str, detail: str) -> None:
        self._display, self._label, self._detail = display, label, detail
        self._start = display.clock()

    def update(self, fraction: float) -> None:
        if not 0.0 < fraction < 1.0 or not self._display.is_due():
            return
        left = (self._display.clock() - self._start) * (1.0 - fraction) / fraction
        share = f"{int(100 * fraction):3} %"  # 100 % is said by `finish` alone
        self._display.tell(self._label, self._detail, share, f"{duration(left)} left")

    def finish(self, note: str = "") -> None:
        taken = duration(self._display.clock() - self._start)
        self._display.tell(self._label, note or self._detail, "100 %", taken)


class _Bars:
    """Bars that redraw themselves; finished ones show how long they took."""

    def __init__(self, file: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._shown = Progress(
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[detail]}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=Console(file=file, highlight=False),
        )

    def line(self, label: str, detail: str = "") -> ProgressLine:
        return _Bar(self._shown, self._shown.add_task(label, total=1.0, detail=detail))

    def __enter__(self) -> _Bars:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()


class _Bar:
    def __init__(self, shown: Any, task: Any) -> None:
        self._shown, self._task = shown, task

    def update(self, fraction: float) -> None:
        self._shown.update(self._task, completed=min(max(fraction, 0.0), 1.0))

    def finish(self, note: str = "") -> None:
        detail = {"detail": note} if note else {}
        self._shown.update(self._task, completed=1.0, **detail)
