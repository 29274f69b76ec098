"""Checks of a plan before anything runs: every path exists, and every value is accepted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs import Trial, canonical_json
from recombine.sweeps.accepted import accepted, did_you_mean
from recombine.sweeps.paths import SET_BY_SEED
from recombine.training.recipe import Recipe

if TYPE_CHECKING:
    from recombine.sweeps.grid import Point
    from recombine.sweeps.sweep_plan import SweepPlan

MAX_CHECKED = 5_000
"""Points that are all made when a plan is checked. Of more, each value is tried with the first values of the others;
combinations that only fail together are then refused when the trials are made, which is before any of them runs."""


def check_plan(plan: SweepPlan) -> None:
    """Makes the points of a plan, and refuses what could not run."""
    for i, probe in enumerate(plan.probes):
        _check_settings(f"probes[{i}]", probe)
    made: dict[str, Point] = {}
    for point in _checked_points(plan):
        task, net, recipe = plan.configured(point)
        _check_part("task", task, point)
        if "net" in point or net is not None:
            _check_part("net", net, point)
        if recipe is not None and not isinstance(recipe, Recipe):
            raise InputError("recipe", recipe, "a Recipe")
        trial = canonical_json(Trial(task, plan.probes, plan.seeds[:1], net, recipe))
        if trial in made:
            paths = [path for path in point if point[path] != made[trial][path]]
            raise InputError(
                "over", ", ".join(paths), "values that make a difference: two points are the same trial"
            )
        made[trial] = point


def _checked_points(plan: SweepPlan) -> Iterable[Point]:
    grid = plan.grid
    if len(grid) <= MAX_CHECKED:
        yield from (grid[i] for i in range(len(grid)))
        return
    yield grid[0]
    step = len(grid)
    for axis in grid.axes:
        step //= len(axis)
        yield from (grid[i * step] for i in range(1, len(axis)))


def _check_part(root: str, part: object, point: Point) -> None:
    if not isinstance(part, Part):
        raise InputError(root, part, "a Part, or a function")
    rules, given = accepted(part), SET_BY_SEED[root]
    if given not in rules.names and not rules.anything:
        raise InputError(root, part.name, f"a function with a keyword {given!r}, which trials pass to it")
    settings = dict(part.settings)
    if given in settings:
        raise InputError(
            f"{root}.{given}", settings[given], "nothing: trials set it from their seeds; use seeds="
        )
    _check_settings(root, part)
    missing = [name for name in rules.required() if name not in settings and name != given]
    if missing:
        needed = ", ".join(f"{root}.{name}" for name in missing)
        raise InputError(root, part.name, f"a value for {needed}, in the Part or in `over`")


def _check_settings(root: str, part: Part) -> None:
    """Refuses settings that the part's function does not have, and values that it does not take."""
    rules = accepted(part)
    for name, value in part.settings:
        if name not in rules.names and not rules.anything:
            known = ", ".join(rules.names)
            hint = did_you_mean(name, rules.names, root)
            raise InputError(root, f"{root}.{name}", f"a setting of {part.name}{hint} (known: {known})")
        rules.check_value(f"{root}.{name}", name, value)
