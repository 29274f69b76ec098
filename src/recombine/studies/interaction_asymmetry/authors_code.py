"""The authors' public code: their interaction penalty, models, metrics, data and schedules. Nothing is trained."""

from __future__ import annotations

import numpy as np

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.interaction_asymmetry import model_identities
from recombine.studies.interaction_asymmetry.order_of_interaction import CARRIER, SEEDS, per_draw
from recombine.studies.measurement import Cases
from recombine.studies.quantity import deviation
from recombine.studies.study import StudySection

IDENTITIES = {
    "attention values": model_identities.attention_values,
    "attention identity": model_identities.attention_identity,
    "parameter counts": model_identities.parameter_counts,
    "metric values": model_identities.metric_values,
    "sprite statistics": model_identities.sprite_statistics,
    "schedules": model_identities.schedules,
}
FIXED = ("parameter counts", "schedules")
"""Nothing in these is random."""
SPRITES = {"objects": 2.99, "foreground": 196.0, "energy": 242.0}
"""Means over images of another implementation of the published generator."""
OCCLUSION = {"images_with_occlusion": 0.16, "objects_half_hidden": 0.02}
MASKED_PLACES, USUAL_SHARE = 10, 1e-3
"""At least so many pairs of pixel and slot without attention, and the least median sensitivity elsewhere."""
ONE_TOLERANCE = "one quantity with one tolerance per claim"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One arm without training for every statement."""
    return {
        name: ArmPlan(Trial(CARRIER, (Part(probe),), (0,)), SEEDS[scale], seeded=name not in FIXED)
        for name, probe in IDENTITIES.items()
    }


ATTENTION_VALUES = Claim(
    "10",
    "the interaction penalty in the authors' units: even attention over five slots, attention to one slot, and to "
    "a pair",
    "code",
    deviation("difference from the authors' value", tolerance=1e-3, published_text="57.6, 0, 36"),
    ("attention values",),
    lambda evidence: Cases(
        per_draw(evidence["attention values"]["value_gap"], "three values"),
        supports={"untrained decoder for sprites": evidence["attention values"]["untrained"]},
    ),
    decided_at="smoke",
    amendments=(
        Amendment(
            "the untrained decoder had to be within 1% of 57.6", "its value is reported", ONE_TOLERANCE
        ),
    ),
)


def _attention_identity(evidence: Evidence) -> Cases:
    arm = evidence["attention identity"]
    few = np.maximum(0, MASKED_PLACES - arm["masked_places"]).astype(float)
    weak = np.maximum(0, USUAL_SHARE - arm["usual_share"])
    return Cases(
        per_draw(arm["masked_share"], "sensitivity without attention")
        | per_draw(few, f"pairs without attention missing to {MASKED_PLACES}")
        | per_draw(weak, f"sensitivity elsewhere missing to {USUAL_SHARE:g}"),
        supports={
            "pairs without attention": arm["masked_places"],
            "median sensitivity elsewhere": arm["usual_share"],
        },
    )


ATTENTION_IDENTITY = Claim(
    "11",
    "a pixel that attends to a slot with weight 0 in all layers and heads does not depend on it",
    "Section 5, derived",
    deviation("sensitivity that should vanish, relative to the largest", tolerance=1e-7),
    ("attention identity",),
    _attention_identity,
    decided_at="smoke",
)
PARAMETER_COUNTS = Claim(
    "12",
    "parameter counts of all 11 published models",
    "code",
    deviation("encoders and decoders with another count", published_text="3,346,247, ..."),
    ("parameter counts",),
    lambda evidence: Cases(
        {"22 encoders and decoders": float(evidence["parameter counts"]["counts_that_differ"][0])}
    ),
    decided_at="smoke",
)


def _metric_values(evidence: Evidence) -> Cases:
    arm = evidence["metric values"]
    return Cases(
        per_draw(arm["metric_gap"], "known cases")
        | per_draw(arm["permutation_gap"], "J-ARI after permuting slots")
        | per_draw(arm["scale_gap"], "JIS after rescaling latents")
    )


METRIC_VALUES = Claim(
    "13",
    "J-ARI and JIS have their known values; J-ARI ignores the order of slots, JIS the scale of latents",
    "derived",
    deviation("difference from the known value", tolerance=1e-4),
    ("metric values",),
    _metric_values,
    decided_at="smoke",
    amendments=(Amendment("the two invariances within 1e-9", "all within 1e-4", ONE_TOLERANCE),),
)


def _sprite_statistics(evidence: Evidence) -> Cases:
    arm = evidence["sprite statistics"]
    cases: dict[str, float] = {}
    for name, expected in SPRITES.items():
        cases |= per_draw(arm[name] / expected - 1, name)
    supports = {f"{name.replace('_', ' ')} / {x:g}": arm[name] / x for name, x in OCCLUSION.items()}
    return Cases(cases, supports=supports)


SPRITE_STATISTICS = Claim(
    "14",
    "the sprites have the published number of objects, of foreground pixels and the published energy",
    "rerun",
    deviation("relative difference of the mean", tolerance=0.05, published_text="2.99, 196, 242"),
    ("sprite statistics",),
    _sprite_statistics,
    decided_at="smoke",
    amendments=(
        Amendment("occlusion had to agree within a factor of 1.5", "occlusion is reported", ONE_TOLERANCE),
    ),
)


def _schedules(evidence: Evidence) -> Cases:
    arm = evidence["schedules"]
    names = {
        "learning rates": "rate_gap",
        "penalty weights": "alpha_gap",
        "this package's recipes": "recipe_gap",
    }
    return Cases({label: float(arm[name][0]) for label, name in names.items()})


SCHEDULES = Claim(
    "15",
    "learning rates and penalty weights over 500,000 steps equal the code's, and this package's recipes agree",
    "code",
    deviation("relative difference", tolerance=1e-5, published_text="1e-4 at step 30,001, ..."),
    ("schedules",),
    _schedules,
    decided_at="smoke",
    amendments=(
        Amendment(
            "learning rates within 5e-6, penalty weights within 1e-12", "all within 1e-5", ONE_TOLERANCE
        ),
    ),
)
SECTION = StudySection(
    "Section 5 and the authors' code: penalty, models, metrics and data",
    arms=arms,
    claims=(
        ATTENTION_VALUES,
        ATTENTION_IDENTITY,
        PARAMETER_COUNTS,
        METRIC_VALUES,
        SPRITE_STATISTICS,
        SCHEDULES,
    ),
)
