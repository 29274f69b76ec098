"""Claims about encoders, rotation, and the sizes of canvas, image and hole."""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.checks import further

CLAIMS = (
    Claim(
        "21",
        "rotation: inside the gap of angles the decoder cross-fades instead of rotating (interpolation, one factor)",
        "plot",
        "–",
        ("rotation gap",),
        further.rotation_gap,
        on_request=True,
        exploratory=True,
        minutes=5,
    ),
    Claim(
        "24",
        "encoders fail in the hole too: unseen / seen error ≥ 10, ≤ 30% of coordinates right (seen ≥ 80%)",
        "inference",
        "–",
        ("encoder bump", "encoder ramp"),
        further.encoders_fail,
        exploratory=True,
        finding=(
            "Encoders fail in the hole in every seed, but we set two thresholds too close to the observed values. Of "
            "the coordinates predicted for unseen cells 25 to 36% are right (threshold 30%), most of them along the "
            "edge of the hole. And errors are measured after the last step, where the seen error (Adam, no decay) "
            "can be at a spike: one seed of six has a ratio of 7, the others 66 to 318."
        ),
    ),
    Claim(
        "28",
        "how an enlarged canvas (no stripes) changes the error in the hole: unseen error / blank",
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
        "unseen error by image size N and hole size p, relative to blank",
        "authors' code",
        "–",
        tuple(size_arm("bump", n, p) for n, p in SIZES),
        partial(further.sizes, code="bump"),
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
    Claim(
        "30",
        "angle × digit, with one digit missing a range of angles: unseen / seen error (a genuine composition)",
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
        "40",
        "unseen error by image size N and hole size p, ramp code, relative to blank",
        "authors' code",
        "–",
        tuple(size_arm("ramp", n, p) for n, p in SIZES),
        partial(further.sizes, code="ramp"),
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
)
