"""Which published remedy fixes which published failure? The matrix, and what it teaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import Column, Row, Table, blank_figure, heat_table, look, number
from recombine.report.numbers import MISSING, fixed
from recombine.studies.claim import Claim
from recombine.studies.evidence import Evidence
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference
from recombine.studies.remedies.matrix import (
    MARKS,
    REMEDY_NAMES,
    THIRTEENTH_WORLD,
    MatrixEntry,
    fitted_scores,
    gains,
    matrix,
    mean_gain,
    measured_remedies,
    measured_worlds,
)
from recombine.studies.remedies.published_remedies import NONE, REMEDIES
from recombine.studies.remedies.sweep_arms import (
    HOME,
    SMOKE_ARMS,
    WORLDS,
    all_arms,
    arm_name,
    arms,
)
from recombine.studies.study import Drawing, StudySection, Tabulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (0.0, 1.0)
"""Scores beyond these have the colour of the limit."""
PAPER_OF = {remedy.name: remedy.paper for remedy in REMEDIES}
CHANGES = {remedy.name: remedy.changes for remedy in REMEDIES}
REST = tuple(name for name in all_arms() if name not in SMOKE_ARMS)


def _pairs(evidence: Evidence) -> list[tuple[str, str]]:
    return [(w, r) for w in measured_worlds(evidence) for r in measured_remedies(evidence, w)]


def _plain_nets_fail(evidence: Evidence) -> PerSeed:
    names = measured_worlds(evidence)
    scores = {w: fitted_scores(evidence[arm_name(w, NONE.name)]) for w in names}
    return PerSeed(_median(list(scores.values())), supports={f"score, {w}": s for w, s in scores.items()})


def _median(values: list[np.ndarray]) -> np.ndarray:
    """The median over worlds, for every seed, of the nets that fit."""
    stacked = np.stack(values)
    known = np.isfinite(stacked).any(axis=0)
    return np.where(known, np.nanmedian(np.where(known, stacked, 0.0), axis=0), np.nan)


PLAIN_FAILS = Claim(
    "1",
    "plain nets fail on unseen combinations in the worlds of the six papers",
    "ours",
    difference("score of plain nets on unseen cells (1: as bad as a constant), median over worlds", "above"),
    SMOKE_ARMS,
    _plain_nets_fail,
    also=REST,
    headline=True,
    reversal="plain nets had done better on unseen cells than on seen ones",
    reduced="small worlds and nets",
    amendments=(THIRTEENTH_WORLD,),
)


def _contrast_of(
    evidence: Evidence, first: list[tuple[str, str]], second: list[tuple[str, str]], labels: tuple[str, str]
) -> PerSeed:
    """The mean gain over the first pairs minus that over the second ones."""
    n = len(next(iter(evidence.values())).seeds)
    means = [mean_gain(evidence, pairs) if pairs else np.full(n, np.nan) for pairs in (first, second)]
    return PerSeed(
        means[0] - means[1],
        supports={f"mean gain, {label}": values for label, values in zip(labels, means, strict=True)},
    )


def _at_home(evidence: Evidence) -> PerSeed:
    pairs = _pairs(evidence)
    home = [(w, r) for w, r in pairs if PAPER_OF[r] == HOME[w]]
    away = [pair for pair in pairs if pair not in home]
    made = _contrast_of(evidence, home, away, ("worlds of the remedy's paper", "other worlds"))
    every = {f"gain, {world}: {remedy}": gains(evidence, world, remedy) for world, remedy in pairs}
    return PerSeed(made.values, supports={**made.supports, **every})


AT_HOME = Claim(
    "2",
    "a remedy helps more in the worlds of its own paper than in those of the others",
    "ours",
    difference("mean gain in worlds of the remedy's own paper minus in the other worlds", "above"),
    SMOKE_ARMS,
    _at_home,
    also=REST,
    headline=True,
    reversal="remedies had helped more in worlds that their authors did not try",
    finding="At home is not always enough: single factors make convolutional decoders of bumps compose, and harm dense "
    "ones with the same images.",
    reduced="small worlds and nets",
    amendments=(THIRTEENTH_WORLD,),
)


def _data_or_training(evidence: Evidence) -> PerSeed:
    pairs = _pairs(evidence)
    data, training = ([p for p in pairs if CHANGES[p[1]] == what] for what in ("data", "training"))
    return _contrast_of(evidence, data, training, ("changes to the data", "changes to the training"))


DATA_FIRST = Claim(
    "3",
    "changing the data helps more than changing how a net is trained",
    "ours",
    difference("mean gain of remedies that change the data minus of those that change the training", "above"),
    SMOKE_ARMS,
    _data_or_training,
    also=REST,
    headline=True,
    reversal="penalties, noise and initial scale had lowered unseen errors more than further training rows",
    finding="The thirteenth world decides it: over the first twelve the difference was 0.008 [-0.029, 0.062], "
    "and the claim open.",
    reduced="small worlds and nets",
    amendments=(THIRTEENTH_WORLD,),
)


def _added_cells(evidence: Evidence) -> PerSeed:
    pairs = [(w, r) for w, r in _pairs(evidence) if r == "fewest additions"]
    n = len(next(iter(evidence.values())).seeds)
    return PerSeed(
        mean_gain(evidence, pairs) if pairs else np.full(n, np.nan),
        supports={f"gain, {w}": mean_gain(evidence, [(w, r)]) for w, r in pairs},
    )


ADDITIONS = Claim(
    "4",
    "training on the few cells that advise proposes lowers the error on the other unseen cells",
    "ours",
    difference("gain from the cells that advise proposes, mean over worlds", "above"),
    SMOKE_ARMS,
    _added_cells,
    also=REST,
    headline=True,
    reversal="the added cells had drawn capacity away from the other unseen ones",
    finding="No arm adds as many random cells, so this does not show that the choice of cells matters.",
    reduced="small worlds and nets",
)


def _text(found: MatrixEntry) -> str:
    if found.score is None:
        return MARKS[found.mark] or MISSING
    if found.mark == "does not fit":
        return f"× ({found.fitted} of {found.seeds} fit)"
    sign = f" {MARKS[found.mark]}" if MARKS[found.mark] else ""
    return f"{number(found.score.value)} [{number(found.score.low)}, {number(found.score.high)}]{sign}"


def _fill_matrix(evidence: Evidence) -> Table:
    entries, names = matrix(evidence), measured_worlds(evidence)
    rows = [Row([remedy, *(_text(entries[world, remedy]) for world in names)]) for remedy in REMEDY_NAMES]
    caption = (
        "Score on unseen cells, median over seeds with its interval: 0 is as good as on seen cells, 1 as bad as the "
        "best constant. +: helps beyond the plain net of the same seed; −: harms; ×: nets do not fit; ·: cannot be "
        "applied (see the next table)."
    )
    return Table([Column("remedy"), *(Column(world, "right") for world in names)], rows, caption=caption)


def _fill_reasons(evidence: Evidence) -> Table:
    entries = matrix(evidence)
    rows = []
    for remedy in REMEDY_NAMES:
        found: dict[str, list[str]] = {}
        for world in WORLDS:
            if entries[world, remedy].mark == "cannot be applied":
                found.setdefault(entries[world, remedy].reason, []).append(world)
        rows += [Row([remedy, ", ".join(names), reason]) for reason, names in found.items()]
    return Table([Column("remedy"), Column("worlds"), Column("why it cannot be applied")], rows)


def _draw(evidence: Evidence) -> Figure:
    entries, names = matrix(evidence), measured_worlds(evidence)
    rows = [[entries[world, remedy] for world in names] for remedy in REMEDY_NAMES]
    values = np.array([[_value(found) for found in row] for row in rows])
    helped = sum(found.mark == "helps" for row in rows for found in row)
    harmed = sum(found.mark == "harms" for row in rows for found in row)
    tried = sum(found.change is not None or found.mark == "does not fit" for row in rows for found in row)
    with look():
        figure = blank_figure(height=5.2)
        ax = figure.subplots()
        heat_table(
            ax,
            np.clip(values, *SHOWN),
            list(REMEDY_NAMES),
            names,
            limits=SHOWN,
            texts=[[_short_text(found) for found in row] for row in rows],
            title=f"Remedies help (+) in {helped} and harm (−) in {harmed} of {tried} cases",
            label="score on unseen cells (0: as good as on seen cells)",
        )
        for text in ax.texts:
            text.set_fontsize(7)
            if text.get_text().endswith(MARKS["helps"]):
                text.set_fontweight("bold")
        for tick in ax.get_xticklabels():
            tick.set(rotation=35, ha="right", rotation_mode="anchor")
    return figure


def _value(found: MatrixEntry) -> float:
    return np.nan if found.score is None or found.mark == "does not fit" else found.score.value


def _short_text(found: MatrixEntry) -> str:
    value = _value(found)
    return MARKS[found.mark] if np.isnan(value) else f"{fixed(value, 2)}{MARKS[found.mark]}"


SECTION = StudySection(
    "Remedies against failures",
    arms=arms,
    claims=(PLAIN_FAILS, AT_HOME, DATA_FIRST, ADDITIONS),
    drawings=(
        Drawing(
            "matrix",
            "Which remedy fixes which failure.",
            "Median score on unseen cells: 0 is as good as on seen cells, 1 as bad as the best constant. +: helps "
            "beyond the plain net; −: harms; ×: nets do not fit; ·: cannot be applied.",
            SMOKE_ARMS,
            _draw,
        ),
    ),
    tabulations=(
        Tabulation("Scores of all remedies in all worlds", SMOKE_ARMS, _fill_matrix),
        Tabulation("Where a remedy cannot be applied", SMOKE_ARMS, _fill_reasons),
    ),
)
