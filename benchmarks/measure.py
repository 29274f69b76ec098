"""Measuring: CPU time, in turns, and measurements compared with their goals."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured number, its goal, and what it was computed from.

    - `goal`: `measured` should be at least (`at_least`) or at most this; `None` if it is only reported.
    - `detail`: the numbers behind it, by name with the unit.
    """

    name: str
    quantity: str
    measured: float
    goal: float | None
    at_least: bool
    detail: dict[str, float]

    @property
    def met(self) -> bool:
        """Whether the goal is reached."""
        if self.goal is None:
            return True
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {**asdict(self), "met": self.met}


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of the whole process while `work` runs."""
    started = time.process_time()
    work()
    return time.process_time() - started


def in_turns(*works: Callable[[], object], repeats: int) -> tuple[list[float], ...]:
    """CPU times of several pieces of work, taken alternately so that a noisy minute hits all of them.

    Each is run once beforehand, which compiles what is to be compiled.
    """
    for work in works:
        work()
    rounds = [[cpu_seconds(work) for work in works] for _ in range(repeats)]
    return tuple(list(times) for times in zip(*rounds, strict=True))


def median_ratio(numerators: list[float], denominators: list[float]) -> float:
    """The median of the ratios of neighbouring measurements."""
    return statistics.median(n / d for n, d in zip(numerators, denominators, strict=True))


def table(rows: list[Row]) -> str:
    """The rows as aligned text."""
    cells = [("what", "measured", "goal", "met", "from")]
    for row in rows:
        detail = ", ".join(f"{name} {value:.4g}" for name, value in row.detail.items())
        goal = "–" if row.goal is None else f"{'>=' if row.at_least else '<='} {row.goal:g}"
        measured = f"{row.quantity} {row.measured:.2f}"
        cells.append(
            (row.name, measured, goal, "–" if row.goal is None else "yes" if row.met else "NO", detail)
        )
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    return "\n".join("  ".join([*map(str.ljust, line, widths), line[-1]]) for line in cells)
