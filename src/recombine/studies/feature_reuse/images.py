"""Figure 5: a ResNet and a vision transformer on photographs.

Published: CIFAR-100, 98 auxiliary classes, full-size networks. Here: CIFAR-10 if it is on this machine
(`recombine data fetch cifar10`), otherwise the digits of scikit-learn; eight auxiliary classes and two main classes,
drawn by the seed, and narrow networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.nets import image_resnet, image_vit
from recombine.parts import Part
from recombine.report import blank_figure, colours, look, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import log_ticks
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import Arm, ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse.image_probes import image_draw, rescaled_finetuning
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import datasets
from recombine.training import adam, sgd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESNET, VIT = "ResNet", "ViT"
SCALES = (0.125, 0.25, 1.0, 2.0)
SEEDS = {"smoke": 1, "quick": 6, "paper": 6}
DIGITS = {"source": "digits", "enlarge": 2, "aux_images": 1200, "pool": 200, "test": 100}
CIFAR = {"source": "cifar10", "enlarge": 1, "aux_images": 6000, "pool": 1000, "test": 400}
ROWS = {"digits": (10, 20, 100), "cifar10": (20, 100, 400)}
REDUCED = (
    "8 auxiliary and 2 main classes of CIFAR-10, or of the digits without it, and narrow networks (published: 98 and 2 "
    "classes of CIFAR-100, ResNet-18 and a ViT of width 384)"
)
MINUTES = 40


def source(scale: Scale) -> str:
    """CIFAR-10 if it is here, else the digits; the digits at scale smoke."""
    return "cifar10" if scale != "smoke" and datasets.find("cifar10") is not None else "digits"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Both networks, each pretrained once per seed and finetuned from every rescaling."""
    kind = source(scale)
    images = CIFAR if kind == "cifar10" else DIGITS
    size, channels = (32, 3) if kind == "cifar10" else (16, 1)
    if scale == "smoke":
        images = images | {"aux_images": 160, "pool": 40, "test": 20}
    resnet = Part(
        image_resnet,
        channels=channels,
        widths=(2, 4) if scale == "smoke" else (16, 32, 64, 128) if kind == "cifar10" else (8, 16, 32, 64),
        blocks=2 if kind == "cifar10" else 1,
    )
    vit = Part(
        image_vit,
        size=(size, size),
        channels=channels,
        patch=4,
        width=8 if scale == "smoke" else 96,
        depth=1 if scale == "smoke" else 4,
        heads=1 if scale == "smoke" else 4,
        head=8 if scale == "smoke" else 24,
        hidden=16 if scale == "smoke" else 192,
        dropout=0.0,
    )
    lengths = (
        {"pretrain_epochs": 1, "epochs": 1} if scale == "smoke" else {"pretrain_epochs": 30, "epochs": 300}
    )
    rows = (10,) if scale == "smoke" else ROWS[kind]
    task = Part(image_draw, **images)

    def plan(net: Part, layer: str, optimiser: Part) -> ArmPlan:
        probe = Part(
            rescaled_finetuning,
            net=net,
            layer=layer,
            rows=rows,
            scales=SCALES,
            optimiser=optimiser,
            **lengths,
        )
        return ArmPlan(Trial(task, (probe,), (0,)), SEEDS[scale])

    plans = {RESNET: plan(resnet, "pool", Part(sgd, learning_rate=1e-2, momentum=0.9))}
    if scale != "smoke":
        plans[VIT] = plan(vit, "layer3", Part(adam, learning_rate=1e-3))
    return plans


def _gain(arm: Arm, scale: float) -> np.ndarray:
    """Accuracy from a rescaling minus accuracy without, mean over the numbers of rows, for every seed."""
    accuracy = arm["accuracy"]
    return np.asarray((accuracy[:, SCALES.index(scale)] - accuracy[:, SCALES.index(1.0)]).mean(axis=1))


def _supports(arm: Arm) -> dict[str, np.ndarray]:
    found = {f"gain of rescaling {s:g}": _gain(arm, s) for s in SCALES if s != 1}
    found |= {
        f"accuracy at rescaling {s:g}": arm["accuracy"][:, i].mean(axis=1) for i, s in enumerate(SCALES)
    }
    return found | {
        "accuracy from scratch": arm["scratch"].mean(axis=1),
        "pretraining loss": arm["pretraining loss"],
    }


def _resnet_gains(evidence: Evidence) -> PerSeed:
    arm = evidence[RESNET]
    return PerSeed(np.maximum(_gain(arm, 0.125), _gain(arm, 0.25)), supports=_supports(arm))


RESCALING_HELPS = Claim(
    "16",
    "shrinking the pretrained weights improves finetuning of a ResNet",
    "Figure 5a, b",
    difference(
        "accuracy from rescaling 0.125 or 0.25, the better one, minus without",
        "above",
        published=0.07,
        magnitude=0.01,
    ),
    (RESNET,),
    _resnet_gains,
    headline=True,
    on_request=True,
    minutes=MINUTES,
    reversal="shrinking the weights had cost accuracy",
    reduced=REDUCED,
)


def _dimensions(arm: Arm) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for i, s in enumerate(SCALES):
        found |= {
            f"dimensions after, rescaling {s:g}": arm["after"][:, i],
            f"shared / after, rescaling {s:g}": arm["shared"][:, i] / arm["after"][:, i],
        }
    return found | {"dimensions before": arm["before"][:, 0]}


def _smaller_inside(evidence: Evidence) -> PerSeed:
    arm = evidence[RESNET]
    small, plain = SCALES.index(0.125), SCALES.index(1.0)
    return PerSeed(arm["after"][:, small] / arm["after"][:, plain], supports=_dimensions(arm))


FEWER_DIMENSIONS = Claim(
    "17",
    "rescaling lowers the dimension of the finetuned representation inside the pretrained one",
    "Figure 5c",
    ratio(
        "dimensions of the pooled features after finetuning: rescaling 0.125 / none",
        "below",
        published=2.05 / 6.75,
        magnitude=0.6,
    ),
    (RESNET,),
    _smaller_inside,
    on_request=True,
    minutes=MINUTES,
    reversal="rescaled networks had kept as many dimensions",
    reduced=REDUCED,
)


def _vit_is_nested(evidence: Evidence) -> PerSeed:
    arm = evidence[VIT]
    best_other = np.max([_gain(arm, s) for s in SCALES if s != 1], axis=0)
    return PerSeed(-best_other, supports=_supports(arm) | _dimensions(arm))


VIT_NESTED = Claim(
    "18",
    "a vision transformer is nested already: any rescaling hurts",
    "Figure 5d to f",
    difference("accuracy without rescaling minus the best with", "above", published=0.04),
    (VIT,),
    _vit_is_nested,
    headline=True,
    on_request=True,
    minutes=MINUTES,
    reversal="some rescaling had improved the ViT",
    reduced=REDUCED,
)


def _draw(evidence: Evidence) -> Figure:
    rows = ROWS[source(evidence.scale)]
    present = [name for name in (RESNET, VIT) if name in evidence]
    with look():
        figure = blank_figure(height=2.9)
        for ax, name in zip(
            np.atleast_1d(figure.subplots(1, len(present), sharey=True)), present, strict=True
        ):
            arm = evidence[name]
            series = {
                f"rescaling {s:g}": np.median(arm["accuracy"][:, i], axis=0) for i, s in enumerate(SCALES)
            }
            series["from scratch"] = np.median(arm["scratch"], axis=0)
            inks = colours(series)
            for label, values in series.items():
                ax.plot(rows, values, "o-", color=inks[label], markersize=3.5, linewidth=1.2)
            ax.set_xscale("log")
            log_ticks(ax.xaxis)
            ax.set_xlabel("images of the main task")
            ax.set_ylabel("accuracy")
            sentence(ax, name)
            end_labels(
                ax, [EndLabel(label, float(values[-1]), inks[label]) for label, values in series.items()]
            )
    return figure


SECTION = StudySection(
    "Figure 5: rescaling in image classifiers",
    arms=arms,
    claims=(RESCALING_HELPS, FEWER_DIMENSIONS, VIT_NESTED),
    drawings=(
        Drawing(
            "fig5-images",
            "Whether shrinking helps depends on the network: a ResNet gains, a vision transformer loses.",
            "Accuracy on test images of two new classes after finetuning, median over seeds, from several rescalings "
            "of the pretrained weights and from scratch.",
            (RESNET,),
            _draw,
        ),
    ),
)
