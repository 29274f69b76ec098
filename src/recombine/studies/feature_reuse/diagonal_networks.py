"""Figures 2a, c, e and 3b, c: diagonal linear networks, by their limits and by training them.

A main task with 40 or fewer of 1000 features is learned from scratch, after pretraining on an auxiliary task with 40
features, or together with it. The limits of training are convex programmes, which take seconds; trained networks are
compared with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.parts import Part
from recombine.report import Column, Row, Table, blank_figure, colours, look, number, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import log_ticks
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse import published
from recombine.studies.feature_reuse.diagonal_probes import theory_errors, trained_errors
from recombine.studies.feature_reuse.draws import diagonal_draw
from recombine.studies.measurement import AllOf, PerSeed
from recombine.studies.quantity import described, difference, ratio
from recombine.studies.study import Drawing, StudySection, Tabulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INPUTS = {"smoke": 120, "quick": 1000, "paper": 1000}
KNOWN = {"smoke": 8, "quick": 40, "paper": 40}
SEEDS = {"smoke": 1, "quick": 10, "paper": 10}
ROWS = {"smoke": (8, 16), "quick": (16, 32, 128), "paper": (16, 32, 64, 128, 256, 512)}
SCALES = (1.0, 0.1, 0.01)
SPARSE = 5
TRAINED_ROWS = 128
TRAINED_STEPS = {"smoke": 200, "quick": 30_000, "paper": 1_000_000}
THEORY, TRAINED, FORECASTS = "diagonal, limits", "diagonal, trained", "forecasts of published networks"
TRAINED_NEW = "diagonal, trained on new features"
SUBSET, DISJOINT = "subset of {}", "{} new features"
SHARED, HALF, FRESH = "all shared", "half shared", "none shared"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Limits for sparse and dense main tasks on known and on new features; and trained networks by overlap."""
    known, inputs = KNOWN[scale], INPUTS[scale]
    sparse = [
        (
            name.format(k),
            (("active", k), ("amplitude", "1/k"), ("known", known), ("overlap", k if "sub" in name else 0)),
        )
        for name in (SUBSET, DISJOINT)
        for k in (SPARSE, known)
    ]
    overlaps = [
        (name, (("active", known), ("known", known), ("overlap", overlap)))
        for name, overlap in ((SHARED, known), (HALF, known // 2), (FRESH, 0))
    ]
    limits = Trial(
        Part(diagonal_draw, conditions=tuple(sparse), inputs=inputs),
        (Part(theory_errors, n=ROWS[scale], scales=SCALES),),
        (0,),
    )
    rows = {"smoke": 16}.get(scale, TRAINED_ROWS)
    trained = Trial(
        Part(diagonal_draw, conditions=tuple(overlaps), inputs=inputs),
        (Part(trained_errors, n=rows, steps=TRAINED_STEPS[scale], pooled=True),),
        (0,),
    )
    new = replace(
        trained,
        task=Part(diagonal_draw, conditions=tuple(c for c in sparse if "new" in c[0]), inputs=inputs),
    )
    return {
        THEORY: ArmPlan(limits, SEEDS[scale]),
        TRAINED: ArmPlan(trained, SEEDS[scale]),
        TRAINED_NEW: ArmPlan(new, SEEDS[scale]),
    }


def _finetuned(evidence: Evidence, condition: str, scale: float, rows: int) -> np.ndarray:
    """Error of finetuning as a share of predicting zero, for every seed."""
    arm, counts = evidence[THEORY], ROWS[evidence.scale]
    chosen = rows if rows in counts else counts[-1]
    found = arm[f"{condition}: finetuned"][:, SCALES.index(scale), counts.index(chosen)]
    return np.asarray(found / arm[f"{condition}: power"])


def names_of(evidence: Evidence) -> dict[str, str]:
    """The conditions of the limits: few or many features, known or new."""
    known = KNOWN[evidence.scale]
    return {
        "sparse": SUBSET.format(SPARSE),
        "dense": SUBSET.format(known),
        "new sparse": DISJOINT.format(SPARSE),
        "new dense": DISJOINT.format(known),
    }


def _sharing_and_sparsity(evidence: Evidence) -> AllOf:
    trained, new, names = evidence[TRAINED], evidence[TRAINED_NEW], names_of(evidence)
    powers = {key: evidence[THEORY][f"{names[key]}: power"] for key in ("new dense", "new sparse")}

    def sharing(learner: str) -> np.ndarray:
        return np.asarray(trained[f"{FRESH}: {learner}"][:, 1] / trained[f"{SHARED}: {learner}"][:, 1])

    def sparsity(learner: str) -> np.ndarray:
        dense, sparse = (new[f"{names[key]}: {learner}"][:, 1] / power for key, power in powers.items())
        return np.asarray(dense / sparse)

    limits = [_finetuned(evidence, names[key], 1.0, 128) for key in powers]
    return AllOf(
        {
            "finetuning: no feature shared / all shared": sharing("finetuned"),
            "multi-task: no feature shared / all shared": sharing("multi-task"),
            "finetuning, new features: dense / sparse": sparsity("finetuned"),
            "multi-task, new features: dense / sparse": sparsity("multi-task"),
        },
        supports={
            "limit of finetuning, new features: dense / sparse": limits[0] / limits[1],
            "from scratch, new features: dense / sparse": sparsity("scratch"),
            "multi-task, 5 new features: training loss": new[f"{names['new sparse']}: multi-task, loss"],
            "multi-task, 40 new features: training loss": new[f"{names['new dense']}: multi-task, loss"],
            "all shared, finetuned: best error": trained[f"{SHARED}: finetuned"][:, 0],
            "all shared, multi-task: best error": trained[f"{SHARED}: multi-task"][:, 0],
            "all shared, from scratch: best error": trained[f"{SHARED}: scratch"][:, 0],
        },
    )


SHARING_AND_SPARSITY = Claim(
    "8",
    "finetuning and multi-task learning favour solutions that share features and solutions that are sparse",
    "Figure 2a, c",
    ratio(
        "error at n = 128, each of two learners: no feature shared / all shared, and dense / sparse",
        "above",
        published=1000,
        published_text="5e6, 1e5 (sharing), 1000, 2300 (sparsity)",
    ),
    (THEORY, TRAINED, TRAINED_NEW),
    _sharing_and_sparsity,
    headline=True,
    reversal="features that are shared, or few, had been as hard to learn as others, for one of the learners",
    amendments=(
        Amendment(
            "the smaller of two ratios of each seed, both of finetuning (sparsity from the limits of training)",
            "four ratios, for finetuning and for multi-task learning, each with its own interval, all from trained "
            "networks; the same bound",
            "the statement is about both learners, and multi-task learning did not decide it",
        ),
    ),
)


def _nested(evidence: Evidence) -> PerSeed:
    names = names_of(evidence)

    def gap(scale: float, sparse: str = "sparse", dense: str = "dense", rows: int = 32) -> np.ndarray:
        one, other = (_finetuned(evidence, names[name], scale, rows) for name in (sparse, dense))
        return np.asarray(np.log10(one / other))

    return PerSeed(
        gap(0.1),
        supports={
            "the same without rescaling": gap(1.0),
            "the same at rescaling 0.01": gap(0.01),
            "the same for new features": gap(0.1, "new sparse", "new dense"),
            "error of 5 known features at 0.1": _finetuned(evidence, names["sparse"], 0.1, 32),
            "error of 40 known features at 0.1": _finetuned(evidence, names["dense"], 0.1, 32),
        },
    )


NESTED = Claim(
    "7",
    "finetuning has a nested regime: with rescaled weights it selects a sparse subset of the pretrained features",
    "Figure 3b, c",
    difference(
        "log10 error at n = 32 and rescaling 0.1, 5 of 40 known features minus all 40",
        "below",
        published=-1.89,
        magnitude=-1.5,
    ),
    (THEORY,),
    _nested,
    headline=True,
    reversal="rescaled finetuning had found a subset of the known features no sooner than all of them",
    finding="Without rescaling there is hardly an advantage, and for new features there is none: it is a subset of "
    "what was pretrained that is found sooner.",
)


def _published_networks(evidence: Evidence) -> PerSeed:
    names = names_of(evidence)
    found = {s: _finetuned(evidence, names["dense"], s, 32) for s in SCALES}
    means = np.array([found[s].mean() - published.SUBSET_40_N32[s] for s in SCALES])
    return PerSeed(
        np.full(len(found[1.0]), np.abs(means).max()),
        supports={
            **{f"all 40 features, rescaling {s:g}": values for s, values in found.items()},
            **{f"5 features, rescaling {s:g}": _finetuned(evidence, names["sparse"], s, 32) for s in SCALES},
        },
    )


FORECAST = Claim(
    "6",
    "how close the limits of training are to the published networks (subset task, n = 32)",
    "Figure 3b, c; authors' results",
    described("largest difference of a mean loss from the published one", published_text=".24, .48, .67"),
    (THEORY,),
    _published_networks,
    also=(FORECASTS,),
)


def _new_features(evidence: Evidence) -> PerSeed:
    arm = evidence[TRAINED]
    probe = evidence[THEORY]
    return PerSeed(
        arm[f"{HALF}: scratch"][:, 1] / arm[f"{HALF}: finetuned"][:, 1],
        supports={
            "half shared, finetuned: best error": arm[f"{HALF}: finetuned"][:, 0],
            "half shared, multi-task: best error": arm[f"{HALF}: multi-task"][:, 0],
            "half shared, from scratch: best error": arm[f"{HALF}: scratch"][:, 0],
            "no feature shared, linear probe: error": probe[f"{names_of(evidence)['new dense']}: probe"][
                :, -1
            ],
        },
    )


NEW_FEATURES = Claim(
    "9",
    "with half of the features shared, finetuning still has a lower error than learning from scratch",
    "Figure 2e",
    ratio("error from scratch / finetuned, half shared, n = 128", "above", published=0.767 / 0.409),
    (TRAINED, THEORY),
    _new_features,
    reversal="new features had cost more than shared ones saved",
    finding="Most of the gain is on the shared features; the new ones are hardly learned sooner.",
)


def _harmless(evidence: Evidence) -> PerSeed:
    name = names_of(evidence)["new sparse"]
    return PerSeed(
        _finetuned(evidence, name, 1.0, 128) / _finetuned(evidence, name, 0.1, 128),
        supports={f"rescaling {s:g}": _finetuned(evidence, name, s, 128) for s in SCALES},
    )


HARMLESS = Claim(
    "10",
    "rescaling makes pretraining on unrelated features harmless",
    "Figure 9",
    ratio(
        "error on 5 new features at n = 128: without rescaling / with 0.1",
        "above",
        published=104,
        magnitude=10,
    ),
    (THEORY,),
    _harmless,
    reversal="rescaled weights had hindered new features more",
)


def _curves(evidence: Evidence) -> Figure:
    counts, names = ROWS[evidence.scale], names_of(evidence)
    arm = evidence[THEORY]
    with look():
        figure = blank_figure(height=2.9)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, key in zip(panels, ("dense", "sparse"), strict=True):
            name = names[key]
            power = arm[f"{name}: power"][:, None]
            series: dict[str, Any] = {"from scratch": arm[f"{name}: scratch"] / power}
            for i, s in enumerate(SCALES):
                series[f"finetuned, {s:g}"] = arm[f"{name}: finetuned"][:, i] / power
            inks = colours(series)
            ends = []
            for label, values in series.items():
                middle = np.maximum(np.median(values, axis=0), 1e-9)
                ax.plot(counts, middle, "o-", color=inks[label], markersize=3.5, linewidth=1.2)
                ends.append(EndLabel(label, float(middle[-1]), inks[label]))
            for s in SCALES:
                known = published.SUBSET[SPARSE if key == "sparse" else KNOWN["quick"], s]
                marks = {n: value for n, value in known.items() if n in counts}
                ink = inks[f"finetuned, {s:g}"]
                ax.plot(list(marks), list(marks.values()), "x", color=ink, markersize=4.5, alpha=0.8)
            ax.set_xscale("log")
            ax.set_yscale("log")
            log_ticks(ax.xaxis)
            log_ticks(ax.yaxis)
            ax.set_xlabel("rows of the main task")
            uses = "all pretrained features" if key == "dense" else f"{SPARSE} of {KNOWN[evidence.scale]}"
            sentence(ax, f"the main task uses {uses}")
            end_labels(ax, ends)
        panels[0].set_ylabel("error / predicting zero")
    return figure


def _table(evidence: Evidence) -> Table:
    arm = evidence[TRAINED]
    rows = []
    for condition in (SHARED, HALF, FRESH):
        for learner in ("scratch", "multi-task", "finetuned"):
            best, final = np.mean(arm[f"{condition}: {learner}"], axis=0)
            known = published.DIAGONAL_N128.get((condition, learner))
            rows.append(
                Row(
                    [condition, learner, number(best), number(final), "–" if known is None else number(known)]
                )
            )
    columns = [Column("features"), Column("learner")]
    columns += [Column(name, "right") for name in ("best over training", "final", "published (best)")]
    return Table(columns, rows)


SECTION = StudySection(
    "Figures 2 and 3: diagonal linear networks",
    arms=arms,
    claims=(SHARING_AND_SPARSITY, NESTED, FORECAST, NEW_FEATURES, HARMLESS),
    drawings=(
        Drawing(
            "fig3-nested",
            "Smaller pretrained weights make finetuning pick the features that it needs.",
            "Error of the limits of training, median over draws. Left: the main task uses all pretrained features, and "
            "shrinking only discards them. Right: it uses five of them; then rescaling finds them from far fewer rows. "
            "Crosses: published networks, whose training stopped before it reached the smallest errors.",
            (THEORY,),
            _curves,
        ),
    ),
    tabulations=(
        Tabulation("Trained networks at n = 128, mean squared error over seeds", (TRAINED,), _table),
    ),
)
