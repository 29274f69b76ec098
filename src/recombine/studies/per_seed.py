"""The numbers per seed behind the verdicts, as one table, so that anyone can apply another rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from recombine._version import __version__
from recombine.studies.claim import Outcome
from recombine.studies.measurement import AllOf, Cases, PerSeed, Successes, Unpaired, exclusion_reasons
from recombine.studies.reproduction import Reproduction

if TYPE_CHECKING:
    import polars as pl

COLUMNS = {
    "study": "String",
    "claim": "String",
    "scale": "String",
    "seed_offset": "Int64",
    "quantity": "String",
    "role": "String",
    "form": "String",
    "sample": "String",
    "seed": "Int64",
    "value": "Float64",
    "excluded": "String",
    "level": "Float64",
    "amendments": "Int64",
    "note": "String",
    "version": "String",
    "date": "String",
}
"""Names of the columns, and their Polars types."""
DECIDES, SUPPORTS = "decides", "supports"
FORMS = {PerSeed: "per seed", Unpaired: "unpaired", Successes: "successes", AllOf: "all of", Cases: "cases"}
"""How numbers are compared, by type of measurement."""


def per_seed_table(reproductions: Sequence[Reproduction]) -> pl.DataFrame:
    """One row per claim, quantity, sample and seed.

    `role` says whether a number decides the claim or supports it, and `form` how the numbers that decide are compared.
    `sample` names the sample of an unpaired comparison or the case of an exact statement. `excluded` is the reason why
    a seed does not count, empty if it does. `level` is that of the interval, `amendments`
    the number of changes to the claim by then. `version` and `date` tell when the claim
    was measured.
    """
    import polars as pl

    today = datetime.now(UTC).strftime("%Y-%m-%d")
    rows: list[dict[str, Any]] = []
    for reproduction in reproductions:
        for outcome in reproduction.outcomes:
            origin = outcome.recorded
            fixed = {
                "study": reproduction.study.name,
                "claim": outcome.claim.id,
                "scale": reproduction.scale,
                "seed_offset": reproduction.seed_offset,
                "level": outcome.level,
                "amendments": len(outcome.claim.amendments),
                "version": __version__ if origin is None else origin.version,
                "date": today if origin is None else origin.date,
            }
            rows += [fixed | row for row in _rows(outcome, reproduction.seed_offset)]
    schema = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _rows(outcome: Outcome, offset: int) -> list[dict[str, Any]]:
    measurement = outcome.measurement
    if measurement is None:
        return []
    exact = isinstance(measurement, Cases)
    form = FORMS[type(measurement)]
    excluded = _excluded(measurement)
    rows = []
    for sample, values in measurement.columns().items():
        reasons = excluded.get(sample, [""] * len(values))
        rows += [
            {
                "quantity": outcome.claim.quantity.name,
                "role": DECIDES,
                "form": form,
                "sample": sample,
                "seed": None if exact else offset + index,
                "value": float(value),
                "excluded": reasons[index],
                "note": measurement.note if isinstance(measurement, Cases) else "",
            }
            for index, value in enumerate(values)
        ]
    for name, values in outcome.supports().items():
        rows += [
            {
                "quantity": name,
                "role": SUPPORTS,
                "form": form,
                "sample": "",
                "seed": None if len(values) == 1 else offset + index,
                "value": float(value),
                "excluded": "",
                "note": "",
            }
            for index, value in enumerate(values)
        ]
    return rows


def _excluded(measurement: Any) -> dict[str, list[str]]:
    """Why seeds were left out, by sample."""
    if isinstance(measurement, Cases):
        return {}
    if isinstance(measurement, AllOf):
        return dict.fromkeys(measurement.parts, exclusion_reasons(measurement.joined))
    if isinstance(measurement, Unpaired):
        samples = zip(measurement.labels, measurement.samples, strict=True)
        return {label: exclusion_reasons(sample) for label, sample in samples}
    return {"": exclusion_reasons(measurement)}
