"""Does the forecast come true? Checks over random splits."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm

VALUES = ("determined", "retained", "foretold", "measured", "start", "sure")


def by_split(evidence: Evidence, world: str, *, level: bool = False) -> dict[str, np.ndarray]:
    """Means over the unseen cells of every random split of a world, `(splits,)`.

    - `level`: less the mean of all splits with as many unseen cells, so that their number alone explains nothing.
    """
    arms = [evidence[forecast_arm(world, held_out)] for held_out in HOLES[world]]
    found = {}
    for name in VALUES:
        means = [arm[name].mean(axis=1) for arm in arms]
        found[name] = np.concatenate([mean - mean.mean() if level else mean for mean in means])
    return found


def by_cell(evidence: Evidence, world: str) -> dict[str, np.ndarray]:
    """The same cell by cell, `(cells of all splits,)`."""
    arms = [evidence[forecast_arm(world, held_out)] for held_out in HOLES[world]]
    return {name: np.concatenate([arm[name].ravel() for arm in arms]) for name in VALUES}


def calibration(cells: dict[str, np.ndarray], groups: int = 10) -> dict[str, np.ndarray]:
    """Cells in groups of about equal size by the foretold error, `(groups,)` each.

    - `foretold`, `measured`: means; `low`, `high`: quartiles of the measured error;
    - `with_start`: the foretold error plus what the initial function adds.
    """
    parts = np.array_split(np.argsort(cells["foretold"], kind="stable"), groups)
    measured = [cells["measured"][part] for part in parts]
    return {
        "foretold": np.array([cells["foretold"][part].mean() for part in parts]),
        "measured": np.array([values.mean() for values in measured]),
        "with_start": np.array([(cells["foretold"] + cells["start"])[part].mean() for part in parts]),
        "low": np.array([np.quantile(values, 0.25) for values in measured]),
        "high": np.array([np.quantile(values, 0.75) for values in measured]),
    }


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's; NaN if one of the two does not vary."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1]) if min(np.ptp(rank) for rank in ranks) > 0 else float("nan")


def forecast_holds(evidence: Evidence, world: str, *, signs: bool = False) -> Verdict:
    """With `signs`, errors are wrong signs."""
    splits, cells = by_split(evidence, world), by_cell(evidence, world)
    level = by_split(evidence, world, level=True)

    def together(found: dict[str, np.ndarray], forecast: np.ndarray) -> list[float]:
        return [rank_correlation(forecast, found["measured"])]

    conditions = [
        Condition("rank correlation over splits, kernel", together(splits, splits["foretold"]), ">=", 0.5),
        Condition("over splits, split alone (1 - retention)", together(splits, 1 - splits["retained"])),
        Condition(
            "with their number of unseen cells held fixed, kernel", together(level, level["foretold"]), ">", 0
        ),
        Condition("held fixed, split alone", together(level, -level["retained"])),
        Condition("over cells, kernel", together(cells, cells["foretold"])),
        Condition("over cells, split alone", together(cells, 1 - cells["retained"])),
    ]
    conditions += [
        Condition("mean error, foretold", [cells["foretold"].mean()]),
        Condition("with what the initial function adds", [(cells["foretold"] + cells["start"]).mean()]),
        Condition("measured", [cells["measured"].mean()]),
    ]
    missed = np.abs(cells["measured"] - cells["foretold"]) > 0.5
    if signs and 0 < missed.sum() < len(missed):
        conditions.append(Condition("cells with the other sign than foretold", [missed.mean()]))
        conditions.append(Condition("the machine's margin there", [cells["sure"][missed].mean()]))
        conditions.append(Condition("its margin elsewhere", [cells["sure"][~missed].mean()]))
    fixed = cells["determined"] > 0
    if 0 < fixed.sum() < len(fixed):
        conditions.append(Condition("measured error, determined cells", [cells["measured"][fixed].mean()]))
        conditions.append(Condition("measured error, other cells", [cells["measured"][~fixed].mean()]))
    return Verdict.of(conditions, n_seeds=len(splits["measured"]), note=f"{len(splits['measured'])} splits")
