"""The claims of the study. Thresholds were fixed before anything was measured.

Sources: "caption" is a caption of the paper, "log", "plot" and "weights" are the authors' saved notebooks and shipped
weights, "check" a small run made to set the threshold, "inference" a plausible direction without a published number.
"""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.arms.failure import (
    ALL_DEPTHS,
    DEPTHS,
    MLP_DEPTHS,
    WIDTH_MULTIPLIERS,
    cnn_arm,
    mlp_arm,
)
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.arms.rendering import (
    HEADS,
    TRANSFORMER_DEPTHS,
    spatial_arm,
    transformer_arm,
)
from recombine.studies.forced_rendering.arms.stripes import (
    BUMP_COUNTS,
    RAMP_COUNTS,
    SCALING_SIZES,
    multiples,
    scaling_arm,
)
from recombine.studies.forced_rendering.checks import failure, further, rendering, scaling

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "1",
        "pictures, codes, cell counts and blank errors are as published (1e-6; blank 1e-5)",
        "exact arithmetic",
        "495/289, 703/81, 624/400, 588/196",
        ("constants",),
        failure.constants,
        decided_at="smoke",
    ),
    Claim(
        "2",
        "every architecture has the published number of parameters",
        "authors' code",
        "0 wrong",
        ("parameter counts",),
        failure.parameter_counts,
        decided_at="smoke",
    ),
    Claim(
        "3",
        "factorisation is 1 for all three codes, at least 0.5 always, 0.5 for f(x+y)",
        "exact arithmetic",
        "1.000",
        ("encodings",),
        failure.encodings,
        decided_at="smoke",
    ),
    Claim(
        "4",
        "an ordinary bump CNN fails on unseen cells: unseen / seen error ≥ 15",
        "log (hole 10..18, wider net)",
        "53",
        ("cnn bump",),
        failure.cnn_fails,
    ),
    Claim(
        "5",
        "so does the ramp CNN: unseen / seen error ≥ 4",
        "log",
        "7.3",
        ("cnn ramp",),
        failure.ramp_fails,
        on_request=True,
        minutes=10,
    ),
    Claim(
        "6",
        "the bump CNN puts ≤ 10 % of bumps in the hole's centre at the right place, ≥ 95 % of seen ones",
        "log",
        "0 %",
        ("cnn bump",),
        failure.cnn_position,
    ),
    Claim(
        "7",
        "it fails at every depth: unseen error ≥ 2e-3 at depth 2, 4 and 8",
        "authors' code, inference",
        "–",
        tuple(cnn_arm("bump", depth) for depth in DEPTHS),
        failure.every_depth_fails,
        also=tuple(cnn_arm("bump", depth) for depth in ALL_DEPTHS),
        on_request=True,
        minutes=12,
    ),
    Claim(
        "8",
        "unseen pictures look like the sum of seen ones sharing x or y, by ≥ 0.2 in correlation over the truth",
        "weights",
        "0.80 against 0.08",
        ("render none", "cnn bump"),
        failure.superposition,
    ),
    Claim(
        "9",
        "similarity of unseen to seen pictures follows the binary kernel (≥ 0.3), not after forced rendering (≤ 0.15)",
        "weights",
        "0.50 / 0.48 against 0.07 / 0.12",
        ("render none", "render both", "cnn bump"),
        failure.binary_kernel,
        finding=(
            "The cosine, which ignores contrast, is as published in every seed. The overlap counts only pixels "
            "beyond half contrast, and two of three nets draw unseen cells too faintly for it: their brightest "
            "pixels there reach 0.2 to 0.5, and overlap follows the kernel by 0.05 and 0.10; in the third they "
            "reach 0.5 to 0.8, and it is 0.36. At full length it is the same (0.10, 0.18 and 0.33). With "
            "penalties the cosine is within its bound only at full length (0.11 to 0.14)."
        ),
    ),
    Claim(
        "10",
        "x and y stay readable in every MLP layer while their directions tangle: F falls by ≥ 0.05",
        "check, 1 seed",
        "0.21 (bump), 0.22 (ramp)",
        tuple(f"mlp {code} {epochs} epochs" for code in ("bump", "ramp") for epochs in (20, 200)),
        failure.layers_tangle,
        finding=(
            "Only the first layer of the ramp net misses its bound, which came from one seed (0.97): before "
            "any training, F of 128 random features of two raw coordinates lies between 0.88 and 0.98 (30 "
            "nets), a third of them below 0.94. The fall of F with depth belongs to undertrained nets: it "
            "shrinks from 0.2 to 0.04 between 20 and 200 epochs, while unseen cells are drawn no better."
        ),
    ),
    Claim(
        "11",
        "20 epochs leave the MLP > 70 % of blank on seen cells; 200 bring it < 20 % (ramp: if need be at width 512)",
        "check, 1 seed",
        "0.93 to 1.0; –",
        (
            *(f"mlp {code} {epochs} epochs" for code in ("bump", "ramp") for epochs in (20, 200)),
            "mlp ramp wide",
        ),
        failure.mlp_needs_epochs,
        finding=(
            "The ramp net of the published width reaches 41 % of blank in 200 epochs. Widened to 512 it "
            "reaches 12 % in two seeds and 23 % in the third: learning from raw pixel coordinates is slow and "
            "depends on the seed. With seeds 1000 to 1002 it reaches 11 to 13 %, and the claim holds."
        ),
    ),
    Claim(
        "12",
        "the render net without penalties is worse than blank on unseen cells, and gets worse while training",
        "weights, plot",
        "2.8e-2 (blank 6.6e-3)",
        ("render none", "render none, 1 epoch"),
        rendering.free_render_fails,
        finding=(
            "The published run is one draw of many. The same net trained by PyTorch alone (python -m benchmarks "
            "second-opinion) with the published seed 42 ends after 1000 epochs at 2.9e-2, with 4 % in place: as "
            "published (2.8e-2, 3.75 %), so the setting is right. With seeds 42, 0 and 1 it is at 1.5e-2, 1.1e-2 "
            "and 1.0e-2 after 300 epochs, where our seeds 0 to 2 have 6.8e-3 to 1.6e-2; at full length ours end "
            "between 8.0e-3 and 1.4e-2 (blank 6.6e-3). In one of our seeds the random offset of the head is "
            "still there after epoch 1 (error 0.09, on seen and unseen cells alike), so growth since epoch 1 "
            "says nothing about it."
        ),
    ),
    Claim(
        "13",
        "forced rendering works: unseen error ≤ 1.5e-3 (paper: 6e-4), ≥ 97 % at the right place, ≥ 30 times better",
        "weights, log",
        "1.5e-4, 100 %, 190 times",
        ("render both", "render none"),
        rendering.forced_render_works,
        finding=(
            "Seeds 0 to 2 at full length: unseen error 0.9e-4 to 3.7e-4 (published 1.5e-4), 37 to 124 times "
            "below the net without penalties; one seed has 95 % in place (wanted 97 %). PyTorch alone does the "
            "same: after 300 epochs 94, 100 and 95 % in place with seeds 42, 0 and 1, and 16, 17 and 10 times "
            "better; seed 42 reaches 3.0e-4, 100 % and 97 times after 1000. Two things make seeds differ. A net "
            "can sit on a plateau on which one factor alone is drawn (seed 1002, seen error 3.8e-3 until epoch "
            "265) and then be as good as the others. And the broken stripe of a single level can swing the "
            "whole unseen error tenfold (seed 1001, y = 30)."
        ),
    ),
    Claim(
        "14",
        "with penalties every canvas has rank 1 and is a stripe",
        "weights",
        "exp(H) 1.00001 (18 without)",
        ("render both", "render none"),
        rendering.stripes_appear,
    ),
    Claim(
        "15",
        "with penalties the volume element is as large for unseen as for seen cells",
        "weights",
        "0.000 (+0.305 without)",
        ("render both", "render none"),
        rendering.volume_even,
        finding=(
            "One seed misses by 0.004 after 300 epochs. At full length the net with penalties is within its bound "
            "in every seed (0.006 to 0.039); without penalties one seed of three has a gap of 0.17 (bound 0.2)."
        ),
    ),
    Claim(
        "16",
        "both penalties beat either one, and either one beats none (median unseen error)",
        "caption, inference",
        "–",
        tuple(f"render {arm}" for arm in ("both", "entropy", "flatness", "none")),
        rendering.ablation,
        finding=(
            "A matter of time: after 300 epochs flatness alone does better than both penalties, which leave a few "
            "levels with broken stripes; at full length both do best, as the paper says (unseen error 9.7e-5 with "
            "both, 2.8e-4 with flatness, 6.1e-3 with entropy, 1.2e-2 with neither), and the claim holds."
        ),
    ),
    Claim(
        "17",
        "a per-pixel net with position codes composes without any penalty",
        "weights",
        "3.9e-5",
        ("spatial mlp",),
        rendering.spatial_mlp,
        on_request=True,
        exploratory=True,
        minutes=12,
    ),
    Claim(
        "18",
        "stripes alone teach position: ≥ 75 % exact on unseen cells; as many bumps without stripes ≤ 10 %",
        "check, 1 seed",
        "84 % against 0 %",
        ("mlp stripes only", "mlp bumps only"),
        further.stripes_alone,
        finding=(
            "Fragile: with seeds 1000 to 1002 one perceptron of three stays just below the bound (73 % "
            "exact), the others reach 93 and 95 %; without stripes it is 0 % in every seed."
        ),
    ),
    Claim(
        "19",
        "2N stripes + 7N bumps: ≥ 90 % of unseen bumps at the right place, error below half of stripes only",
        "caption",
        "> 90 %",
        ("cnn stripes + 196 bumps", "cnn stripes + 0 bumps"),
        further.stripes_and_bumps,
    ),
    Claim(
        "20",
        "data for 90 % grows about like N with stripes (exponent ≤ 1.5), at least like N² without",
        "caption",
        "1 against 3",
        tuple(
            scaling_arm(n, kind, m)
            for n in SCALING_SIZES
            for kind in scaling.KINDS
            for m in multiples(n, kind)
        ),
        scaling.data_scaling,
        on_request=True,
        minutes=40,
    ),
    Claim(
        "21",
        "rotation: inside the gap of angles the decoder cross-fades instead of turning (interpolation, one factor)",
        "plot",
        "–",
        ("rotation gap",),
        further.rotation_gap,
        on_request=True,
        exploratory=True,
        minutes=5,
    ),
    Claim(
        "22",
        "wider codes help a little (error at m = 9 at least 10 % below m = 1), failure stays",
        "plot",
        "-31 %",
        tuple(f"code width {m}" for m in WIDTH_MULTIPLIERS),
        further.wider_codes,
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
    Claim(
        "23",
        "the pixel-token transformer: what it does on unseen cells (14 × 14 pictures at quick)",
        "–",
        "–",
        ("transformer", "spatial mlp", "cnn bump"),
        rendering.transformer,
        on_request=True,
        exploratory=True,
        minutes=10,
    ),
    Claim(
        "24",
        "encoders fail in the hole too: error ≥ 10 times, coordinates right ≤ 30 % (seen ≥ 80 %)",
        "inference",
        "–",
        ("encoder bump", "encoder ramp"),
        further.encoders_fail,
        exploratory=True,
        finding=(
            "Encoders fail in the hole in every seed, but two bounds, which are ours, lie where the numbers are. "
            "Of the answers in coordinates for unseen cells 25 to 36 % are right (bound 30 %), most of them along "
            "the hole's rim. And errors are taken after the last step, where the seen error (Adam, no decay) can "
            "be caught in a spike: one seed of six has a ratio of 7, the others 66 to 318."
        ),
    ),
    Claim(
        "25",
        "the same seed gives bit-identical numbers, another seed others",
        "engineering",
        "0 difference",
        ("repeatability",),
        further.repeatable,
        decided_at="smoke",
    ),
    Claim(
        "26",
        "how well a binary, an additive, a factorised and a radial kernel predict the CNN's own pictures",
        "authors' code",
        "–",
        ("cnn bump",),
        failure.kernel_report,
        exploratory=True,
    ),
    Claim(
        "27",
        "how far the number of bumps beside the stripes matters: unseen accuracy, 0 to all bumps",
        "caption",
        "–",
        (*(f"cnn stripes + {count} bumps" for count in BUMP_COUNTS), "cnn 252 bumps, no stripes"),
        further.bump_counts,
        on_request=True,
        exploratory=True,
        minutes=15,
    ),
    Claim(
        "28",
        "what an enlarged canvas (no stripes) does for the hole: unseen error / blank",
        "authors' code",
        "–",
        ("canvas bump", "canvas ramp"),
        further.larger_canvas,
        on_request=True,
        exploratory=True,
        minutes=4,
    ),
    Claim(
        "29",
        "unseen error over picture size N and hole size p, as a share of blank",
        "authors' code",
        "–",
        tuple(size_arm("bump", n, p) for n, p in SIZES),
        further.sizes_bump,
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
    Claim(
        "30",
        "angle × digit, one digit missing a range of angles: unseen / seen error (a true composition)",
        "own variant",
        "–",
        ("rotation digits",),
        further.digits_in_the_gap,
        on_request=True,
        exploratory=True,
        minutes=5,
    ),
    Claim(
        "31",
        "full circle: the scalar angle, which jumps at 0°, is fitted ≥ 5 times worse than (cos, sin), deeper net",
        "log (validation loss)",
        "0.016 against 0.0005",
        ("rotation circle scalar", "rotation circle"),
        further.scalar_angle,
        on_request=True,
        exploratory=True,
        minutes=8,
    ),
    Claim(
        "32",
        "forced rendering with a shallower and a deeper head: how much the penalties gain",
        "authors' code",
        "–",
        tuple(f"render {arm}, head {hidden}" for hidden in HEADS for arm in ("none", "both")),
        rendering.heads,
        on_request=True,
        exploratory=True,
        minutes=5,
    ),
    Claim(
        "33",
        "stripes in a ramp code with a bit that says whether a factor is there",
        "own variant",
        "–",
        tuple(f"cnn stripes + {count} bumps, ramp" for count in RAMP_COUNTS),
        further.ramp_stripes,
        on_request=True,
        exploratory=True,
        minutes=8,
    ),
    Claim(
        "34",
        "MLPs fail at every depth from 3 to 7, both codes, 200 epochs: unseen error ≥ 25 % of blank",
        "authors' code, inference",
        "–",
        tuple(mlp_arm(code, depth) for code in ("bump", "ramp") for depth in MLP_DEPTHS),
        failure.every_mlp_depth_fails,
        on_request=True,
        exploratory=True,
        minutes=3,
    ),
    Claim(
        "35",
        "ramp CNNs fail at every depth: unseen error ≥ 25 % of blank at depth 2, 4 and 8",
        "authors' code, inference",
        "–",
        tuple(cnn_arm("ramp", depth) for depth in DEPTHS),
        failure.every_ramp_depth_fails,
        also=tuple(cnn_arm("ramp", depth) for depth in ALL_DEPTHS),
        on_request=True,
        exploratory=True,
        minutes=20,
    ),
    Claim(
        "36",
        "the per-pixel net composes with four hidden layers too",
        "weights",
        "3.2e-5",
        (spatial_arm(4),),
        rendering.deeper_spatial_mlp,
        on_request=True,
        exploratory=True,
        minutes=20,
    ),
    Claim(
        "37",
        "pixel transformers of 3, 4 and 5 layers: what they do on unseen cells (14 × 14 pictures at quick)",
        "authors' code",
        "–",
        tuple(transformer_arm(depth) for depth in TRANSFORMER_DEPTHS[1:]),
        rendering.deeper_transformers,
        on_request=True,
        exploratory=True,
        minutes=40,
    ),
    Claim(
        "38",
        "superposition in CNNs trained on 20,000 draws, as published: the sum's lead over the truth",
        "authors' code",
        "–",
        ("superposition bump", "superposition ramp"),
        failure.published_sampling,
        on_request=True,
        exploratory=True,
        minutes=6,
    ),
    Claim(
        "39",
        "likeness of unseen to seen pictures and the binary kernel, CNNs of the kernel scripts",
        "authors' code",
        "–",
        ("kernel bump", "kernel ramp"),
        failure.published_similarity,
        on_request=True,
        exploratory=True,
        minutes=6,
    ),
    Claim(
        "40",
        "unseen error over picture size N and hole size p, ramp code, as a share of blank",
        "authors' code",
        "–",
        tuple(size_arm("ramp", n, p) for n, p in SIZES),
        further.sizes_ramp,
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
    Claim(
        "41",
        "1 - SSIM of unseen and of seen pictures: bump CNN with the small hole, and ramp CNN",
        "log (wider and deeper nets)",
        "0.162 / 0.0019 and 0.199 / 0.016",
        ("code width 1", "cnn ramp"),
        failure.dissimilarity_report,
        on_request=True,
        exploratory=True,
        minutes=12,
    ),
)
