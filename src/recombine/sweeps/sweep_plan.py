"""The plan of a sweep: which trials there are. Nothing runs until it is asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.errors import InputError
from recombine.parts import Part
from recombine.report import count
from recombine.runs import Store, Trial
from recombine.runs.trial import as_part
from recombine.sweeps.checks import check_plan
from recombine.sweeps.grid import MAX_POINTS, Grid, Point, grid
from recombine.sweeps.paths import replaced, steps_of
from recombine.training.recipe import Recipe

if TYPE_CHECKING:
    from recombine.sweeps.dry_run import DryRun
    from recombine.sweeps.sweep_result import Sweep

PartLike = Part | Callable[..., Any]
Over = Mapping[Any, Any] | Sequence[Mapping[str, Any]]

DEFAULT_PROBE = Part("recombine.probes:errors", baselines=False)
"""What trials with a net measure unless told otherwise: the error on seen and on unseen cells."""


@dataclass(frozen=True)
class SweepPlan:
    """The trials of a sweep, made by `plan`.

    **Attributes:**

    - `task`, `net`, `recipe`, `probes`: what every trial has, apart from the swept settings.
    - `grid`: the points; `seeds`: of every point; `together`: seeds per trial.
    - `name`: for progress and titles.
    """

    task: Part
    net: Part | None
    recipe: Recipe | None
    probes: tuple[Part, ...]
    seeds: tuple[int, ...]
    grid: Grid
    together: int = 1
    name: str = ""

    @property
    def n_trials(self) -> int:
        """How many trials there are."""
        return len(self.grid) * len(self._seed_groups)

    def trials(self) -> Iterator[Trial]:
        """The trials, made one by one: point by point, and for every point in the order of the seeds."""
        for index in range(len(self.grid)):
            yield from self.trials_of(index)

    def trials_of(self, index: int) -> Iterator[Trial]:
        """The trials of one point."""
        task, net, recipe = self.configured(self.grid[index])
        for seeds in self._seed_groups:
            yield Trial(task, self.probes, seeds, net, recipe)

    def configured(self, point: Point) -> tuple[Part, Part | None, Recipe | None]:
        """Task, net and recipe at a point."""
        changes: dict[str, dict[tuple[str, ...], Any]] = {"task": {}, "net": {}, "recipe": {}}
        for path, value in point.items():
            root, *steps = steps_of(path)
            changes[root][tuple(steps)] = value
        task, net, recipe = (replaced(getattr(self, root), changes[root], root) for root in changes)
        return task, net, recipe

    def run(
        self,
        *,
        on: str = "local",
        jobs: int = 0,
        store: Store | str | Path | None = None,
        retries: int = 0,
        fresh: bool = False,
        quiet: bool = False,
        shared_store: bool = False,
    ) -> Sweep:
        """Runs the trials that the store does not have; `sweep` describes the arguments."""
        from recombine.sweeps.running import run_lost_again, run_plan

        options: dict[str, Any] = {"on": on, "jobs": jobs, "retries": retries, "fresh": fresh}
        options |= {"quiet": quiet, "shared_store": shared_store}
        return run_lost_again(run_plan(self, opened(store), **options), **options)

    def recall(self, store: Store | str | Path | None = None) -> Sweep:
        """The sweep as far as the store has it; nothing is run, and what is missing counts as failed."""
        from recombine.sweeps.sweep_result import Sweep

        return Sweep(self, opened(store), (), seconds=0.0, ran=0)

    def dry_run(
        self,
        *,
        on: str = "local",
        jobs: int = 0,
        store: Store | str | Path | None = None,
        fresh: bool = False,
        quiet: bool = False,
    ) -> DryRun:
        """How many trials would run, and about how long they would take."""
        from recombine.sweeps.dry_run import dry_run

        return dry_run(self, opened(store), on=on, jobs=jobs, fresh=fresh, quiet=quiet)

    @cached_property
    def _seed_groups(self) -> list[tuple[int, ...]]:
        starts = range(0, len(self.seeds), self.together)
        return [self.seeds[start : start + self.together] for start in starts]

    def __repr__(self) -> str:
        swept = ", ".join(self.grid.paths) or "nothing"
        named = f"{self.name!r}: " if self.name else ""
        return (
            f"SweepPlan({named}{count(self.n_trials, 'trial')}; {count(len(self.grid), 'point')} over {swept}; "
            f"{count(len(self.seeds), 'seed')})"
        )


def plan(
    *,
    task: PartLike,
    net: PartLike | None = None,
    recipe: Recipe | None = None,
    seeds: int | Sequence[int] = 6,
    over: Over | None = None,
    probes: PartLike | Sequence[PartLike] | None = None,
    together: int = 1,
    name: str = "",
) -> SweepPlan:
    """Plans a sweep without running it: `plan(...).run(...)` is `sweep(...)`.

    All settings are checked here. The arguments are those of `sweep`; the command `recombine sweep FILE` runs the plan
    that a file holds as `sweep`.

    ```python
    >>> from recombine import Part, Recipe, nets, tasks
    >>> from recombine.sweeps import plan
    >>> net = Part(nets.mlp, inputs=16, width=8, depth=1, outputs=(8, 8))
    >>> plan(task=Part(tasks.bumps, n=8), net=net, recipe=Recipe(steps=9), seeds=3, over={"net.width": [4, 8]})
    SweepPlan(6 trials; 2 points over net.width; 3 seeds)

    ```
    """
    if recipe is not None and not isinstance(recipe, Recipe):
        raise InputError("recipe", recipe, "a Recipe")
    if not isinstance(name, str):
        raise InputError("name", name, "a string")
    points = grid(over)
    with_net = net is not None or "net" in points.paths
    made = SweepPlan(
        task=_part("task", task),
        net=None if net is None else _part("net", net),
        recipe=recipe,
        probes=_probes(probes, with_net=with_net),
        seeds=_seeds(seeds),
        grid=points,
        together=_together(together),
        name=name,
    )
    total = made.n_trials
    if total > MAX_POINTS:
        expected = f"at most {MAX_POINTS:,}; sweep fewer values or seeds at once"
        raise InputError("over", f"{total:,} trials", expected)
    check_plan(made)
    return made


def opened(store: Store | str | Path | None) -> Store:
    """A store by itself or by its folder; the default store for `None`."""
    if store is None or isinstance(store, str | Path):
        return Store(store)
    if isinstance(store, Store):
        return store
    raise InputError("store", store, "a folder or a Store")


def _part(field: str, value: Any) -> Part:
    part = as_part(value)
    if not isinstance(part, Part):
        raise InputError(field, value, "a Part, or a function")
    return part


def _probes(probes: Any, *, with_net: bool) -> tuple[Part, ...]:
    if probes is None:
        if not with_net:
            raise InputError("probes", None, "at least one probe in a sweep without a net")
        return (DEFAULT_PROBE,)
    listed = probes if isinstance(probes, list | tuple) else [probes]
    return tuple(_part(f"probes[{i}]", probe) for i, probe in enumerate(listed))


def _seeds(seeds: Any) -> tuple[int, ...]:
    if isinstance(seeds, int | np.integer) and not isinstance(seeds, bool):
        if not 1 <= seeds <= MAX_POINTS:
            raise InputError("seeds", seeds, f"a number from 1 to {MAX_POINTS:,}, or a list of seeds")
        return tuple(range(int(seeds)))
    if isinstance(seeds, str | bool | float) or seeds is None:
        raise InputError("seeds", seeds, "a number of seeds, or a list of them")
    try:
        listed = tuple(islice(seeds, MAX_POINTS + 1))
    except TypeError:
        raise InputError("seeds", seeds, "a number of seeds, or a list of them") from None
    if len(listed) > MAX_POINTS:
        raise InputError("seeds", f"more than {MAX_POINTS:,} seeds", f"at most {MAX_POINTS:,}")
    return Trial(Part("types:SimpleNamespace"), (DEFAULT_PROBE,), listed).seeds  # checks every one


def _together(together: Any) -> int:
    if isinstance(together, bool) or not isinstance(together, int) or together < 1:
        raise InputError("together", together, "a number of seeds per trial, 1 or more")
    return together
