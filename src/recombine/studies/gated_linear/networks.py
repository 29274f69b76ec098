"""Figure 2: one and two gated layers on digits: the limit of training, architecture and norm, and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import blank_figure, colours, look, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import log_ticks
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import Arm, ArmPlan, Evidence, Scale
from recombine.studies.gated_linear import published
from recombine.studies.gated_linear.digit_rows import digit_rows, source
from recombine.studies.gated_linear.machine_probes import longer_training, one_layer, two_layers
from recombine.studies.measurement import AllOf, PerSeed
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SEEDS = {"smoke": 1, "quick": 10, "paper": 10}
BITS = (0, 1, 2, 3, 4, 6, 9)
TRAINED_BITS = (0, 1, 2, 3, 4)
UNITS = (10, 20, 50)
MANY_UNITS = (20,)
SHORT, LONG = 3200, 30_000
STEPS = {"smoke": 20, "quick": SHORT, "paper": SHORT}
LENGTHS = {"smoke": (10, 20), "quick": (SHORT, LONG), "paper": (SHORT, LONG)}
ONE, MEDIAN, DRAWN, LONGER, MORE_ROWS = (
    "one layer",
    "two layers, median thresholds",
    "two layers, random thresholds",
    "two layers, longer training",
    "two layers, 2000 rows",
)


FEWER = {500: 400, 2000: 797}
"""Training rows where MNIST is not on this machine: there are 1797 small digits, of which 1000 are for testing."""


def rows(scale: Scale, train: int = 500) -> Part:
    """Training and test rows."""
    kind = source(scale)
    sizes = {"train": train, "test": 12_000} if kind == "mnist" else {"train": FEWER[train], "test": 1000}
    return Part(digit_rows, source=kind, **({"train": 60, "test": 200} if scale == "smoke" else sizes))


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Every seed draws its rows, gates, weights and batches separately."""
    small = scale == "smoke"

    def plan(probe: Part, train: int = 500, seeds: int = SEEDS[scale]) -> ArmPlan:
        return ArmPlan(Trial(rows(scale, train), (probe,), (0,)), seeds)

    how = {"steps": STEPS[scale], "momentum": 0.0}
    units = (4,) if small else UNITS
    plans = {
        ONE: plan(
            Part(
                one_layer,
                bits=(0, 2, 4, 9) if small else BITS,
                trained_bits=(2,) if small else TRAINED_BITS,
                steps=STEPS[scale],
            )
        ),
        MEDIAN: plan(Part(two_layers, units=units, median=True, **how)),
        DRAWN: plan(Part(two_layers, units=units, median=False, **how)),
        LONGER: plan(Part(longer_training, units=4 if small else 20, steps=LENGTHS[scale], momentum=0.9)),
    }
    if not small:
        plans[MORE_ROWS] = plan(Part(two_layers, units=MANY_UNITS, median=True, **how), 2000, 6)
    return plans


def at_units(arm: Arm, name: str, units: int = 20) -> np.ndarray:
    """A value at one number of units, for every seed."""
    counts = UNITS if arm[name].shape[1] == len(UNITS) else (units,)
    return np.asarray(arm[name][:, counts.index(units)])


BOTH_HOLD = Amendment(
    "the smaller of two differences, seed by seed",
    "both differences have to hold, each with its own interval",
    "the smallest of two differences is mostly below zero if there is no effect",
)


# The limit.


def _longer(evidence: Evidence) -> PerSeed:
    arm = evidence[LONGER]
    short, long = arm["norm ratio"][:, 0], arm["norm ratio"][:, -1]
    return PerSeed(
        (long - 1) / (short - 1),
        requires={"all training rows right": np.isfinite(short) & np.isfinite(long)},
        supports={
            f"norm / smallest, {SHORT:,} steps": short,
            f"norm / smallest, {LONG:,} steps": long,
            f"differs from its limit, {SHORT:,} steps": arm["differs"][:, 0],
            f"differs from its limit, {LONG:,} steps": arm["differs"][:, -1],
        },
    )


LIMIT = Claim(
    "16",
    "gradient descent approaches the solution of maximum margin in the architecture's norm: more training brings the "
    "norm of a two-layer gated network closer to the smallest one",
    "abstract; derived",
    ratio("excess of the norm over the smallest one, 30,000 / 3,200 steps (20 units, momentum 0.9)", "below"),
    (LONGER,),
    _longer,
    headline=True,
    reversal="longer training had led away from the smallest norm",
    finding="It is slow: after ten times as many steps as published the norm is still well above the smallest one, "
    "while predictions hardly change any more.",
)


# Architecture and norm.


def _two_effects(evidence: Evidence) -> AllOf:
    one, two = evidence[ONE], evidence[MEDIAN]
    best = np.nanmin(one["machine error"], axis=1)
    l2, group = at_units(two, "l2 of units error"), at_units(two, "group norm error")
    return AllOf(
        {"effect of the architecture": best - l2, "effect of the norm": l2 - group},
        supports={
            "one layer, best: error": best,
            "two layers, l2 of units: error": l2,
            "two layers, group norm: error": group,
            "effect of the norm, l2 of effective weights": at_units(two, "l2 of effective weights error")
            - group,
        },
    )


TWO_EFFECTS = Claim(
    "19",
    "architecture and norm are two separate effects: two layers do better than one with an l2 norm, and the group "
    "norm does better still",
    "abstract, Figure 2c",
    difference(
        "error, one layer minus two layers with an l2 norm of units, and that minus the group norm (20 units)",
        "above",
        published=0.0044,
        published_text="0.075 and 0.004 (best networks, l2 as coded)",
    ),
    (ONE, MEDIAN),
    _two_effects,
    headline=True,
    reversal="an l2 norm behind the same gates had done better than the group norm, or one layer better than two",
    finding="The architecture does it: two layers do better with any norm. A proper l2 norm, the sum of squares of all "
    "weights of all units, does slightly better than the group norm; the published l2 programme is another one (claim "
    "3).",
    amendments=(
        Amendment(
            "the l2 norm of effective weights; the smaller difference of each seed",
            "the l2 norm of units; both differences have to hold",
            "there are two proper l2 norms, and the claim was decided with the worse one; the smallest of two "
            "differences is mostly below zero if there is no effect",
        ),
    ),
)


def _l2_is_worse(evidence: Evidence) -> AllOf:
    arm = evidence[MEDIAN]
    errors = {
        name: at_units(arm, f"{name} error")
        for name in ("l2 of effective weights", "l2 of units", "published l2", "group norm")
    }
    return AllOf(
        {f"{name} / group norm": errors[name] / errors["group norm"] for name in PROPER},
        supports={
            "published l2 / group norm": errors["published l2"] / errors["group norm"],
            "differs from the net: l2 of effective weights / group norm": at_units(
                arm, "l2 of effective weights differs"
            )
            / at_units(arm, "group norm differs"),
            "differs from the net: l2 of units / group norm": at_units(arm, "l2 of units differs")
            / at_units(arm, "group norm differs"),
        },
    )


PROPER = ("l2 of effective weights", "l2 of units")
L2_IS_WORSE = Claim(
    "20",
    "an l2 norm on the same architecture does worse than the group norm",
    "Figure 2a, d",
    ratio(
        "error of both proper l2 norms / of the group norm (20 units)",
        "above",
        published=0.244 / 0.146,
    ),
    (MEDIAN,),
    _l2_is_worse,
    headline=True,
    reversal="a proper l2 norm had done as well",
    finding="The published l2 programme weights deviations between contexts too heavily and mixes units; as coded it "
    "is far worse, as in the paper. Of the two proper norms, that of effective weights is a little worse than the "
    "group norm and that of units a little better. So the published gap is due to the programme, not to the norm.",
    amendments=(
        Amendment(
            "the l2 norm of effective weights",
            "both proper l2 norms have to do worse",
            "there are two proper l2 norms, and only the worse one had been compared",
        ),
    ),
)


# Depth.


def _depth(evidence: Evidence) -> PerSeed:
    one, two = evidence[ONE], evidence[MEDIAN]
    machine = np.nanmin(one["machine error"], axis=1) - np.nanmin(two["group norm error"], axis=1)
    return PerSeed(
        np.nanmin(one["net error"], axis=1) - np.nanmin(two["net error"], axis=1),
        supports={
            "the same for machines": machine,
            "one layer, best net": np.nanmin(one["net error"], axis=1),
            "two layers, best net": np.nanmin(two["net error"], axis=1),
        },
    )


DEPTH = Claim(
    "10",
    "depth helps: the best two-layer network does better than the best one-layer network",
    "Figure 2c",
    difference(
        "error of the best trained net, one layer minus two layers", "above", published=0.063, magnitude=0.03
    ),
    (ONE, MEDIAN),
    _depth,
    headline=True,
    reversal="a single gated unit had done as well",
    finding="As published, the best net is chosen on the test images, among five one-layer and three two-layer nets.",
    amendments=(
        Amendment(
            "one-layer nets with 1, 4, 8 and 16 contexts",
            "also with 2 contexts",
            "the best published one-layer net has 2 contexts; without it the comparison favoured two layers",
        ),
    ),
)


def _u_shape(evidence: Evidence) -> AllOf:
    arm = evidence[ONE]
    bits = BITS if arm["machine error"].shape[1] == len(BITS) else (0, 2, 4, 9)
    errors = {count: arm["machine error"][:, i] for i, count in enumerate(bits)}
    empty = arm["empty"][:, bits.index(9)]
    return AllOf(
        {"1 minus 16 contexts": errors[0] - errors[4], "512 minus 16 contexts": errors[9] - errors[4]},
        supports={f"{2**count} contexts: error": values for count, values in errors.items()}
        | {"512 contexts: test rows in contexts without training rows": empty},
    )


U_SHAPE = Claim(
    "11",
    "one-layer networks overfit with many contexts: 16 contexts do better than none and better than 512",
    "Section 4; authors' results",
    difference(
        "error of the machine, 1 minus 16 contexts and 512 minus 16 contexts",
        "above",
        published=0.037,
        magnitude=0.02,
    ),
    (ONE,),
    _u_shape,
    headline=True,
    reversal="more contexts had always, or never, been better",
    amendments=(BOTH_HOLD,),
    finding="There is a U-shape, but its minimum is at four to eight contexts: four do better than none in 18 of 20 "
    "seeds, 16 only in 11. The published minimum is at eight to sixteen, on one split. With 512 contexts "
    "the error is far higher in every seed. Images in contexts without training rows get no answer and "
    "count half here; published errors count them as wrong.",
)


def _draw(evidence: Evidence) -> Figure:
    arm = evidence[MEDIAN]
    names = {
        "net": "trained net",
        "group norm": "group norm",
        "l2 of units": "l2 of units",
        "l2 of effective weights": "l2 of effective weights",
        "published l2": "l2 as published",
    }
    inks = colours(names.values())
    with look():
        figure = blank_figure(height=3.0)
        left, right = figure.subplots(1, 2)
        ends = []
        for name, label in names.items():
            values = np.median(arm[f"{name} error"], axis=0)
            left.plot(UNITS, values, "o-", color=inks[label], markersize=3.5, linewidth=1.2)
            ends.append(EndLabel(label, float(values[-1]), inks[label]))
            known = published.TWO_LAYERS.get(name)
            if known:
                left.plot(
                    published.UNITS[: len(UNITS)], known[: len(UNITS)], "x", color=inks[label], markersize=5
                )
        left.set_xscale("log")
        log_ticks(left.xaxis)
        left.set_xlabel("units")
        left.set_ylabel("error")
        sentence(left, "Two layers (crosses: published)")
        end_labels(left, ends)
        one = evidence[ONE]
        contexts = [2**count for count in BITS]
        right.plot(contexts, one["machine error"].T, "o", color="#999999", markersize=2)
        right.plot(
            contexts, np.nanmedian(one["machine error"], axis=0), "o-", color="#000000", markersize=3.5
        )
        right.plot(
            [2**c for c in published.ONE_LAYER],
            list(published.ONE_LAYER.values()),
            "x",
            color="#D55E00",
            markersize=5,
        )
        right.set_xscale("log")
        log_ticks(right.xaxis)
        right.set_xlabel("contexts")
        right.set_ylabel("error")
        sentence(right, "One layer, machines")
    return figure


SECTION = StudySection(
    "Figure 2: gated networks on digits",
    arms=arms,
    claims=(LIMIT, TWO_EFFECTS, L2_IS_WORSE, DEPTH, U_SHAPE),
    drawings=(
        Drawing(
            "fig2-gated",
            "Two gated layers do better than one, and their limit has nearly the error of trained networks.",
            "Left: error on images that were not trained on, median over seeds, of trained two-layer networks and of "
            "machines behind the same gates; the l2 programme as published is far off, the two proper l2 norms are "
            "not. Right: one gated unit by its number of contexts, a point per seed: too many contexts overfit.",
            (ONE, MEDIAN),
            _draw,
        ),
    ),
)
