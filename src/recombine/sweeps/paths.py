"""Settings by dotted paths: `net.width`, `task.hole.low`, `recipe.penalties.0.weight`.

A path leads through parts (by the name of a setting), settings objects such as `Recipe` (by field) and tuples (by
number). Nothing is changed in place: `replaced` returns new values, and shares what did not change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs.trial import as_part
from recombine.sweeps.accepted import accepted, did_you_mean

ROOTS = ("task", "net", "recipe")
SET_BY_SEED = {"task": "seed", "net": "key"}
"""The argument that a trial passes itself."""


def steps_of(path: object) -> tuple[str, ...]:
    """The steps of a path, if it begins with `task`, `net` or `recipe`."""
    if not isinstance(path, str) or not all(path.split(".")):
        raise InputError("over", path, "paths such as 'net.width' or 'recipe.optimiser.learning_rate'")
    steps = tuple(path.split("."))
    if steps[0] not in ROOTS:
        hint = "; use seeds=" if steps[0] in {"seed", "seeds"} else did_you_mean(steps[0], ROOTS)
        raise InputError("over", path, f"a path that begins with task, net or recipe{hint}")
    if len(steps) == 2 and SET_BY_SEED.get(steps[0]) == steps[1]:
        raise InputError("over", path, f"another setting: trials set {steps[1]} from their seeds; use seeds=")
    return steps


def read(value: Any, steps: tuple[str, ...], path: str) -> Any:
    """The value that a path leads to; the function's default where a part does not set it.

    ```python
    >>> from recombine import Recipe
    >>> from recombine.sweeps.paths import read
    >>> read(Recipe(steps=10), ("optimiser", "learning_rate"), "recipe")
    0.001

    ```
    """
    for step in steps:
        value = _child(value, step, path)
        path = f"{path}.{step}"
    return as_part(value)


def replaced(value: Any, changes: Mapping[tuple[str, ...], Any], path: str) -> Any:
    """A value with new values at some paths, all put in place together.

    **Arguments:**

    - `changes`: new values by the steps that lead to them; the empty tuple is the value itself.
    - `path`: of the value, for messages.

    ```python
    >>> from recombine import Part
    >>> from recombine.sweeps.paths import replaced
    >>> replaced(Part("recombine.tasks:bumps", n=8), {("n",): 16, ("sigma",): 2.0}, "task").settings
    (('n', 16), ('sigma', 2.0))

    ```
    """
    if () in changes:
        value = as_part(changes[()])
    by_step: dict[str, dict[tuple[str, ...], Any]] = {}
    for steps, new in changes.items():
        if steps:
            by_step.setdefault(steps[0], {})[steps[1:]] = new
    if not by_step:
        return value
    children = {}
    for step, below in by_step.items():
        where = f"{path}.{step}"
        known = _child(value, step, path, needed=() not in below)
        children[step] = replaced(known, below, where)
        if () in below and not isinstance(value, tuple):
            accepted(value).check_value(where, step, children[step])
    return _with(value, children, path)


def _child(value: Any, step: str, path: str, *, needed: bool = True) -> Any:
    """One step into a value; `None` if the setting has no value yet and none is `needed`."""
    if isinstance(value, tuple):
        if not step.isdecimal() or int(step) >= len(value):
            entries = f"{path} has {len(value)} {'entry' if len(value) == 1 else 'entries'}"
            expected = f"a number from 0 to {len(value) - 1}" if value else "another path"
            raise InputError("over", f"{path}.{step}", f"{expected} after {path!r}: {entries}")
        return value[int(step)]
    if isinstance(value, Part) or _is_settings(value):
        rules = accepted(value)
        rules.check_name(path, step)
        if not isinstance(value, Part):
            return as_part(getattr(value, step))
        settings = dict(value.settings)
        if step in settings or step in rules.defaults or not needed:
            return as_part(settings.get(step, rules.defaults.get(step)))
        raise InputError("over", f"{path}.{step}", f"a setting that has a value; {value.name} sets none")
    shown = "there is no net" if value is None and path == "net" else f"{path} is {value!r}"
    raise InputError("over", f"{path}.{step}", f"a setting that exists; {shown}, which has no settings")


def _with(value: Any, children: Mapping[str, Any], path: str) -> Any:
    if isinstance(value, tuple):
        return tuple(children.get(str(i), item) for i, item in enumerate(value))
    try:
        if isinstance(value, Part):
            return Part(value.name, **{**dict(value.settings), **children})
        return dataclasses.replace(value, **children)
    except (InputError, TypeError, ValueError) as error:
        raise _refused(error, children, path) from error


def _refused(error: Exception, children: Mapping[str, Any], path: str) -> InputError:
    """The error of a class about its fields, with the path of the one that was changed."""
    expected = error.expected if isinstance(error, InputError) else f"a value that is accepted ({error})"
    field = error.field if isinstance(error, InputError) else ""
    words = field.replace("[", " ").split()
    named = [step for step in children if step in words] or list(children)
    got = children[named[0]] if len(named) == 1 else {step: children[step] for step in named}
    return InputError(", ".join(f"{path}.{step}" for step in named), got, expected)


def _is_settings(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)
