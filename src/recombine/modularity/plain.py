"""The report as plain values, the object that `--json` prints."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.modularity.result import ModularityReport
from recombine.modularity.verdict import LEAST_Z, MIXED, MODULAR


def as_dict(report: ModularityReport) -> dict[str, Any]:
    """Plain values for JSON: numbers are finite or `None`."""
    done = report.behaviour
    return {
        "name": report.name,
        "version": __version__,
        "verdict": {
            "word": report.verdict.word,
            "sentence": report.verdict.sentence,
            "layer": None if report.verdict.layer is None else report.verdict.layer + 1,
            "bounds": {"modular": MODULAR, "mixed": MIXED, "z": LEAST_Z},
        },
        "units": [len(mask) for mask in report.live],
        "live": [int(mask.sum()) for mask in report.live],
        "live_by": "activity" if report.by_activity else "weights",
        "threshold": report.threshold,
        "modules": {
            "number": report.modules,
            "source": report.source,
            "sizes": report.sizes.tolist(),
            "labels": [values.tolist() for values in report.labels],
        },
        "layers": [
            {
                "layer": layer + 1,
                "shape": list(matrix.shape),
                "mass": _finite(report.mass[layer]),
                "chance": _finite(report.chance[layer]),
                "score": _finite(report.score[layer]),
                "purity": _finite(report.purity[layer]),
                "participation": _finite(report.participation[layer]),
                "spectrum_collapsed": _row(report.collapsed, layer),
                "spectrum_raw": _row(report.raw, layer),
            }
            for layer, matrix in enumerate(report.weights)
        ],
        "newman": _all_finite(asdict(report.newman)),
        "behaviour": None if done is None else _all_finite({**asdict(done), "ratio": done.ratio}),
        "warnings": [asdict(found) for found in report.warnings],
    }


def _row(table: np.ndarray | None, layer: int) -> list[float | None] | None:
    return None if table is None else [_finite(value) for value in table[layer]]


def _all_finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _all_finite(value)
        if isinstance(value, dict)
        else _finite(value)
        if isinstance(value, float)
        else value
        for name, value in values.items()
    }


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None
