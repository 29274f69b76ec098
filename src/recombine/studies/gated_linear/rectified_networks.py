"""Figure 3: what the hidden layer, the learned gates and random gates explain of rectified networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import blank_figure, look, seed_points
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.gated_linear.machine_probes import rectified
from recombine.studies.gated_linear.networks import BOTH_HOLD, SEEDS, STEPS, rows
from recombine.studies.measurement import AllOf, PerSeed, Successes
from recombine.studies.quantity import described, difference, rate
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RELU, RELU_MORE = "rectified nets", "rectified nets, 2000 rows"
SOURCES = ("hidden layer", "learned gates", "random gates")


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Nets of 50 rectified units, trained with momentum."""
    probe = Part(rectified, units=(6,) if scale == "smoke" else (50,), steps=STEPS[scale], momentum=0.9)
    plans = {RELU: ArmPlan(Trial(rows(scale), (probe,), (0,)), SEEDS[scale])}
    if scale != "smoke":
        plans[RELU_MORE] = ArmPlan(Trial(rows(scale, 2000), (probe,), (0,)), 6)
    return plans


def _explained(evidence: Evidence) -> AllOf:
    arm = evidence[RELU]
    differs = {name: arm[f"{name} differs"][:, 0] for name in SOURCES}
    return AllOf(
        {
            "learned gates - hidden layer": differs["learned gates"] - differs["hidden layer"],
            "random gates - learned gates": differs["random gates"] - differs["learned gates"],
        },
        requires={
            "hidden layer and gates separate": np.all(
                [np.isfinite(arm[f"{n} error"][:, 0]) for n in SOURCES], axis=0
            )
        },
        supports={f"differs, {name}": values for name, values in differs.items()}
        | {f"by chance, {name}": arm[f"{name} by chance"][:, 0] for name in SOURCES},
    )


EXPLAINED = Claim(
    "13",
    "learned gates capture much of a rectified network, random gates less, its hidden layer nearly all",
    "Figure 3b",
    difference(
        "how often machine and net differ: learned gates - hidden layer, and random gates - learned gates",
        "above",
        published=0.052,
    ),
    (RELU,),
    _explained,
    headline=True,
    reversal="random gates had predicted the network as well as its own gates, or these as well as its hidden layer",
    amendments=(BOTH_HOLD,),
)


def _ordered(evidence: Evidence) -> AllOf:
    arm = evidence[RELU]
    net, learned, drawn = (arm[f"{name} error"][:, 0] for name in ("net", "learned gates", "random gates"))
    return AllOf(
        {"learned gates - net": learned - net, "random gates - learned gates": drawn - learned},
        supports={
            "net": net,
            "learned gates": learned,
            "random gates": drawn,
            "hidden layer": arm["hidden layer error"][:, 0],
        },
    )


ORDERED = Claim(
    "14",
    "the network does better than the limit behind its gates, and that does better than random gates",
    "Figure 3c, d",
    difference(
        "error: learned gates - net, and random gates - learned gates",
        "above",
        published=0.008,
        magnitude=0.005,
    ),
    (RELU,),
    _ordered,
    reversal="the limit behind learned gates had been as good as the network, or random gates as good as learned ones",
    finding="Medians are in the published order, but single networks differ by more than these gaps.",
    amendments=(BOTH_HOLD,),
)


def _gates_alone(evidence: Evidence) -> Successes:
    return Successes(evidence[RELU]["gates separate"][:, 0] == 0)


GATES_ALONE = Claim(
    "15",
    "the pattern of gates alone does not separate the labels",
    "authors' results",
    rate("share of nets whose 50 gates, as zeros and ones, cannot be separated", "above", no_effect=0.5),
    (RELU,),
    _gates_alone,
    reversal="which units are on had been enough",
)


def _more(evidence: Evidence) -> PerSeed:
    arm = evidence[RELU_MORE]
    net, hidden = arm["net error"][:, 0], arm["hidden layer error"][:, 0]
    return PerSeed(
        np.abs(hidden - net),
        supports={
            "net error": net,
            "hidden layer error": hidden,
            "learned gates error": arm["learned gates error"][:, 0],
        },
    )


MORE = Claim(
    "18",
    "with 2000 rows, too, a new readout of the hidden layer has nearly the error of the network",
    "Figure 3d",
    described("distance of the two errors", published_text="0.002 (0.063, 0.061)"),
    (RELU_MORE,),
    _more,
    on_request=True,
    minutes=3,
)


def _draw(evidence: Evidence) -> Figure:
    arm = evidence[RELU]
    groups = {
        "error": {name: arm[f"{name} error"][:, 0] for name in ("net", *SOURCES)},
        "differs from the net": {name: np.maximum(arm[f"{name} differs"][:, 0], 1e-4) for name in SOURCES},
    }
    with look():
        figure = blank_figure(height=3.4)
        ax = figure.subplots()
    seed_points(
        ax,
        groups,
        title="Learned gates explain more than random ones, the hidden layer nearly all",
        label="share of images",
    )
    return figure


SECTION = StudySection(
    "Figure 3: rectified networks",
    arms=arms,
    claims=(EXPLAINED, ORDERED, GATES_ALONE, MORE),
    drawings=(
        Drawing(
            "fig3-rectified",
            "What explains a rectified network: its hidden layer nearly all, its gates much, random gates less.",
            "Error on new images, and how often each machine predicts another class than the trained network; a "
            "point per seed.",
            (RELU,),
            _draw,
        ),
    ),
)
