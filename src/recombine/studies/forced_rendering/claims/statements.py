"""Claims about exact numbers."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.checks import statements

CLAIMS = (
    Claim(
        "1",
        "images, codes, cell counts and blank errors are as published (1e-6; blank 1e-5)",
        "exact arithmetic",
        "495/289, 703/81, 624/400, 588/196",
        ("constants",),
        statements.constants,
        decided_at="smoke",
    ),
    Claim(
        "2",
        "every architecture has the published number of parameters",
        "authors' code",
        "0 wrong",
        ("parameter counts",),
        statements.parameter_counts,
        decided_at="smoke",
    ),
    Claim(
        "3",
        "factorisation is 1 for all three codes, at least 0.5 always, 0.5 for f(x+y)",
        "exact arithmetic",
        "1.000",
        ("encodings",),
        statements.encodings,
        decided_at="smoke",
    ),
    Claim(
        "25",
        "the same seed gives bit-identical numbers, another seed different ones",
        "engineering",
        "0 difference",
        ("repeatability",),
        statements.repeatable,
        decided_at="smoke",
    ),
)
