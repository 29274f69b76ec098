"""Executing trials: from the store where possible, else here, in worker processes or on a Ray cluster."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

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
    on: str = "local",
    shared_store: bool = False,
    retries: int = 0,
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
        many threads as it has; sums may then be taken in another order, and last digits differ. On a cluster, 0 means
        as many workers as it has cores.
    - `on`: `"local"`, or a Ray cluster: `"ray"` (the one that the environment names, else this machine),
        `"host:port"` or `"ray://host:port"`.
    - `shared_store`: the workers of a cluster write to the store themselves, because they see the same folder. By
        default they send their results to this process, which writes them.
    - `retries`: how often a trial that fails is tried again.
    - `on_event`: called with `Started`, `Progress`, `Waiting`, `Finished` and `Failed` as they happen. Every distinct
        trial ends in exactly one `Finished` or `Failed`, those from the store included.
    - `fresh`: run also what the store has, and replace it.
    - `cost`: an estimate of a trial's duration, in any unit: long trials are begun first.

    **Raises:**

    `ExecutionError` after all other trials are finished, if some failed (tracebacks go to `logging` at debug
    level), or at once if a cluster is lost; `recombine.StoreError` at once, if results cannot be written.

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
    executor = _Executor(store, jobs, on, shared_store, retries, fresh, cost)
    trials = list(trials)
    distinct = {trial.key: trial for trial in trials}
    results: dict[str, Result] = {}

    def emit(event: Event) -> None:
        if isinstance(event, Finished):
            results[event.result.key] = event.result
        if on_event is not None:
            on_event(event)

    if not fresh:
        for _, trial in sorted(
            distinct.items()
        ):  # compacted results are read fastest in the order of their keys
            if (stored := store.get(trial)) is not None:
                emit(Finished(stored, from_store=True))
    failures = executor.run((trial for key, trial in distinct.items() if key not in results), emit)
    if failures:
        raise ExecutionError.of(failures, len(distinct))
    return [results[trial.key] for trial in trials]


def complete(
    trials: Iterable[Trial],
    store: Store,
    *,
    jobs: int = 0,
    on: str = "local",
    shared_store: bool = False,
    retries: int = 0,
    on_plan: Callable[[list[Trial]], None] | None = None,
    on_event: Callable[[Event], None] | None = None,
    fresh: bool = False,
    cost: Callable[[Trial], float] | None = None,
) -> list[Failed]:
    """Runs the trials that the store does not have, and leaves the results there: `execute` for very many trials.

    Trials are taken from the iterable one by one, and those whose results are stored are neither kept nor read.
    The arguments are those of `execute`.

    **Arguments:**

    - `on_plan`: called once with the trials that are left to run.
    - `on_event`: called for these only.

    **Returns:**

    The trials that failed, each with its reason.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Store, Trial, complete
    >>> probes = (Part("builtins:vars"),)
    >>> trials = [Trial(Part("types:SimpleNamespace", n=n), probes=probes, seeds=(0,)) for n in range(3)]
    >>> store, left = Store(getfixture("tmp_path")), []
    >>> complete(trials[:1], store), complete(trials, store, on_plan=left.extend), len(left)
    ([], [], 2)

    ```
    """
    executor = _Executor(store, jobs, on, shared_store, retries, fresh, cost)
    stored = set() if fresh else store.keys()
    missing = {trial.key: trial for trial in trials if trial.key not in stored}
    if on_plan is not None:
        on_plan(list(missing.values()))
    return executor.run(missing.values(), on_event or (lambda event: None))


_ADDRESS = re.compile(r"(ray://)?[^\s/:@]+:\d{1,5}")


def check_on(on: object) -> str:
    """Where trials run, if it is a place that `execute` knows; otherwise an error that lists them."""
    if isinstance(on, str) and (on in {"local", "ray"} or _ADDRESS.fullmatch(on)):
        return on
    raise InputError(
        "on", on, "'local', 'ray', or the address of a Ray cluster as host:port or ray://host:port"
    )


@dataclass(frozen=True)
class _Executor:
    """Where and how trials are run; the fields are the arguments of `execute`."""

    store: Store
    jobs: int
    on: str
    shared_store: bool
    retries: int
    fresh: bool
    cost: Callable[[Trial], float] | None

    def __post_init__(self) -> None:
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs < 0:
            raise InputError("jobs", self.jobs, "a whole number of processes, or 0 to run in this one")
        if isinstance(self.retries, bool) or not isinstance(self.retries, int) or self.retries < 0:
            raise InputError("retries", self.retries, "a whole number, 0 or more")
        if check_on(self.on) == "local" and self.shared_store:
            raise InputError("shared_store", True, "False, unless the trials run on a Ray cluster")

    def run(self, trials: Iterable[Trial], on_event: Callable[[Event], None]) -> list[Failed]:
        """Runs all trials and returns those that failed."""
        failures: list[Failed] = []

        def emit(event: Event) -> None:
            if isinstance(event, Failed):
                failures.append(event)
            elif isinstance(event, Waiting):
                _log.warning("%s", event)  # on standard error, unless the program has set up logging
            on_event(event)

        trials = list(trials)
        if not trials:
            return []
        if self.on != "local":
            _refuse_main(trials)
        queue = TrialQueue(trials, self.cost, retries=self.retries)
        self.store.check_writable()
        options: dict[str, Any] = {"fresh": self.fresh, "emit": emit}
        if self.on != "local":
            from recombine.runs.on_ray import run_on_ray

            run_on_ray(
                queue, self.store, address=self.on, jobs=self.jobs, shared_store=self.shared_store, **options
            )
        elif self.jobs == 0:
            _run_here(queue, self.store, **options)
        else:
            run_in_pool(queue, self.store, jobs=self.jobs, **options)
        return failures


def _refuse_main(trials: Iterable[Trial]) -> None:
    for trial in trials:
        for part in trial.parts():
            if part.name.startswith("__main__:"):
                expected = "a function in a module: workers of a cluster cannot import a script or a notebook"
                raise InputError("function", part.name, expected)


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
        elif isinstance(ending, Finished) or not queue.retry(trial):
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
