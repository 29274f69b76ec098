"""Progress over groups of trials: one line per group, weighted by the estimated cost of its trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from recombine.report import progress
from recombine.runs import Event, Failed, Finished, Progress, Trial

ALMOST = 0.99
"""The largest fraction that a trial counts before it has ended, because its probes run after the last step."""


def plural(n: int, noun: str) -> str:
    """A number of things, in the singular for one.

    ```python
    >>> from recombine.studies.trial_progress import plural
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
        self._work: dict[str, dict[str, float]] = {}
        self._done: dict[str, float] = {}
        self._lines: dict[str, Any] = {}

    def expect(self, groups: Mapping[str, Iterable[Trial]]) -> None:
        """Announces the trials, by the label of their line."""
        self._work = {
            label: {trial.key: self._cost(trial) for trial in trials} for label, trials in groups.items()
        }

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
        label = next((label for label, work in self._work.items() if trial.key in work), None)
        if label is None:
            return
        work = self._work[label]
        if isinstance(event, Finished) and event.from_store:
            del work[trial.key]
        elif isinstance(event, Progress):
            self._done[trial.key] = min(event.fraction, ALMOST)
        else:
            self._done[trial.key] = float(isinstance(event, Finished | Failed))
        if label not in self._lines:
            if trial.key not in work:
                return
            width = max(map(len, self._work))
            self._lines[label] = self._display.line(f"{label:<{width}}", plural(len(work), self._unit))
        if all(self._done.get(key) == 1.0 for key in work):
            self._lines[label].finish()
        else:
            done = sum(cost * self._done.get(key, 0.0) for key, cost in work.items())
            self._lines[label].update(done / sum(work.values()))
