"""Free text in one form: known answers, and text that tries to break it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import InputError
from recombine.data.text import MAX_TEXT_LENGTH, TextScoring, as_texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  A Red\tCUBE. ", "red cube"),
        ("the red cube!!!", "red cube"),
        ("**Red** `cube`", "red cube"),
        ("ﬁsh", "fish"),
        ("Straße", "strasse"),
        ("a light-blue cube", "light blue cube"),
        ("It isn’t", "it isnt"),
        ("three cubes", "3 cubes"),
        ("Twenty-one", "21"),
        ("two hundred", "200"),
        ("3.0", "3"),
        ("3.50 kg.", "3.5 kg"),
        ("1,000", "1000"),
        ("-3", "-3"),
        ("−3", "-3"),
        ("٣ cubes", "3 cubes"),
        ("U.S.A.", "usa"),
        ("red 🟥 cube 🙂", "red cube"),
        ("🟥", "🟥"),
        ("❤️", "❤"),
        ("مكعب\u200f أحمر؟", "مكعب أحمر"),
        ("赤い、立方体。", "赤い 立方体"),
        ("A", "a"),
        ("The", "the"),
        ("?", "?"),
        ("C++", "c++"),
        ("", ""),
        (" \n\u200b ", ""),
    ],
)
def test_texts_that_mean_the_same_are_the_same(text, expected):
    assert TextScoring().normalise(text) == expected


def test_every_step_can_be_left_out():
    text = "The THREE cubes, please"
    assert TextScoring(case=False).normalise(text) == "3 cubes please"
    assert TextScoring(punctuation=False).normalise(text) == "3 cubes, please"
    assert TextScoring(articles=False).normalise(text) == "the 3 cubes please"
    assert TextScoring(numbers=False).normalise(text) == "three cubes please"
    plain = TextScoring(case=False, punctuation=False, articles=False, numbers=False)
    assert plain.normalise(text) == text


def test_synonyms_are_phrases_and_chains():
    scoring = TextScoring(
        synonyms={"Crimson": "scarlet", "scarlet": "red", "dark  Red": "maroon", "red": "RED"}
    )
    assert scoring.normalise("a crimson cube") == "red cube"
    assert scoring.normalise("dark red") == "maroon"
    assert scoring.normalise("dark crimson") == "dark red"
    assert TextScoring(synonyms={"three": "few"}).normalise("3") == "few"


@pytest.mark.parametrize(
    "synonyms",
    [
        {"a b": "c", "c": "A B."},
        {"x": "y", "y": "z", "z": "x"},
        {"Red": "crimson", "red": "pink"},
        {"red!": "crimson", "RED": "pink"},
        {"red": ""},
        {" ": "red"},
        {"red": 3},
        {"red": None},
        ["red"],
        "red",
    ],
)
def test_synonyms_in_circles_or_with_two_meanings_are_refused(synonyms):
    with pytest.raises(InputError, match="synonyms") as refused:
        TextScoring(synonyms=synonyms)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("settings", [{"match": "fuzzy"}, {"match": 3}, {"case": "yes"}, {"articles": None}])
def test_settings_of_other_types_are_refused(settings):
    with pytest.raises(InputError):
        TextScoring(**settings)


@given(st.text(max_size=60))
def test_normalised_text_stays_as_it_is(text):
    once = TextScoring(numbers=False).normalise(text)
    again = TextScoring(numbers=False, articles=False).normalise(once)
    assert TextScoring(numbers=False).normalise(again) == TextScoring(numbers=False).normalise(once)
    assert once == once.strip()


@given(st.text(max_size=60))
def test_any_text_has_clauses(text):
    assert TextScoring().clauses(text)


def test_columns_of_text():
    assert as_texts("p", ["x", None, float("nan"), 3, 2.5, True, b"y"]) == [
        "x",
        None,
        None,
        "3",
        "2.5",
        "True",
        "y",
    ]
    assert as_texts("p", ["a\ud800b"]) == ["a?b"]
    long = "x" * 10_000
    assert as_texts("p", [long]) == [long]
    with pytest.raises(InputError, match="row 2"):
        as_texts("p", ["x", "x" * (MAX_TEXT_LENGTH + 1)])
    with pytest.raises(InputError, match="dict in row 1"):
        as_texts("p", [{"a": 1}])
    with pytest.raises(InputError, match="one text for each row"):
        as_texts("p", np.zeros((3, 2)))
