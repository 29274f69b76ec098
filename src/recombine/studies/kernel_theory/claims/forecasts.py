"""Claims 26 to 28, our own: are the forecasts right?"""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm
from recombine.studies.kernel_theory.checks import forecasts as checks

SHARED = (
    "Much of the correlation comes from the number of unseen cells. With that number held fixed, the kernel's "
    "forecast, which uses the training labels, is still informative; retention, from the split alone, adds little "
    "beyond the number (the details give both)."
)
FINDINGS = {
    "addition": "On average the forecast is calibrated. Its largest errors are for sums of two extreme numbers that "
    "have few partners, where a net's random initial weights matter most.",
    "context dependence": "The forecast is wrong where the machine's own margin is small: cells with the opposite sign "
    "have a third of the margin of the others.",
    "bumps": "Networks have twice the error that the kernel machine predicts, because they do not start from 0: "
    "on unseen cells training leaves most of the initial random function in place, which is large compared with a "
    "bump. Its expected size, added to the forecast, accounts for the difference.",
}
"""What the cells with wrong forecasts have in common."""

CLAIMS = (
    *(
        Claim(
            id,
            f"{family}, random splits: errors follow the forecast (rank correlation ≥ 0.5; > 0 among holes of one "
            "size)",
            "our own",
            "–",
            tuple(forecast_arm(family, held_out) for held_out in held),
            partial(checks.forecast_holds, family=family, signs=family == "context dependence"),
            exploratory=True,
            finding=f"{SHARED} {FINDINGS[family]}",
        )
        for id, (family, held) in zip(("26", "27", "28"), HOLES.items(), strict=True)
    ),
)
