"""The rule on made-up evidence: every verdict, exclusions, NaN, ties, few seeds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.intervals import LEVEL
from recombine.studies import (
    AllOf,
    Cases,
    Claim,
    Outcome,
    PerSeed,
    Successes,
    Unpaired,
    described,
    deviation,
    difference,
    judge,
    rate,
    ratio,
)
from recombine.studies.verdict import LOOK_LEVEL, LOOKS

TEN = np.linspace(0.9, 1.1, 10)


@pytest.mark.parametrize(
    ("centre", "verdict"),
    [(41, "reproduced"), (14, "reproduced"), (7, "weaker"), (1, "open"), (0.3, "contradicted")],
)
def test_a_ratio(centre, verdict):
    quantity = ratio("unseen / seen error", "above", published=190)  # as published: 13.8 or more
    assert judge(quantity, PerSeed(centre * TEN)).name == verdict


@pytest.mark.parametrize(
    ("centre", "verdict"), [(-0.4, "reproduced"), (-0.2, "weaker"), (0.0, "open"), (0.5, "contradicted")]
)
def test_a_difference_that_should_be_negative(centre, verdict):
    quantity = difference("with minus without", "below", published=-0.6)
    assert judge(quantity, PerSeed(centre + (TEN - 1))).name == verdict


def test_direction_is_enough_if_no_size_was_published():
    assert judge(ratio("errors", "above"), PerSeed(1.2 * TEN)).name == "reproduced"


def test_the_published_value_inside_the_interval_is_enough():
    """The fact sheet's bound may lie beyond the published value; then the interval decides."""
    quantity = difference("gap", "above", published=1.0, magnitude=1.2)
    assert judge(quantity, PerSeed(TEN)).name == "reproduced"


def test_an_estimate_at_the_magnitude_reaches_it():
    assert judge(difference("gap", "above", magnitude=1.0), PerSeed(np.ones(6))).name == "reproduced"


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_seeds_decide_nothing(n):
    """Even the range of five seeds covers less than 95%."""
    verdict = judge(ratio("errors", "above"), PerSeed(100 * TEN[:n]))
    assert (verdict.name, verdict.favourable, verdict.n_seeds) == ("open", n, n)
    assert verdict.seeds_needed == 6


def test_seeds_that_miss_a_precondition_are_left_out_and_counted():
    values = np.array([3.0, 3.1, 3.2, 3.3, 3.4, 3.5, 0.1, 0.2])
    fitted = values > 1
    quantity = ratio("errors", "above")
    assert judge(quantity, PerSeed(values)).name == "open"
    verdict = judge(quantity, PerSeed(values, requires={"fitted": fitted}))
    assert (verdict.name, verdict.n_seeds, verdict.excluded) == ("reproduced", 6, (("not fitted", 2),))


def test_a_seed_is_left_out_for_one_reason_only():
    values = np.array([np.nan, 1.0, 2.0])
    verdict = judge(
        difference("d", "above"), PerSeed(values, requires={"fitted": np.array([False, True, True])})
    )
    assert verdict.excluded == (("not fitted", 1),)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_seeds_that_diverged_are_left_out_and_counted(bad):
    verdict = judge(difference("d", "above"), PerSeed([bad, *TEN[:6]]))
    assert (verdict.name, verdict.n_seeds, verdict.n_excluded) == ("reproduced", 6, 1)


def test_no_seed_is_left():
    verdict = judge(
        ratio("errors", "above"), PerSeed([1.0] * 6, requires={"fitted": np.zeros(6, dtype=bool)})
    )
    assert (verdict.name, verdict.n_seeds, verdict.seeds_needed) == ("open", 0, None)
    assert verdict.note == "no seed meets the preconditions"


def test_ties_with_no_effect_are_not_favourable():
    verdict = judge(difference("d", "above"), PerSeed(np.zeros(10)))
    assert (verdict.name, verdict.favourable, verdict.seeds_needed) == ("open", 0, None)


def test_ratios_are_averaged_on_a_log_scale():
    assert judge(ratio("r", "above"), PerSeed([1.0, 4.0])).estimate.value == pytest.approx(2.0)
    zero = judge(ratio("r", "below"), PerSeed([0.0, 0.1, 0.1, 0.2, 0.2, 0.3]))
    assert (zero.name, zero.estimate.low) == ("reproduced", 0.0)


def test_unpaired_samples_are_compared_by_the_shift():
    quantity = ratio("error without / with", "above", published=190)
    verdict = judge(quantity, Unpaired(40 * TEN, TEN))
    assert verdict.name == "reproduced"
    assert verdict.estimate.value == pytest.approx(40, rel=0.05)
    assert judge(quantity, Unpaired(TEN, TEN)).name == "open"
    assert judge(quantity, Unpaired(TEN, 40 * TEN)).name == "contradicted"
    fitted = {"fitted": np.arange(10) < 8}
    assert judge(quantity, Unpaired(TEN, TEN, requires=fitted, second_requires=fitted)).excluded == (
        ("not fitted", 4),
    )


@pytest.mark.parametrize(("successes", "verdict"), [(10, "reproduced"), (5, "open"), (0, "contradicted")])
def test_rates_use_wilsons_interval(successes, verdict):
    result = judge(rate("nets that separate", "above", no_effect=0.5), Successes(np.arange(10) < successes))
    assert (result.name, result.favourable, result.n_seeds) == (verdict, successes, 10)


def test_exact_statements_show_the_worst_case():
    quantity = deviation("largest difference", tolerance=1e-6)
    good = judge(quantity, Cases({"a": 1e-8, "b": -5e-7}))
    assert (good.name, good.estimate.value) == ("verified", 5e-7)
    assert good.note == "2 of 2 cases within tolerance; the worst: b"
    assert judge(quantity, Cases({"a": 1e-8, "b": 1e-5})).name == "violated"
    assert judge(quantity, Cases({"a": math.nan})).name == "violated"
    with pytest.raises(InputError, match="at least one case"):
        judge(quantity, Cases({}))


def test_descriptions_decide_nothing():
    verdict = judge(described("error by depth"), PerSeed(TEN))
    assert (verdict.name, verdict.estimate.n) == ("described", 10)


def test_a_magnitude_on_the_wrong_side_is_refused():
    with pytest.raises(InputError, match="above the value without an effect"):
        ratio("errors", "above", magnitude=0.5)
    with pytest.raises(InputError, match="positive"):
        ratio("errors", "below", published=-1)


def test_half_of_the_published_effect_counts_as_published():
    assert difference("d", "below", published=-0.5).magnitude == -0.25
    assert difference("share", "below", published=0.1, no_effect=0.5).magnitude == pytest.approx(0.3)
    assert ratio("r", "above", published=190).magnitude == pytest.approx(13.78, abs=0.01)


@given(st.lists(st.floats(-10, 10), min_size=6, max_size=30), st.sampled_from(["above", "below"]))
def test_the_other_direction_gives_the_opposite_verdict(values, direction):
    opposite = "below" if direction == "above" else "above"
    mine = judge(difference("d", direction), PerSeed(values)).name
    theirs = judge(difference("d", opposite), PerSeed(values)).name
    assert {mine, theirs} in ({"reproduced", "contradicted"}, {"open"})


@given(st.integers(6, 40), st.integers(0, 40), st.integers(0, 1000))
def test_the_seeds_an_open_claim_needs_would_decide_it(n, favourable, seed):
    values = np.where(np.arange(n) < min(favourable, n), 1.0, -1.0)
    verdict = judge(difference("d", "above"), PerSeed(np.random.default_rng(seed).permutation(values)))
    if verdict.name == "open" and verdict.seeds_needed is not None:
        share = min(favourable, n) / n
        more = np.where(np.arange(verdict.seeds_needed) < round(share * verdict.seeds_needed), 1.0, -1.0)
        assert verdict.seeds_needed > n
        assert judge(difference("d", "above"), PerSeed(more)).name != "open"


def test_the_looks_together_keep_the_level():
    assert len(LOOKS) * (1 - LOOK_LEVEL) == pytest.approx(1 - LEVEL)
    assert judge(difference("d", "above"), PerSeed(TEN[:6]), level=LOOK_LEVEL).name == "open"
    assert judge(difference("d", "above"), PerSeed(TEN[:7]), level=LOOK_LEVEL).name == "reproduced"


def test_seeds_that_are_left_out_count_among_those_needed():
    """With every second seed left out, twice as many are needed."""
    quantity = ratio("error / error", "above")
    values = [2.0, 0.5, 3.0, 0.6, 2.0, 2.5]
    plain = judge(quantity, PerSeed(values))
    half = judge(
        quantity, PerSeed([v for v in values for _ in (0, 1)], requires={"even": np.arange(12) % 2 == 0})
    )
    assert plain.name == half.name == "open"
    assert half.seeds_needed == 2 * plain.seeds_needed
    assert half.excluded == (("not even", 6),)


def test_numbers_that_qualify_a_result_are_those_of_the_seeds_that_count():
    claim = Claim(
        "1", "s", "ours", ratio("r", "above"), ("arm",), lambda evidence: None, reversal="it were not"
    )
    measured = PerSeed(
        [2.0] * 4,
        requires={"fitted": np.array([True, True, True, False])},
        supports={"error": [1.0, 1.0, 1.0, 900.0]},
    )
    outcome = Outcome(claim, judge(claim.quantity, measured), measured, "quick")
    assert outcome.supporting_estimates()["error"].pair == (1.0, 1.0)
    assert outcome.supports()["error"].tolist() == [1.0, 1.0, 1.0, 900.0]  # the file has all of them


THREE = np.linspace(0.1, 0.3, 10)


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((THREE, 2 * THREE), "reproduced"),
        ((THREE, 0.1 * THREE), "weaker"),
        ((THREE, THREE - 0.2), "open"),
        ((THREE, -THREE), "contradicted"),
        ((-THREE, THREE - 0.2), "contradicted"),
    ],
)
def test_a_statement_with_two_comparisons_is_as_good_as_the_worse_one(parts, verdict):
    quantity = difference("a - b, and b - c", "above", published=0.2)
    found = judge(quantity, AllOf({"one": parts[0], "two": parts[1]}))
    assert found.name == verdict
    assert found.n_seeds == 10
    assert found.favourable == sum(min(pair) > 0 for pair in zip(*parts, strict=True))


def test_without_an_effect_two_comparisons_are_open_and_not_contradicted():
    """The smaller of two differences would be below zero in three of four seeds."""
    rng = np.random.default_rng(0)
    quantity = difference("a - b, and b - c", "above")
    names = [judge(quantity, AllOf({"one": a, "two": b})).name for a, b in rng.normal(size=(300, 2, 10))]
    assert names.count("contradicted") / 300 < 0.06  # 2.5% on each side of two intervals, at most
    assert names.count("reproduced") / 300 < 0.025
    smallest = [judge(quantity, PerSeed(np.minimum(a, b))).name for a, b in rng.normal(size=(300, 2, 10))]
    assert smallest.count("contradicted") / 300 > 0.15


def test_seeds_without_one_of_the_comparisons_are_left_out():
    values = np.full(8, 1.0)
    gap = np.where(np.arange(8) == 3, np.nan, 1.0)
    found = judge(difference("d", "above"), AllOf({"one": values, "two": gap}))
    assert (found.n_seeds, found.excluded) == (7, (("without a finite value", 1),))
    with pytest.raises(InputError, match="a number for every seed"):
        AllOf({"one": values, "two": values[:3]})
