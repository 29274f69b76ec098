"""The claims of feature reuse, decided on made-up evidence: as published, weaker, and reversed."""

import numpy as np
import pytest

from recombine.studies import Arm, Evidence, load
from recombine.studies.feature_reuse import diagonal_networks as diagonal
from recombine.studies.feature_reuse import diagonal_overlaps as overlaps
from recombine.studies.feature_reuse import group_norm_training as group_norm
from recombine.studies.feature_reuse import images, relu_rows
from recombine.studies.feature_reuse import published as paper
from recombine.studies.feature_reuse import relu_networks as relu
from recombine.studies.feature_reuse.relu_probes import run_name

N = 10
SPREAD = np.linspace(0.9, 1.1, N)
STUDY = load("feature-reuse")
HEADLINES = tuple(claim.id for claim in STUDY.headlines)


def arm(**values):
    """Ten seeds around each value, which spread by 10% up and down."""
    arrays = {name: np.multiply.outer(SPREAD, np.asarray(v, dtype=float)) for name, v in values.items()}
    return Arm(tuple(range(N)), ("finished",) * N, arrays, {})


def limits(**changes):
    """Published losses of finetuning at n = 16, 32, 128 and rescalings 1, 0.1, 0.01, as shares of predicting zero."""
    finetuned = {
        "subset of 5": [[0.687, 0.135, 1e-7], [0.535, 6.2e-3, 5e-9], [0.555, 2.1e-3, 6.5e-8]],
        "subset of 40": [[0.624, 0.236, 2.4e-7], [0.747, 0.483, 2.2e-6], [0.857, 0.674, 6.9e-5]],
        "5 new features": [[1.05, 1.05, 1e-3], [1.04, 1.03, 9.6e-6], [1.0, 0.865, 1e-6]],
        "40 new features": [[1.01, 1.01, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]],
    } | changes
    values = {}
    for name, errors in finetuned.items():
        values |= {
            f"{name}: finetuned": errors,
            f"{name}: scratch": [1.0, 0.9, 0.5],
            f"{name}: probe": [1.0, 0.5, 0.3],
        }
    made = arm(**values)
    power = {f"{name}: power": np.ones(N) for name in finetuned}
    return Arm(made.seeds, made.status, {**made.values, **power}, {})


def trained(**changes):
    errors = {
        "all shared: scratch": 0.73,
        "all shared: multi-task": 9.3e-6,
        "all shared: finetuned": 1.9e-7,
        "half shared: scratch": 0.767,
        "half shared: multi-task": 0.432,
        "half shared: finetuned": 0.409,
        "none shared: scratch": 0.823,
        "none shared: multi-task": 0.984,
        "none shared: finetuned": 1.0,
    } | changes
    return arm(**{name: [value, value] for name, value in errors.items()})


def trained_new(**changes):
    """Published losses with 128 rows."""
    errors = {
        f"{name}: {learner}": paper.DIAGONAL[name][learner][128]
        for name in ("5 new features", "40 new features")
        for learner in ("scratch", "multi-task", "finetuned")
    } | changes
    values = {name: [value, value] for name, value in errors.items()}
    return arm(**values | {f"{name}, loss": 1e-8 for name in errors})


def rectified(**changes):
    """Published relative losses, and fates of the units."""
    errors = {
        run_name("scratch", relu.SHARED, 16): 1.0,
        run_name("scratch", relu.SHARED, 128): 0.141,
        run_name("probe", relu.SHARED, 16): 1.5e-4,
        run_name("finetuned", relu.SHARED, 16): 0.418,
        run_name("finetuned", relu.SHARED, 128): 3.5e-4,
        run_name("multi-task", relu.SHARED, 16): 0.090,
        run_name("multi-task", relu.SHARED, 128): 3.2e-3,
        run_name("scratch", relu.TURNED, 128): 0.133,
        run_name("finetuned", relu.TURNED, 128): 3.8e-3,
        run_name("multi-task", relu.TURNED, 128): 0.089,
        run_name("scratch", "subset of 1", 16): 1.0,
        run_name("scratch", "subset of 6", 16): 1.0,
        run_name("finetuned", "subset of 1", 128): 2.4e-6,
        run_name("finetuned", "subset of 6", 128): 6.2e-5,
        run_name("finetuned", "subset of 1", 128, 10.0): 1e-5,
        run_name("finetuned", "subset of 6", 128, 10.0): 1e-5,
    } | changes
    values = {name: [value, value] for name, value in errors.items()}
    values |= {f"{name}, fates": [0.9, 0.1, 0.0] for name in errors if "finetuned" in name}
    values |= {f"{name}, loss": 1e-8 for name in errors}
    return arm(**values)


def further(**changes):
    errors = {
        run_name("scratch", relu.HALF, 16): 1.0,
        run_name("probe", relu.HALF, 512): 0.22,
        run_name("finetuned", relu.HALF, 512): 3.2e-4,
        run_name("multi-task", relu.HALF, 512): 2.3e-4,
        run_name("scratch", relu.HALF, 512): 3.9e-4,
    } | changes
    return arm(**{name: [value, value] for name, value in errors.items()})


def by_overlap(**changes):
    """Published losses of all learners at n = 16, 32, 128 and 512."""
    values = {}
    for condition in (overlaps.SHARED, overlaps.MOST, overlaps.HALF):
        known = paper.DIAGONAL["30 of 40 shared" if condition == overlaps.MOST else condition]
        values[f"{condition}: finetuned"] = [list(known["finetuned"].values())]
        values[f"{condition}: probe"] = list(known["probe"].values())
        values[f"{condition}: scratch"] = list(known.get("scratch", dict.fromkeys(paper.N, 1.0)).values())
    made = arm(**(values | changes))
    power = {f"{name.split(':')[0]}: power": np.ones(N) for name in values}
    return Arm(made.seeds, made.status, {**made.values, **power}, {})


def many_rows():
    errors = {"half shared: finetuned": 4.3e-7, "half shared: multi-task": 1.5e-6}
    values = {name: [value, value] for name, value in errors.items()}
    return arm(**values | {f"{name}, loss": 1e-9 for name in errors})


def forecasts():
    values = {
        f"subset of {k}": [[paper.SUBSET[k, s][n] for n in (16, 32)] for s in overlaps.FORECAST_SCALES]
        for k in (5, 40)
    }
    values |= {"all shared": [[1.2e-8]], "three quarters shared": [[0.031]], "half shared": [[0.39]]}
    return arm(**values | {"5 new": [[1.3e-3], [9e-6]], "40 new": [[1.65]]})


def trained_by_group_norm(proximal=0.5, plain=0.31):
    values = {"plain: error": plain, "proximal: error": proximal, "programme: error": proximal}
    values |= {"plain: norm": 7.9, "proximal: norm": 7.46, "programme: norm": 7.46}
    return arm(**values | {"plain: loss": 1e-10, "proximal: loss": 1e-9})


def by_rows(**changes):
    """Published relative losses of rectified networks at 16, 32 and 128 rows."""
    errors = {
        run_name(learner, name, n): paper.RELU[name][learner][n]
        for learner, name, n, _ in relu_rows.ROWS_RUNS
    } | changes
    return arm(**{name: [value, value] for name, value in errors.items()})


def kernel(factor=1.02):
    errors = {
        run_name(learner, name, n): paper.RELU[name]["probe"][n] * times
        for name, n in relu_rows.KERNEL_RUNS
        for learner, times in (("probe", 1.0), ("kernel", factor))
    }
    return arm(**errors)


def weak(**changes):
    errors = {}
    for magnitude, tasks in relu_rows.WEAK_TASKS.items():
        for cosine, name in tasks.items():
            for n in relu_rows.WEAK_ROWS:
                errors[run_name("finetuned", name, n)] = paper.WEAK[magnitude][cosine][n]
                errors[run_name("scratch", name, n)] = paper.WEAK[magnitude]["scratch"][n]
    values = {name: [value, value] for name, value in (errors | changes).items()}
    return arm(**values | {f"{name}, loss": 1e-9 for name in errors})


def classifier(accuracy, after):
    """Mean accuracy by rescaling, the same for three numbers of images, and dimensions after finetuning."""
    noise = np.linspace(-0.005, 0.005, N)
    by_rows = np.stack([np.tile(np.array(accuracy)[:, None] + e, (1, 3)) for e in noise])
    values = {
        "accuracy": by_rows,
        "best accuracy": by_rows + 0.01,
        "loss": np.full((N, 4, 3), 0.009),
        "scratch": np.full((N, 3), 0.6),
        "after": np.tile(after, (N, 1)) * SPREAD[:, None],
        "before": np.full((N, 4), 6.8),
        "shared": np.tile(after, (N, 1)),
        "pretraining loss": np.full(N, 0.04),
        "pretraining accuracy": np.full(N, 0.4),
    }
    return Arm(tuple(range(N)), ("finished",) * N, values, {})


def together(accuracy):
    """Multi-task learning of images, for the larger numbers of images."""
    rows = len(images.many_rows("quick"))
    flat = {"accuracy": accuracy, "best accuracy": accuracy, "aux accuracy": 0.2, "loss": 0.009, "epochs": 20}
    values = {name: np.full((N, rows), value) for name, value in flat.items()}
    return Arm(tuple(range(N)), ("finished",) * N, values, {})


def published():
    return {
        "conservation": Arm(
            (0,), ("finished",), {k: np.zeros(1) for k in ("finetuning", "multi-task", "units")}, {}
        ),
        diagonal.THEORY: limits(),
        diagonal.TRAINED: trained(),
        diagonal.TRAINED_NEW: trained_new(),
        relu.ARM: rectified(),
        relu.FURTHER: further(),
        overlaps.LIMITS: by_overlap(),
        overlaps.MANY_ROWS: many_rows(),
        diagonal.FORECASTS: forecasts(),
        group_norm.ARM: trained_by_group_norm(),
        relu_rows.BY_ROWS: by_rows(),
        relu_rows.KERNEL: kernel(),
        relu_rows.WEAK_ARM: weak(),
        images.RESNET: classifier([0.74, 0.73, 0.66, 0.55], [2.05, 3.0, 6.75, 6.85]),
        images.VIT: classifier([0.72, 0.74, 0.83, 0.77], [2.4, 3.0, 9.4, 38.0]),
        images.TOGETHER[images.RESNET]: together(0.61),
        images.TOGETHER[images.VIT]: together(0.74),
    }


def verdict(id, arms):
    return STUDY.claim(id).decide(Evidence(arms, "quick")).verdict


@pytest.mark.parametrize(
    "id", [id for id in (*HEADLINES, "9", "10", "14", "15", "17", "19", "22", "23", "24", "25") if id != "2"]
)
def test_published_numbers_reproduce(id):
    assert verdict(id, published()).name == "reproduced"


def test_the_conservation_law_is_exact():
    assert verdict("2", published()).name == "verified"
    broken = Arm(
        (0,), ("finished",), {k: np.full(1, 1e-3) for k in ("finetuning", "multi-task", "units")}, {}
    )
    assert verdict("2", published() | {"conservation": broken}).name == "violated"


CONTRADICTING = {
    "7": {diagonal.THEORY: limits(**{"subset of 5": [[0.9, 0.9, 0.1]] * 3})},
    "8": {diagonal.TRAINED: trained(**{"none shared: finetuned": 1e-9})},
    "9": {diagonal.TRAINED: trained(**{"half shared: finetuned": 0.9})},
    "10": {diagonal.THEORY: limits(**{"5 new features": [[1, 1, 1e-6], [1, 1, 1e-3], [1, 1, 1]]})},
    "11": {relu.ARM: rectified(**{run_name("finetuned", relu.SHARED, 128): 0.5})},
    "12": {relu.ARM: rectified(**{run_name("finetuned", relu.TURNED, 128): 0.5})},
    "13": {relu.ARM: rectified(**{run_name("finetuned", "subset of 1", 128): 1e-3})},
    "14": {relu.FURTHER: further(**{run_name("probe", relu.HALF, 512): 1e-5})},
    "15": {relu_rows.WEAK_ARM: weak(**{run_name("finetuned", "weak, cosine 0.9", 512): 1e-6})},
    "16": {images.RESNET: classifier([0.6, 0.6, 0.66, 0.55], [2.0, 3.0, 6.8, 6.9])},
    "17": {images.RESNET: classifier([0.7, 0.7, 0.66, 0.55], [12.0, 9.0, 6.8, 6.9])},
    "19": {images.TOGETHER[images.VIT]: together(0.9)},
    "22": {overlaps.LIMITS: by_overlap(**{"all shared: probe": [0.9, 0.9, 0.5, 0.3]})},
    "23": {overlaps.LIMITS: by_overlap(**{"half shared: finetuned": [[0.9, 0.9, 0.8, 0.7]]})},
    "24": {relu_rows.BY_ROWS: by_rows(**{run_name("finetuned", relu_rows.ONE_NEW, 128): 0.9})},
    "25": {group_norm.ARM: trained_by_group_norm(0.2, 0.31)},
    "18": {images.VIT: classifier([0.9, 0.74, 0.83, 0.77], [2.4, 3.0, 9.4, 38.0])},
}


@pytest.mark.parametrize("id", CONTRADICTING)
def test_the_opposite_contradicts(id):
    assert verdict(id, published() | CONTRADICTING[id]).name == "contradicted"


def test_smaller_effects_are_weaker():
    small = rectified(**{run_name("multi-task", relu.TURNED, 128): 8e-3})
    assert verdict("12", published() | {relu.ARM: small}).name == "weaker"
    half = limits(**{"subset of 5": [[0.6, 0.2, 1e-7]] * 3})
    assert verdict("7", published() | {diagonal.THEORY: half}).name == "weaker"


@pytest.mark.parametrize("learner", ["finetuned", "multi-task"])
def test_sharing_and_sparsity_are_asked_of_both_learners(learner):
    sharing = trained(**{f"all shared: {learner}": 0.9})
    assert verdict("8", published() | {diagonal.TRAINED: sharing}).name == "weaker"
    sparsity = trained_new(**{f"5 new features: {learner}": 2.0})
    assert verdict("8", published() | {diagonal.TRAINED_NEW: sparsity}).name == "contradicted"


def test_each_learner_has_to_lead_where_the_paper_says_so():
    """A lead that only shrinks with more rows is not one that changes sides."""
    shrinking = rectified(**{run_name("finetuned", relu.SHARED, 128): 3.4e-3})
    assert verdict("11", published() | {relu.ARM: shrinking}).name == "contradicted"
    reversed_with_few = rectified(**{run_name("finetuned", relu.SHARED, 16): 0.05})
    assert verdict("11", published() | {relu.ARM: reversed_with_few}).name == "contradicted"


WEAKER = {
    "19": {images.TOGETHER[images.RESNET]: together(0.652)},
    "22": {overlaps.LIMITS: by_overlap(**{"all shared: probe": [0.636, 0.235, 1.3e-7, 2e-9]})},
    "23": {overlaps.LIMITS: by_overlap(**{"half shared: probe": [0.9, 0.9, 0.1, 1e-4]})},
    "24": {relu_rows.BY_ROWS: by_rows(**{run_name("finetuned", relu_rows.ONE_NEW, 128): 0.05})},
    "15": {relu_rows.WEAK_ARM: weak(**{run_name("finetuned", "weak, cosine 0.9", 512): 1e-4})},
}


@pytest.mark.parametrize("id", WEAKER)
def test_small_effects_of_further_claims_are_weaker(id):
    assert verdict(id, published() | WEAKER[id]).name == "weaker"


def test_the_tangent_kernel_is_next_to_the_probe_of_claim_14():
    outcome = STUDY.claim("14").decide(Evidence(published(), "quick"))
    np.testing.assert_allclose(outcome.supports()["tangent kernel / linear probe, half shared"], 1.02)
    without = {name: one for name, one in published().items() if name != relu.KERNEL}
    outcome = STUDY.claim("14").decide(Evidence(without, "quick"))
    assert outcome.verdict.name == "reproduced"
    assert not any("kernel" in name for name in outcome.supports())


def test_forecasts_say_where_they_should_not_match():
    table = next(
        t.fill(Evidence(published(), "quick"))
        for section in STUDY.sections
        for t in section.tabulations
        if diagonal.FORECASTS in t.needs
    )
    verdicts = {tuple(row.entries[:3]): row.entries[-1] for row in table.rows}
    assert verdicts["40 of 40 known", "0.1", "32"] == "yes"
    assert "over training" in verdicts["40 new", "1", "16"]
    assert "stopped" in verdicts["all shared", "1", "128"]
    assert len(table.rows) == 22


def test_headlines_stand_in_the_papers_order():
    assert HEADLINES == ("2", "8", "7", "11", "12", "13", "16", "18")


def test_both_kinds_of_loss_are_tabulated():
    evidence = Evidence(published(), "quick")
    for section in STUDY.sections:
        for tabulation in section.tabulations:
            columns = [column.name for column in tabulation.fill(evidence).columns]
            if "published (best)" in columns and diagonal.FORECASTS not in tabulation.needs:
                assert {"best over training", "final"} <= set(columns)


def test_figures_are_drawn():
    evidence = Evidence(published(), "quick")
    drawn = [d.name for d in STUDY.drawings if all(name in evidence for name in d.needs)]
    for drawing in STUDY.drawings:
        if drawing.name in drawn:
            assert drawing.draw(evidence) is not None
    assert {"fig2-diagonal", "fig2-relu", "fig3-nested", "fig4-relu", "fig4-weak", "fig5-images"} <= set(
        drawn
    )
    assert "fig5-learners" in drawn
