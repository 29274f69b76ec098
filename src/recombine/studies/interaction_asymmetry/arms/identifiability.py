"""Vectors with a known order of interaction: do decoders of at most that order recover the slots?

The theorems are about decoders that fit. A restricted decoder can only fit with the true slots, and many of its runs
end in a minimum where the slots are mixed; therefore we use many seeds, small batches and a high learning rate.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from recombine.nets import additive_decoder, bilinear_decoder, dense_decoder, dense_slots, slot_autoencoder
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry import identities, recombination_probes
from recombine.studies.interaction_asymmetry.arms.shared import MORE_SEEDS
from recombine.tasks import interaction_task
from recombine.training import Recipe, adam
from recombine.training.recipe import Schedule

OUTPUTS = {1: 20, 2: 40}
"""By order of the generator. Sufficient independence needs 10 outputs at order 1 and 22 at order 2."""
SLOTS = 2
WIDTH = 2
HIDDEN = (64, 64)
STEPS = {"smoke": 20, "quick": 20_000, "paper": 50_000}
SAMPLES = 10_000
STARTS = {"smoke": (0,), "quick": tuple(range(20)), "paper": tuple(range(40))}
"""Seeds of restricted decoders; some of them fit."""
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
    """Vectors of that order with that decoder, with or without a held-out corner of the first latents."""
    return f"order {order}, {decoder} decoder{', corner' if corner else ''}"


def generator_arm(order: int) -> str:
    """The generators of that order themselves: do they satisfy the theorem's assumptions?"""
    return f"order {order}, generators"


def vector_arms(scale: Scale) -> dict[str, Trial]:
    """Autoencoders of vectors whose decoders are as restricted as the generator, and unrestricted ones."""
    arms = {}
    for order in RESTRICTED:
        probe = Part(identities.generator_independence)
        arms[generator_arm(order)] = Trial(_task(scale, order), (probe,), STARTS[scale])
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
        task, probes = _task(scale, order, corner=corner), (Part(recombination_probes.slot_recovery),)
        arms[vector_arm(order, kind, corner=corner)] = Trial(task, probes, seeds, net, how)
    if scale == "smoke":
        arms = {name: arms[name] for name in (generator_arm(2), vector_arm(2, "bilinear"))}
    return arms


def _task(scale: Scale, order: int, *, corner: bool = False) -> Part:
    return Part(
        interaction_task,
        slots=(WIDTH,) * SLOTS,
        outputs=OUTPUTS[order],
        order=order,
        rows=500 if scale == "smoke" else SAMPLES,
        support="l-shaped" if corner else None,
    )
