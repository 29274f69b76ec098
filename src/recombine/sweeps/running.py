"""Running a planned sweep: from the store where possible, with progress, and with failures as results."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.runs import Store, Trial, complete
from recombine.runs.trial_progress import TrialProgress
from recombine.sweeps.sweep_frame import NO_RESULT
from recombine.sweeps.sweep_plan import Over, PartLike, plan
from recombine.sweeps.sweep_result import Sweep
from recombine.training.recipe import Recipe

if TYPE_CHECKING:
    from recombine.sweeps.sweep_plan import SweepPlan

STEPS_PER_EPOCH = 30
"""A guess that only matters if some recipes count steps and others epochs."""


def sweep(
    *,
    task: PartLike,
    net: PartLike | None = None,
    recipe: Recipe | None = None,
    seeds: int | Sequence[int] = 6,
    over: Over | None = None,
    probes: PartLike | Sequence[PartLike] | None = None,
    together: int = 1,
    name: str = "",
    on: str = "local",
    jobs: int = 0,
    store: Store | str | Path | None = None,
    retries: int = 0,
    fresh: bool = False,
    quiet: bool = False,
    shared_store: bool = False,
) -> Sweep:
    """Trains and measures every combination of some settings, each with several seeds.

    Results are kept in the store as they are finished: the same call, made again after Ctrl-C or a crash, does the
    rest. A trial that fails or diverges is a row with its reason, and does not stop the others. Illegal settings are
    refused before anything runs.

    **Arguments:**

    - `task`: a `Part` or a function with a keyword `seed`, which gives a `Task`.
    - `net`: a `Part` or a function with a keyword `key`, which gives a net; `recipe`: how it is trained. Without both
        nothing is trained, and probes get the task alone.
    - `seeds`: a number of seeds, or a list of them.
    - `over`: lists of values by path, such as `{"net.width": [64, 256], "recipe.penalties.0.weight": [0, 0.1]}`; all
        combinations are run. A path may name a whole part (`"net": [Part(...), Part(...)]`), and a tuple of paths takes
        tuples of values that change together. A list of dictionaries gives the points one by one.
    - `probes`: what is measured; default: the error on seen and unseen cells (`error_in`, `error_out`).
    - `together`: seeds that are trained in one trial, in one compiled program; 1 spreads them over workers.
    - `name`: for progress and titles.
    - `on`, `jobs`, `retries`, `shared_store`: where and how trials run, see `recombine.runs.execute`.
    - `store`: a folder or a `Store`; default: the user's.
    - `fresh`: run also what the store has. `quiet`: show no progress.

    ```python
    >>> from recombine import Part, Recipe, nets, sweep, tasks
    >>> net = Part(nets.mlp, inputs=8, width=8, depth=1, outputs=(4, 4))
    >>> found = sweep(task=Part(tasks.bumps, n=4), net=net, recipe=Recipe(steps=20), seeds=2,
    ...               over={"net.width": [4, 8]}, store=getfixture("tmp_path"), quiet=True)
    >>> found.frame().select("net.width", "seed", "status").rows()
    [(4, 0, 'finished'), (4, 1, 'finished'), (8, 0, 'finished'), (8, 1, 'finished')]

    ```
    """
    planned = plan(
        task=task, net=net, recipe=recipe, seeds=seeds, over=over, probes=probes, together=together, name=name
    )
    return planned.run(
        on=on, jobs=jobs, store=store, retries=retries, fresh=fresh, quiet=quiet, shared_store=shared_store
    )


def run_plan(
    planned: SweepPlan,
    store: Store,
    *,
    on: str,
    jobs: int,
    retries: int,
    fresh: bool,
    quiet: bool,
    shared_store: bool,
) -> Sweep:
    """Completes the trials of a plan in a store."""
    start, order = time.monotonic(), dict[str, int]()
    with TrialProgress(relative_cost, quiet=quiet) as shown:

        def expect(trials: list[Trial]) -> None:
            order.update((trial.key, i) for i, trial in enumerate(trials))
            shown.expect({planned.name or "sweep": trials})

        failures = complete(
            shown.counted(planned.trials(), planned.n_trials),
            store,
            jobs=jobs,
            on=on,
            retries=retries,
            shared_store=shared_store,
            fresh=fresh,
            cost=relative_cost,
            on_plan=expect,
            on_event=shown,
        )
    in_order = sorted(failures, key=lambda failed: order[failed.trial.key])  # not as workers came to them
    return Sweep(planned, store, tuple(in_order), seconds=time.monotonic() - start, ran=len(order))


def run_lost_again(result: Sweep, **options: Any) -> Sweep:
    """The sweep after the trials whose stored results turned out to be damaged have run again.

    A sweep does not read what is stored before it runs, so this is only known now. Reading has set damaged results
    aside; the same call then finds them missing.
    """
    if NO_RESULT not in result.frame()["error"]:
        return result
    again = run_plan(result.plan, result.store, **(options | {"fresh": False}))
    return replace(again, ran=result.ran + again.ran, seconds=result.seconds + again.seconds)


def relative_cost(trial: Trial) -> float:
    """About how long a trial takes compared with others: its number of steps, times its seeds."""
    recipe, seeds = trial.recipe, len(trial.seeds)
    if recipe is None:
        return float(seeds)
    steps = recipe.steps if recipe.steps is not None else (recipe.epochs or 0) * STEPS_PER_EPOCH
    return float(seeds * (steps + 1))
