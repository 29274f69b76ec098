"""Running one trial: build the tasks, train the nets, apply the probes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.errors import InputError
from recombine.parts import Part
from recombine.runs.trial import Trial
from recombine.runs.trial_result import Result

DIVERGED = "diverged"


def run_trial(trial: Trial, *, progress: Callable[[float], None] | None = None) -> Result:
    """Runs a trial in this process and keeps nothing; `execute` is the way with a store.

    JAX is imported only if there is a net to train.

    **Arguments:**

    - `progress`: called now and then with the fraction of the work that is done, from 0 to 1.

    **Returns:**

    The result. A seed that diverged is a result too: it is not probed, and its values are NaN.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Trial, run_trial
    >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(5, 6))
    >>> run_trial(trial).values["seed"].tolist()
    [5, 6]

    ```
    """
    begin = time.perf_counter()
    report = progress or (lambda fraction: None)
    tasks = [trial.task(seed=seed) for seed in trial.seeds]
    fitted: Any = None
    if trial.net is not None and trial.recipe is not None:
        from recombine.training import fit

        def on_step(done: int, total: int) -> None:
            report(done / total)

        fitted = fit(trial.net, tasks, trial.recipe, seeds=trial.seeds, progress=on_step)
    status = ("finished",) * len(tasks) if fitted is None else tuple(fitted.status)
    measured: list[dict[str, np.ndarray] | None] = []
    for i, task in enumerate(tasks):
        if status[i] == DIVERGED:
            measured.append(None)
        elif fitted is None:
            measured.append(_measure(trial.probes, task))
            report((i + 1) / len(tasks))
        else:
            measured.append(_measure(trial.probes, fitted.net(i), task))
    return Result(
        trial=trial,
        status=status,
        values=_stack(measured),
        curves={} if fitted is None else _per_seed(fitted.curves, len(tasks)),
        seconds=time.perf_counter() - begin,
        version=__version__,
        machine=_machine(with_jax=fitted is not None),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _measure(probes: Sequence[Part], *arguments: Any) -> dict[str, np.ndarray]:
    values: dict[str, np.ndarray] = {}
    for probe in probes:
        named = probe(*arguments)
        if not isinstance(named, Mapping):
            raise InputError(f"probe {probe.name}", type(named).__name__, "a dictionary of named values")
        for name, value in named.items():
            if name in values:
                raise InputError(f"probe {probe.name}", name, "a name that no other probe of the trial gives")
            values[name] = np.asarray(value)
    return values


def _stack(measured: Sequence[Mapping[str, np.ndarray] | None]) -> dict[str, np.ndarray]:
    """Values over seeds, NaN where a seed was not measured."""
    known = [values for values in measured if values is not None]
    for values in known:
        if set(values) != set(known[0]):
            odd = sorted(set(values) ^ set(known[0]))
            raise InputError("probes", ", ".join(odd), "the same names for every seed")
    stacked = {}
    for name in known[0] if known else ():
        shapes = {values[name].shape for values in known}
        if len(shapes) > 1:
            raise InputError(f"value {name!r}", sorted(shapes), "one shape for every seed")
        dtype = known[0][name].dtype
        missing = np.full(shapes.pop(), np.nan, dtype=dtype if dtype.kind in "fc" else float)
        stacked[name] = np.stack([missing if values is None else values[name] for values in measured])
    return stacked


def _per_seed(curves: Mapping[str, np.ndarray], n_seeds: int) -> dict[str, np.ndarray]:
    """Every curve with a seed axis: those that all seeds share (the step numbers) are repeated."""
    return {
        name: np.broadcast_to(curve, (n_seeds, *curve.shape)) if curve.ndim == 1 else curve
        for name, curve in curves.items()
    }


def _machine(*, with_jax: bool) -> str:
    parts = [
        f"{platform.system()} {platform.machine()}",
        f"{os.cpu_count()} cores",
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
    ]
    if with_jax:
        import jax

        parts.append(f"JAX {jax.__version__} on {jax.default_backend()}")
    return ", ".join(parts)
