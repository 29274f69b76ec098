"""Table 1 of the paper at sizes that a CPU can train: sprites of 16 and 32 pixels, and slot attention as a baseline.

The baseline is an object-centric model: slot attention as encoder and a spatial-broadcast decoder, which draws every
slot separately and mixes the drawings by a softmax. The question is whether a Transformer autoencoder with both
penalties separates objects as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.interaction_asymmetry import recombination_probes, slot_probes
from recombine.studies.interaction_asymmetry.separation import fitted
from recombine.studies.interaction_asymmetry.slot_maps import draw_slot_maps
from recombine.studies.interaction_asymmetry.slot_training import BETA, slot_recipe
from recombine.studies.interaction_asymmetry.table1_line_world import MULTIPLE
from recombine.studies.interaction_asymmetry.tables import slot_table
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import sprites

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL, LARGE = 16, 32
SEEDS = 6
SMALL_IMAGES = {"quick": 384_000, "paper": 640_000}
"""How many images every small net sees, in batches that let it fit."""
LARGE_STEPS = 20_000
ERROR_WEIGHT = 5.0
"""Of the squared error if there is a penalty, as in the authors' code for sprites."""
SMALL_ALPHA = round(MULTIPLE * paper_equivalent_weight(SMALL**2, ERROR_WEIGHT), 2)
"""The same multiple of the paper-equivalent weight as in the line world."""
LARGE_ALPHA = round(MULTIPLE * paper_equivalent_weight(LARGE**2, ERROR_WEIGHT), 2)
MODELS = {"plain": (0.0, 0.0), "alpha only": (1.0, 0.0), "beta only": (0.0, BETA), "both": (1.0, BETA)}
"""Penalties in units of the size's alpha, and beta."""
SWEEP = (0.25, 1.0, 4.0)
"""Values of alpha, in units of the paper-equivalent weight."""
BASELINE = "slot attention, broadcast"
SMALL_MODELS = ("plain", "both", BASELINE)
BATCH, PEAK = {"plain": 32, BASELINE: 16}, {BASELINE: 2e-3}
"""Images per step and peak rate, where they are not 64 and 1e-3; chosen by the misfit of one net with another seed."""
COMPARABLE = -0.15
"""A model is comparable if its J-ARI is less than 0.15 below the baseline's."""
MINUTES_PER_ARM = 21
"""Six seeds of the small sprites on two cores, mean of the arms; six nets of slot attention take half an hour."""
SMALLER = "16 × 16 pixels instead of 64 × 64, two objects, 384,000 images seen instead of 32 million"


def small_arm(model: str) -> str:
    """Two sprites on 16 × 16 pixels."""
    return f"sprites 16, {model}"


def sweep_arm(times: float) -> str:
    """The small sprites with another alpha, in units of the paper-equivalent one."""
    return f"sprites 16, {times:g} × alpha"


def large_arm(model: str) -> str:
    """Two or three sprites on 32 × 32 pixels."""
    return f"sprites 32, {model}"


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
    settings: dict[str, Any] = {"inner": 64, "sampled": sampled, "encoder": {"channels": 16}}
    return _net(SMALL, 3, 8, variational=variational, baseline=baseline, **settings)


def large_net(*, variational: bool, baseline: bool = False) -> Part:
    """Four slots of 16 latents for 32 × 32 pixels; a quarter of the pixels is decoded per step."""
    encoder = {"channels": 16, "strides": (1, 2, 2, 1)}
    settings: dict[str, Any] = {"inner": 96, "sampled": LARGE**2 // 4, "encoder": encoder}
    return _net(LARGE, 4, 16, variational=variational, baseline=baseline, **settings)


PROBES = (
    Part(slot_probes.slot_quality, images=100),
    Part(slot_probes.slot_images),
    Part(recombination_probes.recombination, scenes=300),
    Part(slot_probes.decoder_interaction, scenes=16),
)


def _small(scale: Scale, alpha: float, beta: float, *, model: str = "both") -> ArmPlan:
    frame = {"size": SMALL, "objects": 2, "scale": (0.25, 0.35), "x": (0.2, 0.8), "y": (0.2, 0.8)}
    task = Part(sprites, rows=20_000, test=500, **frame)
    baseline, batch = model == BASELINE, BATCH.get(model, 64)
    sampled = None if scale == "paper" or baseline else SMALL**2 // 4
    net = small_net(variational=beta > 0, baseline=baseline, sampled=sampled)
    weights = {"alpha": alpha, "beta": beta, "error_weight": ERROR_WEIGHT}
    how = slot_recipe(SMALL_IMAGES[scale] // batch, batch=batch, peak=PEAK.get(model, 1e-3), **weights)
    return ArmPlan(Trial(task, PROBES, (0,), net, how), SEEDS)


def _large(alpha: float, beta: float, *, baseline: bool = False) -> ArmPlan:
    frame = {"size": LARGE, "objects": (2, 3), "scale": (0.18, 0.26), "x": (0.15, 0.85), "y": (0.15, 0.85)}
    net = large_net(variational=beta > 0, baseline=baseline)
    how = slot_recipe(LARGE_STEPS, alpha=alpha, beta=beta, error_weight=ERROR_WEIGHT, batch=32)
    return ArmPlan(Trial(Part(sprites, rows=20_000, **frame), PROBES, (0,), net, how), SEEDS)


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Small sprites at scale quick; the sweep of alpha and large sprites at scale paper."""
    if scale == "smoke":
        return {}
    plans = {
        small_arm(name): _small(scale, MODELS[name][0] * SMALL_ALPHA, MODELS[name][1], model=name)
        for name in SMALL_MODELS
        if name != BASELINE
    }
    plans[small_arm(BASELINE)] = _small(scale, 0, 0, model=BASELINE)
    if scale == "quick":
        return plans
    base = paper_equivalent_weight(SMALL**2)
    plans[small_arm("beta only")] = _small(scale, 0, BETA, model="beta only")
    plans |= {sweep_arm(times): _small(scale, times * base, BETA) for times in SWEEP}
    plans |= {large_arm(name): _large(alpha * LARGE_ALPHA, beta) for name, (alpha, beta) in MODELS.items()}
    plans[large_arm(BASELINE)] = _large(0, 0, baseline=True)
    return plans


def scores(evidence: Evidence, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """J-ARI, JIS and active slots of the arms that were run, and R² of exchanged slots."""
    readings = {
        "J-ARI": "j_ari",
        "JIS": "jis",
        "active slots": "active",
        "exchanged slots, R²": "recombined_r2_in",
    }
    return {
        f"{label}, {name.partition(', ')[2]}": evidence[name][key]
        for label, key in readings.items()
        for name in names
        if name in evidence
    }


def _j_ari(evidence: Evidence, first: str, second: str, names: tuple[str, ...]) -> PerSeed:
    one, other = evidence[first], evidence[second]
    return PerSeed(
        one["j_ari"] - other["j_ari"],
        requires=fitted(first=one, second=other),
        supports=scores(evidence, names),
    )


SMALL_ARMS = tuple(small_arm(name) for name in SMALL_MODELS)
SIX_SEEDS = Amendment(
    "3 seeds, means compared", "6 seeds, compared by seed", "fewer seeds decide nothing", seen=False
)
FIRST_TRAINING = "every net: 6,000 steps of 64 images, peak rate 1e-3"
SMALLER_BATCHES = (
    "every net sees 384,000 images; slot attention 16 per step at a peak of 2e-3, plain nets 32 per step"
)


def _fitting(*, seen: bool) -> Amendment:
    reason = (
        "the first nets without penalties and of slot attention did not fit; batches and rate were chosen by the "
        "misfit of one net each with seed 5000"
    )
    return Amendment(FIRST_TRAINING, SMALLER_BATCHES, reason, seen=seen)


PENALTIES = Claim(
    "26",
    "capacity and interaction penalties disentangle sprites: J-ARI is higher with both than without",
    "Table 1, Section 6",
    difference(
        "J-ARI, both penalties minus none",
        "above",
        magnitude=0.3,
        published_text="unregularised clearly worse",
    ),
    (small_arm("plain"), small_arm("both")),
    lambda evidence: _j_ari(evidence, small_arm("both"), small_arm("plain"), SMALL_ARMS),
    also=(small_arm(BASELINE),),
    on_request=True,
    minutes=3 * MINUTES_PER_ARM,
    reversal="plain nets separated sprites better than penalised ones",
    reduced=SMALLER,
    finding="The penalties do what they are made for in most nets, but not in all: with them pixels depend more "
    "exclusively on one slot in five of six seeds, and exchanged slots give the image that they should (R² 0.42 "
    "against -0.12 without). Yet in two of six seeds objects are separated no better than without.",
    amendments=(SIX_SEEDS, _fitting(seen=True)),
)
COMPARABLE_CLAIM = Claim(
    "31",
    "a Transformer autoencoder with both penalties disentangles sprites about as well as slot attention with a "
    "spatial-broadcast decoder",
    "abstract, Table 1",
    difference(
        "J-ARI, both penalties minus slot attention",
        "above",
        no_effect=COMPARABLE,
        published_text="comparable to object-centric models",
    ),
    (small_arm("both"), small_arm(BASELINE)),
    lambda evidence: _j_ari(evidence, small_arm("both"), small_arm(BASELINE), SMALL_ARMS),
    also=(small_arm("plain"),),
    headline=True,
    on_request=True,
    minutes=3 * MINUTES_PER_ARM,
    reversal="slot attention separated sprites that the Transformer with both penalties mixed",
    reduced=SMALLER,
    finding="At this size slot attention separates sprites better in every pair that fits, usually by about the margin "
    "that counts as comparable; its slots also exchange better (R² 0.66 against 0.44). It fits less easily: two of six "
    "nets miss the bound on the error by little (10.0% and 11.3%). What the penalised nets lack is reliability: one of "
    "six has mixed both objects.",
    amendments=(
        Amendment(
            "part of claim 29, on 32 × 32 pixels at scale paper",
            "a claim of its own at the size that fits",
            "the comparison is a headline of the paper, and the large sprites take hours",
            seen=False,
        ),
        _fitting(seen=True),
    ),
)


def _borders(evidence: Evidence) -> PerSeed:
    arm = evidence[small_arm(BASELINE)]
    return PerSeed(
        arm["q1_border"] / arm["q1_inside"],
        requires=fitted(baseline=arm),
        supports={f"q1, {place}": arm[f"q1_{place}"] for place in ("inside", "border", "background")},
    )


BORDERS = Claim(
    "27",
    "the broadcast decoder's slots interact more at the borders of objects than inside",
    "derived",
    ratio("q1 at borders / inside objects", "above"),
    (small_arm(BASELINE),),
    _borders,
    on_request=True,
    minutes=MINUTES_PER_ARM,
    reversal="masks were mixed inside objects and clean at their borders",
    reduced=SMALLER,
    amendments=(SIX_SEEDS, _fitting(seen=False)),
)


def _sweep(evidence: Evidence) -> PerSeed:
    names = (small_arm("beta only"), *(sweep_arm(times) for times in SWEEP))
    none, strongest = evidence[names[0]], evidence[names[-1]]
    return PerSeed(
        strongest["jis"] - none["jis"],
        requires=fitted(none=none),
        supports={
            **scores(evidence, names),
            "squared error, strongest / none": strongest["sse"] / none["sse"],
        },
    )


SWEEP_CLAIM = Claim(
    "28",
    "sprites: a stronger interaction penalty makes pixels depend more exclusively on one slot",
    "ours",
    difference("JIS, four times the paper-equivalent alpha minus none (both with beta)", "above"),
    (small_arm("beta only"), *(sweep_arm(times) for times in SWEEP)),
    _sweep,
    decided_at="paper",
    minutes=6 * 60,
    reversal="attention grew sharper while pixels depended on more slots",
    reduced=SMALLER,
    amendments=(
        Amendment(
            "JIS rises and the error does not fall from step to step of the sweep, by means",
            "JIS at the strongest alpha against none; the rest is reported",
            "one quantity per claim",
            seen=False,
        ),
    ),
)
LARGE_ARMS = tuple(large_arm(name) for name in (*MODELS, BASELINE))
LARGE_CLAIM = Claim(
    "29",
    "larger sprites: with both penalties, objects are separated about as well as with slot attention and a "
    "spatial-broadcast decoder",
    "abstract, Table 1",
    difference(
        "J-ARI, both penalties minus slot attention",
        "above",
        no_effect=COMPARABLE,
        published_text="comparable to object-centric models",
    ),
    (large_arm("both"), large_arm(BASELINE)),
    lambda evidence: _j_ari(evidence, large_arm("both"), large_arm(BASELINE), LARGE_ARMS),
    also=tuple(large_arm(name) for name in MODELS if name != "both"),
    decided_at="paper",
    minutes=16 * 60,
    reversal="slot attention separated sprites that the Transformer with both penalties mixed",
    amendments=(
        Amendment(
            "also the order both, beta only, alpha only, plain of mean J-ARI",
            "the comparison with slot attention decides; the other arms are reported",
            "one quantity per claim",
            seen=False,
        ),
    ),
)


def draw_maps(evidence: Evidence) -> Figure:
    """Which slot every pixel of small sprites depends on."""
    return draw_slot_maps({name: evidence[small_arm(name)] for name in SMALL_MODELS})


SECTION = StudySection(
    "Section 6, Table 1: sprites, and object-centric models",
    arms=arms,
    claims=(COMPARABLE_CLAIM, PENALTIES, BORDERS, SWEEP_CLAIM, LARGE_CLAIM),
    drawings=(
        Drawing(
            "sprite-maps",
            "Slots of small sprites.",
            "Three test images of the net of median J-ARI of each arm, 16 × 16 pixels. Every slot has a colour; a "
            "pixel that depends on several shows their mixture. Shapes are not resolved at this error. "
            "The broadcast decoder has no attention.",
            SMALL_ARMS,
            draw_maps,
            form="image",
        ),
    ),
    tabulations=(slot_table("Sprites, 16 × 16", SMALL_ARMS),),
)
