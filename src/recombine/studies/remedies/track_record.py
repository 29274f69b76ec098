"""In how many worlds each remedy helped, by kind of output: the numbers for the order of an audit's remedies."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.studies.evidence import Evidence
from recombine.studies.remedies.first_choice import median_gains
from recombine.studies.remedies.matrix import REMEDY_NAMES, entry, measured_remedies, measured_worlds
from recombine.studies.remedies.sweep_arms import KINDS

AUDIT_REMEDIES = {
    "single factors": "single_factors",
    "forced rendering": "forced_rendering",
    "weighted activity": "weighted_activity",
    "compositional contrast": "compositional_contrast",
    "rescaling": "rescale_weights",
    "squared error": "squared_loss",
    "fewest additions": "add_cells",
}
"""The remedies that an audit suggests, by their name here."""


def track_record(evidence: Evidence) -> dict[str, dict[str, dict[str, Any]]]:
    """By audit remedy and kind of output (and `all`): worlds where it helped, harmed, was tried; the median gain."""
    known = median_gains(evidence)
    record: dict[str, dict[str, dict[str, Any]]] = {}
    for remedy in REMEDY_NAMES:
        if remedy not in AUDIT_REMEDIES:
            continue
        tried = [w for w in measured_worlds(evidence) if remedy in measured_remedies(evidence, w)]
        groups = {"all": tried}
        for world in tried:
            groups.setdefault(KINDS[world], []).append(world)
        record[AUDIT_REMEDIES[remedy]] = {
            kind: {
                "helped": sum(entry(evidence, w, remedy).mark == "helps" for w in names),
                "harmed": sum(entry(evidence, w, remedy).mark == "harms" for w in names),
                "worlds": len(names),
                "median_gain": round(float(np.median([known[w, remedy] for w in names])), 3),
            }
            for kind, names in groups.items()
            if names
        }
    return record


def sentence(found: dict[str, Any]) -> str:
    """The record in a few words.

    ```python
    >>> from recombine.studies.remedies.track_record import sentence
    >>> sentence({"helped": 5, "harmed": 0, "worlds": 8, "median_gain": 0.4})
    'helped in 5 of 8 worlds, median gain 0.4'

    ```
    """
    return f"helped in {found['helped']} of {found['worlds']} worlds, median gain {found['median_gain']:g}"
