"""Which trial comes next: the longest first, but preferably one whose program is compiled already."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from itertools import count

from recombine.runs.trial import Trial

RETRY_SECONDS = 0.25
"""How long a trial that another process is running is left alone before it is looked at again."""

WAIT_SECONDS = 1.5
"""How long a run may wait for other processes before it says so."""

MUCH_LONGER = 2.0
"""A trial this many times as long as the best one with a compiled program comes before it: a long trial that
is begun last keeps one worker busy while the others have nothing to do."""

_Entry = tuple[float, int, Trial]
"""Minus the cost, the position in the order of arrival (so that trials are never compared), and the trial."""


class TrialQueue:
    """The trials that are still to be given to a worker. Taking one of n trials takes O(log n) steps.

    **Arguments:**

    - `cost`: an estimate of a trial's duration in any unit. Default: all take the same time, and they are
        taken in the order given.
    - `retries`: how often a trial that failed comes back.
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
        retries: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._cost = cost or (lambda trial: 1.0)
        self._retries = retries
        self._arrivals = count()
        # Every waiting trial is in both; `_waiting` says which entries of the first are still valid.
        self._longest: list[_Entry] = []
        self._by_program: dict[str, list[_Entry]] = {}
        self._waiting: set[int] = set()
        self._postponed: list[tuple[float, Trial]] = []
        self._failures: Counter[Trial] = Counter()
        self._blocked_since: dict[Trial, float] = {}
        self._reported: set[Trial] = set()
        for trial in trials:
            self.put_back(trial)

    def take(self, program: str | None = None, *, others: Collection[str] = ()) -> Trial | None:
        """Removes and returns the best trial for a worker whose last trial had this `program`.

        `None` means that nothing can be begun at this moment; the queue is empty only if `len` says so.

        **Arguments:**

        - `others`: programs of the other workers. A worker that has to compile something prefers what nobody
            else is compiling.
        """
        self._recall()
        while self._longest and self._longest[0][1] not in self._waiting:
            heapq.heappop(self._longest)
        if not self._longest:
            return None
        best = longest = self._longest[0]
        if program in self._by_program:
            same = self._by_program[program][0]
            best = longest if -longest[0] > MUCH_LONGER * -same[0] else same
        if best[2].program != program and best[2].program in others:
            heads = [entries[0] for name, entries in self._by_program.items() if name not in others]
            best = min([head for head in heads if -longest[0] <= MUCH_LONGER * -head[0]], default=best)
        return self._remove(best)

    def put_back(self, trial: Trial) -> None:
        """Adds a trial, or one that was taken and could not be begun, to be taken again at once."""
        self._insert(trial, self._cost(trial))

    def _insert(self, trial: Trial, cost: float) -> None:
        entry = (-cost, next(self._arrivals), trial)
        self._waiting.add(entry[1])
        heapq.heappush(self._longest, entry)
        heapq.heappush(self._by_program.setdefault(trial.program, []), entry)

    def retry(self, trial: Trial) -> bool:
        """Puts back a trial that failed, unless it has failed too often; says whether it did."""
        self._failures[trial] += 1
        if self._failures[trial] > self._retries:
            return False
        self.put_back(trial)
        return True

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
        if self._waiting:
            return []
        self._reported.update(trials)
        return trials

    def _remove(self, entry: _Entry) -> Trial:
        trial = entry[2]
        self._waiting.remove(entry[1])
        heapq.heappop(self._by_program[trial.program])  # what is taken is the longest of its program
        if not self._by_program[trial.program]:
            del self._by_program[trial.program]
        return trial

    def _recall(self) -> None:
        now = self._clock()
        due = [trial for at, trial in self._postponed if at <= now]
        self._postponed = [(at, trial) for at, trial in self._postponed if at > now]
        for trial in due:
            self._insert(trial, 0.0)  # last: most likely the other process is still running it

    def __len__(self) -> int:
        return len(self._waiting) + len(self._postponed)
