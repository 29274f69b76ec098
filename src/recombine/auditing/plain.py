"""The audit as plain values, the object that `--json` prints, and as a table of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from recombine._version import __version__
from recombine.auditing.finding import plain
from recombine.auditing.forecast import Forecast
from recombine.auditing.resampling import Estimate
from recombine.auditing.treatment import plain_remedies

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def as_dict(report: AuditReport) -> dict[str, Any]:
    """Plain values for JSON."""
    space = report.table.space
    return {
        "verdict": report.verdict,
        "findings": [one.to_dict() for one in report.findings],
        "errors": errors(report),
        "advice": report.forecast.to_dict() if isinstance(report.forecast, Forecast) else report.forecast,
        "remedies": plain_remedies(report.remedies),
        "table": report.table.name,
        "model": report.model,
        "framework": report.framework,
        "version": __version__,
        "rows": len(report.table.cells),
        "factors": {f.name: [_level(level) for level in f.levels] for f in space.factors},
        "classes": [_level(one) for one in report.answers.classes] if report.answers else [],
        "layers": _layers(report),
        "modularity": None if report.modularity is None else report.modularity.to_dict(),
        "interaction": None if report.profile is None else report.profile.to_dict(),
        "notes": list(report.notes),
        "traceback": report.trouble or None,
    }


def errors(report: AuditReport) -> dict[str, Any]:
    """Errors on seen and unseen cells, and of the baselines on unseen cells."""
    scores = report.scores
    if scores is None:
        return {"measure": None, "seen": None, "unseen": None, "baselines": {}}
    return {
        "measure": scores.measure,
        "seen": _estimate(scores.seen),
        "unseen": _estimate(scores.unseen),
        "baselines": {name: _estimate(one) for name, one in scores.baselines.items()},
        "constant_on_seen": plain(scores.constant_seen),
        "units": None
        if report.units is None
        else {"factor": report.units.factor, "offset": report.units.offset},
        "as_given": None
        if report.as_given is None
        else {"seen": _estimate(report.as_given[0]), "unseen": _estimate(report.as_given[1])},
        "cells": {"seen": scores.cells_seen, "unseen": scores.cells_unseen},
        "seen_rows_held_out": scores.held_out,
    }


def cell_table(report: AuditReport) -> pl.DataFrame:
    """One row per cell that has rows."""
    cells = report.by_cell
    error = np.full(len(cells.cells), np.nan) if report.answers is None else cells.error
    columns: dict[str, Any] = {
        factor.name: pl.Series(factor.levels).gather(cells.cells[:, axis])
        for axis, factor in enumerate(report.table.space.factors)
    }
    return pl.DataFrame(
        columns | {"rows": cells.rows, "seen": cells.seen, "familiar": cells.familiar, "error": error}
    )


def _estimate(one: Estimate) -> dict[str, Any]:
    ends = [plain(end) for end in one.pair]
    return {"estimate": plain(one.value), "interval": None if None in ends else ends}


def _layers(report: AuditReport) -> list[dict[str, Any]]:
    if report.layers is None:
        return []
    names = report.table.space.names
    return [
        {
            "name": layer.name,
            "units": layer.units,
            "readable": {name: plain(float(one)) for name, one in zip(names, layer.readable, strict=True)},
            "factorisation": _estimate(layer.factorisation),
            "volume_gap": _estimate(layer.volume_gap),
            "salience_by_order": None
            if layer.salience is None
            else [plain(float(one)) for one in layer.salience.order_shares],
        }
        for layer in report.layers
    ]


def _level(level: Any) -> Any:
    return level if isinstance(level, str | int | float | bool) else str(level)
