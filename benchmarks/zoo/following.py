"""Follows the first measured remedy of a report, and compares the unseen error before and after."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.zoo.designs import Design
from benchmarks.zoo.drawing import Draw
from benchmarks.zoo.simple_models import fit_simple
from benchmarks.zoo.truth import cell_errors, predictions_of_cells


def follow(draw: Draw, report: Any) -> dict[str, Any] | None:
    """What following the first remedy with a measured gain does to the noise-free error on cells that stay unseen.

    Cells to add: all rows of these cells are moved into training, and the same kind of model is trained again with the
    same settings. A simple model to fit instead: it is fitted to the training rows.

    **Returns:**

    The errors before and after, relative to a constant's, over the same cells; `None` if no remedy has a gain.
    """
    measured = [one for one in report.remedies if getattr(one, "gain", None) is not None]
    offered = [one for one in measured if getattr(one, "cells", ()) or getattr(one, "refit", "")]
    if not offered:
        return None
    first = offered[0]
    about = {"id": first.id, "gain": float(first.gain.value), "rank": list(report.remedies).index(first)}
    sample, design = draw.sample, draw.sample.design
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = predictions_of_cells(sample, sample.fit(design, sample.target, draw.seed))
        stay = ~design.seen
        if first.cells:
            added = chosen_cells(design, first.cells)
            stay = stay & ~added
            if not stay.any() or not (added & ~design.seen).any():
                return about | {"cells": int(added.sum()), "before": None, "after": None}
            more = design.with_training_cells(added)
            after = predictions_of_cells(sample, sample.fit(more, sample.target, draw.seed))
            about |= {"cells": int(added.sum())}
        else:
            after = fit_simple(first.refit, design, sample.target)(design.cells)
            about |= {"refit": first.refit}
    errors = [float(cell_errors(sample, one)[stay].max(axis=1).mean()) for one in (before, after)]
    return about | {"before": errors[0], "after": errors[1]}


def chosen_cells(design: Design, cells: tuple[Mapping[str, Any], ...]) -> np.ndarray:
    """Which cells of a design are named by their levels; a cell that names some factors only stands for all of its
    kind."""
    chosen = np.zeros(len(design.cells), dtype=bool)
    for cell in cells:
        match = np.ones(len(design.cells), dtype=bool)
        for axis, (name, levels) in enumerate(zip(design.names, design.levels, strict=True)):
            if name in cell:
                match &= np.array([str(one) == str(cell[name]) for one in levels])[design.cells[:, axis]]
        chosen |= match
    return chosen
