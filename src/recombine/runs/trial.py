"""The trial: one fully specified piece of work, and its form in JSON."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.parts import Part, plain
from recombine.runs.canonical_text import UnusualValueError, write
from recombine.runs.fingerprint import fingerprint_of
from recombine.source_imports import public_name
from recombine.training.recipe import Recipe

_PACKAGE = __name__.partition(".")[0]
_LARGEST_SEED = 2**32 - 1
_TRIAL_FIELDS = ("net", "probes", "recipe", "seeds", "task")  # in alphabetical order


@dataclass(frozen=True)
class Trial:
    """Task, net, recipe, seeds and probes: all that determines a result, and nothing else.

    **Arguments:**

    - `task`: called as `task(seed=s)` for each seed; gives a `recombine.tasks.Task`.
    - `probes`: each called as `probe(net, task)`, or as `probe(task)` in a trial without a net; gives named
        numbers or arrays.
    - `seeds`: different whole numbers from 0 to 4294967295.
    - `net`: called as `net(key=...)`; gives an `equinox.Module`. `None`: nothing is trained.
    - `recipe`: how the net is trained; given if and only if there is a net.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Trial, canonical_json, from_json
    >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(0, 1))
    >>> from_json(canonical_json(trial)) == trial, len(trial.key)
    (True, 32)
    >>> print(trial)
    SimpleNamespace · 2 seeds

    ```
    """

    task: Part
    probes: tuple[Part, ...]
    seeds: tuple[int, ...]
    net: Part | None = None
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "probes", tuple(self.probes))
        object.__setattr__(self, "seeds", tuple(_seed(seed) for seed in self.seeds))
        parts = {"task": self.task, "net": self.net, **{f"probes[{i}]": p for i, p in enumerate(self.probes)}}
        for field, part in parts.items():
            if not isinstance(part, Part) and not (field == "net" and part is None):
                raise InputError(field, part, "a Part")
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise InputError("seeds", self.seeds, "at least one seed, all different")
        if self.net is None and not self.probes:
            raise InputError("probes", self.probes, "at least one probe in a trial without a net")
        if self.net is None and self.recipe is not None:
            raise InputError("recipe", self.recipe, "None in a trial without a net")
        if self.net is not None and self.recipe is None:
            raise InputError("recipe", None, "a Recipe to train the net with")

    @cached_property
    def key(self) -> str:
        """32 hex digits under which the result is stored: a hash of the trial and of the code that it runs."""
        names: set[str] = set()
        try:
            text = _fast_json(self, names)
        except UnusualValueError:
            text = _slow_json(self)
            names = {part.name for part in _parts(self, with_classes=True)}
        code = fingerprint_of(frozenset(names), trains=self.net is not None)
        return hashlib.sha256(f"{text}\n{code}".encode()).hexdigest()[:32]

    @cached_property
    def program(self) -> str:
        """Equal for trials that share a compiled program if their tasks are of one shape: same net, same
        structure of the recipe, as many seeds. A hint for scheduling; no result depends on it.
        """
        structure = None if self.recipe is None else self.recipe.structure()
        text = _dumps([_encode(self.net, "net"), _encode(structure, "recipe"), len(self.seeds)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def parts(self) -> Iterator[Part]:
        """Every part of the trial, however deeply nested."""
        return _parts(self)

    def __str__(self) -> str:
        names = [part.name.rpartition(":")[2] for part in (self.task, self.net) if part is not None]
        seeds = f"{len(self.seeds)} seed{'s' if len(self.seeds) > 1 else ''}"
        return " · ".join([*names, seeds])


def canonical_json(trial: Trial) -> str:
    """The one text that stands for a trial: keys sorted, no blanks, real numbers by their shortest `repr`.

    Whole and real numbers stay apart (`1` is not `1.0`), because a function may tell them apart. Minus zero
    is written as zero, because equal trials should be one trial. A bare function in a recipe is written as
    the part that names it.
    """
    try:
        return _fast_json(trial, set())
    except UnusualValueError:
        return _slow_json(trial)


def _fast_json(trial: Trial, names: set[str]) -> str:
    fields = [f'"{name}":{write(getattr(trial, name), names)}' for name in _TRIAL_FIELDS]
    return f"{{{','.join(fields)}}}"


def _slow_json(trial: Trial) -> str:
    """The definition of the text: any value is written or refused with its name."""
    return _dumps({field.name: _encode(getattr(trial, field.name), field.name) for field in _fields(trial)})


def from_json(text: str) -> Trial:
    """The inverse of `canonical_json`.

    Nothing but dataclasses of this package is imported here. Running the trial, though, calls whatever
    functions it names: run trials only from people whose code you would run.
    """
    try:
        data = json.loads(text)
        names = {field.name for field in dataclasses.fields(Trial)}
        if not isinstance(data, dict) or set(data) != names:
            raise ValueError(f"its fields should be {', '.join(sorted(names))}")
        return Trial(**{name: decode_value(value) for name, value in data.items()})
    except InputError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise InputError("trial", text[:80], f"the canonical JSON of a trial ({error})") from error


def as_part(value: Any) -> Any:
    """A function or class as the part that names it; anything else as it is. Recipes may hold either."""
    return Part(value) if callable(value) and hasattr(value, "__qualname__") else value


def _seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= _LARGEST_SEED:
        raise InputError("seeds", seed, f"whole numbers from 0 to {_LARGEST_SEED}")
    return int(seed)


def _dumps(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _fields(value: Any) -> tuple[dataclasses.Field[Any], ...]:
    return tuple(field for field in dataclasses.fields(value) if field.init)


def _is_settings(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type | Part)


def _encode(value: Any, field: str) -> Any:
    value = as_part(value)
    if isinstance(value, Part):
        return {"call": value.name, "with": {k: _encode(v, f"{field}.{k}") for k, v in value.settings}}
    if _is_settings(value):
        name = public_name(f"{type(value).__module__}:{type(value).__qualname__}")
        _check_settings_class(type(value), name)
        fields = {f.name: _encode(getattr(value, f.name), f"{field}.{f.name}") for f in _fields(value)}
        return {"class": name, "fields": fields}
    if isinstance(value, tuple):
        return [_encode(item, f"{field}[{i}]") for i, item in enumerate(value)]
    value = plain(value, field)
    return 0.0 if isinstance(value, float) and value == 0 else value


def decode_value(value: Any) -> Any:
    """One field of a trial, from its JSON value."""
    if isinstance(value, Mapping) and "class" in value:
        cls = Part(_inside_package(value["class"])).function
        _check_settings_class(cls, value["class"])
        return cls(**{name: decode_value(item) for name, item in value["fields"].items()})
    if isinstance(value, Mapping):
        return Part(value["call"], **{name: decode_value(item) for name, item in value["with"].items()})
    if isinstance(value, list):
        return tuple(decode_value(item) for item in value)
    return value


def _inside_package(name: str) -> str:
    module = name.partition(":")[0]
    if module != _PACKAGE and not module.startswith(f"{_PACKAGE}."):
        raise InputError("class", name, f"a dataclass of {_PACKAGE}; pass your own settings in a Part")
    return name


def _check_settings_class(cls: Any, name: str) -> None:
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise InputError("class", name, "a dataclass")
    _inside_package(f"{cls.__module__}:{cls.__qualname__}")
    if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise InputError("class", name, "a frozen dataclass")


def _parts(value: Any, *, with_classes: bool = False) -> Iterator[Part]:
    """The parts in a value, however deeply nested, and on request the classes of its settings."""
    value = as_part(value)
    if isinstance(value, Part):
        yield value
        for _, setting in value.settings:
            yield from _parts(setting, with_classes=with_classes)
    elif _is_settings(value):
        if with_classes and not isinstance(value, Trial):
            yield Part(type(value))
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name), with_classes=with_classes)
    elif isinstance(value, tuple):
        for item in value:
            yield from _parts(item, with_classes=with_classes)
