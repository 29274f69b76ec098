"""Rolls of images: does the head of an image net split into one part per frame?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.remedies import weighted_activity
from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.measurement import PerSeed
from recombine.studies.poisson_modularity import head_probes, published
from recombine.studies.poisson_modularity.film_net import film_net
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.studies.quantity import difference
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import datasets
from recombine.training import Penalty, Recipe, Schedule, adamw
from recombine.training.losses import cross_entropy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FRAMES = (2, 3, 4)
REGIMES = {"plain": 0.0, "WA": 1.0}
"""Weights of the penalty on the head."""
PASSES = 100
"""As many as the published epochs; smaller batches and twice the learning rate make up for fewer images."""
PUBLISHED_FRAMES = (2, 4, 8)
SEEDS = {"smoke": 1, "quick": 6, "paper": 6}
PROBES = (Part(head_probes.frame_accuracy), Part(head_probes.head_modules))
SMALL = "8 x 8 digits and a small trunk instead of CIFAR-10 and ResNet-18"


def film_arm(frames: int, regime: str, source: str = "digits") -> str:
    """A roll of that many frames."""
    return f"{source}, {frames} frames, {regime}"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Rolls of digits with a small trunk; at scale paper also CIFAR-10 with ResNet-18, if the data set is available."""
    smoke = scale == "smoke"
    plans = {}
    for frames in FRAMES:
        task = Part(film_roll, frames=frames, passes=1 if smoke else PASSES)
        net = Part(film_net, frames=frames, widths=(4,) if smoke else (16,), blocks=1, hidden=32 * frames)
        for regime, weight in REGIMES.items():
            # Every roll is seen once; recording the loss on all of them would cost more than training.
            how = _recipe(weight, epochs=1, batch=16, rate=2e-3, record_every="epoch")
            plans[film_arm(frames, regime)] = ArmPlan(Trial(task, PROBES, (0,), net, how), seeds=SEEDS[scale])
    if smoke:
        return {name: plans[name] for name in (film_arm(2, "WA"),)}
    if scale == "paper" and datasets.find("cifar10") is not None:
        for frames in PUBLISHED_FRAMES:
            task = Part(film_roll, frames=frames, source="cifar10")
            net = Part(film_net, frames=frames, channels=3)
            for regime, weight in REGIMES.items():
                how = _recipe(weight, epochs=100, batch=128, rate=1e-3)
                arm = film_arm(frames, regime, "cifar10")
                plans[arm] = ArmPlan(Trial(task, PROBES, (0,), net, how), seeds=SEEDS[scale])
    return plans


def _recipe(
    weight: float, *, epochs: int, batch: int, rate: float, record_every: str | None = None
) -> Recipe:
    return Recipe(
        epochs=epochs,
        record_every=record_every,  # type: ignore[arg-type]
        batch=batch,
        optimiser=adamw(rate, weight_decay=1e-2),
        schedule=Schedule("cosine"),
        loss=Part(cross_entropy),
        penalties=(Penalty(Part(weighted_activity, stages=("head",)), weight),),
    )


def _gap_at_the_number_of_frames(evidence: Evidence) -> PerSeed:
    opened = {
        n: evidence[film_arm(n, "WA")]["eigengap"] - evidence[film_arm(n, "plain")]["eigengap"]
        for n in FRAMES
    }
    supports = {f"gap with minus without, {n} frames": values for n, values in opened.items()}
    for n in FRAMES:
        penalised, plain = (evidence[film_arm(n, regime)] for regime in ("WA", "plain"))
        supports |= {
            f"share inside, {n} frames": penalised["in_block_out"],
            f"accuracy, {n} frames": penalised["accuracy_test"],
            f"without the penalty, {n} frames": plain["accuracy_test"],
        }
    for n in PUBLISHED_FRAMES:
        if (name := film_arm(n, "WA", "cifar10")) in evidence:
            supports[f"gap on CIFAR-10, {n} frames"] = evidence[name]["eigengap"]
    return PerSeed(np.min(list(opened.values()), axis=0), supports=supports)


GAP = Claim(
    "31",
    "on rolls of N images weighted activity splits the head into N parts: a gap opens after eigenvalue N",
    "code",
    difference(
        "eigengap with minus without the penalty, smallest of 2, 3 and 4 frames",
        "above",
        published_text="gaps 0.71 (2), 0.51 (4)",
    ),
    tuple(film_arm(n, regime) for n in FRAMES for regime in REGIMES),
    _gap_at_the_number_of_frames,
    also=tuple(film_arm(n, regime, "cifar10") for n in PUBLISHED_FRAMES for regime in REGIMES),
    reduced=SMALL,
    reversal="the penalty had not opened a gap for one of the three numbers of frames",
    finding="Modules cost accuracy in this small setting: nets without the penalty classify nearly all frames "
    "correctly, nets with it far fewer.",
    amendments=(
        Amendment(
            "a larger gap than the median without penalty for 2, 3 and 4 frames, and gaps in this order",
            "the smallest increase over 2, 3 and 4 frames, paired by seed; the order is claim 40",
            "two statements became two claims",
        ),
    ),
)


def _smaller_gaps(evidence: Evidence) -> PerSeed:
    gaps = {n: evidence[film_arm(n, "WA")]["eigengap"] for n in FRAMES}
    return PerSeed(gaps[2] - gaps[4], supports={f"gap, {n} frames": values for n, values in gaps.items()})


PUBLISHED_GAPS = {n: high - low for n, (low, high) in published.FILM.items()}
SMALLER_GAPS = Claim(
    "40",
    "the gap is smaller for more frames",
    "code",
    difference("gap with 2 minus with 4 frames", "above", published=PUBLISHED_GAPS[2] - PUBLISHED_GAPS[4]),
    tuple(film_arm(n, "WA") for n in FRAMES),
    _smaller_gaps,
    reduced=SMALL,
    reversal="the gap had been larger with four frames than with two",
)


def _draw_film(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, len(FRAMES), sharey=True)
        for ax, frames in zip(panels, FRAMES, strict=True):
            for regime, ink in colours(list(REGIMES)).items():
                values = evidence[film_arm(frames, regime)]["spectrum"]
                indices = np.arange(1, frames + 3)
                ax.plot(indices, np.median(values, axis=0), color=ink, label=regime)
                ax.plot(indices, values.T, "o", color=ink, markersize=3)
            if frames in published.FILM:
                ax.plot([frames, frames + 1], published.FILM[frames], "_", color="#009E73", markersize=14)
            ax.axvline(frames + 0.5, color=BASELINE, linewidth=0.6)
            ax.set_xticks(range(1, frames + 3))
            ax.set_xlabel("eigenvalue of the head")
            accuracy = np.median(evidence[film_arm(frames, "WA")]["accuracy_test"])
            sentence(ax, f"{frames} frames, {100 * accuracy:.0f}% correct")
        panels[0].set_ylabel("size")
        panels[0].legend()
    return figure


FILM_ROLLS = Drawing(
    "film-rolls",
    "Rolls of digits: weighted activity splits the head into one part per frame.",
    "Laplacian eigenvalues of the head's live hidden units, by their outgoing weights; each point is a seed. "
    "Green dashes: published for CIFAR-10 and ResNet-18.",
    tuple(film_arm(n, regime) for n in FRAMES for regime in REGIMES),
    _draw_film,
)

SECTION = StudySection("Rolls of images", arms=arms, claims=(GAP, SMALLER_GAPS), drawings=(FILM_ROLLS,))
