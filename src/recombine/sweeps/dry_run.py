"""What a sweep would take: how many trials, how many programs, and minutes from a few measured steps."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError
from recombine.report import count, duration, progress
from recombine.runs import Store, Trial, check_on, run_trial
from recombine.runs.trial_progress import counted

if TYPE_CHECKING:
    from recombine.sweeps.sweep_plan import SweepPlan

MAX_MEASURED = 3
"""Programs of which a trial is tried."""
MAX_SECONDS = 5.0
"""After this long, a trial that is being measured is stopped, once it has done enough steps."""
CHUNK, CHUNKS = 10, 4
"""Steps between two looks at the clock, and looks. The first chunk also compiles, so it does not count as steps."""


@dataclass(frozen=True)
class Measured:
    """One trial that was tried for a few steps.

    **Attributes:**

    - `compile_seconds`: to compile its program; `step_seconds`: per step; `other_seconds`: its task and its probes.
    - `steps`: of the whole trial; `error`: why it failed, if it did.
    """

    compile_seconds: float = 0.0
    step_seconds: float = 0.0
    other_seconds: float = 0.0
    steps: int = 0
    error: str = ""

    @property
    def seconds(self) -> float:
        """Of one whole trial, without compiling."""
        return self.steps * self.step_seconds + self.other_seconds


@dataclass(frozen=True)
class DryRun:
    """What a sweep would take. `print(dry_run)` shows it.

    **Attributes:**

    - `trials`, `stored`: all, and those that the store has; `programs`: that would be compiled.
    - `seconds`: of one core for all that is left; `workers`: that share them, `None` if a cluster decides.
    - `measured`: the trials that were tried.
    """

    trials: int
    stored: int
    programs: int
    seconds: float
    workers: int | None
    measured: tuple[Measured, ...]

    @property
    def left(self) -> int:
        """Trials that would run."""
        return self.trials - self.stored

    @property
    def minutes(self) -> float | None:
        """The expected time; `None` if it is not known how many workers there are, or nothing could be measured."""
        known = self.workers is not None and math.isfinite(self.seconds)
        return self.seconds / min(self.workers or 1, max(self.left, 1)) / 60 if known else None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "trials": self.trials,
            "stored": self.stored,
            "left": self.left,
            "programs": self.programs,
            "workers": self.workers,
            "core_seconds": round(self.seconds, 1) if math.isfinite(self.seconds) else None,
            "minutes": None if self.minutes is None else round(self.minutes, 2),
            "measured": len(self.measured),
            "errors": [one.error for one in self.measured if one.error],
        }

    def __str__(self) -> str:
        lines = [
            f"{count(self.trials, 'trial')}: {self.stored:,} in the store, {self.left:,} to run, "
            f"{count(self.programs, 'program')} to compile"
        ]
        errors = dict.fromkeys(one.error for one in self.measured if one.error)
        lines += [f"a trial that was tried fails: {error}" for error in errors]
        if not self.left:
            return "\n".join([*lines, "nothing is left to run"])
        if not math.isfinite(self.seconds):
            return "\n".join([*lines, "no time could be measured"])
        basis = f"extrapolated from a few steps of {count(len(self.measured), 'trial')}"
        if self.minutes is None:
            lines.append(f"about {duration(self.seconds)} of one core in all ({basis})")
        else:
            workers = count(self.workers or 1, "worker")
            lines.append(f"about {duration(60 * self.minutes)} on {workers} ({basis})")
        return "\n".join(lines)


def dry_run(
    plan: SweepPlan,
    store: Store,
    *,
    on: str = "local",
    jobs: int = 0,
    fresh: bool = False,
    quiet: bool = False,
) -> DryRun:
    """Counts the trials of a plan, and tries a few steps of one trial for each of the first programs.

    Nothing is stored. The time is an extrapolation: probes that take long, and trials of other tasks or sizes
    than those that were tried, make it wrong.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 0:
        raise InputError("jobs", jobs, "a whole number of processes, or 0 to run in this one")
    is_local = check_on(on) == "local"
    stored = set() if fresh else store.keys()
    first: dict[str, Trial] = {}  # of every program
    numbers: dict[str, int] = {}  # how many trials have it
    tried: dict[str, Measured] = {}
    with progress(quiet=quiet) as shown:
        for trial in counted(plan.trials(), plan.n_trials, shown):
            if trial.key not in stored:
                first.setdefault(trial.program, trial)
                numbers[trial.program] = numbers.get(trial.program, 0) + 1
        chosen = list(first.items())[:MAX_MEASURED]
        line = shown.line("trying", count(len(chosen), "trial")) if chosen else None
        for program, trial in chosen:
            tried[program] = _measure(trial)
            if line is not None:
                line.update(len(tried) / len(chosen))
        if line is not None:
            line.finish()
    seconds = _total([one for one in tried.values() if not one.error], tried, numbers)
    return DryRun(
        trials=plan.n_trials,
        stored=plan.n_trials - sum(numbers.values()),
        programs=0 if plan.net is None and "net" not in plan.grid.paths else len(first),
        seconds=seconds,
        workers=max(jobs, 1) if is_local else jobs or None,
        measured=tuple(tried.values()),
    )


def _total(good: Sequence[Measured], tried: dict[str, Measured], numbers: dict[str, int]) -> float:
    """Seconds of one core; programs that were not tried count as the mean of those that were."""
    if not numbers:
        return 0.0
    if not good:
        return math.nan
    mean = sum(one.seconds for one in good) / len(good)
    mean_compile = sum(one.compile_seconds for one in good) / len(good)
    total = 0.0
    for program, n in numbers.items():
        one = tried.get(program)
        known = one is not None and not one.error
        total += n * (one.seconds if one and known else mean)
        total += one.compile_seconds if one and known else mean_compile
    return total


class _EnoughError(Exception):
    """Stops a trial that has been measured."""


def _measure(trial: Trial) -> Measured:
    start = time.perf_counter()
    ticks: list[tuple[float, float]] = []

    def progress(fraction: float) -> None:
        now = time.perf_counter() - start
        ticks.append((fraction, now))
        if trial.net is not None and now > MAX_SECONDS and len(ticks) >= 2:
            raise _EnoughError

    short, total = trial, 0
    try:
        if trial.recipe is not None:
            rows = len(trial.task(seed=trial.seeds[0]).train)
            total = trial.recipe.steps_for(max(round(rows * (1 - trial.recipe.validation)), 1))
            steps = min(total, CHUNK * CHUNKS)
            recipe = replace(trial.recipe, epochs=None, steps=steps, record_every=max(min(CHUNK, steps), 1))
            short = replace(trial, recipe=recipe)
        task_seconds = time.perf_counter() - start
        run_trial(short, progress=progress)
    except _EnoughError:
        pass
    except Exception as error:
        return Measured(error=" ".join(f"{type(error).__name__}: {error}".split()))
    end = time.perf_counter() - start
    if short.recipe is None or len(ticks) < 2:
        return Measured(other_seconds=end, steps=total)
    (share, first), (last_share, last) = ticks[0], ticks[-1]
    done = (short.recipe.steps or 0) * (last_share - share)
    step_seconds = (last - first) / done if done else 0.0
    compiling = max(first - 2 * task_seconds - CHUNK * step_seconds, 0.0)
    return Measured(compiling, step_seconds, task_seconds + max(end - last, 0.0), total)
