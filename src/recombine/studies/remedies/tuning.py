"""Tuning on seen cells only: one strength per remedy and world, by the error on held-out seen cells.

`python -m recombine.studies.remedies tune` runs it and writes `chosen_settings.json`, which the study reads. Rows of
unseen cells are removed before anything is trained, and the seeds are not those of the results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.runs import Store, Trial, execute
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.published_remedies import REMEDIES, PublishedRemedy
from recombine.studies.remedies.worlds import worlds

HELD_OUT = 0.2
"""Share of the seen cells (or of the training rows, if there are no cells) that tuning holds out."""
SEEDS = (5000, 5001, 5002, 5003)
"""Far from those of the results and of their replications."""
CHOSEN = Path(__file__).with_name("chosen_settings.json")


def candidates(world: FailingWorld, remedy: PublishedRemedy) -> dict[float, tuple[Trial, ...]]:
    """The tuning trials of every strength; empty if there is nothing to choose."""
    if len(remedy.strengths) < 2 or isinstance(remedy.apply(world, remedy.strengths[0]), str):
        return {}
    made = {}
    for strength in remedy.strengths:
        arm = remedy.apply(world, strength)
        assert not isinstance(arm, str)
        trial = arm.trial(held_out=HELD_OUT)
        made[strength] = tuple(replace(trial, seeds=(seed,)) for seed in SEEDS)
    return made


def strength_to_use(errors: Mapping[float, Sequence[float]]) -> float:
    """The strongest setting whose error on held-out seen cells is within one standard error of the smallest mean.

    Breiman's rule, with standard errors of differences within seeds. Held-out seen cells often cannot tell strengths
    apart; the smallest mean would then be a matter of chance. A net that diverged counts as infinitely bad.

    **Arguments:**

    - `errors`: of every strength, weakest first, one for each seed.

    ```python
    >>> from recombine.studies.remedies.tuning import strength_to_use
    >>> strength_to_use({0.1: [0.5, 0.3], 1.0: [0.2, 0.4], 10.0: [float("nan"), 0.1]})
    1.0
    >>> strength_to_use({0.1: [0.2, 0.4], 1.0: [0.21, 0.39], 10.0: [0.3, 0.5]})
    1.0

    ```
    """
    known = {s: np.nan_to_num(np.asarray(values, dtype=float), nan=np.inf) for s, values in errors.items()}
    best = min(known.values(), key=np.mean)

    def is_as_good(values: Float[np.ndarray, " seeds"]) -> bool:
        if not np.isfinite(values).all():
            return values is best
        excess = values - best
        return bool(excess.mean() <= excess.std(ddof=1) / np.sqrt(len(excess)))

    return [s for s, values in known.items() if is_as_good(values)][-1]


def tune(scale: Scale = "quick", *, store: Store | None = None, jobs: int = 0) -> dict[str, dict[str, Any]]:
    """Runs all tuning trials, or reads them from the store, and chooses; by world and remedy."""
    grid = {(world.name, remedy.name): candidates(world, remedy) for world, remedy in _pairs(scale)}
    trials = [trial for found in grid.values() for group in found.values() for trial in group]
    results = dict(zip(trials, execute(trials, store or Store(), jobs=jobs), strict=True))
    chosen: dict[str, dict[str, Any]] = {}
    for (world, remedy), found in grid.items():
        if not found:
            continue
        errors = {
            strength: [float(results[t].values.get("unseen", [np.nan])[0]) for t in group]
            for strength, group in found.items()
        }
        chosen.setdefault(world, {})[remedy] = {
            "strength": strength_to_use(errors),
            "held_out_error": {f"{s:g}": [_short(v) for v in values] for s, values in errors.items()},
        }
    return chosen


def chosen_strength(world: str, remedy: PublishedRemedy) -> float:
    """The strength that tuning chose at scale quick; the middle of the grid where it has not run."""
    found = json.loads(CHOSEN.read_text()) if CHOSEN.exists() else {}
    stored = found.get(world, {}).get(remedy.name)
    return float(stored["strength"]) if stored else remedy.strengths[len(remedy.strengths) // 2]


def _pairs(scale: Scale) -> Iterator[tuple[FailingWorld, PublishedRemedy]]:
    for world in worlds(scale):
        for remedy in REMEDIES:
            yield world, remedy


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None
