"""Executing trials: from the store where possible, else here or in worker processes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from recombine.errors import InputError, StoreError
from recombine.runs.events import Event, ExecutionError, Failed, Finished, Progress, Started, Waiting
from recombine.runs.leased_run import run_under_lease
from recombine.runs.store import Store
from recombine.runs.trial import Trial
from recombine.runs.trial_queue import RETRY_SECONDS, TrialQueue
from recombine.runs.trial_result import Result
from recombine.runs.worker import one_line
from recombine.runs.worker_pool import run_in_pool

_log = logging.getLogger(__name__)


def execute(
    trials: Iterable[Trial],
    store: Store,
    *,
    jobs: int = 0,
    on_event: Callable[[Event], None] | None = None,
    fresh: bool = False,
    cost: Callable[[Trial], float] | None = None,
) -> list[Result]:
    """The results of trials, in their order, running those that the store does not have.

    A trial that occurs twice, or that another process on the same store is running, is run once. However
    this call ends (Ctrl-C, `kill -9`, a full disk), results of finished trials are in the store, and the same
    call made again does the rest.

    **Arguments:**

    - `jobs`: worker processes, each pinned to a core, so that their number does not change any digit. A
        script must then call this under `if __name__ == "__main__":`. 0 runs in this process instead, with as
        many threads as it has; sums may then be taken in another order, and last digits differ.
    - `on_event`: called with `Started`, `Progress`, `Waiting`, `Finished` and `Failed` as they happen. Every distinct
        trial ends in exactly one `Finished` or `Failed`, those from the store included.
    - `fresh`: run also what the store has, and replace it.
    - `cost`: an estimate of a trial's duration, in any unit: long trials are begun first.

    **Raises:**

    `ExecutionError` after all other trials are finished, if some failed (tracebacks go to `logging` at debug
    level); `recombine.StoreError` at once, if results cannot be written.

    ```python
    >>> import tempfile
    >>> from recombine.parts import Part
    >>> from recombine.runs import Store, Trial, execute
    >>> probes = (Part("builtins:vars"),)
    >>> trials = [Trial(Part("types:SimpleNamespace", n=n), probes=probes, seeds=(0,)) for n in (3, 4)]
    >>> store = Store(tempfile.mkdtemp())
    >>> [result.values["n"].item() for result in execute(trials, store)]
    [3, 4]
    >>> events = []
    >>> results = execute(trials, store, on_event=events.append)
    >>> [event.from_store for event in events]
    [True, True]

    ```
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
        raise InputError("jobs", jobs, "a whole number of processes, or 0 to run in this one")
    trials = list(trials)
    distinct = {trial.key: trial for trial in trials}
    results: dict[str, Result] = {}
    failures: list[Failed] = []

    def emit(event: Event) -> None:
        if isinstance(event, Finished):
            results[event.result.key] = event.result
        elif isinstance(event, Failed):
            failures.append(event)
        elif isinstance(event, Waiting):
            _log.warning("%s", event)  # on standard error, unless the program has set up logging
        if on_event is not None:
            on_event(event)

    if not fresh:
        for trial in distinct.values():
            if (stored := store.get(trial)) is not None:
                emit(Finished(stored, from_store=True))
    queue = TrialQueue((trial for key, trial in distinct.items() if key not in results), cost)
    if len(queue):
        store.check_writable()
    if jobs == 0:
        _run_here(queue, store, fresh=fresh, emit=emit)
    elif len(queue):
        run_in_pool(queue, store, jobs=jobs, fresh=fresh, emit=emit)
    if failures:
        raise ExecutionError.of(failures, len(distinct))
    return [results[trial.key] for trial in trials]


def _run_here(queue: TrialQueue, store: Store, *, fresh: bool, emit: Callable[[Event], None]) -> None:
    program: str | None = None
    while len(queue):
        trial = queue.take(program)
        if trial is None:
            for blocked in queue.blocked():
                emit(Waiting(blocked, *store.holder(blocked)))
            time.sleep(RETRY_SECONDS)
            continue
        program = trial.program
        ending = _run_one_here(trial, store, fresh=fresh, emit=emit)
        if ending is None:
            queue.postpone(trial)
        else:
            emit(ending)


def _run_one_here(
    trial: Trial, store: Store, *, fresh: bool, emit: Callable[[Event], None]
) -> Finished | Failed | None:
    def on_start() -> None:
        emit(Started(trial, worker=0))

    def progress(fraction: float) -> None:
        emit(Progress(trial, fraction))

    try:
        outcome = run_under_lease(trial, store, fresh=fresh, on_start=on_start, progress=progress)
    except StoreError:
        raise
    except Exception as error:
        _log.debug("trial %s failed", trial.key, exc_info=True)
        return Failed(trial, one_line(error))
    return None if outcome is None else Finished(*outcome)
