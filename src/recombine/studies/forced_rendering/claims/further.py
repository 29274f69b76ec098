"""Claims about encoders, rotation, and the sizes of canvas, picture and hole."""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.checks import further

CLAIMS = (
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
        partial(further.sizes, code="bump"),
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
        "40",
        "unseen error over picture size N and hole size p, ramp code, as a share of blank",
        "authors' code",
        "–",
        tuple(size_arm("ramp", n, p) for n, p in SIZES),
        partial(further.sizes, code="ramp"),
        on_request=True,
        exploratory=True,
        minutes=25,
    ),
)
