"""Figures 1 and 3a, d: the penalties of finetuning and multi-task learning, and what trades off in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.parts import Part
from recombine.report import blank_figure, colours, look, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import log_ticks
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse import identities, published
from recombine.studies.feature_reuse.draws import nothing
from recombine.studies.measurement import Cases
from recombine.studies.quantity import deviation
from recombine.studies.study import Drawing, StudySection
from recombine.theory import (
    finetuning_order,
    multi_task_order,
    multi_task_penalty,
    plotted_penalty,
    unit_penalty,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHECKS = {
    "closed forms": identities.closed_forms,
    "conservation": identities.conservation,
    "conserved weights": identities.conserved_weights,
    "limits of descent": identities.limits_of_descent,
    "multi-task limit": identities.multi_task_limit,
    "dimensions": identities.dimension_identities,
}
DRAWN = ("limits of descent", "multi-task limit", "conserved weights", "dimensions")
"""Checks that draw random problems."""
DRAWS = {"smoke": 1, "quick": 6, "paper": 20}


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One trial per check."""
    return {
        name: ArmPlan(
            Trial(Part(nothing), (Part(check),), (0,)),
            DRAWS[scale] if name in DRAWN else 1,
            seeded=name in DRAWN,
        )
        for name, check in CHECKS.items()
    }


def _closed_forms(evidence: Evidence) -> Cases:
    arm = evidence["closed forms"]
    return Cases(
        {
            "orders (1e-4)": arm["orders"][0] / 1e-4,
            "penalties (1e-4)": arm["penalties"][0] / 1e-4,
            "rectified units (1e-4)": arm["units"][0] / 1e-4,
            "slope against differences (1e-6)": arm["slope"][0] / 1e-6,
        }
    )


def _conservation(evidence: Evidence) -> Cases:
    arm = evidence["conservation"]
    return Cases({name: float(arm[name][0]) for name in ("finetuning", "multi-task", "units")})


def _conserved_weights(evidence: Evidence) -> Cases:
    arm = evidence["conserved weights"]
    return Cases(
        {
            "drift of w² - v² (1%)": float(arm["drift"].max()) / 0.01,
            "w+² + w-² after training (1e-3)": float(arm["form"].max()) / 1e-3,
        }
    )


def _limits(evidence: Evidence) -> Cases:
    arm = evidence["limits of descent"]
    note = f"without the linear term off by up to {arm['without_tilt'].max():.2f}"
    return Cases({f"draw {i}": float(value) for i, value in enumerate(arm["exact"])}, note=note)


def _multi_task(evidence: Evidence) -> Cases:
    arm = evidence["multi-task limit"]
    plain = arm["plain"]
    return Cases(
        {f"draw {i}": float(abs(value - 1)) for i, value in enumerate(arm["with_decay"])},
        note=f"plain gradient descent ends {plain.min() - 1:.1%} to {plain.max() - 1:.1%} above",
    )


def _dimensions(evidence: Evidence) -> Cases:
    arm = evidence["dimensions"]
    return Cases({name: float(arm[name].max()) for name in ("itself", "invariance", "routes")})


CLAIMS = (
    Claim(
        "1",
        "the penalties of finetuning, multi-task learning and rectified units have their published values",
        "Figures 1 and 3a, d",
        deviation("difference as a share of its tolerance", tolerance=1.0, published_text="tables"),
        ("closed forms",),
        _closed_forms,
        decided_at="smoke",
        finding="The form in the paper's plots is twice the exact penalty of the trained network with a pretrained "
        "coefficient twice as large: curves keep their shape and shift by a factor of two.",
    ),
    Claim(
        "2",
        "finetuning and multi-task learning trade off the same two biases: order of the penalty (sparsity) plus "
        "feature dependence (reuse) is one",
        "conservation law, Figure 3a, d",
        deviation(
            "order + feature dependence - 1, largest of 625 pairs", tolerance=1e-6, published_text="identity"
        ),
        ("conservation",),
        _conservation,
        headline=True,
        decided_at="smoke",
    ),
    Claim(
        "3",
        "training keeps w² - v² of every weight pair, and pretraining ends at the closed form",
        "derived",
        deviation("difference as a share of its tolerance", tolerance=1.0),
        ("conserved weights",),
        _conserved_weights,
        decided_at="smoke",
    ),
    Claim(
        "4",
        "gradient descent ends at the minimum of the exact penalty, for small and large initial weights",
        "derived; Section 3",
        deviation("largest relative difference of a coefficient", tolerance=5e-3),
        ("limits of descent",),
        _limits,
        decided_at="smoke",
    ),
    Claim(
        "5",
        "multi-task learning with vanishing weight decay minimises the group norm",
        "Section 3; derived",
        deviation("relative difference of the group norm from its minimum", tolerance=5e-3),
        ("multi-task limit",),
        _multi_task,
        decided_at="smoke",
        finding="Without weight decay it does not: plain gradient descent from small weights stays above the minimum, "
        "so the group norm says which way multi-task learning leans, not where it ends.",
    ),
    Claim(
        "20",
        "the effective number of shared dimensions is the participation ratio of a layer with itself, and does not "
        "depend on scale or on rotations of the rows",
        "derived",
        deviation("largest relative difference", tolerance=1e-6),
        ("dimensions",),
        _dimensions,
        decided_at="smoke",
    ),
)


def _penalties(evidence: Evidence) -> Figure:
    beta = np.logspace(-2, 2, 200)
    aux = {"1e-3": 1e-3, "1": 1.0, "1e3": 1e3}
    panels: dict[str, Any] = {
        "multi-task": lambda a: multi_task_penalty(beta, a),
        "finetuning": lambda a: plotted_penalty(beta, a, readout=1e-3),
        "unit, cosine 0.9": lambda a: unit_penalty(beta, a, 0.9).value,
    }
    inks = colours(aux)
    with look():
        figure = blank_figure(height=2.6)
        for ax, (name, penalty) in zip(figure.subplots(1, 3), panels.items(), strict=True):
            ends = []
            for label, a in aux.items():
                values = penalty(a)
                ax.plot(beta, values, color=inks[label], linewidth=1.2)
                mark = published.PENALTIES_AT_1[name][label]
                ax.plot([1.0], [mark], "x", color=inks[label], markersize=5, markeredgewidth=1.0)
                ends.append(EndLabel(label, float(values[-1]), inks[label]))
            ax.set_xscale("log")
            ax.set_yscale("log")
            log_ticks(ax.xaxis)
            log_ticks(ax.yaxis)
            ax.set_xlabel("main coefficient")
            sentence(ax, name)
            end_labels(ax, ends)
    return figure


def _orders(evidence: Evidence) -> Figure:
    aux = np.logspace(-4, 2, 200)
    series = {
        "finetuning": finetuning_order(1.0, aux),
        "multi-task": multi_task_order(1.0, aux),
        "unit, cosine 1": unit_penalty(1.0, aux, 1.0).order,
        "unit, cosine 0.9": unit_penalty(1.0, aux, 0.9).order,
    }
    inks = colours(series)
    with look():
        figure = blank_figure(height=2.8)
        ax = figure.subplots()
        ax.axhspan(1.1, 1.5, color="0.94", zorder=0)
        for name, values in series.items():
            ax.plot(aux, values, color=inks[name], linewidth=1.4)
        for name, shift in (("finetuning", 2.0), ("multi-task", 1.0)):
            known = np.array(identities.ORDERS["finetuning, plotted" if name == "finetuning" else name])
            at = shift * identities.AUX
            shown = at <= aux[-1]
            ax.plot(at[shown], known[shown], "x", color=inks[name], markersize=4.5, clip_on=False)
        ax.set_xlim(aux[0], aux[-1])
        ax.set_xscale("log")
        log_ticks(ax.xaxis)
        ax.set_xlabel("auxiliary coefficient, for a main coefficient of 1")
        ax.set_ylabel("order of the penalty\n(1 - feature dependence)")
        end_labels(ax, [EndLabel(name, float(values[-1]), inks[name]) for name, values in series.items()])
    return figure


SECTION = StudySection(
    "Figures 1 and 3a: penalties and their trade-off",
    arms=arms,
    claims=CLAIMS,
    drawings=(
        Drawing(
            "fig1-penalties",
            "What a coefficient of the main task costs, if the auxiliary task has used its feature a little, somewhat "
            "or a lot.",
            "Each curve is the penalty of a coefficient for one magnitude of the auxiliary coefficient (at its end). "
            "Known features are cheaper in multi-task learning and in finetuning; a known but misaligned unit (right) "
            "is a burden. The middle panel is in the form that the paper plots. Crosses: published, for a "
            "coefficient of 1.",
            ("closed forms",),
            _penalties,
        ),
        Drawing(
            "fig3-orders",
            "Between lazy (order 2) and rich (order 1) there is room: finetuning stays sparse and still prefers known "
            "features.",
            "The order of the penalty says how much sparse solutions are preferred (1: most), one minus it how much "
            "known features are. In the grey band a learner does both. Multi-task learning crosses it within a factor "
            "of ten of the auxiliary coefficient, finetuning stays in it over several decades. Crosses: published; "
            "those of finetuning are shifted by the factor of two between the plotted and the exact penalty.",
            ("conservation",),
            _orders,
        ),
    ),
)
