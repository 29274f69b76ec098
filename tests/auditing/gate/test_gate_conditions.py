"""Conditions as users write them."""

import pytest

from recombine import InputError
from recombine.auditing.gate import parse_conditions


def texts(conditions, **options):
    return [str(one) for one in parse_conditions(conditions, **options)]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("does-not-compose", "does-not-compose"),
        ("Does not_compose", "does-not-compose"),
        ("unseen>0.3", "unseen > 0.3"),
        ("  UNSEEN   >=\t1e-3 ", "unseen >= 0.001"),
        ("unseen ≥ 50 %", "unseen >= 0.5"),
        ("unseen error ⩽ .5", "unseen <= 0.5"),
        ("unseen ÷ seen ＞ ２", "unseen/seen > 2"),
        ("ratio above 2", "unseen/seen > 2"),
        ("unseen − seen > -1e-2", "gap > -0.01"),
        ("transfer below 90%", "transfer < 0.9"),
        ("any output > 0.5", "any output unseen > 0.5"),
        ("Any Output transfer < 0.5", "any output transfer < 0.5"),
        ("estimate: unseen > 0.3", "estimate: unseen > 0.3"),
        ("unseen > 0.123456789", "unseen > 0.123456789"),
        ("worse", "worse"),
        ("worse > 5%", "worse > 0.05"),
        ("unseen worse", "worse-unseen"),
        ("undecided", "undecided"),
        ("model_error", "model-error"),
    ],
)
def test_many_notations_are_read(written, read):
    assert texts(written) == [read]


def test_what_is_printed_is_read_again():
    conditions = parse_conditions(
        "v1: estimate: any output gap > 1e-7, worse > 0.05, shortcut, v2: worse-seen, seen<=3",
        models=["v1", "v2"],
    )
    again = parse_conditions([str(one) for one in conditions], models=["v1", "v2"])
    assert again == conditions


def test_several_conditions_and_repeated_ones():
    assert texts("shortcut, unseen > 0.3; shortcut\nseen > 1") == ["shortcut", "unseen > 0.3", "seen > 1"]
    assert texts(["shortcut", "unseen > 0.3,seen > 1"]) == ["shortcut", "unseen > 0.3", "seen > 1"]


def test_strict_makes_every_comparison_one_of_estimates():
    assert texts("unseen > 0.3, shortcut", strict=True) == ["estimate: unseen > 0.3", "shortcut"]


def test_a_model_may_be_named():
    (one,) = parse_conditions("my model: estimate: unseen > 0.3", models=["my model", "other"])
    assert (one.model, one.by_estimate) == ("my model", True)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("unsen > 0.3", "did you mean 'unseen'?"),
        ("does-not-composes", "did you mean 'does-not-compose'?"),
        ("composes", "did you mean 'does-not-compose'?"),
        ("unseen", "a comparison such as 'unseen > 0.3'"),
        ("unseen > ", "a number after the sign"),
        ("unseen > nan", "a number after the sign"),
        ("unseen > 1e999", "a number after the sign"),
        ("unseen > 1_000", "a number after the sign"),
        ("unseen > 0.3 and seen > 1", "a number after the sign"),
        ("unseen = 1", "with > or <"),
        ("unseen != 1", "with > or <"),
        ("unseen > 0,3", "numbers have a decimal point"),
        ("shortcut > 3", "shortcut without a number"),
        ("any output < 0.5", "any output transfer < 0.5"),
        ("any output worse > 1", "a comparison of unseen, seen"),
        ("__import__('os').system('true')", "one of does-not-compose"),
        ("v1: unseen > 3", "there is only one model"),
        ("", "at least one condition"),
        (" , ;", "at least one condition"),
        (None, "text such as"),
        ([1], "text such as"),
        ("a" * 20_000, "at most 10,000"),
        (", ".join(f"unseen > {i}" for i in range(101)), "at most 100"),
    ],
)
def test_other_text_is_refused_in_one_line(written, words):
    with pytest.raises(InputError) as caught:
        parse_conditions(written, field="fail-on")
    assert words in str(caught.value)
    assert str(caught.value).startswith("fail-on: got")
    assert "\n" not in str(caught.value)


def test_an_unknown_model_is_refused():
    with pytest.raises(InputError, match=r"did you mean 'v1'\? \(models: v1, other\)"):
        parse_conditions("v2: unseen > 3", models=["v1", "other"])
