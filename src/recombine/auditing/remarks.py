"""Remarks about a table and its outputs: what was left out, what counts as one, and how far errors can be trusted."""

from __future__ import annotations

import numpy as np

from recombine.auditing.cells import Cells
from recombine.auditing.independent_units import one_of_each
from recombine.auditing.outputs import Outputs
from recombine.auditing.reading import AuditInputs
from recombine.auditing.rules.rule_test import MAX_SHORTCUT_FACTORS, max_shortcut_factors
from recombine.auditing.thresholds import WIDE_RANGE
from recombine.intervals import FEW_BAD_CELLS, FEW_CELLS


def remarks(data: AuditInputs, outputs: Outputs | None, cells: Cells) -> list[str]:
    """What a reader of the report should know about its data, in a sentence each."""
    notes = []
    new_level = ~cells.familiar & ~cells.seen
    if new_level.any():
        notes.append(
            f"{int(new_level.sum())} cells with a level that training never shows were left out: they test a new "
            "level, not a new combination"
        )
    units = 0 if outputs is None else len(one_of_each(cells.outside, cells.unit))
    if outputs is not None and cells.copied:
        names = [data.table.space.names[axis] for axis in cells.copied]
        notes.append(
            f"neither predictions nor errors depend on {' and '.join(names)}, so unseen cells that differ only in "
            f"{'it' if len(names) == 1 else 'them'} count as one in intervals and tests: {units} instead of "
            f"{len(cells.outside)} (without {'this factor' if len(names) == 1 else 'these factors'}, their rows would "
            "show how noisy targets are)"
        )
    if outputs is not None and _rests_on_few_cells(cells):
        notes.append(
            "intervals are approximate, because the error rests on few unseen cells: if large errors are rare, these "
            "cells may lack them"
        )
    if outputs is not None and (times := _range_of(outputs)) >= WIDE_RANGE:
        notes.append(
            f"targets differ by a factor of {times:.0f}, so squared errors are mostly about large ones; "
            "metric='log' or 'relative' counts all alike"
        )
    factors = len(cells.sizes)
    if outputs is not None and max_shortcut_factors(factors) < min(MAX_SHORTCUT_FACTORS, factors - 1):
        notes.append(
            f"{factors} factors have too many sets of {MAX_SHORTCUT_FACTORS} to test all: shortcuts by more than "
            f"{max_shortcut_factors(factors)} factors were not looked for"
        )
    if outputs is not None and data.target is None and not outputs.known.any():
        notes.append("there are no targets: findings that need them were left out")
    elif outputs is not None:
        unlabelled = int((~outputs.known[data.table.seen]).sum())
        if unlabelled:
            notes.append(f"{unlabelled} training rows have no target and were left out of errors")
        missing = int((~cells.known & ~cells.seen & cells.familiar).sum())
        if missing:
            notes.append(f"{missing} unseen cells have no target and were left out of errors and findings")
    return notes


def _rests_on_few_cells(cells: Cells) -> bool:
    """Whether errors without a bound are known from few cells, or whether few of many cells have nearly all of it."""
    index = one_of_each(cells.outside, cells.unit)
    errors = cells.error[index] / (cells.error[index].max(initial=0.0) or 1.0)
    if not cells.heavy_errors or len(index) < 2 or not errors.any():
        return False
    # as many cells with equal errors would have the same coefficient of variation
    return bool(len(index) < FEW_CELLS or errors.sum() ** 2 < FEW_BAD_CELLS * (errors**2).sum())


def _range_of(outputs: Outputs) -> float:
    """How many times as large large targets are as small ones, if all are positive and errors are squared; else 1."""
    if outputs.kind != "regression" or not outputs.measure.is_squared or outputs.targets.shape[1] != 1:
        return 1.0
    targets = outputs.targets[outputs.known]
    if not len(targets) or not targets.min() > 0:
        return 1.0
    low, high = np.quantile(targets, (0.05, 0.95))
    return float(high / low)
