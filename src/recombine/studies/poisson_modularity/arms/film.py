"""Film rolls: does the head of an image net split into one part per frame?"""

from __future__ import annotations

from recombine.parts import Part
from recombine.remedies import weighted_activity
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import head_probes
from recombine.studies.poisson_modularity.arms.shared import SEEDS
from recombine.studies.poisson_modularity.film_net import film_net
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.tasks import datasets
from recombine.training import Penalty, Recipe, Schedule, adamw
from recombine.training.losses import cross_entropy

FRAMES = (2, 3, 4)
WEIGHTS = {"plain": 0.0, "WA": 1.0}
PASSES = 100
"""As many as the published epochs; smaller batches and twice the learning rate make up for fewer images."""
PUBLISHED_FRAMES = (2, 4, 8)


def film_arm(frames: int, regime: str, source: str = "digits") -> str:
    """A roll of that many frames."""
    return f"{source}, {frames} frames, {regime}"


def film_arms(scale: Scale) -> dict[str, Trial]:
    """Rolls of digits with a small trunk; at scale paper also CIFAR-10 with ResNet-18, if the data set is available."""
    arms = {}
    for frames in FRAMES:
        for regime, weight in WEIGHTS.items():
            task = Part(film_roll, frames=frames, passes=1 if scale == "smoke" else PASSES)
            widths = (4,) if scale == "smoke" else (16,)
            net = Part(film_net, frames=frames, widths=widths, blocks=1, hidden=32 * frames)
            arms[film_arm(frames, regime)] = _trial(scale, task, net, weight, epochs=1, batch=16, rate=2e-3)
    if scale == "smoke":
        return {name: arms[name] for name in (film_arm(2, "WA"),)}
    if scale == "paper" and datasets.find("cifar10") is not None:
        for frames in PUBLISHED_FRAMES:
            for regime, weight in WEIGHTS.items():
                task = Part(film_roll, frames=frames, source="cifar10")
                net = Part(film_net, frames=frames, channels=3)
                arm = film_arm(frames, regime, "cifar10")
                arms[arm] = _trial(scale, task, net, weight, epochs=100, batch=128)
    return arms


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
    return Trial(
        task, (Part(head_probes.frame_accuracy), Part(head_probes.head_modules)), SEEDS[scale], net, how
    )
