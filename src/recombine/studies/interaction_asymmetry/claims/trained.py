"""Claims 16 to 30: trained autoencoders. Thresholds were fixed before the runs that decide them."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.interaction_asymmetry.arms.identifiability import vector_arm
from recombine.studies.interaction_asymmetry.arms.lines import (
    ALPHA_ONLY,
    BETA_ONLY,
    BOTH,
    CORNER,
    FOUR,
    PLAIN,
    SCAN,
)
from recombine.studies.interaction_asymmetry.arms.sprites import (
    BASELINE,
    MODELS,
    SMALL_MODELS,
    SWEEP,
    clevr_arm,
    large_arm,
    small_arm,
    sweep_arm,
)
from recombine.studies.interaction_asymmetry.checks import trained as checks

CLAIMS = (
    Claim(
        "16",
        "additive decoders that fit find an additive generator's slots (R² > 0.95, crossed < 0.2), dense ones less",
        "paper, ours",
        "theorem for n = 1",
        (vector_arm(1, "additive"), vector_arm(1, "dense")),
        checks.additive,
    ),
    Claim(
        "17",
        "additive + bilinear decoders that fit find the slots of a generator of order 2, in the same terms",
        "paper, ours",
        "theorem for n = 2",
        (vector_arm(2, "bilinear"), vector_arm(2, "dense")),
        checks.bilinear,
    ),
    Claim(
        "18",
        "line world, both penalties: slots hold objects (mean J-ARI ≥ 0.8) and pixels one slot (mean JIS ≥ 0.7)",
        "ours",
        "–",
        (BOTH,),
        checks.regularised_finds_objects,
    ),
    Claim(
        "19",
        "line world: without penalties mean J-ARI or JIS is at least 0.3 lower",
        "paper, ours",
        "unregularised clearly worse",
        FOUR,
        checks.plain_does_not,
    ),
    Claim(
        "20",
        "line world: the capacity penalty (beta) does more for J-ARI and JIS than the interaction penalty (alpha)",
        "paper",
        "beta has the larger effect",
        (PLAIN, ALPHA_ONLY, BETA_ONLY),
        checks.capacity_matters_more,
    ),
    Claim(
        "21",
        "line world: alpha from the paper-equivalent weight to 100 times: attention less shared, JIS up, error up",
        "ours",
        "–",
        (BETA_ONLY, *SCAN),
        checks.stronger_alpha,
        exploratory=True,
    ),
    Claim(
        "22",
        "line world: q1 and r2 of the decoder fall by a factor of 2 or more with both penalties",
        "ours",
        "–",
        FOUR,
        checks.less_interaction,
    ),
    Claim(
        "23",
        "line world: exchanging slots gives the true recombination: R² of both ≥ plain + 0.2",
        "ours",
        "proved, not tested",
        FOUR,
        checks.recombines,
        exploratory=True,
    ),
    Claim(
        "24",
        "a corner of hues left out: exchanging slots into it, both ≥ plain + 0.2, additive ≥ dense + 0.2",
        "ours",
        "proved, not tested",
        tuple(CORNER),
        checks.corner,
        exploratory=True,
    ),
    Claim(
        "25",
        "vectors, a corner left out: right decoders that fit recombine slots into it (R² ≥ 0.95), dense ones 0.3 less",
        "ours",
        "proved, not tested",
        tuple(
            vector_arm(order, kind, corner=True)
            for order, kind in ((1, "additive"), (1, "dense"), (2, "bilinear"), (2, "dense"))
        ),
        checks.vectors_recombine,
        exploratory=True,
    ),
    Claim(
        "26",
        "sprites, 16 × 16: mean J-ARI of both penalties at least 0.3 above none",
        "ours",
        "–",
        tuple(small_arm(name) for name in SMALL_MODELS),
        checks.small_sprites,
        on_request=True,
        minutes=60,
    ),
    Claim(
        "27",
        "broadcast decoder on sprites, 16 × 16: more interaction at the objects' borders than inside",
        "derived, ours",
        "–",
        (small_arm(BASELINE),),
        checks.borders_of_masks,
        on_request=True,
        minutes=15,
    ),
    Claim(
        "28",
        "sprites, 16 × 16: JIS rises with alpha (0, ¼, 1, 4 × the paper-equivalent), the error does not fall",
        "ours",
        "–",
        (small_arm("beta only"), *(sweep_arm(times) for times in SWEEP)),
        checks.alpha_sweep,
        decided_at="paper",
    ),
    Claim(
        "29",
        "sprites, 32 × 32: J-ARI both ≥ beta only > alpha only ≥ plain; within 0.15 of slot attention + broadcast",
        "paper, ours",
        "comparable to object-centric models",
        tuple(large_arm(name) for name in (*MODELS, BASELINE)),
        checks.large_sprites,
        decided_at="paper",
    ),
    Claim(
        "30",
        "ray-cast scenes: mirrors lower JIS, and metal depends on the slots of what it reflects",
        "paper",
        "a cuboid's slot lights up on a metal sphere",
        (clevr_arm(False), clevr_arm(True)),
        checks.mirrors,
        decided_at="paper",
    ),
)
