"""How often a remedy helped in the study `remedies`, which crosses published remedies with published failures.

The numbers are written by `python -m recombine.studies.remedies record`, from that study's results.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from recombine.report import count, number

OutputKind = Literal["images", "labels", "quantities"]

FILE = Path(__file__).with_name("track_record.json")
MIN_WORLDS = 2
"""A single world with outputs of a kind says too little; then all worlds count, if these are enough."""


@dataclass(frozen=True)
class TrackRecord:
    """What a remedy did in the worlds of the study in which it can be applied.

    **Attributes:**

    - `kind`: of these worlds' outputs; empty for all worlds.
    - `worlds`: how many they are; `helped`, `harmed`: in how many the error on unseen cells surely fell or rose.
    - `median_gain`: by how much it fell, where 0 is as good as on seen cells and 1 as bad as the best constant.
    """

    kind: OutputKind | Literal[""]
    worlds: int
    helped: int
    harmed: int
    median_gain: float

    def __str__(self) -> str:
        where = count(self.worlds, "world") + (f" with {self.kind}" if self.kind else "")
        harmed = f" and harmed in {self.harmed}" if self.harmed else ""
        gain = number(self.median_gain)
        return f"in the study `remedies` it helped in {self.helped}{harmed} of {where}, median gain {gain}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def track_record(remedy: str, kind: OutputKind) -> TrackRecord | None:
    """The record of a remedy, by its id, for outputs of a kind; `None` if the study did not try it.

    ```python
    >>> from recombine.auditing.remedies.track_record import track_record
    >>> track_record("single_factors", "images").kind, track_record("train_longer", "images")
    ('images', None)

    ```
    """
    of_remedy = _records().get(remedy, {})
    by_kind: dict[OutputKind | Literal[""], Any] = {kind: of_remedy.get(kind), "": of_remedy.get("all")}
    records = (TrackRecord(name, **counts) for name, counts in by_kind.items() if counts is not None)
    return next((record for record in records if record.worlds >= MIN_WORLDS), None)


@cache
def _records() -> dict[str, dict[str, dict[str, Any]]]:
    records: dict[str, dict[str, dict[str, Any]]] = json.loads(FILE.read_text())
    return records
