"""Whether a net for scenes fits, separates its objects into slots, or has everything in one slot; one answer per seed.

What a user wants to know is whether a net separates the objects, so arms are compared by how many of their nets do.
Both arms of a comparison train on the same scenes with the same seed, and pairs in which both or neither
separate say nothing about which arm does it more often. What decides is the share of the other pairs (McNemar's test).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from recombine.studies.evidence import Arm
from recombine.studies.measurement import Requirements, Successes, Supports

CLEAN = 0.8
"""J-ARI from which objects count as cleanly separated; set before the first run."""
ONE_SLOT_JIS, ONE_SLOT_J_ARI = 0.7, 0.2
FITTED = 0.1
"""A net fits if its squared error is below this share of a blank image's."""

Answers = Bool[np.ndarray, " seeds"]


def clean(arm: Arm) -> Answers:
    """Which nets have the objects in different slots."""
    found: np.ndarray = arm["j_ari"] >= CLEAN
    return found


def one_slot(arm: Arm) -> Answers:
    """Which nets have all objects in one slot: pixels depend on a single slot, the same for every object."""
    found: np.ndarray = (arm["jis"] >= ONE_SLOT_JIS) & (arm["j_ari"] < ONE_SLOT_J_ARI)
    return found


def fitted(**arms: Arm) -> Requirements:
    """The precondition that every named net fits."""
    bound = f"squared error below {FITTED:g} of a blank image's"
    return {f"fitted, {name} ({bound})": arm["sse"] < FITTED * arm["sse_blank"] for name, arm in arms.items()}


def several_slots(**arms: Arm) -> Requirements:
    """The precondition that no named net has everything in one slot, which is exclusive without separating anything."""
    return {f"more than one slot in use, {name}": ~one_slot(arm) for name, arm in arms.items()}


def separates_more_often(first: Arm, second: Arm, *, requires: Requirements, supports: Supports) -> Successes:
    """Among the seeds where one arm separates the objects and the other does not: is it the first?"""
    one, other = clean(first), clean(second)
    differ = {"separated by exactly one of both nets": one != other}
    return Successes(one & ~other, requires={**requires, **differ}, supports=supports)
