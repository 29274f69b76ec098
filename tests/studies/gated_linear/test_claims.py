"""Claims of gated-linear on made-up evidence: the published numbers reproduce, their reversals do not."""

import numpy as np
import pytest

from recombine.studies import Arm, Evidence, load
from recombine.studies.gated_linear.conjunctions import COMPOSED, DIGITS
from recombine.studies.gated_linear.networks import (
    BITS,
    DRAWN,
    LONGER,
    MEDIAN,
    MORE_ROWS,
    ONE,
    TRAINED_BITS,
    UNITS,
)
from recombine.studies.gated_linear.programmes import DESCENT
from recombine.studies.gated_linear.rectified_networks import RELU, RELU_MORE

STUDY = load("gated-linear")
N = 10


def arm(**values):
    """Values per seed, spread by a few percent."""
    spread = 1 + 0.02 * np.linspace(-1, 1, N)
    made = {name: np.multiply.outer(spread, np.asarray(value, dtype=float)) for name, value in values.items()}
    return Arm(tuple(range(N)), ("finished",) * N, made, {})


def machines(units, **errors):
    """Errors of nets and machines, which fall a little with the number of units, and how often they differ."""
    fall = 1 - 0.01 * np.arange(units)
    made = {f"{name.replace('_', ' ')} error": value * fall for name, value in errors.items()}
    for name, value in errors.items():
        if name != "net":
            made |= {
                f"{name.replace('_', ' ')} differs": [0.05 + abs(value - errors["net"])] * units,
                f"{name.replace('_', ' ')} by chance": [0.25] * units,
            }
    return made | {"redrawn differs": [0.2] * units, "norm ratio": [2.0] * units}


ERRORS = {
    "net": 0.155,
    "group_norm": 0.146,
    "l2_of_units": 0.2,
    "l2_of_effective_weights": 0.21,
    "published_groups": 0.147,
    "published_l2": 0.244,
}


def conjunctions(**changes):
    """Errors in four conjunctions that were left out, and how often the net differs from two machines."""
    values = {
        "one layer": 0.5,
        "linear": 0.4,
        "two layers": 0.3,
        "net": 0.3,
        "seen": 0.15,
        "differs from sums": 0.1,
        "differs from sums by chance": 0.42,
        "differs from linear": 0.3,
        "differs from linear by chance": 0.46,
    }
    return arm(**{name: [value] * 4 for name, value in (values | changes).items()})


def published():
    one = dict(zip(BITS, (0.262, 0.237, 0.225, 0.220, 0.220, 0.287, 0.536), strict=True))
    return {
        ONE: arm(
            **{
                "machine error": list(one.values()),
                "empty": [0, 0, 0, 0, 0, 0.05, 0.307],
                "net error": [0.216, 0.207, 0.210, 0.214, 0.222][: len(TRAINED_BITS)],
            }
        ),
        MEDIAN: arm(**machines(len(UNITS), **ERRORS)),
        DRAWN: arm(**machines(len(UNITS), **ERRORS)),
        LONGER: arm(**{"norm ratio": [3.0, 1.5], "differs": [0.1, 0.05], "net error": [0.15, 0.15]}),
        MORE_ROWS: arm(**machines(1, **ERRORS)),
        DESCENT: arm(excess=[0.1, 0.008], imbalance=0.01),
        RELU: arm(
            **{
                "net error": [0.121],
                **{
                    f"{n} error": [e]
                    for n, e in (("hidden layer", 0.121), ("learned gates", 0.13), ("random gates", 0.145))
                },
                **{
                    f"{n} differs": [e]
                    for n, e in (("hidden layer", 0.006), ("learned gates", 0.065), ("random gates", 0.12))
                },
                **{f"{n} by chance": [0.2] for n in ("hidden layer", "learned gates", "random gates")},
                "gates separate": [0.0],
            }
        ),
        RELU_MORE: arm(
            **{"net error": [0.063], "hidden layer error": [0.061], "learned gates error": [0.069]}
        ),
        DIGITS: conjunctions(),
        COMPOSED: conjunctions(),
    }


def verdict(id, **changed):
    arms = published() | changed
    return STUDY.claim(id).decide(Evidence(arms, "quick")).verdict.name


TRAINED = [claim.id for claim in STUDY.claims if claim.kind == "trained"]


@pytest.mark.parametrize("id", TRAINED)
def test_published_numbers_reproduce(id):
    assert verdict(id) == "reproduced"


def two_layers(**changed):
    return arm(**machines(len(UNITS), **(ERRORS | changed)))


@pytest.mark.parametrize(
    ("id", "changed"),
    [
        ("16", {LONGER: arm(**{"norm ratio": [1.5, 3.0], "differs": [0.1, 0.1], "net error": [0.1, 0.1]})}),
        ("19", {MEDIAN: two_layers(l2_of_units=0.14)}),
        ("19", {MEDIAN: two_layers(l2_of_units=0.3)}),
        ("20", {MEDIAN: two_layers(l2_of_effective_weights=0.13)}),
        ("20", {MEDIAN: two_layers(l2_of_units=0.13)}),
        ("10", {MEDIAN: two_layers(net=0.3)}),
        ("8", {MEDIAN: two_layers(published_l2=0.155, group_norm=0.3)}),
        # better than no answer, and worse than without contexts
        ("24", {DIGITS: conjunctions(linear=0.25)}),
        ("27", {COMPOSED: conjunctions(linear=0.25)}),
        ("26", {DIGITS: conjunctions(**{"differs from sums": 0.35})}),
        ("25", {MEDIAN: two_layers(group_norm=0.3), DRAWN: two_layers(net=0.3)}),
        ("4", {DESCENT: arm(excess=[0.01, 0.02], imbalance=0.01)}),
    ],
)
def test_effects_that_go_the_other_way_contradict(id, changed):
    assert verdict(id, **changed) == "contradicted"


def test_random_gates_that_explain_as_much_leave_the_claim_open_or_contradicted():
    made = published()[RELU]
    same = Arm(
        made.seeds,
        made.status,
        made.values | {"random gates differs": made["learned gates differs"] - 0.01},
        {},
    )
    assert verdict("13", **{RELU: same}) == "contradicted"


def test_nets_that_have_not_separated_their_rows_do_not_count():
    made = published()[LONGER]
    ratios = made["norm ratio"].copy()
    ratios[:5, 0] = np.nan
    outcome = STUDY.claim("16").decide(
        Evidence(
            published() | {LONGER: Arm(made.seeds, made.status, made.values | {"norm ratio": ratios}, {})},
            "quick",
        )
    )
    assert outcome.verdict.n_excluded == 5


def test_every_check_of_the_theory_is_a_claim():
    assert {str(number) for number in range(1, 19)} <= {claim.id for claim in STUDY.claims}


@pytest.mark.parametrize("name", ["fig2-gated", "fig3-rectified", "conjunctions"])
def test_figures_are_drawn(name):
    drawing = next(d for d in STUDY.drawings if d.name == name)
    assert drawing.draw(Evidence(published(), "quick")).axes


def test_the_table_has_published_numbers_as_coded_and_corrected():
    section = next(section for section in STUDY.sections if section.tabulations)
    table = section.tabulations[0].fill(Evidence(published(), "quick"))
    rows = {tuple(row.entries[:2]): row.entries[2:] for row in table.rows}
    assert len(rows) == 3 * len(UNITS) + 1
    assert rows["l2 norm", "20"] == ["0.24", "0.24", "0.20, 0.21"]
    assert rows["trained net", "10"][1] == "–"


def test_headlines_are_few_and_in_the_papers_order():
    assert [claim.id for claim in STUDY.headlines] == ["5", "16", "19", "20", "10", "11", "9", "13", "26"]
