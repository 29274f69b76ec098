"""Lint: every common mistake is found in a table that makes it, and checks that cannot be made are reported."""

import numpy as np
import pytest

from recombine import advise
from recombine.advice import lint
from recombine.spaces.observations import observe

ROWS = {
    "colour": ["red", "red", "blue", "blue", "red"],
    "shape": ["cat", "dog", "cat", "dog", "cat"],
    "split": ["train", "train", "train", "test", "train"],
    "y": [1.0, 2.0, 3.0, 4.0, 1.0],
}


def codes(table, **settings):
    settings = {"factors": ["colour", "shape"], "seen": "split=train"} | settings
    return {finding.code: finding for finding in lint(observe(table, **settings))}


def test_nothing_is_found_in_a_sound_split():
    assert not codes(ROWS)


def test_test_rows_that_do_not_test_new_combinations():
    table = {
        "colour": ["red", "red", "blue", "blue", "cyan", "red", "red"],
        "shape": ["cat", "dog", "cat", "dog", "cat", "cat", "cat"],
        "split": ["train", "train", "train", "train", "test", "test", "test"],
        "y": [1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 7.0],
    }
    found = codes(table)
    assert set(found) == {"L1", "L2", "L5"}
    assert found["L1"].rows == (6, 7)
    assert found["L2"].rows == (5,)
    assert found["L5"].rows == (6,)
    assert "'cyan' of colour never occurs in training" in found["L2"].message


def test_tiny_cells():
    table = {
        "colour": ["red"] * 41 + ["blue"] * 22,
        "shape": ["cat"] * 20 + ["dog"] * 20 + ["cat"] + ["cat"] * 20 + ["dog"] * 2,
        "split": ["train"] * 63,
    }
    assert codes(table)["L3"].count == 2


def test_pieces_and_confounded_factors():
    table = {"colour": list("aabbcd"), "shape": list("xyxyzz"), "split": ["train"] * 6}
    assert "2 separate parts" in codes(table)["L4"].message
    together = {
        "colour": list("aabbab"),
        "shape": list("xxyyxy"),
        "size": list("121212"),
        "split": ["train"] * 6,
    }
    found = codes(together, factors=["colour", "shape", "size"])
    assert "colour determines shape" in found["L6"].message


NOT_COMPARED = "L5 not checked: column 'photo' holds values that cannot be compared"


class Photo:
    """A value that is not equal to its copy, so nobody knows whether rows are copies."""


@pytest.mark.parametrize(
    "photos",
    [[Photo() for _ in range(5)], np.array([Photo() for _ in range(5)], dtype=object), list("abcd")],
    ids=["list", "array", "too short"],
)
def test_a_check_for_copies_that_cannot_be_made_is_reported(photos, tmp_path):
    advice = advise(ROWS | {"photo": photos}, factors=["colour", "shape"], seen="split=train")
    page = advice.page().write(tmp_path / "page.html").read_text(encoding="utf-8")
    for text in (" ".join(str(advice).split()), page.replace("&#39;", "'")):
        assert NOT_COMPARED in text
        assert "none found by the checks L1 to L7, except L5" in text
    assert advice.to_dict()["unchecked"] == {"L5": NOT_COMPARED.partition(": ")[2]}


def test_a_check_that_cannot_be_made_is_reported_next_to_problems():
    table = ROWS | {
        "photo": [Photo()] * 5,
        "thumbnail": [Photo()] * 5,
        "shape": ["cat", "dog", "cat", "fox", "cat"],
    }
    advice = advise(table, factors=["colour", "shape"], seen="split=train")
    text = " ".join(str(advice).split())
    assert "L2" in text
    assert "L5 not checked: columns 'photo', 'thumbnail' hold values that cannot be compared" in text


@pytest.mark.parametrize(
    "table",
    [ROWS, ROWS | {"photo": [Photo()] * 5, "split": ["train"] * 5}],
    ids=["all columns can be compared", "no test rows"],
)
def test_otherwise_there_is_no_such_note(table):
    advice = advise(table, factors=["colour", "shape"], seen="split=train")
    assert "not checked" not in str(advice)
    assert advice.to_dict()["unchecked"] == {}
