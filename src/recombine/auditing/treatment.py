"""What to try, in the order in which the evidence speaks for it, each with lines for the user's framework."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.auditing import snippets
from recombine.auditing.answers import Answers
from recombine.auditing.finding import Finding
from recombine.auditing.forecast import Forecast
from recombine.auditing.scores import Scores
from recombine.auditing.trial import Explanation
from recombine.auditing.words import cell_list
from recombine.report import count, percent

SHOWN_CELLS = 4


@dataclass(frozen=True)
class Remedy:
    """Something to try: a name, a line that says what, why the evidence speaks for it, and code that does it."""

    id: str
    title: str
    why: str
    snippet: str

    def to_dict(self) -> dict[str, str]:
        """Plain values."""
        return {"id": self.id, "title": self.title, "why": self.why, "snippet": self.snippet}


def remedies(
    findings: Mapping[str, Finding],
    cause: Explanation | None,
    scores: Scores | None,
    forecast: Forecast | str,
    answers: Answers | None,
    names: Sequence[str],
    framework: str,
) -> list[Remedy]:
    """What to try first, second, and so on; nothing for a model that composes."""
    composes = findings["composes"].holds
    if composes is True or scores is None or (cause is not None and cause.rule == "confusion"):
        return []
    if scores.unjudged:
        return list(_by_data(findings, cause, forecast, framework))
    if not scores.learned and (cause is None or cause.rule == "constant"):
        why = (
            "The model does not know the seen combinations yet; whether it composes can be asked afterwards."
        )
        title = "train until the seen combinations are right"
        return [Remedy("train_longer", title, why, "")]
    found = list(_by_cause(findings, cause, forecast, answers, names, framework))
    found += _by_data(findings, cause, forecast, framework)
    found += _by_structure(findings, cause, framework)
    unique: dict[str, Remedy] = {}
    for one in found:
        unique.setdefault(one.id, one)
    return list(unique.values())


def _by_cause(
    findings: Mapping[str, Finding],
    cause: Explanation | None,
    forecast: Forecast | str,
    answers: Answers | None,
    names: Sequence[str],
    framework: str,
) -> Iterator[Remedy]:
    """What the failure itself asks for."""
    finding = "" if cause is None else cause.finding
    if finding == "shortcut":
        assert cause is not None
        factor = " and ".join(names[axis] for axis in cause.factors)
        trained = percent(max(0.0, findings["shortcut"].details["explained_in_training"] or 0.0))
        cells = [] if isinstance(forecast, str) else _breaking(forecast, cause.factors)
        if cells:
            yield Remedy(
                "break_shortcut",
                f"show {factor} with other targets in training, such as {cell_list(cells, SHOWN_CELLS)}",
                f"In training {factor} goes with the target ({trained}), so that less had to be learned of the rest.",
                snippets.add_wrong_cells(framework),
            )
        if (
            answers is not None
            and isinstance(forecast, Forecast)
            and _mixed(forecast, answers, cause.factors)
        ):
            yield Remedy(
                "balance",
                f"weight training rows so that {factor} says less about the target",
                f"Training shows levels of {factor} with several targets, but not equally often.",
                snippets.balance(framework, [names[axis] for axis in cause.factors]),
            )
    tangled = findings["re_entanglement"].holds is True
    pictures = answers is not None and len(answers.shape) >= 2
    if finding == "superposition" or (tangled and pictures):
        yield Remedy(
            "single_factors",
            "show each factor alone in training (single-factor renderings)",
            "A model that has drawn each factor by itself can combine the drawings; one that has not adds up pictures.",
            snippets.single_factors(framework),
        )
        yield Remedy(
            "forced_rendering",
            "let each factor draw itself before anything is combined (forced rendering)",
            "It carries the independence of the factors into the space where they are combined.",
            snippets.forced_rendering(framework),
        )
    if finding == "additive_only":
        assert cause is not None
        yield Remedy(
            "interactions",
            "let the factors meet in a product, of learned codes or of numbers",
            "The target depends on factors together, which no sum of their effects can say. Products of codes carry "
            "over to new pairs; hidden units on codes of all factors mostly learn the pairs that they saw.",
            snippets.interactions(framework),
        )
    if finding == "memorisation_leak" and isinstance(forecast, Forecast) and forecast.advice.leak is not None:
        rare = sorted(
            (number, name, level)
            for name, levels in forecast.advice.leak.partners.items()
            for level, number in levels[:2]
        )[:3]
        listed = ", ".join(f"{name} {level!r} (in {number} so far)" for number, name, level in rare)
        yield Remedy(
            "partners",
            f"show rare levels in more combinations: {listed}",
            "The more partners a level was seen with, the more of its effect is stored with the level itself.",
            snippets.partners(framework),
        )


def _mixed(forecast: Forecast, answers: Answers, factors: Sequence[int]) -> bool:
    """Whether most training rows have levels that occur with several labels, so that weights can balance them."""
    table = forecast.advice.table
    rows = table.seen & answers.known
    if answers.kind != "classification" or not rows.any():
        return False
    _, level = np.unique(table.cells[rows][:, list(factors)], axis=0, return_inverse=True)
    labels = np.zeros((level.max() + 1, len(answers.classes)))
    np.add.at(labels, (level.ravel(), answers.targets[rows].argmax(axis=1)), 1)
    several = (labels > 0).sum(axis=1) > 1
    uneven = labels.max(axis=1) > 1.5 * np.where(labels > 0, labels, np.inf).min(axis=1)
    return bool((several & uneven)[level.ravel()].mean() > 0.5)


def _breaking(forecast: Forecast, factors: Sequence[int]) -> list[dict[str, Any]]:
    """A wrong unseen cell for every level of the factors of a shortcut, the most wrong first."""
    order = np.argsort(-np.nan_to_num(forecast.error), kind="stable")
    found: dict[tuple[int, ...], dict[str, Any]] = {}
    for i in order[forecast.wrong[order]]:
        cell = forecast.advice.targets[i]
        found.setdefault(tuple(cell[list(factors)].tolist()), forecast.advice.table.describe(cell))
    return list(found.values())


def _by_data(
    findings: Mapping[str, Finding], cause: Explanation | None, forecast: Forecast | str, framework: str
) -> Iterator[Remedy]:
    """What the split asks for."""
    if not isinstance(forecast, Forecast):
        return
    if cause is None and forecast.misled.any():
        yield Remedy(
            "break_shortcut",
            f"show in training some of the {count(int(forecast.misled.sum()))} cells about which the shortcut is wrong",
            "Training rewards a shortcut that is wrong about them, whether or not this model takes it.",
            snippets.misled_cells(framework),
        )
    added = forecast.additions()
    if added and forecast.order is not None and not forecast.supposed:
        cells = "cell" if len(added) == 1 else "cells"
        yield Remedy(
            "add_cells",
            f"add {count(len(added))} {cells} to training: {cell_list(added, SHOWN_CELLS)}",
            f"With them training determines every unseen cell, if effects of up to {forecast.order} factors add up.",
            snippets.add_cells(framework),
        )
    elif forecast.order is None and forecast.wrong.any():
        yield Remedy(
            "add_wrong_cells",
            "add some of the unseen cells that are wrong now",
            "The seen targets are no sums of effects of few factors, so each combination says something of its own.",
            snippets.add_wrong_cells(framework),
        )
    cure = forecast.advice.flip
    if cure is not None and len(cure.cells):
        named = [forecast.advice.table.describe(cell) for cell in cure.cells]
        cells = "cell" if len(cure.cells) == 1 else "cells"
        yield Remedy(
            "flip_cells",
            f"add {count(len(cure.cells))} {cells} that break the shortcut: {cell_list(named, SHOWN_CELLS)}",
            "With them the largest margin, where cross-entropy leads, gets the other unseen cells right.",
            snippets.flip_cells(framework),
        )
    losses = forecast.advice.losses
    if losses is not None and losses.squared_helps:
        yield Remedy(
            "squared_loss",
            "use squared loss instead of cross-entropy",
            "On this split the largest margin, where cross-entropy leads, is wrong on unseen cells; squares are not.",
            snippets.squared_loss(framework),
        )


def _by_structure(
    findings: Mapping[str, Finding], cause: Explanation | None, framework: str
) -> Iterator[Remedy]:
    """What the inside asks for."""
    if findings["mixed_connectivity"].holds is True and cause is None:
        yield Remedy(
            "weighted_activity",
            "add the weighted-activity penalty, which makes modules",
            "Its weights connect everything with everything; parts that are computed apart can be recombined.",
            snippets.weighted_activity(framework),
        )
    crossed = findings["cross_interaction"]
    if crossed.holds is True and crossed.details.get("method") == "differences":
        yield Remedy(
            "compositional_contrast",
            "penalise outputs that depend on several parts of the input",
            "Parts that draw different outputs can be exchanged one by one. (This model has kinks, as ReLU nets do, so "
            "a penalty on second derivatives would do nothing.)",
            snippets.compositional_contrast(framework),
        )
    elif crossed.holds is True:
        yield Remedy(
            "cross_hessian",
            "penalise interaction across parts of the input",
            "Parts whose effects do not depend on each other can be exchanged one by one.",
            snippets.cross_hessian(framework),
        )


def plain_remedies(found: Sequence[Remedy]) -> list[dict[str, Any]]:
    """For JSON."""
    return [one.to_dict() for one in found]
