"""The line world: four arms and a scan of alpha on all combinations, and arms with a held-out corner of hues."""

from __future__ import annotations

from typing import Any

from recombine.nets import (
    additive_decoder,
    attention_decoder,
    dense_decoder,
    slot_autoencoder,
    slot_transformer,
)
from recombine.parts import Part
from recombine.remedies import paper_equivalent_weight
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry import recombination_probes, slot_probes
from recombine.studies.interaction_asymmetry.arms.shared import BETA, MORE_SEEDS, SEEDS, recipe
from recombine.tasks import line_world

PIXELS = 32
SLOTS = 3
WIDTH = 8
STEPS = {"smoke": 20, "quick": 10_000, "paper": 20_000}
PAPER_ALPHA = round(paper_equivalent_weight(PIXELS), 2)
ALPHAS = (PAPER_ALPHA, 0.6, 6.0)
"""From the paper-equivalent weight, over two decades."""
ALPHA = 0.6
"""Weight in the arm with both penalties: in the middle of the scan."""


def line_arm(alpha: float, beta: float) -> str:
    """An arm with all combinations in training."""
    if not alpha:
        return "beta only" if beta else "plain"
    if not beta:
        return f"alpha {alpha:g} only"
    return f"both, alpha {alpha:g}"


PLAIN, BETA_ONLY = line_arm(0, 0), line_arm(0, BETA)
ALPHA_ONLY, BOTH = line_arm(ALPHA, 0), line_arm(ALPHA, BETA)
SCAN = tuple(line_arm(alpha, BETA) for alpha in ALPHAS)
FOUR = (PLAIN, ALPHA_ONLY, BETA_ONLY, BOTH)


CORNER_MODELS = {
    "attention, plain": ("attention", 0.0, 0.0),
    "attention, both": ("attention", ALPHA, BETA),
    "additive, beta": ("additive", 0.0, BETA),
    "dense, beta": ("dense", 0.0, BETA),
}


def corner_name(model: str) -> str:
    """An arm without scenes that combine two hues of the upper half."""
    return f"corner, {model}"


CORNER = {corner_name(model): how for model, how in CORNER_MODELS.items()}


def line_net(scale: Scale, *, variational: bool, decoder: str = "attention") -> Part:
    """Three slots of eight latents; two encoder and two decoder layers."""
    hidden, depth = (128, 128), 1 if scale == "smoke" else 2
    decoders = {
        "attention": Part(attention_decoder, inner=48, queries=32, heads=4, depth=depth),
        "additive": Part(additive_decoder, hidden=hidden),
        "dense": Part(dense_decoder, hidden=hidden),
    }
    return Part(
        slot_autoencoder,
        shape=(1, PIXELS, 3),
        slots=SLOTS,
        width=WIDTH,
        variational=variational,
        encoder=Part(slot_transformer, channels=16, depth=depth),
        decoder=decoders[decoder],
    )


def line_arms(scale: Scale) -> dict[str, Trial]:
    """The four arms of E1, the scan of alpha, and the arms with a held-out corner of hues."""
    settings: dict[str, Any] = {"rows": 200, "test": 60} if scale == "smoke" else {}
    probes = (
        Part(slot_probes.slot_quality, images=20 if scale == "smoke" else 200),
        Part(slot_probes.slot_images),
        Part(recombination_probes.recombination),
        Part(slot_probes.decoder_interaction, scenes=4 if scale == "smoke" else 32),
    )
    every = Part(line_world, **settings)
    corner = Part(line_world, support="l-shaped", on=("hue",), **settings)

    def trial(task: Part, decoder: str, alpha: float, beta: float, seeds: tuple[int, ...]) -> Trial:
        how = recipe(scale, STEPS[scale], alpha=alpha, beta=beta)
        net = line_net(scale, variational=beta > 0, decoder=decoder)
        return Trial(task, probes, seeds, net, how)

    weights = [(0.0, 0.0), (ALPHA, 0.0), (0.0, BETA), *((alpha, BETA) for alpha in ALPHAS)]
    arms = {line_arm(*how): trial(every, "attention", *how, MORE_SEEDS[scale]) for how in weights}
    arms |= {name: trial(corner, *how, SEEDS[scale]) for name, how in CORNER.items()}
    if scale == "smoke":
        arms = {name: arms[name] for name in (BOTH,)}
    return arms
