"""The two tables of a report: layer by layer, and module by module."""

from __future__ import annotations

import numpy as np

from recombine.modularity.phrases import few_numbers, place_names, share
from recombine.modularity.result import ModularityReport
from recombine.report import Column, Row, Table, fixed

MOST_MODULES = 12
"""Modules that are listed; the rest is in the object that `--json` prints."""


def layer_table(report: ModularityReport, caption: str = "") -> Table:
    """A row for every layer of weights; live units are those behind it."""
    names = place_names(len(report.live))
    last = f"λ{report.modules}"
    columns = [
        Column("layer"),
        Column("live units", "right"),
        Column("share", "right", "squared weight within modules"),
        Column("chance", "right", "squared weight within modules"),
        Column("score", "right", "squared weight within modules"),
        Column("purity", "right"),
    ]
    spectra = [] if report.collapsed is None or report.raw is None else [report.collapsed, report.raw]
    if spectra:
        columns += [Column("collapsed", "right", last), Column("raw", "right", last)]
    rows = [
        Row(
            [
                f"{layer + 1}  {names[layer]} → {names[layer + 1]}",
                f"{report.live[layer + 1].sum()} of {len(report.live[layer + 1])}",
                share(report.mass[layer]),
                share(report.chance[layer]),
                _two(report.score[layer]),
                _two(report.purity[layer]),
                *(_two(values[layer, report.modules - 1]) for values in spectra),
            ]
        )
        for layer in range(len(report.weights))
    ]
    return Table(columns, rows, caption)


def module_table(report: ModularityReport) -> Table:
    """A row for every module: its inputs, its live units in every hidden layer, and its outputs."""
    columns = [Column("module"), Column("inputs"), Column("hidden units"), Column("outputs")]
    rows = []
    for module in range(min(report.modules, MOST_MODULES)):
        inputs, outputs = (
            np.flatnonzero(values == module) for values in report.labels[:: len(report.labels) - 1]
        )
        hidden = " + ".join(str(size) for size in report.sizes[1:-1, module])
        rows.append(
            Row(
                [str(module), few_numbers(inputs) or "none", hidden or "none", few_numbers(outputs) or "none"]
            )
        )
    left = report.modules - len(rows)
    return Table(columns, rows, f"The first {MOST_MODULES} modules; {left} more." if left else "")


def _two(value: float) -> str:
    return fixed(float(value), 2) if np.isfinite(value) else "–"
