"""Claims 26 to 28, our own: does the forecast come true?"""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm
from recombine.studies.kernel_theory.checks import forecasts as checks

SHARED = (
    "Much of the correlation is carried by how many cells are unseen. With that number held fixed the kernel's "
    "forecast, which knows the training labels, still says something; retention, from the split alone, says little "
    "beyond the number (the details give both)."
)
FINDINGS = {
    "addition": "On average the forecast is calibrated. It is most wrong about sums of two extreme numbers that have "
    "few partners, where a net's own draw of weights counts most.",
    "context dependence": "The forecast is wrong where the machine itself is hardly sure: cells with the other sign "
    "than foretold have a third of the margin of the others.",
    "bumps": "Networks err twice as much as the kernel machine says, because they do not start from 0: on unseen cells "
    "training leaves most of the initial random function in place, which is large beside a bump. Its expected size, "
    "added to the forecast, accounts for the difference.",
}
"""What a look at the cells that were foretold wrongly showed."""

CLAIMS = (
    *(
        Claim(
            id,
            f"{world}, random splits: errors follow the forecast (rank correlation ≥ 0.5; > 0 among holes of one size)",
            "our own",
            "–",
            tuple(forecast_arm(world, held_out) for held_out in held),
            partial(checks.forecast_holds, world=world, signs=world == "context dependence"),
            exploratory=True,
            finding=f"{SHARED} {FINDINGS[world]}",
        )
        for id, (world, held) in zip(("26", "27", "28"), HOLES.items(), strict=True)
    ),
)
