"""Claims 16 to 30: trained autoencoders. Thresholds were fixed before the runs that decide them."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.interaction_asymmetry.arms.identifiability import PAIRS, generator_arm, vector_arm
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
    large_arm,
    small_arm,
    sweep_arm,
)
from recombine.studies.interaction_asymmetry.checks import trained as checks

CLAIMS = (
    Claim(
        "16",
        "additive decoders that fit recover an additive generator's slots (R² > 0.95, crossed < 0.2), dense ones less",
        "paper, ours",
        "theorem for n = 1",
        (generator_arm(1), vector_arm(1, "additive"), vector_arm(1, "dense")),
        checks.additive,
        finding="Seven of twenty nets fit. Five miss less than 2e-5 of the variance and have recovered the slots "
        "(R² 0.997 and above); two miss 4e-4 and 8e-4 and reach 0.953 and 0.83, although they contain nothing of the "
        "other slot (crossed below 0) and their slots can be exchanged perfectly (R² 0.999): the distortion is "
        "within a slot, which is torn or folded. A threshold of 0.9999 instead of 0.999 would have excluded them; we "
        "do not move it after the fact. Most of the other nets mix the slots. With other seeds, again seven fit, of "
        "which two reach 0.91 and 0.92.",
    ),
    Claim(
        "17",
        "additive + bilinear decoders that fit recover the slots of a generator of order 2, by the same criteria",
        "paper, ours",
        "theorem for n = 2",
        (generator_arm(2), vector_arm(2, "bilinear"), vector_arm(2, "dense")),
        checks.bilinear,
        finding="A decoder with bilinear terms can only fit with the true slots, and not with reparametrised ones: "
        "two runs of twenty succeed, and recover the slots to 0.998. 20 outputs, as first tried, cannot satisfy "
        "sufficient independence at order 2, which needs 22. With other seeds none of twenty succeeds.",
    ),
    Claim(
        "18",
        "line world, both penalties: slots contain objects (mean J-ARI ≥ 0.8) and pixels depend on one slot (mean "
        "JIS ≥ 0.7)",
        "ours",
        "–",
        (BOTH,),
        checks.penalties_separate_objects,
        finding="Nets differ more than arms: with both penalties three of five seeds have one object per slot "
        "(J-ARI 0.87 to 0.93), one mixes them (0.5) and one does not separate them (0.03), and the same "
        "seeds fail with beta alone. On one or two of these seeds we tried, without success: 20,000 steps "
        "(everything in one slot), a capacity penalty five times as strong, slots of four latents, which "
        "cannot represent two bars, alpha 2, and alpha 6 with slots of four.",
    ),
    Claim(
        "19",
        "line world: without penalties mean J-ARI or JIS is at least 0.3 lower",
        "paper, ours",
        "unregularised clearly worse",
        FOUR,
        checks.plain_is_worse,
        finding="Plain nets often separate the objects without penalties: J-ARI 0.97, 0.98 and 0.80 for three seeds of "
        "five, 0.28 and 0.43 for two. A comparison of one seed each (0.51 and 0.93 was the first "
        "observation) is not informative here. What the penalties change is JIS: 0.34 without, 0.55 with beta, "
        "0.57 with both.",
    ),
    Claim(
        "20",
        "line world: the capacity penalty (beta) does more for J-ARI and JIS than the interaction penalty (alpha)",
        "paper",
        "beta has the larger effect",
        (PLAIN, ALPHA_ONLY, BETA_ONLY),
        checks.capacity_matters_more,
        finding="Beta raises JIS by 0.21 and alpha by 0.02, as published; neither changes J-ARI. So at this "
        "size the effect comes from the capacity penalty.",
    ),
    Claim(
        "21",
        "line world: alpha from the paper-equivalent weight to 100 times that: attention less shared, JIS up, error up",
        "ours",
        "–",
        (BETA_ONLY, *SCAN),
        checks.stronger_alpha,
        exploratory=True,
        finding="Weak alpha changes almost nothing. At 100 times the paper-equivalent weight there are two kinds of "
        "nets: two of five separate the objects more cleanly than any other net (J-ARI 0.99 and 0.83, JIS "
        "0.96 and 0.75), and three have everything in one slot (JIS 0.83 to 1, J-ARI 0). By JIS alone, both would be "
        "a success.",
    ),
    Claim(
        "22",
        "line world: q1 and r2 of the decoder fall by a factor of 2 or more with both penalties",
        "ours",
        "–",
        FOUR,
        checks.less_interaction,
        finding="The means hide two kinds of nets: where slots contain objects q1 falls by a third, where they do "
        "not it is unchanged.",
    ),
    Claim(
        "23",
        "line world: exchanging slots gives the true recombination: R² of both ≥ plain + 0.2",
        "ours",
        "proved, not tested",
        FOUR,
        checks.recombines,
        exploratory=True,
        finding="R² depends on whether slots contain objects: 0.65 to 0.86 for the three nets with both penalties that "
        "do, 0.15 and -0.30 for the two that do not.",
    ),
    Claim(
        "24",
        "a corner of hues held out: exchanging slots into it, R² of both ≥ plain + 0.2, additive ≥ dense + 0.2",
        "ours",
        "proved, not tested",
        tuple(CORNER),
        checks.corner,
        exploratory=True,
    ),
    Claim(
        "25",
        "vectors, a corner held out: decoders of the right order that fit recombine slots into it (R² ≥ 0.95), dense "
        "0.3 less",
        "ours",
        "proved, not tested",
        tuple(vector_arm(*pair, corner=True) for pair in PAIRS),
        checks.vectors_recombine,
        exploratory=True,
        finding="This is the test that the paper leaves open, and it passes: 10 and 5 of twenty nets fit, and their "
        "outputs in the unseen corner are right (R² 0.97 to 1), while dense decoders that fit equally well are worse "
        "than the mean. With other seeds one of nine additive nets reaches only 0.29 there, and it barely fits (it "
        "misses 0.000995 of the variance, the others less than 0.0008).",
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
        "broadcast decoder on sprites, 16 × 16: more interaction at the borders of objects than inside",
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
)
