"""Ours: is the theory's forecast right? Random splits, a forecast for each, and nets trained on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from recombine.nets import mlp
from recombine.parts import Part
from recombine.report import BASELINE, blank_figure, look, sentence
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, ArmPlans, Evidence, Scale
from recombine.studies.kernel_theory.forecasts import forecast
from recombine.studies.kernel_theory.symbol_networks import LOGISTIC
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import addition, bumps, context_dependence, one_hot, with_random_hole
from recombine.training import Recipe, sgd
from recombine.training.recipe import SQUARED_ERROR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOLES = {
    "addition": (10, 25, 40, 50, 60),
    "context dependence": (8, 20, 32, 44, 54),
    "bumps": (8, 16, 24, 32, 40),
}
"""Numbers of cells held out at random, for each of three task families."""
SEEDS = {"smoke": 1, "quick": 10, "paper": 20}
"""Every seed is a random split for each number of cells."""
TOGETHER = 5
FAMILIES = {
    "addition": (Part(addition), 18, 1, sgd(0.002)),
    "context dependence": (Part(context_dependence), 14, 1, sgd(0.01)),
    "bumps": (Part(bumps, n=8, encoding=Part(one_hot), polarity="bright"), 16, (8, 8), sgd(0.02)),
}
"""Task, numbers of inputs and outputs, and optimiser."""
VALUES = ("determined", "retained", "predicted", "measured", "start", "sure")


def forecast_arm(family: str, held_out: int) -> str:
    """Random splits of one task family with `held_out` unseen cells."""
    return f"{family}, {held_out} unseen at random"


def arms(scale: Scale) -> ArmPlans:
    """The arms of this section at a scale."""
    plans = {}
    for family, (task, inputs, outputs, optimiser) in list(FAMILIES.items())[
        : 1 if scale == "smoke" else None
    ]:
        signs = family == "context dependence"
        recipe = Recipe(
            steps=20 if scale == "smoke" else 4000 if signs else 20_000,
            batch=None,
            optimiser=optimiser,
            loss=LOGISTIC if signs else SQUARED_ERROR,
            stop_below=None if signs else 1e-4,
            record_every=200,
        )
        net = Part(mlp, inputs=inputs, width=1000, depth=1, outputs=outputs, normal=True)
        for held_out in HOLES[family][:1] if scale == "smoke" else HOLES[family]:
            split = Part(with_random_hole, task=task, held_out=held_out)
            trial = Trial(split, (Part(forecast, signs=signs),), (0,), net, recipe)
            plans[forecast_arm(family, held_out)] = ArmPlan(trial, seeds=SEEDS[scale], together=TOGETHER)
    return plans


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's; NaN if one of the two does not vary."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1]) if min(np.ptp(rank) for rank in ranks) > 0 else float("nan")


def by_seed(evidence: Evidence, family: str) -> dict[str, Float[np.ndarray, "seeds cells"]]:
    """All unseen cells of a seed's splits, one number of cells after another."""
    splits = [evidence[forecast_arm(family, held_out)] for held_out in HOLES[family]]
    return {name: np.concatenate([arm[name] for arm in splits], axis=1) for name in VALUES}


def by_split(evidence: Evidence, family: str) -> dict[str, Float[np.ndarray, " splits"]]:
    """Means over the unseen cells of every split."""
    splits = [evidence[forecast_arm(family, held_out)] for held_out in HOLES[family]]
    return {name: np.concatenate([arm[name].mean(axis=1) for arm in splits]) for name in VALUES}


def within_sizes(evidence: Evidence, family: str, forecast_of: str, sign: int = 1) -> np.ndarray:
    """The correlation over cells of splits with equally many unseen cells, mean over their numbers, `(seeds,)`."""
    rows = []
    for held_out in HOLES[family]:
        arm = evidence[forecast_arm(family, held_out)]
        pairs = zip(sign * arm[forecast_of], arm["measured"], strict=True)
        rows.append([rank_correlation(guess, measured) for guess, measured in pairs])
    table = np.array(rows)
    known = np.isfinite(table)
    return np.where(known, table, 0).sum(axis=0) / np.where(known.any(axis=0), known.sum(axis=0), np.nan)


def _follows_forecast(evidence: Evidence, family: str) -> PerSeed:
    cells = by_seed(evidence, family)

    def correlations(guess: np.ndarray) -> np.ndarray:
        return np.array([rank_correlation(g, m) for g, m in zip(guess, cells["measured"], strict=True)])

    supports = {
        "from the split alone (1 - retention)": correlations(1 - cells["retained"]),
        "within splits of one size": within_sizes(evidence, family, "predicted"),
        "within splits of one size, from the split alone": within_sizes(evidence, family, "retained", -1),
        "mean error, predicted": cells["predicted"].mean(axis=1),
        "mean error, with what the initial function adds": (cells["predicted"] + cells["start"]).mean(axis=1),
        "mean error, measured": cells["measured"].mean(axis=1),
    }
    missed = np.abs(cells["measured"] - cells["predicted"]) > 0.5
    if family == "context dependence" and missed.any():
        supports["cells with the opposite sign"] = missed.mean(axis=1)
        supports["the machine's margin there"] = [cells["sure"][missed].mean()]
        supports["its margin elsewhere"] = [cells["sure"][~missed].mean()]
    return PerSeed(correlations(cells["predicted"]), supports=supports)


SHARED = (
    "Part of the correlation comes from the number of unseen cells; within splits of one size the kernel's forecast, "
    "which uses the training labels, remains informative."
)
FINDINGS = {
    "addition": "On average the forecast is calibrated. Its largest errors are for sums of two extreme numbers that "
    "have few partners, where a net's random initial weights matter most.",
    "context dependence": "The forecast is wrong where the machine's own margin is small.",
    "bumps": "Networks have about twice the error that the kernel machine predicts, because they do not start from 0: "
    "on unseen cells training leaves most of the initial random function in place, which is large compared with a "
    "bump. Its expected size, added to the forecast, accounts for the difference.",
}

CLAIMS = tuple(
    Claim(
        id,
        f"{family}: the theory's forecast tells which unseen cells of a random split a network will get wrong",
        "ours",
        difference("rank correlation of predicted and measured errors over cells", "above", magnitude=0.5),
        tuple(forecast_arm(family, held_out) for held_out in HOLES[family]),
        partial(_follows_forecast, family=family),
        reversal="networks had failed on other cells than kernel machines",
        finding=f"{SHARED} {FINDINGS[family]}",
        amendments=(
            Amendment(
                "rank correlation over the mean errors of 25 splits at least 0.5, above 0 with the number of unseen "
                "cells held fixed",
                "rank correlation over the unseen cells of each seed's five splits",
                "one number per seed; over splits, the number of unseen cells explains most of it",
            ),
        ),
    )
    for id, family in zip(("26", "27", "28"), HOLES, strict=True)
)


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


def _draw_forecast(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.7)
        panels = figure.subplots(1, len(HOLES))
        for ax, family in zip(panels, HOLES, strict=True):
            values = by_split(evidence, family)
            ax.plot(values["predicted"], values["measured"], "o", color="#D55E00", markersize=3.5)
            top = 1.05 * max(values["predicted"].max(), values["measured"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("predicted error")
            correlation = rank_correlation(values["predicted"], values["measured"])
            sentence(ax, f"{family}: rank correlation {correlation:.2f}")
        panels[0].set_ylabel("measured error, unseen cells")
    return figure


def _draw_calibration(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, len(HOLES))
        for ax, family in zip(panels, HOLES, strict=True):
            values = calibration({name: cells.ravel() for name, cells in by_seed(evidence, family).items()})
            kernel = {"color": BASELINE, "markersize": 4, "label": "kernel machine"}
            ax.plot(values["predicted"], values["measured"], "o-", **kernel)
            if (values["with_start"] != values["predicted"]).any():
                both = {"color": "#D55E00", "markersize": 4, "label": "and initial function"}
                ax.plot(values["with_start"], values["measured"], "s-", **both)
            ax.vlines(values["predicted"], values["low"], values["high"], color=BASELINE, linewidth=0.8)
            top = 1.05 * max(values["with_start"].max(), values["high"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("predicted error, cells in ten groups")
            sentence(ax, family)
        panels[0].set_ylabel("measured error, mean and quartiles")
        panels[0].legend(loc="upper left")
    return figure


ALL = tuple(forecast_arm(family, held_out) for family, held in HOLES.items() for held_out in held)
DRAWINGS = (
    Drawing(
        "forecast",
        "Is the forecast right? Predicted and measured errors on random splits.",
        "Every point is a random split of one task family. Horizontal: mean error of the exact kernel machine on "
        "unseen cells, known before training. Vertical: that of trained networks with one hidden layer. Squared "
        "errors relative to a constant's; for context dependence, the share of wrong signs. On the grey line the "
        "forecast is exact.",
        ALL,
        _draw_forecast,
    ),
    Drawing(
        "forecast-calibration",
        "Is the forecast calibrated? Unseen cells of all splits, in ten groups of equal size by predicted error.",
        "Points: mean measured error in each group; lines: its interquartile range. On the thin line the forecast is "
        "right on average; above it, networks are worse than predicted. Grey: the exact kernel machine. Orange: plus "
        "the part of the network's initial random function that training leaves in place. Errors as in the previous "
        "figure.",
        ALL,
        _draw_calibration,
    ),
)

SECTION = StudySection(
    "Ours: is the forecast right? Random splits", arms=arms, claims=CLAIMS, drawings=DRAWINGS
)
