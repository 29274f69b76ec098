"""Sprites of 16 and 32 pixels: the paper's comparison at sizes that a CPU can train."""

from __future__ import annotations

from typing import Any

from recombine.nets import (
    attention_decoder,
    broadcast_decoder,
    slot_attention,
    slot_autoencoder,
    slot_transformer,
)
from recombine.parts import Part
from recombine.remedies import paper_equivalent_weight
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry import recombination_probes, slot_probes
from recombine.studies.interaction_asymmetry.arms.lines import ALPHA as LINE_ALPHA
from recombine.studies.interaction_asymmetry.arms.lines import PAPER_ALPHA
from recombine.studies.interaction_asymmetry.arms.shared import BETA, SEEDS, recipe
from recombine.tasks import sprites
from recombine.training import Recipe

SMALL = 16
LARGE = 32
SMALL_ALPHA = round(paper_equivalent_weight(SMALL**2) * LINE_ALPHA / PAPER_ALPHA, 2)
"""The same multiple of the paper-equivalent weight as in the line world."""
LARGE_ALPHA = round(paper_equivalent_weight(LARGE**2) * LINE_ALPHA / PAPER_ALPHA, 2)
SMALL_STEPS = {"smoke": 20, "quick": 6_000, "paper": 10_000}
LARGE_STEPS = 20_000
MODELS = {"plain": (0.0, 0.0), "alpha only": (1.0, 0.0), "beta only": (0.0, BETA), "both": (1.0, BETA)}
"""Penalties in units of the size's alpha, and beta."""
SWEEP = (0.25, 1.0, 4.0)
"""Values of alpha, in units of the paper-equivalent weight."""
BASELINE = "slot attention, broadcast"
SMALL_MODELS = ("plain", "beta only", "both", BASELINE)


def small_arm(model: str) -> str:
    """Two sprites on 16 × 16 pixels."""
    return f"sprites 16, {model}"


def sweep_arm(times: float) -> str:
    """The small sprites with another alpha, in units of the paper-equivalent one."""
    return f"sprites 16, {times:g} × alpha"


def large_arm(model: str) -> str:
    """Two or three sprites on 32 × 32 pixels."""
    return f"sprites 32, {model}"


def sprite_arms(scale: Scale) -> dict[str, Trial]:
    """Small sprites at every scale; the sweep of alpha and large sprites at scale paper."""
    if scale == "smoke":
        return {}
    arms = {
        small_arm(name): _small(scale, MODELS[name][0] * SMALL_ALPHA, MODELS[name][1])
        for name in SMALL_MODELS
        if name != BASELINE
    }
    arms[small_arm(BASELINE)] = _small(scale, 0, 0, baseline=True)
    if scale == "quick":
        return arms
    base = paper_equivalent_weight(SMALL**2)
    arms |= {sweep_arm(times): _small(scale, times * base, BETA) for times in SWEEP}
    arms |= {large_arm(name): _large(alpha * LARGE_ALPHA, beta) for name, (alpha, beta) in MODELS.items()}
    arms[large_arm(BASELINE)] = _large(0, 0, baseline=True)
    return arms


def _net(
    size: int,
    slots: int,
    width: int,
    *,
    variational: bool,
    baseline: bool,
    encoder: dict[str, Any],
    **decoder: Any,
) -> Part:
    chosen = {
        True: (Part(slot_attention, **encoder), Part(broadcast_decoder, channels=16)),
        False: (
            Part(slot_transformer, depth=2 if size == SMALL else 3, **encoder),
            Part(attention_decoder, heads=4, queries=48, **decoder),
        ),
    }[baseline]
    return Part(
        slot_autoencoder,
        shape=(size, size, 3),
        slots=slots,
        width=width,
        variational=variational,
        encoder=chosen[0],
        decoder=chosen[1],
    )


def small_net(*, variational: bool, baseline: bool = False, sampled: int | None = None) -> Part:
    """Three slots of eight latents for 16 × 16 pixels."""
    encoder = {"channels": 16}
    return _net(
        SMALL, 3, 8, variational=variational, baseline=baseline, encoder=encoder, inner=64, sampled=sampled
    )


def _probes(scale: Scale) -> tuple[Part, ...]:
    images = 10 if scale == "smoke" else 100
    return (
        Part(slot_probes.slot_quality, images=images),
        Part(slot_probes.slot_images),
        Part(recombination_probes.recombination, scenes=20 if scale == "smoke" else 300),
        Part(slot_probes.decoder_interaction, scenes=2 if scale == "smoke" else 16),
    )


def _trial(scale: Scale, task: Part, net: Part, how: Recipe, probes: tuple[Part, ...]) -> Trial:
    return Trial(task, probes, SEEDS[scale], net, how)


def _small(scale: Scale, alpha: float, beta: float, *, baseline: bool = False) -> Trial:
    rows = {"rows": 100, "test": 20} if scale == "smoke" else {"rows": 20_000, "test": 500}
    task = Part(sprites, size=SMALL, objects=2, scale=(0.25, 0.35), x=(0.2, 0.8), y=(0.2, 0.8), **rows)
    sampled = None if scale == "paper" or baseline else SMALL**2 // 4
    net = small_net(variational=beta > 0, baseline=baseline, sampled=sampled)
    how = recipe(scale, SMALL_STEPS[scale], alpha=alpha, beta=beta)
    return _trial(scale, task, net, how, _probes(scale))


def _large_net(*, variational: bool, baseline: bool = False) -> Part:
    encoder = {"channels": 16, "strides": (1, 2, 2, 1)}
    sampled = LARGE**2 // 4
    return _net(
        LARGE, 4, 16, variational=variational, baseline=baseline, encoder=encoder, inner=96, sampled=sampled
    )


def _large(alpha: float, beta: float, *, baseline: bool = False) -> Trial:
    task = Part(
        sprites, size=LARGE, objects=(2, 3), scale=(0.18, 0.26), x=(0.15, 0.85), y=(0.15, 0.85), rows=20_000
    )
    net = _large_net(variational=beta > 0, baseline=baseline)
    how = recipe("paper", LARGE_STEPS, alpha=alpha, beta=beta, batch=32)
    return _trial("paper", task, net, how, _probes("paper"))
