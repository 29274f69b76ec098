"""What `execute` reports while it works, and at the end if trials failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recombine.runs.trial import Trial
from recombine.runs.trial_result import Result


@dataclass(frozen=True)
class Started:
    """A trial has begun on a worker, numbered from 0."""

    trial: Trial
    worker: int


@dataclass(frozen=True)
class Progress:
    """A trial has done this fraction of its work, from 0 to 1."""

    trial: Trial
    fraction: float


@dataclass(frozen=True)
class Finished:
    """A trial has its result; `from_store` if this call did not have to run it."""

    result: Result
    from_store: bool


@dataclass(frozen=True)
class Failed:
    """A trial has no result; `error` says why in one line."""

    trial: Trial
    error: str


@dataclass(frozen=True)
class Waiting:
    """Nothing is left to begin but a trial that another process on the same store is running.

    **Arguments:**

    - `pid`, `host`: of that process; `None` if it has just ended.
    """

    trial: Trial
    pid: int | None
    host: str | None

    def __str__(self) -> str:
        who = "" if self.pid is None else f" (pid {self.pid} on {self.host})"
        return f"waiting for another process{who} that runs the same trial: {self.trial}"


Event = Started | Progress | Waiting | Finished | Failed


class ExecutionError(RuntimeError):
    """Some trials have no result, or none could be run. Finished results are kept.

    **Arguments:**

    - `failures`: the failed trials and, in one line each, why.
    """

    def __init__(self, message: str, failures: Sequence[Failed] = ()) -> None:
        self.failures = tuple(failures)
        super().__init__(message)

    @staticmethod
    def of(failures: Sequence[Failed], total: int) -> ExecutionError:
        """The error for failures among `total` trials: one line each."""
        lines = [f"{len(failures)} of {total} trials failed; the results of the others are kept"]
        lines += [f"  {failed.trial.key[:8]} {failed.trial}: {failed.error}" for failed in failures]
        return ExecutionError("\n".join(lines), failures)
