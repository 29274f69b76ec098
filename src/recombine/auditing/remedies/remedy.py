"""A remedy that an audit suggests, with code for the user's framework."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any

from recombine.auditing.remedies.measurement import Gain
from recombine.auditing.remedies.track_record import TrackRecord
from recombine.intervals import Estimate
from recombine.report import percent, plain_number


@dataclass(frozen=True)
class Remedy:
    """Something to try.

    **Attributes:**

    - `title`: what to do; `why`: the evidence for it.
    - `snippet`: code that runs where the names `net`, `x`, `y`, `loss` and `report` exist; may be empty.
    - `gain`: the share of the error that it removes, `None` if that could not be measured; `measured`: how it was
        measured; `random_gain`: for cells to add, the share for as many random cells.
    - `refit`: the simple model that it recommends, by its name in `AuditReport.refits`; `cells`: the cells that it adds
        to training.
    - `record`: how often it helped in the study `remedies`; `None` if it was not tried there.
    """

    id: str
    title: str
    why: str
    snippet: str
    gain: Estimate | None = None
    measured: str = ""
    random_gain: float = float("nan")
    refit: str = ""
    cells: tuple[dict[str, Any], ...] = ()
    record: TrackRecord | None = None

    @property
    def promise(self) -> str:
        """What it is worth, in a few words: for this model if that was measured, else in the study `remedies`."""
        if self.gain is None:
            here = self.measured or "not measured here"
            return here if self.record is None else f"{here}; {self.record}"
        low, high = (percent(end) for end in self.gain.pair)
        chance = "" if self.random_gain != self.random_gain else f"; random cells {percent(self.random_gain)}"
        whose = "error of a simple model that predicts like yours" if self.cells else "error"
        return f"{whose} {percent(self.gain.value)} [{low}, {high}] lower{chance}"

    @property
    def surely_helps(self) -> bool:
        """Whether the error falls beyond the choice of cells."""
        return self.gain is not None and self.gain.low > 0

    @property
    def does_not_help(self) -> bool:
        """Whether it was measured and the error does not fall."""
        return self.gain is not None and not self.gain.value > 0

    def unsure(self) -> Remedy:
        """The remedy without a gain, if that is not surely above 0."""
        if self.gain is None:
            return self
        low, high = (percent(end) for end in self.gain.pair)
        text = f"no sure gain: {percent(self.gain.value)} [{low}, {high}]"
        return replace(self, gain=None, measured=text, random_gain=float("nan"))

    def with_gain(self, gain: Gain | None) -> Remedy:
        """The remedy with what it is worth."""
        if gain is None:
            return self
        return replace(self, gain=gain.share, measured=gain.how, random_gain=gain.random)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        gain = self.gain
        return {
            "id": self.id,
            "title": self.title,
            "why": self.why,
            "snippet": self.snippet,
            "gain": None if gain is None else plain_number(gain.value),
            "interval": None if gain is None else [plain_number(end) for end in gain.pair],
            "measured": self.measured or None,
            "random_gain": plain_number(self.random_gain),
            "refit": self.refit or None,
            "cells": [dict(cell) for cell in self.cells],
            "record": None if self.record is None else self.record.to_dict(),
        }


_LOGARITHMS = {"torch": "y = y.log()", "jax": "import jax.numpy as jnp\n\ny = jnp.log(y)"}
"""How the targets of a snippet are replaced by their logarithms, by framework; otherwise with NumPy."""


def on_log_scale(remedy: Remedy, framework: str) -> Remedy:
    """The remedy for an audit that measures errors of logarithms: its code fits these, and its title says so."""
    title = remedy.title.replace("let the prediction ", "let the logarithm of the prediction ")
    if not re.search(r"\by\b", remedy.snippet):
        return replace(remedy, title=title)
    logarithm = _LOGARITHMS.get(framework, "import numpy as np\n\ny = np.log(y)")
    comment = "  # as in the audit; predictions are logarithms, too"
    return replace(remedy, title=title, snippet=f"{logarithm}{comment}\n\n{remedy.snippet}")


def lines(text: str) -> str:
    """Code without its common indentation."""
    return dedent(text).strip()
