"""Claims about the stripes curriculum (Figure 4)."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.arms.stripes import BUMP_COUNTS, RAMP_COUNTS, scaling_arms
from recombine.studies.forced_rendering.checks import scaling, stripes

CLAIMS = (
    Claim(
        "18",
        "stripes alone teach position: ≥ 75% exact on unseen cells; as many bumps without stripes ≤ 10%",
        "check, 1 seed",
        "84% against 0%",
        ("mlp stripes only", "mlp bumps only"),
        stripes.stripes_alone,
        finding=(
            "Fragile: with seeds 1000 to 1002 one MLP of three stays just below the bound (73% "
            "exact), the others reach 93 and 95%; without stripes it is 0% in every seed."
        ),
    ),
    Claim(
        "19",
        "2N stripes + 7N bumps: ≥ 90% of unseen bumps in the right place, error below half that of stripes only",
        "caption",
        "> 90%",
        ("cnn stripes + 196 bumps", "cnn stripes + 0 bumps"),
        stripes.stripes_and_bumps,
    ),
    Claim(
        "20",
        "data for 90% grows about like N with stripes (exponent ≤ 1.5), at least like N² without",
        "caption",
        "1 against 3",
        scaling_arms(),
        scaling.data_scaling,
        on_request=True,
        minutes=40,
    ),
    Claim(
        "27",
        "how much the number of bumps added to the stripes matters: unseen accuracy, 0 to all bumps",
        "caption",
        "–",
        (*(f"cnn stripes + {count} bumps" for count in BUMP_COUNTS), "cnn 252 bumps, no stripes"),
        stripes.bump_counts,
        on_request=True,
        exploratory=True,
        minutes=15,
    ),
    Claim(
        "33",
        "stripes in a ramp code with a bit that marks whether a factor is present",
        "own variant",
        "–",
        tuple(f"cnn stripes + {count} bumps, ramp" for count in RAMP_COUNTS),
        stripes.ramp_stripes,
        on_request=True,
        exploratory=True,
        minutes=8,
    ),
)
