"""In how many worlds each remedy helped, by kind of output: the numbers for the order of an audit's remedies."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.runs import Store
from recombine.studies.evidence import Evidence
from recombine.studies.remedies.first_choice import median_gains
from recombine.studies.remedies.matrix import REMEDY_NAMES, entry, measured_remedies, measured_worlds
from recombine.studies.remedies.sweep_arms import KINDS
from recombine.studies.reproduction import reproduce

AUDIT_REMEDIES = {
    "single factors": "single_factors",
    "forced rendering": "forced_rendering",
    "weighted activity": "weighted_activity",
    "compositional contrast": "compositional_contrast",
    "rescaling": "rescale_weights",
    "squared error": "squared_loss",
    "fewest additions": "add_cells",
}
"""The ids of the remedies that an audit suggests, by their name here."""


def track_record(evidence: Evidence) -> dict[str, dict[str, dict[str, Any]]]:
    """By id and kind of output (and `all`): worlds where it was tried, helped, harmed; the median gain over them."""
    known = median_gains(evidence)
    record: dict[str, dict[str, dict[str, Any]]] = {}
    for remedy in REMEDY_NAMES:
        tried = [w for w in measured_worlds(evidence) if remedy in measured_remedies(evidence, w)]
        groups = {"all": tried}
        for world in tried:
            groups.setdefault(KINDS[world], []).append(world)
        counted = {
            kind: {
                "worlds": len(names),
                "helped": sum(entry(evidence, w, remedy).mark == "helps" for w in names),
                "harmed": sum(entry(evidence, w, remedy).mark == "harms" for w in names),
                "median_gain": round(float(np.median([known[w, remedy] for w in names])), 3),
            }
            for kind, names in groups.items()
            if names
        }
        if remedy in AUDIT_REMEDIES:
            record[AUDIT_REMEDIES[remedy]] = counted
    return record


def measured_record(store: Store, *, jobs: int) -> dict[str, dict[str, dict[str, Any]]]:
    """The record at scale quick, from the store or by running the study."""
    return track_record(reproduce("remedies", everything=True, store=store, jobs=jobs).evidence)
