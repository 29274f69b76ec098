"""Models whose behaviour is known, because it was planted: what an audit must find in them, and what it must not.

Nothing here knows how an audit decides. A draw that does not show its behaviour clearly (too few unseen cells,
predictions that are right by luck, two explanations that fit alike) is drawn again, so a miss is the audit's.
"""

from __future__ import annotations

import numpy as np
from tests.auditing.planted import composing, failing, images
from tests.auditing.planted.construction import FINDINGS, Planted
from tests.auditing.planted.redraw import Redraw

__all__ = ["FINDINGS", "KINDS", "Planted", "planted"]

RECIPES = {
    "lookup": failing.lookup,
    "additive": failing.additive,
    "kernel": failing.kernel,
    "shortcut": failing.shortcut,
    "superposition": images.superposition,
    "composer": composing.composer,
    "noisy_composer": composing.noisy_composer,
    "constant": composing.constant,
}
KINDS = tuple(RECIPES)
MAX_DRAWS = 2000


def planted(kind: str, seed: int) -> Planted:
    """One construction; the same for the same kind and seed."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for _ in range(MAX_DRAWS):
        try:
            return RECIPES[kind](rng)
        except Redraw:
            continue
    raise RuntimeError(f"no {kind} in {MAX_DRAWS} draws from seed {seed}")
