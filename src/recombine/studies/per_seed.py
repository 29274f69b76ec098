"""The numbers per seed behind the verdicts, as one table, so that anyone can apply another rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.studies.claim import Outcome
from recombine.studies.measurement import Cases, Unpaired
from recombine.studies.reproduction import Reproduction

if TYPE_CHECKING:
    import polars as pl


def per_seed_table(reproductions: Sequence[Reproduction]) -> pl.DataFrame:
    """One row per claim, quantity, sample and seed.

    `role` says whether a number decides the claim or supports it. `sample` names the sample of an unpaired comparison
    or the case of an exact statement. `counted` is false for seeds that fail a precondition.
    """
    import polars as pl

    schema = {
        "study": pl.String,
        "claim": pl.String,
        "scale": pl.String,
        "quantity": pl.String,
        "role": pl.String,
        "sample": pl.String,
        "seed": pl.Int64,
        "value": pl.Float64,
        "counted": pl.Boolean,
    }
    rows: list[dict[str, Any]] = []
    for reproduction in reproductions:
        for outcome in reproduction.outcomes:
            fixed = {
                "study": reproduction.study.name,
                "claim": outcome.claim.id,
                "scale": reproduction.scale,
            }
            rows += [fixed | row for row in _rows(outcome, reproduction.seed_offset)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(outcome: Outcome, offset: int) -> list[dict[str, Any]]:
    measurement = outcome.measurement
    if measurement is None:
        return []
    exact = isinstance(measurement, Cases)
    kept = _kept(measurement)
    rows = []
    for sample, values in measurement.columns().items():
        counted = kept.get(sample, np.ones(len(values), dtype=bool))
        rows += [
            {
                "quantity": outcome.claim.quantity.name,
                "role": "decides",
                "sample": sample,
                "seed": None if exact else offset + index,
                "value": float(value),
                "counted": bool(counted[index]),
            }
            for index, value in enumerate(values)
        ]
    for name, values in outcome.supports().items():
        rows += [
            {
                "quantity": name,
                "role": "supports",
                "sample": "",
                "seed": None if len(values) == 1 else offset + index,
                "value": float(value),
                "counted": True,
            }
            for index, value in enumerate(values)
        ]
    return rows


def _kept(measurement: Any) -> dict[str, np.ndarray]:
    if isinstance(measurement, Cases):
        return {}
    if isinstance(measurement, Unpaired):
        samples = zip(measurement.labels, measurement.samples, strict=True)
        return {label: sample.kept for label, sample in samples}
    return {"": measurement.kept}
