"""Figure 5 and Appendix F: rich networks solve associative inference, which no kernel can, and how they do it.

Items 0 and 1 are equivalent, and so are 2 and 3. Training shows all pairs with item 0 or 2 (the hubs); unseen are the
pairs of 1 and 3, whose equivalence follows only through the hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.parts import Part
from recombine.report import BASELINE, SEEN, UNSEEN, blank_figure, look, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import Arm, ArmPlan, ArmPlans, Evidence, Scale
from recombine.studies.kernel_theory.symbol_networks import (
    DEPTHS,
    EXPONENTS,
    FITTED,
    LEARNED,
    LOGISTIC,
    STEPS,
    all_right,
    deep_arm,
    deep_plan,
    stopped,
    sweep_arm,
    symbol_plan,
)
from recombine.studies.kernel_theory.weights import diagonality, grouping, item_weights
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import transitive_equivalence
from recombine.training import sgd
from recombine.training.recipe import SQUARED_ERROR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REGIMES = {"lazy": (1.0, 0.001), "rich": (1e-2, 0.1), "richer": (1e-3, 0.1)}
"""Factors on the initial weights, and learning rates. At scale paper the factor goes down to 1e-6."""
CLASSES, HUBS = (0, 0, 1, 1), (0, 2)
WIDE = 10_000
"""Hidden units at scale paper, as published."""
SWEEP_RATES = {0: 1e-4, -1: 5e-3}
"""Learning rates of the wide net where the initial weights are large; 0.1 elsewhere."""


def arms(scale: Scale) -> ArmPlans:
    """The arms of this section at a scale."""
    task, probe = Part(transitive_equivalence), (Part(item_weights),)
    plans: dict[str, ArmPlan] = {}
    for regime, (initial, rate) in REGIMES.items():
        stop: dict[str, Any] = {"stop_below": 1e-4, "record_every": 100}
        plans[f"equivalence, {regime}"] = symbol_plan(
            scale, task, sgd(rate), initial, STEPS, probes=probe, **stop
        )
    for depth in DEPTHS if scale != "smoke" else ():
        plans[deep_arm("equivalence", depth)] = deep_plan(scale, task, depth)
    if scale == "paper":
        for exponent in EXPONENTS:
            for loss, part in (("squared", SQUARED_ERROR), ("cross-entropy", LOGISTIC)):
                plans[sweep_arm("equivalence", exponent, loss)] = symbol_plan(
                    scale,
                    task,
                    sgd(SWEEP_RATES.get(exponent, 0.1)),
                    10.0**exponent,
                    10_000,
                    width=WIDE,
                    probes=probe,
                    stop_below=1e-6,
                    record_every=100,
                    diverge_above=20.0,
                    loss=part,
                )
    return plans


def _rich_margin(evidence: Evidence) -> PerSeed:
    lazy, rich, richer = (evidence[f"equivalence, {regime}"] for regime in REGIMES)
    return PerSeed(
        rich["margin_out"] - lazy["margin_out"],
        requires={FITTED: stopped(lazy, rich)},
        supports={
            "margin, rich": rich["margin_out"],
            "margin, richer": richer["margin_out"],
            "margin, lazy (kernel: 0)": lazy["margin_out"],
            "right, rich": rich["right_out"],
            "right, lazy": lazy["right_out"],
        },
    )


SOLVED = Claim(
    "20",
    "rich networks solve associative inference, lazy networks do not",
    "Figure 5 (TE), Appendix F",
    # The bounds were margins above 0.9 for rich and below 0.4 for lazy networks.
    difference(
        "margin on unseen pairs, rich minus lazy",
        "above",
        magnitude=0.5,
        published_text="100% against about 50% right",
    ),
    tuple(f"equivalence, {regime}" for regime in REGIMES),
    _rich_margin,
    headline=True,
    reversal="learned features had been as useless for unseen pairs as fixed ones",
    amendments=(
        Amendment(
            "on every seed: rich 100% right with margins above 0.9, lazy at most 75% right with mean margins below 0.4",
            "margin, rich minus lazy, at least 0.5",
            "one quantity per claim; the sign of an output that should be 0 is noise, so accuracy says little about "
            "lazy networks",
        ),
    ),
)


def _groupings(arm: Arm) -> np.ndarray:
    return np.array([grouping(weights, CLASSES) for weights in arm["item_weights"]])


def _rich_grouping(evidence: Evidence) -> PerSeed:
    lazy, rich = (evidence[f"equivalence, {regime}"] for regime in ("lazy", "rich"))
    return PerSeed(
        _groupings(rich) - _groupings(lazy),
        requires={FITTED: stopped(lazy, rich)},
        supports={"grouping, rich": _groupings(rich), "grouping, lazy": _groupings(lazy)},
    )


MECHANISM = Claim(
    "33",
    "the mechanism: hidden units of rich networks give equivalent items the same weights",
    "Figure 5 (TE weights), Appendix F",
    difference(
        "cosine of the weights of equivalent items minus that of other items, rich minus lazy",
        "above",
        published_text="same sign and size",
    ),
    ("equivalence, lazy", "equivalence, rich"),
    _rich_grouping,
    headline=True,
    reversal="rich networks had solved unseen pairs without grouping the items, for example by learning each pair",
)


def _rich_diagonals(evidence: Evidence) -> PerSeed:
    lazy, rich = (
        np.array(
            [diagonality(weights, HUBS) for weights in evidence[f"equivalence, {regime}"]["item_weights"]]
        )
        for regime in ("lazy", "rich")
    )
    fitted = stopped(evidence["equivalence, lazy"], evidence["equivalence, rich"])
    return PerSeed(rich - lazy, requires={FITTED: fitted}, supports={"rich": rich, "lazy": lazy})


DIAGONALS = Claim(
    "41",
    "hidden units of rich networks weight the classes of the first and of the second item equally",
    "Figure 5 (TE weights), Appendix F",
    difference(
        "closeness of units to the two diagonals, rich minus lazy", "above", published_text="on the diagonals"
    ),
    ("equivalence, lazy", "equivalence, rich"),
    _rich_diagonals,
    reversal="units had looked at one position at a time",
)


def _deep_equivalence(evidence: Evidence) -> PerSeed:
    nets = [evidence[deep_arm("equivalence", depth)] for depth in DEPTHS]
    return PerSeed(
        np.min([net["right_out"] for net in nets], axis=0),
        requires={FITTED: stopped(*nets)},
        supports={f"margin, {d} layers": net["margin_out"] for d, net in zip(DEPTHS, nets, strict=True)},
    )


DEEP = Claim(
    "40",
    "networks of one to four layers with small initial weights all solve associative inference",
    "figure te-deep",
    difference("right on unseen pairs, worst depth", "above", no_effect=0.5, published=1.0),
    tuple(deep_arm("equivalence", depth) for depth in DEPTHS),
    _deep_equivalence,
    reversal="some depth had stayed at chance",
    amendments=(Amendment("part of claim 22", "a claim of its own", "one quantity per claim"),),
)


def _wide_margin(evidence: Evidence) -> PerSeed:
    lazy, rich = (evidence[sweep_arm("equivalence", e)] for e in (EXPONENTS[-1], EXPONENTS[0]))
    names = [(e, loss) for e in EXPONENTS for loss in ("squared", "cross-entropy")]
    return PerSeed(
        rich["margin_out"] - lazy["margin_out"],
        requires={LEARNED: all_right(lazy, rich)},
        supports={
            f"right, 1e{e}, {loss}": evidence[sweep_arm("equivalence", e, loss)]["right_out"]
            for e, loss in names
        },
    )


WIDE_NETS = Claim(
    "47",
    "associative inference at the published width and initial scales: rich networks solve it, lazy networks do not",
    "Figure 5 (TE)",
    difference(
        "margin on unseen pairs, 1e-6 minus usual weights",
        "above",
        magnitude=0.5,
        published_text="100% against about 50%",
    ),
    tuple(sweep_arm("equivalence", e, loss) for e in EXPONENTS for loss in ("squared", "cross-entropy")),
    _wide_margin,
    decided_at="paper",
    minutes=60,
    on_request=True,
    reversal="learned features had been as useless for unseen pairs as fixed ones",
)


def _draw_curves(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 3, sharey=True)
        for ax, (regime, (initial, _)) in zip(panels, REGIMES.items(), strict=True):
            curves = evidence[f"equivalence, {regime}"].curves
            for side, ink, label in (("train", SEEN, "trained pairs"), ("out", UNSEEN, "unseen pairs")):
                for seed, values in enumerate(curves[side]):
                    ax.plot(curves["step"][seed], values, color=ink, label=None if seed else label)
            ax.set_yscale("log")
            log_ticks(ax.yaxis)
            ax.set_xlabel("steps")
            sentence(ax, f"{regime}: weights × {initial:g}")
        panels[0].set_ylabel("squared error")
        panels[0].legend()
    return figure


def _draw_weights(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=3.0)
        panels = figure.subplots(1, 3)
        for ax, regime in zip(panels, REGIMES, strict=True):
            weights = evidence[f"equivalence, {regime}"]["item_weights"][0]
            first, second = (
                weights[:, position, HUBS[0]] - weights[:, position, HUBS[1]] for position in (0, 1)
            )
            top = 1.1 * np.abs([first, second]).max()
            for sign in (1, -1):
                ax.plot([-top, top], [-sign * top, sign * top], color=BASELINE, linewidth=0.6)
            ax.plot(first, second, "o", color="#009E73", markersize=2.5, alpha=0.7)
            ax.set(xlim=(-top, top), ylim=(-top, top), aspect="equal")
            ax.set_xlabel("class of the first item")
            sentence(ax, regime)
        panels[0].set_ylabel("class of the second item")
    return figure


ALL = tuple(f"equivalence, {regime}" for regime in REGIMES)
DRAWINGS = (
    Drawing(
        "equivalence-curves",
        "Rich networks learn unseen pairs together with trained ones; lazy networks never do.",
        "Transitive equivalence with one hidden layer; each line is a seed, for three factors on the initial weights. "
        "Trained pairs: mean over the hundred steps before a point; unseen pairs: at that point.",
        ALL,
        _draw_curves,
    ),
    Drawing(
        "equivalence-weights",
        "What rich networks have learned: hidden units that detect whether the two items' classes agree.",
        "Every point is a hidden unit: how strongly it separates the hubs of the two classes when they come first, "
        "and when they come second, times its readout weight. On the diagonals a unit weights both positions "
        "equally. One seed.",
        ALL,
        _draw_weights,
    ),
)

SECTION = StudySection(
    "Figure 5 and Appendix F: associative inference in rich networks, and its mechanism",
    arms=arms,
    claims=(SOLVED, MECHANISM, DIAGONALS, DEEP, WIDE_NETS),
    drawings=DRAWINGS,
)
