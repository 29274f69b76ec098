"""Claims about standard decoders, the way they fail, and their layers (Figures 1 and 2)."""

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
from recombine.studies.forced_rendering.checks import failure, further

CLAIMS = (
    Claim(
        "4",
        "a standard bump CNN fails on unseen cells: unseen / seen error ≥ 15",
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
        finding=(
            "Unseen cells fail in every seed (error above a blank image's, 4.0e-3). The ratio misses its bound in "
            "the one seed of three that had not fitted seen cells well after the shorter training of scale quick."
        ),
    ),
    Claim(
        "6",
        "the bump CNN draws ≤ 10% of bumps in the hole's centre in the right place, but ≥ 95% of seen ones",
        "log",
        "0%",
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
        "unseen images correlate ≥ 0.2 more with the sum of seen images sharing x or y than with the target",
        "weights",
        "0.80 against 0.08",
        ("render none", "cnn bump"),
        failure.superposition,
    ),
    Claim(
        "9",
        "similarity of unseen to seen images follows the binary kernel (≥ 0.3), but not after forced rendering (≤ "
        "0.15)",
        "weights",
        "0.50 / 0.48 against 0.07 / 0.12",
        ("render none", "render both", "cnn bump"),
        failure.binary_kernel,
        finding=(
            "The cosine ignores contrast and is as published in every seed. The overlap counts only pixels "
            "beyond half contrast, and two of three nets draw unseen cells too faintly for it: their brightest "
            "pixels there reach 0.2 to 0.5, and overlap follows the kernel by 0.05 and 0.10; in the third they "
            "reach 0.5 to 0.8, and it is 0.36. At full length it is the same (0.10, 0.18 and 0.33). With "
            "penalties the cosine is within its bound only at full length (0.11 to 0.14)."
        ),
    ),
    Claim(
        "10",
        "x and y can be decoded from every MLP layer while their directions entangle: F falls by ≥ 0.05",
        "check, 1 seed",
        "0.21 (bump), 0.22 (ramp)",
        tuple(f"mlp {code} {epochs} epochs" for code in ("bump", "ramp") for epochs in (20, 200)),
        failure.layers_tangle,
        finding=(
            "Only the first layer of the ramp net misses its bound, which came from one seed (0.97): before "
            "any training, F of 128 random features of two raw coordinates lies between 0.88 and 0.98 (30 "
            "nets), a third of them below 0.94. The fall of F with depth belongs to undertrained nets: it "
            "shrinks from 0.2 to 0.04 between 20 and 200 epochs, and unseen cells are not drawn any better."
        ),
    ),
    Claim(
        "11",
        "the MLP's seen error is > 70% of blank after 20 epochs and < 20% after 200 (ramp: at width 512 if needed)",
        "check, 1 seed",
        "0.93 to 1.0; –",
        (
            *(f"mlp {code} {epochs} epochs" for code in ("bump", "ramp") for epochs in (20, 200)),
            "mlp ramp wide",
        ),
        failure.mlp_needs_epochs,
        finding=(
            "The ramp net of the published width reaches 41% of blank in 200 epochs. Widened to 512 it "
            "reaches 12% in two seeds and 23% in the third: learning from raw pixel coordinates is slow and "
            "depends on the seed. With seeds 1000 to 1002 it reaches 11 to 13%, and the claim holds."
        ),
    ),
    Claim(
        "22",
        "wider codes help a little (error at m = 9 at least 10% below m = 1), but the net still fails",
        "plot",
        "-31%",
        tuple(f"code width {m}" for m in WIDTH_MULTIPLIERS),
        further.wider_codes,
        on_request=True,
        exploratory=True,
        minutes=25,
        finding=(
            "At scale quick (32 channels, 4 layers; published: 256 and 10) wider codes help more, by 30 to 40% at "
            "m = 5 and 7, but not monotonically: at m = 9 two seeds had not fitted the seen cells. In a hole of "
            "9 × 9 many cells lie next to seen ones and are drawn within one pixel, hence the accuracy."
        ),
    ),
    Claim(
        "26",
        "how well a binary, an additive, a factorised and a radial kernel predict the CNN's own images",
        "authors' code",
        "–",
        ("cnn bump",),
        failure.kernel_report,
        exploratory=True,
    ),
    Claim(
        "34",
        "MLPs fail at every depth from 3 to 7, both codes, 200 epochs: unseen error ≥ 25% of blank",
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
        "ramp CNNs fail at every depth: unseen error ≥ 25% of blank at depth 2, 4 and 8",
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
        "38",
        "CNNs trained on 20,000 draws, as published: correlation with the sum minus correlation with the target",
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
        "similarity of unseen to seen images compared with the binary kernel, CNNs of the kernel scripts",
        "authors' code",
        "–",
        ("kernel bump", "kernel ramp"),
        failure.published_similarity,
        on_request=True,
        exploratory=True,
        minutes=6,
    ),
    Claim(
        "41",
        "1 - SSIM of unseen and of seen images: bump CNN with the small hole, and ramp CNN",
        "log (wider and deeper nets)",
        "0.162 / 0.0019 and 0.199 / 0.016",
        ("code width 1", "cnn ramp"),
        failure.dissimilarity_report,
        on_request=True,
        exploratory=True,
        minutes=12,
    ),
)
