"""Progress as a person sees it: bars on a terminal, lines elsewhere, and a time left that can be believed."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import pairwise

import pytest

from recombine.report import progress
from recombine.report.progress import TimeLeft


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_come_now_and_then() -> None:
    now = [0.0]
    file = io.StringIO()
    with progress(file=file, every=5.0, clock=lambda: now[0]) as shown:
        line = shown.line("standard decoder", "3 seeds")
        for second in range(1, 20):
            now[0] = float(second)
            line.update(second / 20)
        now[0] = 20.0
        line.finish()
        shown.line("cached").finish("from the store")
    assert file.getvalue().split("\n") == [
        "standard decoder   3 seeds    25%   0:15 left",
        "standard decoder   3 seeds    50%   0:10 left",
        "standard decoder   3 seeds    75%   0:05 left",
        "standard decoder   3 seeds   100%   0:20",
        "cached   from the store   100%   0:00",
        "",
    ]


def test_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    now = [0.0]
    file = Terminal()
    with progress(file=file, clock=lambda: now[0]) as shown:
        line = shown.line("standard [decoder]", "3 seeds")
        for now[0] in (1.0, 4.0, 8.0):
            line.update(now[0] / 16)
        now[0] = 16.0
        line.finish()
    assert "standard [decoder]" in file.getvalue()
    assert "100%" in file.getvalue()
    assert "0:16" in file.getvalue()


@pytest.mark.parametrize("file", [io.StringIO(), Terminal()])
def test_quiet_shows_nothing(file: io.StringIO) -> None:
    with progress(file=file, every=0.0, quiet=True) as shown:
        line = shown.line("work")
        line.update(0.5)
        line.finish()
    assert file.getvalue() == ""


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as shown:
        shown.line("work").finish()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("work")


def follow(done: Callable[[float], float], total: float, report_every: float) -> list[tuple[float, float]]:
    """What a watcher reads every second: the true time left and the estimate, where there is one."""
    left, readings, reported = TimeLeft(now=0.0), [], 0.0
    for second in range(1, int(total)):
        while reported + report_every <= second:
            reported += report_every
            left.update(done(reported), now=reported)
        estimate = left.seconds(now=float(second))
        if estimate is not None:
            readings.append((total - second, estimate))
    return readings


STARTUP, TOTAL = 20.0, 300.0


def steady(t: float) -> float:
    """Nothing while a program is compiled, then work at one speed."""
    return max(t - STARTUP, 0.0) / (TOTAL - STARTUP)


def in_lumps(t: float) -> float:
    """Ten trials, of which one is reported every 30 seconds."""
    return (t // 30) / 10


def slower_and_slower(t: float) -> float:
    """The second half takes twice as long as the first."""
    return t / 200 if t < 100 else 0.5 + (t - 100) / 400


@pytest.mark.parametrize(
    ("done", "report_every", "worst"),
    [(steady, 0.5, 1.4), (in_lumps, 0.5, 1.6), (slower_and_slower, 1.0, 2.1)],
)
def test_the_time_left_is_never_absurd(
    done: Callable[[float], float], report_every: float, worst: float
) -> None:
    readings = follow(done, TOTAL, report_every)
    assert len(readings) > 200
    for true, estimate in readings:
        assert estimate < worst * true + 20.0
        assert estimate > true / worst - 20.0


@pytest.mark.parametrize("done", [steady, in_lumps])
def test_the_time_left_shrinks(done: Callable[[float], float]) -> None:
    estimates = [estimate for _, estimate in follow(done, TOTAL, 0.5)]
    rises = [after - before for before, after in pairwise(estimates)]
    assert max(rises) < 12.0  # one trial in ten, when it is reported late
    assert sum(rise > 0.5 for rise in rises) < 0.1 * len(rises)


def test_the_first_report_after_a_long_start_is_not_extrapolated() -> None:
    left = TimeLeft(now=0.0)
    left.update(0.001, now=60.0)
    assert left.seconds(now=60.0) is None  # the plain extrapolation is 16 hours
    for second in range(61, 80):
        left.update((second - 60) / 200, now=float(second))
    estimate = left.seconds(now=80.0)
    assert estimate is not None
    assert 100.0 < estimate < 600.0


def test_work_that_stands_still_counts_down_only_for_a_while() -> None:
    left = TimeLeft(now=0.0)
    for second in range(1, 51):
        left.update(second / 100, now=float(second))
    estimates = [left.seconds(now=float(second)) for second in (50, 60, 300)]
    assert estimates == [pytest.approx(50.0, abs=1.0), pytest.approx(40.0, abs=1.0), pytest.approx(150.0)]
