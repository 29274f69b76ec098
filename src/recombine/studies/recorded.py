"""Numbers per seed of earlier runs, read back from their file.

A results page then shows every claim that has ever been measured, without running it again: a claim is decided by the
same rule, from the recorded numbers, where the store has none or has fewer seeds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recombine.data import read_table
from recombine.data.export import FORMULA_STARTS
from recombine.errors import InputError
from recombine.studies.claim import Claim, Outcome, Recording
from recombine.studies.evidence import Scale
from recombine.studies.measurement import AllOf, Cases, Measurement, PerSeed, Successes, Unpaired
from recombine.studies.per_seed import COLUMNS, DECIDES, FORMS, SUPPORTS
from recombine.studies.reproduction import Reproduction
from recombine.studies.verdict import judge

if TYPE_CHECKING:
    import polars as pl

NOT_FINITE = "without a finite value"
_ESCAPED = f"^'([{re.escape(FORMULA_STARTS)}])"
"""Text that `recombine.data.export` keeps spreadsheets from running."""


def read_recorded(path: Path) -> pl.DataFrame:
    """The file of numbers per seed that `recombine report` writes next to a page.

    **Raises:** [`recombine.InputError`][] if a column is missing or holds something else.
    """
    import polars as pl

    table = read_table(path, dict.fromkeys(COLUMNS, "recorded"))
    columns = []
    for name, kind in COLUMNS.items():
        written = table.column("recorded", name).values.cast(pl.String)
        if kind == "String":
            unescaped = written.fill_null("").str.replace(_ESCAPED, "$1")
            columns.append(unescaped.alias(name))
            continue
        values = written.cast(getattr(pl, kind), strict=False)
        wrong = written.filter(values.is_null() & written.is_not_null())
        if len(wrong):
            expected = "numbers" if kind == "Float64" else "whole numbers"
            raise InputError(
                f"recorded, column {name!r}", wrong[0], f"{expected}, as `recombine report` writes"
            )
        columns.append(values.alias(name))
    return pl.DataFrame(columns)


def with_recorded(reproduction: Reproduction, numbers: pl.DataFrame) -> Reproduction:
    """The same run, with recorded numbers for claims that it has not measured or has measured with fewer seeds.

    Numbers of a claim that has been amended since, or whose quantity has another name now, are ignored.
    """
    import polars as pl

    mine = numbers.filter(
        (pl.col("study") == reproduction.study.name)
        & (pl.col("scale") == reproduction.scale)
        & (pl.col("seed_offset") == reproduction.seed_offset)
    )
    outcomes = []
    for outcome in reproduction.outcomes:
        rows = mine.filter(pl.col("claim") == outcome.claim.id)
        found = _outcome(outcome.claim, rows, reproduction.scale) if len(rows) else None
        outcomes.append(outcome if found is None or _outweighs(outcome, found) else found)
    return replace(reproduction, outcomes=tuple(outcomes))


def _outweighs(own: Outcome, recorded: Outcome) -> bool:
    """Whether a run's own numbers count: at least as many as recorded, or any check of an exact statement."""
    if own.measurement is None:
        return False
    return own.claim.kind == "exact" or _numbers(own.measurement) >= _numbers(recorded.measurement)


def _numbers(measurement: Measurement | None) -> int:
    """How many numbers decide a claim."""
    return 0 if measurement is None else sum(values.size for values in measurement.columns().values())


def _outcome(claim: Claim, rows: pl.DataFrame, scale: Scale) -> Outcome | None:
    import polars as pl

    decisive = rows.filter(
        (pl.col("role") == DECIDES)
        & (pl.col("quantity") == claim.quantity.name)
        & (pl.col("amendments") == len(claim.amendments))
    )
    if not len(decisive):
        return None
    supports = {
        str(name[0]): own["value"].to_numpy()
        for name, own in rows.filter(pl.col("role") == SUPPORTS).group_by("quantity", maintain_order=True)
    }
    measurement = _measurement(decisive, supports)
    first = decisive.row(0, named=True)
    seeds = tuple(sorted(set(decisive["seed"].drop_nulls().to_list())))
    level = first["level"]
    if level is None or not 0 < level < 1:
        raise InputError("recorded, column 'level'", level, "a number between 0 and 1")
    return Outcome(
        claim,
        judge(claim.quantity, measurement, level=level),
        measurement,
        scale,
        level=level,
        recorded=Recording(first["version"], first["date"], seeds),
    )


def _measurement(rows: pl.DataFrame, supports: Mapping[str, np.ndarray]) -> Measurement:
    form = rows["form"][0]
    if form == FORMS[Cases]:
        deviations = dict(zip(rows["sample"], rows["value"], strict=True))
        return Cases(deviations, supports=supports, note=rows["note"][0])
    samples = [
        (str(label[0]), own["value"].to_numpy(), _requirements(own))
        for label, own in rows.group_by("sample", maintain_order=True)
    ]
    if form == FORMS[Unpaired] and len(samples) == 2:
        (first, ours, requires), (second, theirs, second_requires) = samples
        return Unpaired(
            ours,
            theirs,
            requires=requires,
            second_requires=second_requires,
            supports=supports,
            labels=(first, second),
        )
    if form == FORMS[AllOf] and samples:
        parts = {label: values for label, values, _ in samples}
        return AllOf(parts, requires=samples[0][2], supports=supports)
    if form not in (FORMS[PerSeed], FORMS[Successes]) or len(samples) != 1:
        raise InputError(
            "recorded, column 'form'", form, f"one of {', '.join(FORMS.values())}, with their samples"
        )
    _, values, requires = samples[0]
    kind = PerSeed if form == FORMS[PerSeed] else Successes
    return kind(values, requires=requires, supports=supports)


def _requirements(rows: pl.DataFrame) -> dict[str, np.ndarray]:
    """The preconditions that some seed failed."""
    reasons = [reason for reason in dict.fromkeys(rows["excluded"]) if reason not in {"", NOT_FINITE}]
    return {reason.removeprefix("not "): (rows["excluded"] != reason).to_numpy() for reason in reasons}
