"""Models compared in pairs on the same cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from recombine.auditing.cells import Cells, Weighting, gather
from recombine.auditing.comparison.changed_cells import changed_cells
from recombine.auditing.comparison.comparison import AuditComparison, ModelPair
from recombine.auditing.comparison.paired_difference import paired_difference
from recombine.auditing.gate.stored_cells import outputs_judged
from recombine.auditing.independent_units import units_without
from recombine.auditing.output_scores import some_outputs
from recombine.auditing.outputs import Outputs
from recombine.intervals import Estimate
from recombine.report import count

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def compare_errors(reports: Mapping[str, AuditReport], *, seed: int = 0) -> AuditComparison:
    """Compares audits of the same table: all pairs of models, corrected for their number."""
    notes: list[str] = []
    judged = _judged(reports, notes)
    pairs: list[ModelPair] = []
    couples = list(combinations(judged, 2))
    unseen_means, seen_means = {}, {}
    if judged:
        any_cells = next(iter(judged.values()))[1]
        inside, outside = any_cells.inside, any_cells.outside
        for name, (_, cells) in judged.items():
            seen_means[name], unseen_means[name] = (_mean(reports[name], cells, group) for group in (0, 1))
    if couples:
        known = any_cells.known & any_cells.familiar
        scale = float(any_cells.error_of_constant[known].mean()) if known.any() else 0.0
        table = next(iter(reports.values())).table
        for first, second in couples:
            before, after = judged[first][1].error, judged[second][1].error
            unit = _shared_units(judged[first][1], judged[second][1])
            seen, unseen = (
                paired_difference(
                    before[index],
                    after[index],
                    scale=scale,
                    comparisons=len(couples),
                    weights=any_cells.weights[index],
                    units=unit[index],
                    seed=seed,
                )
                for index in (inside, outside)
            )
            changed = changed_cells(table, judged[first], judged[second])
            pairs.append(ModelPair(first, second, unseen, seen, changed))
        if len(couples) > 1:
            notes.append(
                f"intervals of differences are corrected for {count(len(couples), 'pair')} of models"
            )
        if not all(pair.changed.noise_known for pair in pairs):
            notes.append(
                "with one row per cell, a change of the error cannot be separated from noise; cells count as changed "
                "from a tenth of a constant's error on"
            )
    notes += [
        f"{name} raised an error and is not compared" for name, one in reports.items() if one.model_error
    ]
    notes += _notes(reports)
    errors = {name: cells.error for name, (_, cells) in judged.items()}
    return AuditComparison(
        reports, tuple(pairs), errors, unseen_means, seen_means, tuple(dict.fromkeys(notes))
    )


def _mean(report: AuditReport, cells: Cells, group: int) -> Estimate:
    """The mean error of seen (0) or unseen (1) cells: as the report has it, if it is about the same outputs."""
    if cells is report.by_cell and report.scores is not None:
        return report.scores.unseen if group else report.scores.seen
    index = cells.outside if group else cells.inside
    return cells.possible(cells.mean_error(cells.error[index], index))


def _shared_units(first: Cells, second: Cells) -> Int[np.ndarray, " cells"]:
    """Equal numbers for cells that differ only in factors that are copied in both models.

    A model with the same error in every unseen cell does not show which factors are: differences from it depend on what
    the error of the other depends on.
    """
    telling = (
        [one for one in (first, second) if np.ptp(one.error[one.outside]) > 0] if len(first.outside) else []
    )
    copied = set.intersection(*(set(one.copied) for one in telling or (first, second)))
    return units_without(first.cells, sorted(copied), first.seen)


def _weighting(report: AuditReport) -> Weighting:
    return "rows" if report.scores is not None and report.scores.weighting == "rows" else "cells"


def _notes(reports: Mapping[str, AuditReport]) -> list[str]:
    """The notes of all reports; those that not all have begin with the model."""
    shared = set.intersection(*(set(one.notes) for one in reports.values()))
    return [
        note if note in shared else f"{name}: {note}" for name, one in reports.items() for note in one.notes
    ]


def _judged(reports: Mapping[str, AuditReport], notes: list[str]) -> dict[str, tuple[Outputs, Cells]]:
    """The outputs and cells on which models are compared: those of the reports, if all are about the same outputs."""
    with_outputs: dict[str, AuditReport] = {
        name: report
        for name, report in reports.items()
        if report.outputs is not None and report.scores is not None
    }
    judged: Sequence[tuple[str, ...]] = [outputs_judged(report) for report in with_outputs.values()]
    if len(set(judged)) <= 1:
        return {name: (_present(one.outputs), one.by_cell) for name, one in with_outputs.items()}
    notes.append(
        "models fail in different outputs, so they are compared on all outputs, each in units of its own spread; the "
        "report of each model is about the outputs in which it fails"
    )
    result = {}
    for name, report in with_outputs.items():
        every = _present(report.all_outputs)
        outputs = some_outputs(every, range(every.targets.shape[1]))
        result[name] = (outputs, gather(report.table, outputs, _weighting(report)))
    return result


def _present(outputs: Outputs | None) -> Outputs:
    assert outputs is not None
    return outputs
