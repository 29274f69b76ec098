"""Film rolls: does the head of an image net fall into one part per frame?"""

from __future__ import annotations

from recombine.fit import Penalty, Recipe, Schedule, adamw
from recombine.fit.losses import cross_entropy
from recombine.nets import film_net
from recombine.parts import Part
from recombine.probes import heads
from recombine.remedies import weighted_activity
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity.arms.shared import SEEDS
from recombine.tasks import datasets, film_roll

FRAMES = (2, 3, 4)
WEIGHTS = {"plain": 0.0, "WA": 1.0}
PASSES = 100
"""As many as the published epochs; smaller batches and twice the rate make up for fewer pictures."""
PUBLISHED_FRAMES = (2, 4, 8)


def film_arm(frames: int, regime: str, source: str = "digits") -> str:
    """A roll of that many frames."""
    return f"{source}, {frames} frames, {regime}"


def film_arms(scale: Scale) -> dict[str, Trial]:
    """Rolls of digits by a small trunk; at scale paper also CIFAR-10 by ResNet-18, where it can be loaded."""
    found = {}
    for frames in FRAMES:
        for regime, weight in WEIGHTS.items():
            task = Part(film_roll, frames=frames, passes=1 if scale == "smoke" else PASSES)
            widths = (4,) if scale == "smoke" else (16,)
            net = Part(film_net, frames=frames, widths=widths, blocks=1, hidden=32 * frames)
            found[film_arm(frames, regime)] = _trial(scale, task, net, weight, epochs=1, batch=16, rate=2e-3)
    if scale == "smoke":
        return {name: found[name] for name in (film_arm(2, "WA"),)}
    if scale == "paper" and datasets.find("cifar10") is not None:
        for frames in PUBLISHED_FRAMES:
            for regime, weight in WEIGHTS.items():
                task = Part(film_roll, frames=frames, source="cifar10")
                net = Part(film_net, frames=frames, channels=3)
                arm = film_arm(frames, regime, "cifar10")
                found[arm] = _trial(scale, task, net, weight, epochs=100, batch=128)
    return found


def _trial(
    scale: Scale, task: Part, net: Part, weight: float, *, epochs: int, batch: int, rate: float = 1e-3
) -> Trial:
    penalty = Penalty(Part(weighted_activity, stages=("head",)), weight)
    fresh = (
        epochs == 1
    )  # every roll is seen once: recording the loss on all of them would cost more than training
    how = Recipe(
        epochs=epochs,
        record_every="epoch" if fresh else None,
        batch=batch,
        optimiser=adamw(rate, weight_decay=1e-2),
        schedule=Schedule("cosine"),
        loss=Part(cross_entropy),
        penalties=(penalty,),
    )
    return Trial(task, (Part(heads.frame_accuracy), Part(heads.head_modules)), SEEDS[scale], net, how)
