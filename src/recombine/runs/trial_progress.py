"""Progress over groups of trials: one line per group, weighted by the estimated cost of its trials."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType

from recombine.report import ProgressDisplay, ProgressLine, progress
from recombine.runs.events import Event, Failed, Finished, Progress
from recombine.runs.trial import Trial

ALMOST = 0.99
"""The largest fraction that a trial counts before it has ended, because its probes run after the last step."""


LONG = 2.0
"""Seconds after which even the listing of trials is shown."""


def counted(trials: Iterable[Trial], total: int, display: ProgressDisplay) -> Iterator[Trial]:
    """Passes trials on, and shows how many there have been if that takes long: a million keys take minutes."""
    start, line = 0.0, None
    for i, trial in enumerate(trials):
        yield trial
        if i == 0:  # the first key reads the code; the others are what takes long
            start = time.monotonic()
        elif i % 100 == 0 and time.monotonic() - start > LONG:
            line = line or display.line("listing", plural(total, "trial"))
            line.update((i + 1) / total)
    if line is not None:
        line.finish()


def plural(n: int, noun: str) -> str:
    """A number of things, in the singular for one.

    ```python
    >>> from recombine.runs.trial_progress import plural
    >>> plural(1, "seed"), plural(3, "seed")
    ('1 seed', '3 seeds')

    ```
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


class TrialProgress:
    """Shows one line of progress for every group of trials that has started.

    Trials that are read from the store are not part of the work. If all of them are, nothing is shown.

    **Arguments:**

    - `cost`: as in `Study`.
    - `unit`: what a trial is called on the line, in the singular.
    - `quiet`: show nothing.
    """

    def __init__(self, cost: Callable[[Trial], float], unit: str = "trial", *, quiet: bool = False) -> None:
        self._cost, self._unit = cost, unit
        self._display = progress(quiet=quiet)
        self._groups: list[_Group] = []
        self._group_of: dict[str, _Group] = {}

    def expect(self, groups: Mapping[str, Iterable[Trial]]) -> None:
        """Announces the trials, by the label of their line."""
        self._groups, self._group_of = [], {}
        for label, trials in groups.items():
            group = _Group(label, {trial.key: self._cost(trial) for trial in trials})
            self._groups.append(group)
            for key in group.costs:
                self._group_of.setdefault(key, group)

    def counted(self, trials: Iterable[Trial], total: int) -> Iterator[Trial]:
        """Passes on the trials that there are, before it is known which of them are work; see `counted`."""
        return counted(trials, total, self._display)

    def __enter__(self) -> TrialProgress:
        self._display.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._display.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Records an event of the executor."""
        trial = event.result.trial if isinstance(event, Finished) else event.trial
        group = self._group_of.get(trial.key)
        if group is None:
            return
        if isinstance(event, Finished) and event.from_store:
            group.drop(trial.key)
        elif isinstance(event, Progress):
            group.record(trial.key, min(event.fraction, ALMOST))
        else:
            group.record(trial.key, float(isinstance(event, Finished | Failed)))
        if group.line is None:
            if trial.key not in group.costs:
                return
            width = max(len(one.label) for one in self._groups)
            group.line = self._display.line(f"{group.label:<{width}}", plural(len(group.costs), self._unit))
        if group.ended == len(group.costs):
            group.line.finish()
        else:
            group.line.update(group.done / group.total)


class _Group:
    """The work of one line. Sums are kept up to date, because a sweep may have very many trials."""

    def __init__(self, label: str, costs: dict[str, float]) -> None:
        self.label, self.costs = label, costs
        self.total, self.done, self.ended = sum(costs.values()), 0.0, 0
        self.line: ProgressLine | None = None
        self._shares: dict[str, float] = {}

    def record(self, key: str, share: float) -> None:
        """Takes note that this share of a trial is done."""
        before = self._shares.get(key, 0.0)
        self._shares[key] = share
        self.done += self.costs.get(key, 0.0) * (share - before)
        self.ended += (share == 1.0) - (before == 1.0)

    def drop(self, key: str) -> None:
        """Removes a trial that turned out not to be work."""
        if key in self.costs:
            self.record(key, 0.0)
            self.total -= self.costs.pop(key)
