"""Section 5.1, Figure 3: salience, the share of the similarity that conjunctions of each size carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.parts import Part
from recombine.report import blank_figure, colours, look, new_figure, sentence
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlans, Evidence, Scale
from recombine.studies.kernel_theory import identities
from recombine.studies.kernel_theory.identities import UNEQUAL_SHARES
from recombine.studies.kernel_theory.section4_expressivity import exact_plan
from recombine.studies.measurement import Cases
from recombine.studies.quantity import deviation
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NONLINEARITIES = {
    "relu": "ReLU",
    "leaky": "leaky ReLU",
    "step": "step",
    "quadratic": "rectified quadratic",
    "gaussian": "Gaussian",
}


def arms(scale: Scale) -> ArmPlans:
    """The arms of this section at a scale."""
    return {
        "round trips": exact_plan(Part(identities.round_trips), scale, seeded=True),
        "spectra": exact_plan(Part(identities.spectra), scale, seeded=True),
        "trajectories": exact_plan(Part(identities.trajectories), scale, seeded=False),
    }


def _round_trips(evidence: Evidence) -> Cases:
    return Cases({"both forms, one to five factors": evidence["round trips"]["round_trip_gap"].max()})


ROUND_TRIPS = Claim(
    "1",
    "similarities determine saliences and the other way round, by overlap count and by overlap set",
    "Section 5.1",
    deviation("similarity to salience and back", tolerance=1e-12, published_text="identity"),
    ("round trips",),
    _round_trips,
    decided_at="smoke",
)


def _spectra(evidence: Evidence) -> Cases:
    return Cases({"random kernels, unequal numbers of levels": evidence["spectra"]["spectrum_gap"].max()})


SPECTRA = Claim(
    "3",
    "the spectrum of such a kernel on the full grid has a closed form",
    "ours",
    deviation("eigenvalues minus the closed form", tolerance=1e-10, published_text="identity"),
    ("spectra",),
    _spectra,
    decided_at="smoke",
)


def _trajectories(evidence: Evidence) -> Cases:
    arm = evidence["trajectories"]
    return Cases(
        {
            "sum of all saliences minus 1": arm["sum_gap"].max(),
            "three-layer ReLU, rounded to six digits, minus the table": arm["relu_gap"].max(),
        }
    )


TRAJECTORIES = Claim(
    "2",
    "saliences of deep random networks drift towards whole cells; they sum to 1 at every depth",
    "Section 5.1, Figure 3",
    deviation(
        "difference from 1 and from the table", tolerance=1e-12, published_text="0.2035, 0.0942, 0.1068"
    ),
    ("trajectories",),
    _trajectories,
    decided_at="smoke",
    amendments=(
        Amendment(
            "three-layer ReLU within 1e-6 of the table",
            "equal to the table when rounded to its six digits",
            "one tolerance for all cases; this one is the stricter",
        ),
    ),
)


def _draw_trajectories(evidence: Evidence) -> Figure:
    arm = evidence["trajectories"]
    figure, panels = new_figure(3, aspect=0.95, share_x=True)
    inks = colours(list(NONLINEARITIES.values()))
    with look():
        for order, ax in enumerate(panels.ravel()):
            for name, label in NONLINEARITIES.items():
                ax.plot(arm[f"salience_{name}"][0][:, order], color=inks[label], label=label)
            ax.set_xlabel("layers")
            ax.set_ylim(-0.02, 1.02 if order == 2 else 0.36)
            sentence(ax, f"S({order + 1};3)")
        panels.ravel()[0].set_ylabel("salience")
        figure.legend(*panels.ravel()[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _draw_more_trajectories(evidence: Evidence) -> Figure:
    arm = evidence["trajectories"]
    four, unequal = arm["salience_of_four"][0], arm["salience_unequal"][0]
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, 4, sharex=True)
        inks = colours([f"S({k};4)" for k in range(1, 5)])
        for order, (name, ink) in enumerate(inks.items()):
            panels[0].plot(four[0][:, order], color=ink, label=name)
        sentence(panels[0], "Four equal factors, ReLU")
        panels[0].legend()
        subsets = {"first alone": 2, "second alone": 1, "both together": 3}
        inks = colours(list(subsets))
        for ax, position in zip(panels[1:], (0, 1, 3), strict=True):
            for name, subset in subsets.items():
                ax.plot(unequal[position][:, subset], color=inks[name], label=name)
            share = UNEQUAL_SHARES[position]
            sentence(ax, f"Two factors, {share:.0%} and {1 - share:.0%}")
        panels[-1].legend()
        for ax in panels:
            ax.set_xlabel("layers")
            ax.set_ylim(-0.02, 1.02)
        panels[0].set_ylabel("salience")
    return figure


DRAWINGS = (
    Drawing(
        "salience-by-depth",
        "Deep random networks become lookup tables.",
        "Share of the similarity that one conjunction of one, two and three of three factors carries, by the number of "
        "random layers. With depth, all but Gaussian units end up with conjunctions of all factors, which identify a "
        "cell and say nothing about other cells.",
        ("trajectories",),
        _draw_trajectories,
    ),
    Drawing(
        "salience-more",
        "With unequal factors the weaker one is lost first; with four factors, conjunctions of all four take over.",
        "Saliences in random ReLU networks by depth. Left: one conjunction of one to four of four factors. Right: two "
        "factors, of which the first makes up 10, 30 or 50% of the input.",
        ("trajectories",),
        _draw_more_trajectories,
    ),
)

SECTION = StudySection(
    "Section 5.1, Figure 3: salience",
    arms=arms,
    claims=(ROUND_TRIPS, SPECTRA, TRAJECTORIES),
    drawings=DRAWINGS,
)
