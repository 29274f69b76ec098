"""Claims about the regimes on four sines: what leads to modules, and what modules are good for."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.poisson_modularity.arms.sine import LENGTHS, STRENGTHS, length_arm, strength_arm
from recombine.studies.poisson_modularity.checks import regimes as checks

MATCHED = tuple(
    dict.fromkeys(strength_arm(family, s) for family, strengths in STRENGTHS.items() for s in strengths)
)
SHORT = length_arm("L2", 2500)

CLAIMS = (
    Claim(
        "5",
        "L2 alone fits (training error < 3e-4) with squared weights that sum to 22-25",
        "rerun",
        "1e-4, 22.4",
        ("L2",),
        checks.plain_fits,
    ),
    Claim(
        "6",
        "weighted activity leads to modules: ≥ 98% of squared weight inside in every layer, eigenvalue 4 ≤ 0.4",
        "rerun",
        "sum of squares 26.1",
        ("WA",),
        checks.weighted_is_modular,
        also=("WA alpha 1", "initial"),
    ),
    Claim(
        "7",
        "L2 alone does not: ≤ 80% inside in layers 3 and 4, eigenvalue 4 ≥ 0.6 in layers 2 to 4",
        "rerun",
        "–",
        ("L2", SHORT),
        checks.plain_is_not,
        finding="The thresholds come from one net after 5000 epochs. At the published 10,000 epochs L2 alone has "
        "reached 81 to 88% in layers 3 and 4, and it continues (claim 27): L2 does tend "
        "towards modules, but falls far short of them. The contrast with weighted activity (99.8%) remains.",
    ),
    Claim(
        "8",
        "connections between modules cut: error of outputs 2 to 4 stays ≤ 3e-3 with weighted activity, ≥ 3e-2 with L2",
        "rerun",
        "–",
        ("WA", "L2"),
        checks.block_pruning,
    ),
    Claim(
        "9",
        "noise that grows with activity leads to modules, additive noise less: modularity WA > 2 > 1 > 0 > L2",
        "paper, rerun",
        "–",
        ("WA", "Noise2", "Noise1", "Noise0", "L2"),
        checks.noise_orders,
        finding="With equal training, Poisson-like noise is as modular as multiplicative noise (Newman modularity "
        "0.65 and 0.64; 0.64 and 0.66 with other seeds); the net behind the expected order had trained for a "
        "third of the time. Additive noise is not better than L2 (0.47 and 0.45; with seed offset 1000 it is "
        "the other way round). One additive net of three has 93% in its second worst layer, at the "
        "threshold.",
    ),
    Claim(
        "10",
        "the sum of squared weights falls from Noise0 over 1, 2 and WA to L2, each within 12% of the published sum",
        "code",
        "43.7, 36.6, 28.4, 26.1, 22.4",
        ("Noise0", "Noise1", "Noise2", "WA", "L2"),
        checks.weight_sizes,
    ),
    Claim(
        "11",
        "L1 1e-3 does not fit (> 0.03); L1 1e-4 fits and is modular (≥ 97%) with at most 16 of 32 units",
        "code, rerun",
        "0.069 (L1 1e-3)",
        ("L1 1e-3", "L1 1e-4"),
        checks.thin_circuits,
        finding="L1 1e-3 fits to 0.008, not 0.069. The published error is ours plus a quarter of one sine's variance:"
        " that net seems to have dropped one of its four outputs. None of ten further seeds did, with or "
        "without a penalty on biases. So L1 at the published strength also gives a modular solution here, but a"
        " thin and coarse one.",
    ),
    Claim(
        "12",
        "weighted activity keeps ≥ 24 of 32 units alive in every layer, and ≥ 3 in every module",
        "rerun",
        "–",
        ("WA",),
        checks.full_circuits,
    ),
    Claim(
        "14",
        "under multiplicative noise the error of weighted activity is ≤ 0.4 times that of L2; under additive noise "
        "not less",
        "paper, rerun",
        "–",
        ("WA", "L2"),
        checks.noise_robustness,
    ),
    Claim(
        "15",
        "input 1 shifted by 10 and 1000: errors of other outputs are ≤ 1/8 and ≤ 1/50 of L2's; once cut, unchanged",
        "rerun",
        "–",
        ("WA", "L2"),
        checks.shifted_input,
        finding="With seed offset 1000 one net of three leaks more (0.22 of L2 at shift 10, 0.03 at 1000), though "
        "99.3% of its squared weight is inside modules: small weights between modules are enough. Once cut,"
        " it does not leak.",
    ),
    Claim(
        "22",
        "nets of separate blocks are more robust to activity noise than dense ones (L2 alone), and fully robust to "
        "shifts",
        "paper",
        "–",
        ("blocks", "L2"),
        checks.built_in_blocks,
        exploratory=True,
        finding="Shifts stay in their module by construction. Under activity noise separate blocks of eight units are"
        " not better than 32 dense ones (ratios 0.9 to 1.2, and 1.1 to 1.8 with other seeds): each output has "
        "fewer units to average over. The published protocol is unknown; ours trains both with L2 alone.",
    ),
    Claim(
        "23",
        "at equal task loss L1 and activity decay also lead to modules (≥ 97% inside): no product is needed",
        "ours",
        "–",
        MATCHED,
        checks.others_too,
        exploratory=True,
        finding="With seed offset 1000 one L1 net of three has 96.97% in its worst layer, just below the bound; "
        "activity decay has 99.8% and more. At stronger L1 all nets have 100%.",
    ),
    Claim(
        "24",
        "at equal task loss weighted activity has more live units than L1 and is more robust to activity noise",
        "ours",
        "–",
        MATCHED,
        checks.what_distinguishes,
        exploratory=True,
    ),
    Claim(
        "25",
        "with tanh units weighted activity fits and is modular; with sigmoid units it does not fit (> 0.03)",
        "code, ours",
        "2.4e-4, 0.063",
        ("WA tanh", "WA sigmoid"),
        checks.other_units,
        exploratory=True,
        finding="With tanh units the losses and sums of squares are the published ones, but the layers after the "
        "first stay mixed (61 to 81% inside). Published weight maps of this net exist only as images.",
    ),
    Claim(
        "26",
        "the Jacobian form with weight σ²/K is equivalent to multiplicative noise: modular, same weights to 12%",
        "derived",
        "–",
        ("Jacobian", "Jacobian, projected", "Noise2"),
        checks.faithful_form,
        exploratory=True,
        finding="It is as modular as weighted activity, and one random projection works as well as all outputs, but "
        "weights are 10 to 15% smaller than with noise of level 0.1, and errors under that noise 1.2 times as large:"
        " at this level higher-order terms matter.",
    ),
    Claim(
        "27",
        "L2 alone becomes more modular with longer training, 2500 to 20,000 epochs",
        "ours",
        "–",
        ("L2", *(length_arm("L2", epochs) for epochs in LENGTHS)),
        checks.time_alone,
        also=tuple(length_arm("WA", epochs) for epochs in LENGTHS),
        exploratory=True,
    ),
)
