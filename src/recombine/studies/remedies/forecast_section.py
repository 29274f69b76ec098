"""Does the forecast of `advise`, made before any training, predict where nets fail and where remedies help?"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.stats import spearmanr

from recombine.report import Column, Row, Table, number, percent
from recombine.report.numbers import bracket
from recombine.studies.claim import Claim
from recombine.studies.evidence import Evidence, Scale
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference
from recombine.studies.remedies.matrix import (
    THIRTEENTH_WORLD,
    entry,
    fitted_scores,
    gains,
    measured_remedies,
    measured_worlds,
)
from recombine.studies.remedies.matrix_section import REST
from recombine.studies.remedies.prepared_task import has_cells
from recombine.studies.remedies.proposed_cells import advice_on, proposed_cells
from recombine.studies.remedies.published_remedies import NONE
from recombine.studies.remedies.sweep_arms import SMOKE_ARMS, arm_name
from recombine.studies.remedies.worlds import worlds
from recombine.studies.study import StudySection, Tabulation


@lru_cache(maxsize=3)
def forecasts(scale: Scale) -> dict[str, dict[str, float]]:
    """By world with cells: the leak that `advise` forecasts, the share of cells that training determines, how many
    cells it proposes, and whether it recommends the squared loss (NaN if it says nothing).
    """
    found = {}
    for world in worlds(scale):
        task = world.task(seed=0)
        if not has_cells(task):
            continue
        advice = advice_on(task)
        kept = float("nan") if advice.leak is None else advice.leak.median
        determined = np.asarray(advice.orders[advice.main_order].determined)
        squared = None if advice.losses is None else advice.losses.squared_helps
        found[world.name] = {
            "leak": 1 - kept,
            "determined": float(determined.mean()),
            "proposed": float(proposed_cells(task).sum()),
            "squared": float("nan") if squared is None else float(squared),
        }
    return found


def direct_forecasts(scale: Scale) -> dict[tuple[str, str], bool]:
    """By world and remedy: whether `advise` says that the remedy helps there, where it says so of this remedy.

    It proposes cells only if these help. Of the squared loss it says so where a cell has one label.
    """
    found: dict[tuple[str, str], bool] = {}
    for world, forecast in forecasts(scale).items():
        if forecast["proposed"]:
            found[world, "fewest additions"] = True
        if np.isfinite(forecast["squared"]):
            found[world, "squared error"] = bool(forecast["squared"])
    return found


def rank_correlation(forecast: list[float], measured: np.ndarray) -> np.ndarray:
    """Spearman's correlation over worlds `(worlds, seeds)`, for every seed; NaN below four worlds."""
    values = []
    for column in measured.T:
        known = np.isfinite(column) & np.isfinite(forecast)
        enough = known.sum() >= 4
        values.append(
            float(spearmanr(np.asarray(forecast)[known], column[known]).statistic) if enough else np.nan
        )
    return np.array(values)


def _against_failure(evidence: Evidence) -> PerSeed:
    forecast = forecasts(evidence.scale)
    names = [world for world in measured_worlds(evidence) if world in forecast]
    scores = np.stack([fitted_scores(evidence[arm_name(world, NONE.name)]) for world in names])
    return PerSeed(rank_correlation([forecast[world]["leak"] for world in names], scores))


def best_gain(evidence: Evidence, world: str) -> np.ndarray:
    """The largest gain of any remedy, for every seed; NaN if nothing fits."""
    found = np.stack([gains(evidence, world, remedy) for remedy in measured_remedies(evidence, world)])
    best = np.where(np.isfinite(found), found, -np.inf).max(axis=0)
    return np.where(np.isfinite(best), best, np.nan)


def _against_gain(evidence: Evidence) -> PerSeed:
    forecast = forecasts(evidence.scale)
    names = [world for world in measured_worlds(evidence) if world in forecast]
    values = np.stack([best_gain(evidence, world) for world in names])
    return PerSeed(rank_correlation([forecast[world]["leak"] for world in names], values))


def _median(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _fill(evidence: Evidence) -> Table:
    forecast = forecasts(evidence.scale)
    rows = []
    for world in measured_worlds(evidence):
        if world not in forecast:
            continue
        found, score = forecast[world], fitted_scores(evidence[arm_name(world, NONE.name)])
        rows.append(
            Row(
                [
                    world,
                    percent(found["leak"]),
                    percent(found["determined"]),
                    f"{found['proposed']:.0f}",
                    number(_median(score)),
                    number(_median(best_gain(evidence, world))),
                ]
            )
        )
    headings = ("leak", "determined", "cells proposed", "score of plain nets", "best gain")
    caption = (
        "Leak: the share of their size that predictions on unseen cells should lose, for a random ReLU network of "
        "three layers. Determined: unseen cells that additive models of the labels' order agree on. Best gain: the "
        "largest of any remedy. Forecasts are for the split of seed 0."
    )
    return Table([Column("world"), *(Column(name, "right") for name in headings)], rows, caption=caption)


def _fill_direct(evidence: Evidence) -> Table:
    rows, right = [], []
    for (world, remedy), promised in direct_forecasts(evidence.scale).items():
        found = entry(evidence, world, remedy)
        if found.change is None:
            continue
        right.append((found.mark == "helps") == promised)
        rows.append(
            Row(
                [
                    world,
                    remedy,
                    "helps" if promised else "does not help",
                    found.mark,
                    bracket(found.change.scaled(-1.0)),
                ]
            )
        )
    caption = f"{sum(right)} of {len(right)} direct forecasts came true. Gain: plain net's score minus the remedy's."
    columns = [
        Column("world"),
        Column("remedy"),
        Column("forecast"),
        Column("measured"),
        Column("gain", "right"),
    ]
    return Table(columns, rows, caption=caption)


SECTION = StudySection(
    "Does advise predict where remedies help?",
    arms=lambda scale: {},
    claims=(
        Claim(
            "5",
            "the memorisation leak that advise forecasts ranks worlds by how badly plain nets fail",
            "ours",
            difference("rank correlation over worlds: forecast leak with the score of plain nets", "above"),
            SMOKE_ARMS,
            _against_failure,
            also=REST,
            reversal="nets had failed most where the split promised the smallest leak",
            reduced="small worlds and nets",
            amendments=(THIRTEENTH_WORLD,),
            finding="The forecast is right about what it describes, sums in networks that learn little (kernel "
            "theory, claims 18 and 34). But plain nets fail most where targets are not sums: they "
            "superpose bumps (score above 1) and take the shortcut in context dependence, and neither is "
            "a leak. So the leak ranks splits of one task, not tasks.",
        ),
        Claim(
            "6",
            "the memorisation leak that advise forecasts ranks worlds by how much remedies help",
            "ours",
            difference("rank correlation over worlds: forecast leak with the best remedy's gain", "above"),
            SMOKE_ARMS,
            _against_gain,
            also=REST,
            headline=True,
            reversal="remedies had helped most where the split promised the smallest leak",
            reduced="small worlds and nets",
            amendments=(THIRTEENTH_WORLD,),
            finding="What a remedy can gain is bounded by how much the plain net fails, which the leak does not rank "
            "(claim 5). What advise says of single remedies is more useful, see the second table.",
        ),
    ),
    tabulations=(
        Tabulation("Forecasts of advise and what was measured", SMOKE_ARMS, _fill),
        Tabulation("What advise says of single remedies, and what they did", SMOKE_ARMS, _fill_direct),
    ),
)
