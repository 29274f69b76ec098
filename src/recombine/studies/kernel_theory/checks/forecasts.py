"""Checks of the forecasts over random splits."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm

VALUES = ("determined", "retained", "predicted", "measured", "start", "sure")


def by_split(evidence: Evidence, family: str, *, level: bool = False) -> dict[str, np.ndarray]:
    """Means over the unseen cells of every random split of a task family, `(splits,)`.

    **Arguments:**

    - `level`: subtract the mean of all splits with as many unseen cells, so that their number alone explains nothing.
    """
    arms = [evidence[forecast_arm(family, held_out)] for held_out in HOLES[family]]
    values = {}
    for name in VALUES:
        means = [arm[name].mean(axis=1) for arm in arms]
        values[name] = np.concatenate([mean - mean.mean() if level else mean for mean in means])
    return values


def by_cell(evidence: Evidence, family: str) -> dict[str, np.ndarray]:
    """The same cell by cell, `(cells of all splits,)`."""
    arms = [evidence[forecast_arm(family, held_out)] for held_out in HOLES[family]]
    return {name: np.concatenate([arm[name].ravel() for arm in arms]) for name in VALUES}


def calibration(cells: dict[str, np.ndarray], groups: int = 10) -> dict[str, np.ndarray]:
    """Cells in groups of about equal size by the predicted error, `(groups,)` each.

    **Returns:**

    - `predicted`, `measured`: means; `low`, `high`: quartiles of the measured error;
    - `with_start`: the predicted error plus what the initial function adds.
    """
    parts = np.array_split(np.argsort(cells["predicted"], kind="stable"), groups)
    measured = [cells["measured"][part] for part in parts]
    return {
        "predicted": np.array([cells["predicted"][part].mean() for part in parts]),
        "measured": np.array([values.mean() for values in measured]),
        "with_start": np.array([(cells["predicted"] + cells["start"])[part].mean() for part in parts]),
        "low": np.array([np.quantile(values, 0.25) for values in measured]),
        "high": np.array([np.quantile(values, 0.75) for values in measured]),
    }


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's; NaN if one of the two does not vary."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1]) if min(np.ptp(rank) for rank in ranks) > 0 else float("nan")


def forecast_holds(evidence: Evidence, family: str, *, signs: bool = False) -> Verdict:
    """Do measured errors follow the forecast? With `signs`, an error is a wrong sign."""
    splits, cells = by_split(evidence, family), by_cell(evidence, family)
    level = by_split(evidence, family, level=True)

    def correlation(values: dict[str, np.ndarray], forecast: np.ndarray) -> list[float]:
        return [rank_correlation(forecast, values["measured"])]

    conditions = [
        Condition(
            "rank correlation over splits, kernel", correlation(splits, splits["predicted"]), ">=", 0.5
        ),
        Condition("over splits, split alone (1 - retention)", correlation(splits, 1 - splits["retained"])),
        Condition(
            "with their number of unseen cells held fixed, kernel",
            correlation(level, level["predicted"]),
            ">",
            0,
        ),
        Condition("held fixed, split alone", correlation(level, -level["retained"])),
        Condition("over cells, kernel", correlation(cells, cells["predicted"])),
        Condition("over cells, split alone", correlation(cells, 1 - cells["retained"])),
    ]
    conditions += [
        Condition("mean error, predicted", [cells["predicted"].mean()]),
        Condition("with what the initial function adds", [(cells["predicted"] + cells["start"]).mean()]),
        Condition("measured", [cells["measured"].mean()]),
    ]
    missed = np.abs(cells["measured"] - cells["predicted"]) > 0.5
    if signs and 0 < missed.sum() < len(missed):
        conditions.append(Condition("cells with the opposite sign", [missed.mean()]))
        conditions.append(Condition("the machine's margin there", [cells["sure"][missed].mean()]))
        conditions.append(Condition("its margin elsewhere", [cells["sure"][~missed].mean()]))
    fixed = cells["determined"] > 0
    if 0 < fixed.sum() < len(fixed):
        conditions.append(Condition("measured error, determined cells", [cells["measured"][fixed].mean()]))
        conditions.append(Condition("measured error, other cells", [cells["measured"][~fixed].mean()]))
    return Verdict.of(conditions, n_seeds=len(splits["measured"]), note=f"{len(splits['measured'])} splits")
