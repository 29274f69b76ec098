"""Which trial comes next: the longest first, but preferably one whose program is compiled already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from recombine.runs.trial import Trial

RETRY_SECONDS = 0.25
"""How long a trial that another process is running is left alone before it is looked at again."""

WAIT_SECONDS = 1.5
"""How long a run may wait for other processes before it says so."""

MUCH_LONGER = 2.0
"""A trial this many times as long as the best one with a compiled program comes before it: a long trial that
is begun last keeps one worker busy while the others have nothing to do."""


class TrialQueue:
    """The trials that are still to be given to a worker.

    **Arguments:**

    - `cost`: an estimate of a trial's duration in any unit. Default: all take the same time, and they are
        taken in the order given.
    - `clock`: seconds that only grow; for tests.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Trial
    >>> from recombine.runs.trial_queue import TrialQueue
    >>> short, long = (Trial(Part("a:b", n=n), probes=(Part("c:d"),), seeds=(0,)) for n in (1, 9))
    >>> queue = TrialQueue([short, long], cost=lambda trial: trial.task["n"])
    >>> queue.take() is long, len(queue)
    (True, 1)

    ```
    """

    def __init__(
        self,
        trials: Iterable[Trial],
        cost: Callable[[Trial], float] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._cost = cost or (lambda trial: 1.0)
        self._pending = sorted(((trial, self._cost(trial)) for trial in trials), key=lambda item: -item[1])
        self._postponed: list[tuple[float, Trial]] = []
        self._blocked_since: dict[Trial, float] = {}
        self._reported: set[Trial] = set()

    def take(self, program: str | None = None) -> Trial | None:
        """Removes and returns the best trial for a worker whose last trial had this `program`.

        `None` means that nothing can be begun at this moment; the queue is empty only if `len` says so.
        """
        self._recall()
        if not self._pending:
            return None
        longest = self._pending[0]
        same = next((item for item in self._pending if item[0].program == program), longest)
        chosen = longest if longest[1] > MUCH_LONGER * same[1] else same
        self._pending.remove(chosen)
        return chosen[0]

    def postpone(self, trial: Trial) -> None:
        """Puts back a trial that another process is running, to be taken again a little later."""
        now = self._clock()
        self._postponed.append((now + RETRY_SECONDS, trial))
        self._blocked_since.setdefault(trial, now)

    def blocked(self) -> list[Trial]:
        """Trials held up for `WAIT_SECONDS` while nothing else is left to begin; each is returned once."""
        now = self._clock()
        trials = [
            trial
            for _, trial in self._postponed
            if now - self._blocked_since[trial] >= WAIT_SECONDS and trial not in self._reported
        ]
        if self._pending:
            return []
        self._reported.update(trials)
        return trials

    def _recall(self) -> None:
        now = self._clock()
        due = [trial for at, trial in self._postponed if at <= now]
        self._postponed = [(at, trial) for at, trial in self._postponed if at > now]
        self._pending.extend((trial, self._cost(trial)) for trial in due)

    def __len__(self) -> int:
        return len(self._pending) + len(self._postponed)
