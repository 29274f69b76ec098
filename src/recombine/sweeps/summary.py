"""What a sweep says about each point: medians over seeds with their intervals, and what went wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.intervals import Estimate, interval
from recombine.report import bracket, plain_number
from recombine.runs import Trial
from recombine.sweeps.accepted import did_you_mean
from recombine.sweeps.sweep_frame import DIVERGED, FAILED, SweepFrame

MAX_VALUES = 3
"""Measured values that a table shows; the frame has all."""

BASELINE = "baseline_"
"""How the names of values begin that do not depend on the net."""


@dataclass(frozen=True, repr=False)
class Best:
    """The point of a sweep with the best median over seeds.

    **Attributes:**

    - `settings`: the swept settings by path; `trial`: one that has them, with its task, net and recipe.
    - `value`: the name of what was compared; `estimate`: its median over seeds with the interval.
    """

    settings: dict[str, Any]
    value: str
    estimate: Estimate
    trial: Trial

    def __repr__(self) -> str:
        settings = ", ".join(f"{path}={value!r}" for path, value in self.settings.items())
        return f"Best({self.value} {bracket(self.estimate)}; {settings or 'nothing was swept'})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values; parts by their text."""
        settings = {path: _plain(value) for path, value in self.settings.items()}
        return {"settings": settings, "value": self.value, "estimate": estimate_dict(self.estimate)}


def shown_values(frame: SweepFrame) -> list[str]:
    """The values that a table has room for: no baselines, and no details such as `error_out_std` of `error_out`."""
    names = frame.numeric()
    main = [
        name
        for name in names
        if not name.startswith(BASELINE) and not any(name.startswith(f"{other}_") for other in names)
    ]
    return (main or names)[:MAX_VALUES]


def main_value(frame: SweepFrame, value: str | None) -> str:
    """The value to compare points by: that asked for, or else the error on unseen cells, or the first value."""
    names = frame.numeric()
    if not names:
        raise InputError("value", value, "a sweep with a measured number; this one has none")
    if value is None:
        return next((name for name in names if name.endswith("_out") or "unseen" in name), names[0])
    if value not in names:
        listed = ", ".join(names[:30])
        raise InputError(
            "value", value, f"a measured value{did_you_mean(str(value), names)} (known: {listed})"
        )
    return value


def best_point(frame: SweepFrame, value: str, *, lowest: bool, with_failures: bool) -> int:
    """The number of the point with the best median; of equal ones the first."""
    measured = frame.by_point(value)
    usable = np.isfinite(measured).any(axis=1)
    if not with_failures:
        usable &= ~np.isin(frame.status(), (FAILED, DIVERGED)).any(axis=1)
    if not usable.any():
        expected = "a sweep in which some point has no failed or diverged seed; or with_failures=True"
        raise InputError("best", value, expected)
    scores = np.full(len(measured), np.inf)
    finite = np.where(np.isfinite(measured), measured, np.nan)
    scores[usable] = (1 if lowest else -1) * np.nanmedian(finite[usable], axis=1)
    return int(scores.argmin())


def point_summary(frame: SweepFrame, point: int, values: list[str]) -> dict[str, Estimate]:
    """Medians over the seeds of one point, with their intervals."""
    rows = slice(point * frame.seeds, (point + 1) * frame.seeds)
    return {
        name: interval([np.nan if one is None else one for one in frame.frame[name][rows].to_list()])
        for name in values
    }


def endings(statuses: np.ndarray) -> dict[str, int]:
    """How many seeds failed and how many diverged."""
    counts = Counter(statuses.ravel().tolist())
    return {name: counts[name] for name in (FAILED, DIVERGED)}


def estimate_dict(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain values, `None` where nothing was measured."""
    return {
        "value": plain_number(estimate.value),
        "low": plain_number(estimate.low),
        "high": plain_number(estimate.high),
        "level": round(estimate.level, 4),
        "seeds": estimate.n,
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
