"""Claims 26 to 28, our own: does the forecast come true?"""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm
from recombine.studies.kernel_theory.checks import forecasts as checks

CLAIMS = (
    *(
        Claim(
            id,
            f"{world}, random splits: unseen error goes up and down with the forecast (rank correlation ≥ 0.5)",
            "our own",
            "–",
            tuple(forecast_arm(world, held_out) for held_out in held),
            partial(checks.forecast_holds, world=world),
            exploratory=True,
            finding="Much of the correlation is carried by how many cells are unseen. With that number held fixed the "
            "kernel's forecast, which knows the training labels, still says something about most worlds; retention, "
            "from the split alone, says little beyond the number (the details give both).",
        )
        for id, (world, held) in zip(("26", "27", "28"), HOLES.items(), strict=True)
    ),
)
