"""Running one trial under a lease and storing its result, in this process or in a worker."""

from __future__ import annotations

from collections.abc import Callable

from recombine.runs.store import Store
from recombine.runs.trial import Trial
from recombine.runs.trial_result import Result
from recombine.runs.trial_runner import run_trial


def run_under_lease(
    trial: Trial,
    store: Store,
    *,
    fresh: bool,
    on_start: Callable[[], None],
    progress: Callable[[float], None],
) -> tuple[Result, bool] | None:
    """Runs a trial and stores its result, unless another process is doing or has done so.

    **Returns:**

    The result, and whether it came from the store; or `None` if another process is running the trial.
    """
    lease = store.lease(trial)
    if lease is None:
        return None
    with lease:
        stored = None if fresh else store.get(trial)  # another process may have finished it a moment ago
        if stored is not None:
            return stored, True
        on_start()
        if trial.net is not None:
            from recombine.training.compilation_cache import enable_compilation_cache

            enable_compilation_cache(store.path / "programs")
        result = run_trial(trial, progress=progress)
        store.put(result)
        return result, False
