"""Vectors of known order of interaction: do decoders of at most that order find the slots?

The theorems speak of decoders that fit. A restricted decoder can fit with the true slots only, and many of its runs end
in a minimum where each slot holds a bit of both; therefore many seeds, small batches and a high rate.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from recombine.fit import Recipe, adam
from recombine.fit.recipe import Schedule
from recombine.nets import (
    additive_decoder,
    bilinear_decoder,
    dense_decoder,
    dense_slots,
    slot_autoencoder,
)
from recombine.parts import Part
from recombine.probes import recombining
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry import identities
from recombine.studies.interaction_asymmetry.arms.shared import MORE_SEEDS
from recombine.tasks import interaction_task

OUTPUTS = {1: 20, 2: 40}
"""By order of the generator. Sufficient independence takes 10 outputs at order 1 and 22 at order 2."""
SLOTS = 2
WIDTH = 2
HIDDEN = (64, 64)
STEPS = {"smoke": 20, "quick": 20_000, "paper": 50_000}
SAMPLES = 10_000
STARTS = {"smoke": (0,), "quick": tuple(range(20)), "paper": tuple(range(40))}
"""Seeds of restricted decoders, of which some fit."""
DECODERS: dict[str, Callable[..., Any]] = {
    "additive": additive_decoder,
    "bilinear": bilinear_decoder,
    "dense": dense_decoder,
}
RESTRICTED = {1: "additive", 2: "bilinear"}
"""The decoder of a generator's order."""
PAIRS = tuple((order, kind) for order, own in RESTRICTED.items() for kind in (own, "dense"))
"""Order of the generator and kind of the decoder."""


def vector_arm(order: int, decoder: str, *, corner: bool = False) -> str:
    """Vectors of that order by that decoder, with a corner of the first latents left out or not."""
    return f"order {order}, {decoder} decoder{', corner' if corner else ''}"


def generator_arm(order: int) -> str:
    """The generators of that order themselves: is what the theorem asks of them given?"""
    return f"order {order}, generators"


def vector_arms(scale: Scale) -> dict[str, Trial]:
    """Autoencoders of vectors whose decoder is as restricted as the generator, and unrestricted ones."""
    found = {}
    for order in RESTRICTED:
        probe = Part(identities.generator_independence)
        found[generator_arm(order)] = Trial(_task(scale, order), (probe,), STARTS[scale])
    for (order, kind), corner in product(PAIRS, (False, True)):
        own = {} if kind == "dense" else {"shared": False}
        net = Part(
            slot_autoencoder,
            shape=(OUTPUTS[order],),
            slots=SLOTS,
            width=WIDTH,
            variational=False,
            encoder=Part(dense_slots, hidden=HIDDEN),
            decoder=Part(DECODERS[kind], hidden=HIDDEN, **own),
        )
        how = Recipe(
            steps=STEPS[scale],
            batch=64,
            optimiser=adam(5e-3),
            schedule=Schedule("cosine"),
            record_rows=1000,
        )
        seeds = (MORE_SEEDS if kind == "dense" else STARTS)[scale]
        task, probes = _task(scale, order, corner=corner), (Part(recombining.slots_found),)
        found[vector_arm(order, kind, corner=corner)] = Trial(task, probes, seeds, net, how)
    if scale == "smoke":
        found = {name: found[name] for name in (generator_arm(2), vector_arm(2, "bilinear"))}
    return found


def _task(scale: Scale, order: int, *, corner: bool = False) -> Part:
    return Part(
        interaction_task,
        slots=(WIDTH,) * SLOTS,
        outputs=OUTPUTS[order],
        order=order,
        rows=500 if scale == "smoke" else SAMPLES,
        support="l-shaped" if corner else None,
    )
