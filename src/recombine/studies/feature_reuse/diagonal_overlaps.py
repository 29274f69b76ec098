"""Figure 2a, c, e and the forecasts: diagonal networks over all numbers of rows, and next to the published networks.

The main task shares all, three quarters, half or none of its 40 features with the auxiliary task. A linear probe and
finetuning are given by their limits, multi-task learning by trained networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import Column, Row, Table, blank_figure, number
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse import diagonal_networks as networks
from recombine.studies.feature_reuse import published
from recombine.studies.feature_reuse.diagonal_probes import theory_errors, trained_errors
from recombine.studies.feature_reuse.draws import diagonal_draw, nothing
from recombine.studies.feature_reuse.forecasts import forecast_errors
from recombine.studies.feature_reuse.row_curves import Learner, row_curves
from recombine.studies.measurement import AllOf, PerSeed
from recombine.studies.quantity import ratio
from recombine.studies.study import Drawing, StudySection, Tabulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARED, MOST, HALF = networks.SHARED, "three quarters shared", networks.HALF
ROWS = {"smoke": (8, 16), "quick": (16, 32, 128, 512), "paper": (16, 32, 128, 512)}
MUCH = {"smoke": 16, "quick": 512, "paper": 512}
SEEDS = {"smoke": 1, "quick": 6, "paper": 6}
FORECAST_SEEDS = networks.SEEDS
LIMITS, MANY_ROWS = "diagonal, limits by overlap", "diagonal, trained on 512 rows"
FORECAST_SCALES = (1.0, 0.1, 0.01, 0.001)
FORECAST_ROWS = {"smoke": (8, 16), "quick": (16, 32), "paper": (16, 32)}


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Limits for every overlap; trained networks with half of the features shared; forecasts of published networks."""
    known, inputs = networks.KNOWN[scale], networks.INPUTS[scale]
    shared = {SHARED: known, MOST: 3 * known // 4, HALF: known // 2}
    conditions = {
        name: (("active", known), ("known", known), ("overlap", overlap)) for name, overlap in shared.items()
    }
    limits = Trial(
        Part(diagonal_draw, conditions=tuple(conditions.items()), inputs=inputs),
        (Part(theory_errors, n=ROWS[scale], scales=(1.0,)),),
        (0,),
    )
    trained = Trial(
        Part(diagonal_draw, conditions=((HALF, conditions[HALF]),), inputs=inputs),
        (Part(trained_errors, n=MUCH[scale], steps=networks.TRAINED_STEPS[scale], pooled=True),),
        (0,),
    )
    forecasts = Trial(
        Part(nothing),
        (
            Part(
                forecast_errors,
                features=inputs,
                known=known,
                sparse=networks.SPARSE,
                few=FORECAST_ROWS[scale],
                many=ROWS[scale][-2],
                scales=FORECAST_SCALES,
            ),
        ),
        (0,),
    )
    return {
        LIMITS: ArmPlan(limits, SEEDS[scale]),
        MANY_ROWS: ArmPlan(trained, SEEDS[scale]),
        networks.FORECASTS: ArmPlan(forecasts, FORECAST_SEEDS[scale]),
    }


def _limit(evidence: Evidence, condition: str, learner: str, rows: int) -> np.ndarray:
    """Error of a limit as a share of predicting zero, for every seed."""
    arm, counts = evidence[LIMITS], ROWS[evidence.scale]
    errors = arm[f"{condition}: {learner}"].reshape(len(arm.seeds), len(counts))
    place = counts.index(rows) if rows in counts else -1
    return np.asarray(errors[:, place] / arm[f"{condition}: power"])


def _order(evidence: Evidence) -> AllOf:
    probe, finetuned = (_limit(evidence, SHARED, learner, 128) for learner in ("probe", "finetuned"))
    trained = evidence[networks.TRAINED]
    together, scratch = (trained[f"{SHARED}: {learner}"][:, 1] for learner in ("multi-task", "scratch"))
    return AllOf(
        {
            "finetuned / linear probe": finetuned / probe,
            "multi-task / finetuned": together / finetuned,
            "from scratch / multi-task": scratch / together,
        },
        supports={"trained / limit of finetuning": trained[f"{SHARED}: finetuned"][:, 1] / finetuned},
    )


ORDER = Claim(
    "22",
    "with all features shared, a linear probe generalises best, then finetuning, then multi-task learning, and "
    "learning from scratch far worse",
    "Figure 2c",
    ratio(
        "error at n = 128, each of three ratios of neighbours in this order",
        "above",
        published=1.9e-7 / 6.5e-8,
        magnitude=2,
        published_text="2.9, 49, 78000",
    ),
    (LIMITS, networks.TRAINED),
    _order,
    minutes=5,
    reversal="two neighbours in the order had changed places",
    amendments=(
        Amendment(
            "the smallest of the three ratios for each seed",
            "every ratio has to hold, each with its own interval; the same bound",
            "without an effect, the smallest of several ratios is usually below one",
            seen=False,
        ),
    ),
)


def _new_features(evidence: Evidence) -> PerSeed:
    much = MUCH[evidence.scale]
    probe, finetuned, scratch = (
        _limit(evidence, HALF, learner, much) for learner in ("probe", "finetuned", "scratch")
    )
    trained = evidence[MANY_ROWS]
    return PerSeed(
        probe / finetuned,
        supports={
            "linear probe: error": probe,
            "finetuned, limit: error": finetuned,
            "from scratch, limit: error": scratch,
            "finetuned, trained: error": trained[f"{HALF}: finetuned"][:, 1],
            "multi-task, trained: error": trained[f"{HALF}: multi-task"][:, 1],
            "multi-task: training loss": trained[f"{HALF}: multi-task, loss"],
        },
    )


NEW_FEATURES = Claim(
    "23",
    "a linear probe cannot learn features that were not pretrained, however many rows there are; finetuning and "
    "multi-task learning can",
    "Figure 2e",
    ratio(
        "error of a linear probe / finetuning, half of the features shared, n = 512",
        "above",
        published=0.354 / 4.3e-7,
        magnitude=0.2 / 1e-4,
    ),
    (LIMITS, MANY_ROWS),
    _new_features,
    minutes=10,
    reversal="the pretrained features alone had been enough for new ones",
)


def _panels(evidence: Evidence) -> dict[str, list[Learner]]:
    """The lines of Figure 2a, c and e: limits by the number of rows, and trained networks where there are any."""
    few, names = networks.ROWS[evidence.scale], networks.names_of(evidence)
    theory, trained = evidence[networks.THEORY], evidence[networks.TRAINED]
    trained_rows = networks.TRAINED_ROWS if evidence.scale != "smoke" else ROWS["smoke"][-1]

    def limits(condition: str, learner: str) -> dict[int, np.ndarray]:
        if condition in (SHARED, HALF):
            return {n: _limit(evidence, condition, learner, n) for n in ROWS[evidence.scale]}
        power = theory[f"{condition}: power"]
        errors = theory[f"{condition}: {learner}"]
        errors = errors[:, 0] if errors.ndim == 3 else errors
        return {n: errors[:, i] / power for i, n in enumerate(few)}

    def lines(condition: str, learners: tuple[str, ...], suffix: str = "") -> list[Learner]:
        known = published.DIAGONAL.get(condition, {})
        found = [
            Learner(learner, limits(condition, learner), known.get(learner, {}), suffix)
            for learner in learners
        ]
        if condition in (SHARED, HALF):
            points = {trained_rows: trained[f"{condition}: multi-task"][:, 1]}
            if condition == HALF and MANY_ROWS in evidence:
                points[MUCH[evidence.scale]] = evidence[MANY_ROWS][f"{HALF}: multi-task"][:, 1]
            found.append(Learner("multi-task", points, known.get("multi-task", {}), suffix))
        return found

    sparse = lines(names["new sparse"], ("scratch", "finetuned"), f", {networks.SPARSE}")
    dense = lines(names["new dense"], ("scratch", "finetuned"), f", {networks.KNOWN[evidence.scale]}")
    everything = ("scratch", "finetuned", "probe")
    return {
        "a: new features": sparse + dense,
        "c: all shared": lines(SHARED, everything),
        "e: half shared": lines(HALF, everything),
    }


def _draw(evidence: Evidence) -> Figure:
    figure = blank_figure(height=3.0)
    row_curves(figure, _panels(evidence), label="error / predicting zero", floor=1e-9)
    return figure


REASONS = {
    "worse than zero": "no: the lowest loss over training is compared with the limit",
    "too small": "no: training stopped before the limit",
}
SMALLEST = 1e-7
"""Limits below this were not reached by the published training: it ended at a loss of 1e-10, or after 100,000 steps."""


def _forecasts(evidence: Evidence) -> Table:
    arm = evidence[networks.FORECASTS]
    known, sparse = networks.KNOWN[evidence.scale], networks.SPARSE
    many = ROWS[evidence.scale][-2]
    few = FORECAST_ROWS[evidence.scale]
    entries: list[tuple[str, str, float, int, float | None]] = []  # shown, value, rescaling, rows, published
    for active in (known, sparse):
        values = {s: published.SUBSET.get((active, s), {}) for s in FORECAST_SCALES}
        entries += [
            (f"{active} of {known} known", f"subset of {active}", s, n, values[s].get(n))
            for s in FORECAST_SCALES
            for n in few
        ]
    for name, condition in ((HALF, HALF), ("30 of 40 shared", MOST), (SHARED, SHARED)):
        entries.append((condition, condition, 1.0, many, published.DIAGONAL[name]["finetuned"].get(many)))
    entries += [
        (f"{sparse} new", f"{sparse} new", s, many, value) for s, value in published.NEW_5_N128.items()
    ]
    dense = published.DIAGONAL["40 new features"]["finetuned"].get(few[0])
    entries.append((f"{known} new", f"{known} new", 1.0, few[0], dense))
    rows = []
    for features, name, s, n, value in entries:
        errors = arm[name][:, FORECAST_SCALES.index(s), few.index(n) if n in few else 0]
        mean = float(np.mean(errors))
        reason = "worse than zero" if mean > 1.1 else "too small" if mean < SMALLEST else ""
        texts = [
            features,
            f"{s:g}",
            str(n),
            number(mean),
            f"{number(errors.min())} to {number(errors.max())}",
        ]
        rows.append(Row([*texts, "–" if value is None else number(value), REASONS.get(reason, "yes")]))
    columns = [Column("features of the main task")]
    columns += [
        Column(name, "right") for name in ("rescaling", "rows", "limit, mean", "range", "published (best)")
    ]
    return Table([*columns, Column("should match?")], rows)


SECTION = StudySection(
    "Figure 2: diagonal networks by the number of rows",
    arms=arms,
    claims=(ORDER, NEW_FEATURES),
    drawings=(
        Drawing(
            "fig2-diagonal",
            "Shared features are found from few rows, new ones only if they are few; a linear probe never finds them.",
            "Lines: limits of training, median over draws; squares: trained networks (multi-task learning has no known "
            "limit). Crosses: published means, the lowest loss over training. With new features (left) finetuning is a "
            "little worse than learning from scratch. With half of them shared (right) the linear probe stays behind.",
            (networks.THEORY, networks.TRAINED, LIMITS),
            _draw,
        ),
    ),
    tabulations=(
        Tabulation(
            "Forecasts without training (predict_transfer) next to the published networks",
            (networks.FORECASTS,),
            _forecasts,
        ),
    ),
)
