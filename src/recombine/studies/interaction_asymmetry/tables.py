"""All arms of a task side by side, with their spread over seeds."""

from __future__ import annotations

from functools import partial

import numpy as np

from recombine.report import Column, Row, Table, number
from recombine.report.numbers import MISSING
from recombine.studies.evidence import Evidence
from recombine.studies.interaction_asymmetry.separation import clean, one_slot
from recombine.studies.study import Tabulation

READINGS = {
    "J-ARI": "j_ari",
    "JIS": "jis",
    "active slots": "active",
    "squared error": "sse",
    "nats": "capacity",
    "shared attention": "attention_interaction",
    "q1": "q1",
    "r2": "r2",
    "exchanged, R²": "recombined_r2_in",
    "into unseen, R²": "recombined_r2_out",
}


def _cell(values: np.ndarray) -> str:
    """Mean and standard deviation over seeds."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return MISSING
    if len(finite) == 1:
        return number(float(finite[0]))
    return f"{number(float(finite.mean()))} ± {number(float(finite.std(ddof=1)))}"


def _fill(evidence: Evidence, names: tuple[str, ...]) -> Table:
    shown = {
        label: key
        for label, key in READINGS.items()
        if any(np.isfinite(evidence[n][key]).any() for n in names)
    }
    rows = [
        Row(
            [
                name,
                *(_cell(evidence[name][key]) for key in shown.values()),
                str(clean(evidence[name]).sum()),
                str(one_slot(evidence[name]).sum()),
            ]
        )
        for name in names
    ]
    seeds = len(evidence[names[0]].seeds)
    caption = (
        f"Mean ± standard deviation over {seeds} seeds, at posterior means. Nats: the capacity of all slots. Shared "
        "attention: the interaction penalty in head-mean units, at most (1 - 1/K)/2. Exchanged: R² of images "
        "decoded from slots of two scenes, compared with the true recombination. Clean: nets that separate the "
        "objects. One slot: nets with all objects in the same slot."
    )
    columns = [Column("arm"), *(Column(label, "right") for label in (*shown, "clean", "one slot"))]
    return Table(columns, rows, caption=caption)


def slot_table(title: str, names: tuple[str, ...]) -> Tabulation:
    """A table of slot scores with one row per arm."""
    return Tabulation(title, names, partial(_fill, names=names))
