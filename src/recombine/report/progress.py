"""Progress on standard error: bars with the time left on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import math
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
    *,
    file: TextIO | None = None,
    every: float = EVERY,
    clock: Callable[[], float] = time.monotonic,
    quiet: bool = False,
) -> ProgressDisplay:
    """Shows progress: a bar for every line of work on a terminal, plain lines elsewhere.

    **Arguments:**

    - `file`: default standard error, so that results on standard output stay clean.
    - `every`: seconds between plain lines; the end of a line of work is always shown.
    - `clock`: seconds that only grow; for tests.
    - `quiet`: show nothing.

    ```python
    >>> import sys
    >>> from recombine.report import progress
    >>> with progress(file=sys.stdout) as shown:
    ...     line = shown.line("ordinary decoder", "3 seeds")
    ...     line.update(0.5)
    ...     line.finish()
    ordinary decoder   3 seeds   100%   0:00

    ```
    """
    if quiet:
        return _Nothing()
    file = file or sys.stderr
    return _Bars(file, clock) if file.isatty() else _PlainLines(file, every, clock)


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


class TimeLeft:
    """A steady estimate of how long a piece of work will still take.

    The plain extrapolation `elapsed * (1 - done) / done` is absurd at first, when most of the time went into starting
    up, and jumps whenever work is reported in lumps. Four things keep it steady:

    - Nothing is estimated before `MIN_SHARE` of the work and `MIN_SECONDS` have passed since the first report.
    - Time before the first report counts as start-up at first. By the time that `SETTLED_SHARE` is done, it counts as
        work: what starts up once often does so again.
    - The time at which the work will end moves only part of the way to a new estimate. The longer the time left, the
        slower it moves.
    - Between two reports the time left counts down, but not below half of what extrapolation gives.

    ```python
    >>> from recombine.report.progress import TimeLeft
    >>> left = TimeLeft(now=0.0)
    >>> for second in range(1, 51):
    ...     left.update(second / 100, now=second)
    >>> round(left.seconds(now=50.0)), round(left.seconds(now=52.0))
    (50, 48)

    ```
    """

    MIN_SHARE = 0.02
    MIN_SECONDS = 2.0
    SETTLED_SHARE = 0.2
    MIN_SMOOTHING = 5.0
    """Seconds in which the end moves about two thirds of the way to a new estimate; at least that, and at least a
    quarter of the time left."""

    def __init__(self, now: float) -> None:
        self._start = now
        self._first: tuple[float, float] | None = None
        self._latest = (now, 0.0)
        self._end: float | None = None

    def update(self, share: float, now: float) -> None:
        """Takes note that a share of the work, from 0 to 1, is done. A share that does not grow is ignored."""
        before, done = self._latest
        share = min(share, 1.0)
        if share <= done:
            return
        self._latest = (now, share)
        if self._first is None:
            self._first = self._latest
            return
        if share - self._first[1] < self.MIN_SHARE or now - self._first[0] < self.MIN_SECONDS:
            return
        left = self._extrapolated(now)
        if self._end is None:
            self._end = now + left
        else:
            step = 1.0 - math.exp(-(now - before) / max(self.MIN_SMOOTHING, left / 4.0))
            self._end += step * (now + left - self._end)

    def seconds(self, now: float) -> float | None:
        """The time left, or `None` while too little is done to estimate it."""
        if self._end is None:
            return None
        return max(self._end - now, 0.5 * self._extrapolated(now))

    def _extrapolated(self, now: float) -> float:
        """The time left if the rest goes as fast as the work so far."""
        assert self._first is not None
        (first, first_share), share = self._first, self._latest[1]
        since_first = (now - first) * (1.0 - share) / (share - first_share)
        since_start = (now - self._start) * (1.0 - share) / share
        weight = min(share / self.SETTLED_SHARE, 1.0)
        return weight * since_start + (1.0 - weight) * since_first


class _Nothing:
    """Shows nothing, for `--quiet`."""

    def line(self, label: str, detail: str = "") -> ProgressLine:
        return self

    def update(self, fraction: float) -> None:
        pass

    def finish(self, note: str = "") -> None:
        pass

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _PlainLines:
    """At most one line every few seconds, and one at the end of each line of work."""

    def __init__(self, file: TextIO, every: float, clock: Callable[[], float]) -> None:
        self._file, self._every, self.clock = file, every, clock
        self._last = clock()

    def line(self, label: str, detail: str = "") -> ProgressLine:
        return _PlainLine(self, label, detail)

    def is_due(self) -> bool:
        return self.clock() - self._last >= self._every

    def write(self, *parts: str) -> None:
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
        self._left = TimeLeft(self._start)

    def update(self, fraction: float) -> None:
        now = self._display.clock()
        self._left.update(fraction, now)
        if not 0.0 < fraction < 1.0 or not self._display.is_due():
            return
        left = self._left.seconds(now)
        share = f"{int(100 * fraction):3}%"  # only `finish` says 100%
        self._display.write(
            self._label, self._detail, share, "" if left is None else f"{duration(left)} left"
        )

    def finish(self, note: str = "") -> None:
        elapsed = duration(self._display.clock() - self._start)
        self._display.write(self._label, note or self._detail, "100%", elapsed)


class _Bars:
    """Bars that redraw themselves; finished ones show how long they took."""

    def __init__(self, file: TextIO, clock: Callable[[], float]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        self._clock = clock
        self._shown = Progress(
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[detail]}", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[time]}", markup=False),  # is asked for its text at every redraw
            console=Console(file=file, highlight=False),
        )

    def line(self, label: str, detail: str = "") -> ProgressLine:
        time_shown = _BarTime(self._clock)
        task = self._shown.add_task(label, total=1.0, detail=detail, time=time_shown)
        return _Bar(self._shown, task, time_shown)

    def __enter__(self) -> _Bars:
        self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()


class _BarTime:
    """The text at the end of a bar: the time left, or the time taken once all is done."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._start = clock, clock()
        self._left = TimeLeft(self._start)
        self._taken: float | None = None

    def update(self, fraction: float) -> None:
        self._left.update(fraction, self._clock())

    def finish(self) -> None:
        self._taken = self._clock() - self._start

    def __str__(self) -> str:
        if self._taken is not None:
            return duration(self._taken)
        left = self._left.seconds(self._clock())
        return "-:--" if left is None else f"{duration(left)} left"


class _Bar:
    def __init__(self, shown: Any, task: Any, time_shown: _BarTime) -> None:
        self._shown, self._task, self._time = shown, task, time_shown

    def update(self, fraction: float) -> None:
        self._time.update(fraction)
        self._shown.update(self._task, completed=min(max(fraction, 0.0), 1.0))

    def finish(self, note: str = "") -> None:
        self._time.finish()
        detail = {"detail": note} if note else {}
        self._shown.update(self._task, completed=1.0, **detail)
