"""Answers factor by factor: the planted factor goes wrong, intervals cover, and bad parts are refused."""

import json

import numpy as np
import pytest
from tests.auditing.text.test_free_text import COLOURS, SETTINGS, scenes, sentences, targets

from recombine import InputError, audit
from recombine.auditing import TextScoring
from recombine.auditing.cells import gather
from recombine.auditing.text.part_scores import NONE_NAMED, SEVERAL_NAMED, read_parts, score_parts
from recombine.auditing.text.text_reading import read_text
from recombine.spaces.observations import observe

PARTS = ["colour", "shape"]


def test_the_factor_that_goes_wrong_is_named():
    table = scenes()
    wrong = np.where(table["split"] == "train", table["colour"], "pink")
    wrong[::7] = table["colour"][::7]
    report = audit(table, prediction=sentences(table, wrong), parts=PARTS, **SETTINGS)
    colour, shape = report.parts.scores
    assert report.parts.worst == "colour"
    assert colour.seen.value == shape.seen.value == shape.unseen.value == 1.0
    right = (wrong == table["colour"])[table["split"] == "test"].mean()
    assert colour.unseen.value == pytest.approx(right)
    assert colour.unseen.low < right < colour.unseen.high
    assert colour.instead == "pink"
    assert colour.other == pytest.approx(1 - right)
    for text in (report.parts.sentence, str(report), json.dumps(report.to_dict()["parts"])):
        assert "colour goes wrong" in " ".join(text.split())


def test_without_a_target_all_parts_must_be_right():
    table = scenes()
    wrong = np.where(table["split"] == "train", table["colour"], "pink")
    said = sentences(table, wrong)
    report = audit(table, prediction=said, parts=PARTS, **SETTINGS)
    with_target = audit(
        table, target=targets(table), prediction=said, text="contains", parts=PARTS, **SETTINGS
    )
    assert report.scores.unseen == with_target.scores.unseen
    assert report.scores.seen == with_target.scores.seen
    assert report.parts == with_target.parts
    assert any("there is no target" in note for note in report.notes)
    assert not any("there are no targets" in note for note in report.notes)


def test_all_parts_right():
    table = scenes()
    report = audit(table, prediction=sentences(table), parts=PARTS, **SETTINGS)
    assert report.parts.worst == ""
    assert "Every part is right on most unseen cells" in report.parts.sentence
    assert report.finding("composes").holds is True


def test_two_factors_that_go_wrong_alike():
    table = scenes(4)
    unseen = table["split"] == "test"
    rng = np.random.default_rng(0)
    colour = np.where(unseen & (rng.random(100) < 0.5), "pink", table["colour"])
    shape = np.where(unseen & (rng.random(100) < 0.5), "star", table["shape"])
    said = [f"a {one} {other}" for one, other in zip(colour, shape, strict=True)]
    report = audit(table, prediction=said, parts=PARTS, **SETTINGS)
    assert report.parts.worst == ""
    assert "colour and shape go wrong" in report.parts.sentence


def answers(said, parts=("colour",), scoring=None, **columns):
    table = {"colour": ["red", "blue", "red", "blue"], "size": [1, 1, 2, 2]} | columns
    rows = observe(factors=table, seen=[True, True, True, False], missing="level")
    return read_parts(parts if isinstance(parts, dict) else list(parts), rows, said, scoring or TextScoring())


def test_what_answers_say_about_a_factor():
    said = answers(["RED!", "not red, blue", "red or blue", None])
    assert said.named.ravel().tolist() == [1, 0, SEVERAL_NAMED, NONE_NAMED]
    assert said.right.ravel().tolist() == [1, 1, 0, 0]


def test_levels_that_are_numbers_have_words():
    said = answers(["one", "1", "two cubes", "3"], ["size"])
    assert said.named.ravel().tolist() == [0, 0, 1, NONE_NAMED]


@pytest.mark.parametrize(
    "parts",
    [{"colour": ["bleu", "rouge"]}, {"colour": {"blue": "bleu", "red": ["rouge", "vermeil"]}}],
)
def test_levels_may_have_other_words(parts):
    said = answers(["rouge", "bleu", "red", "blue"], parts)
    assert said.named.ravel().tolist() == [1, 0, NONE_NAMED, NONE_NAMED]


def test_synonyms_hold_for_parts():
    said = answers(
        ["crimson", "navy", "a", "b"], scoring=TextScoring(synonyms={"crimson": "red", "navy": "blue"})
    )
    assert said.named.ravel().tolist() == [1, 0, NONE_NAMED, NONE_NAMED]


def test_rows_without_a_level_do_not_count():
    said = answers(["red", "x", "red", "blue"], colour=["red", None, "red", "blue"])
    assert said.levels.ravel().tolist() == [1, -3, 1, 0]
    assert np.isnan(said.right[1, 0])


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        (["size"], "which no answer names"),
        (["hue"], "one of the factors"),
        ([], "names of factors"),
        ({}, "names of factors"),
        (3, "names of factors"),
        ([3], "names of factors"),
        ({"colour": ["one"]}, "one for each of the 5 levels"),
        ({"colour": [1, 2, 3, 4, 5]}, "a word for each level"),
        ({"colour": False}, "a word for each level"),
        ({"colour": {"purple": "violet"}}, "a level of colour"),
        ({"colour": {"red": 3}}, "words for level"),
        ({"colour": dict.fromkeys(COLOURS, "same")}, "different words"),
        ({"colour": True, "shape": {"cube": "red"}}, "different names"),
    ],
)
def test_parts_that_cannot_be_found_are_refused(parts, words):
    table = scenes()
    table = {**table, "size": (np.arange(75) % 3).astype(str)}
    settings = SETTINGS | {"factors": ["colour", "shape", "size"]}
    with pytest.raises(InputError, match=words) as refused:
        audit(table, prediction=sentences(table), parts=parts, **settings)
    assert "\n" not in str(refused.value)


def test_ranges_are_not_parts():
    table = {"w": np.linspace(0, 1, 40) ** 2, "b": np.arange(40) % 4}
    seen = (table["w"] > 0.5) | (table["b"] > 0)
    with pytest.raises(InputError, match="cut into ranges"):
        audit(table, factors=["w", "b"], seen=seen, prediction=["x"] * 40, parts=["w"], bins="auto")


def test_more_combinations_than_classes_are_scored_by_row():
    a, b = np.indices((40, 30)).reshape(2, -1)
    said = [f"a{one} b{other if (one + other) % 4 else 0}" for one, other in zip(a, b, strict=True)]
    factors = {"a": [f"a{one}" for one in a], "b": [f"b{one}" for one in b]}
    report = audit(factors=factors, seen=(a + b) % 4 > 0, prediction=said, parts=["a", "b"])
    assert report.scores.measure == "share of answers with a wrong part"
    assert report.scores.seen.value == 0.0
    assert report.parts.worst == "b"
    assert report.finding("composes").holds is False


def test_intervals_of_parts_cover():
    """Of answers whose shapes are right with one probability in every cell, the interval covers it."""
    covered = []
    for seed in range(60):
        table = scenes(2)
        rng = np.random.default_rng(seed)
        shape = np.where(rng.random(50) < 0.6, table["shape"], "nothing")
        said = [f"{colour} {one}" for colour, one in zip(table["colour"], shape, strict=True)]
        rows = observe({**table}, **SETTINGS)
        text = read_text(rows, None, said, TextScoring(), PARTS)
        found = score_parts(rows, gather(rows, text.outputs), text.parts).scores[1].unseen
        covered.append(found.low <= 0.6 <= found.high)
    assert np.mean(covered) > 0.85


def test_copies_of_answers_do_not_narrow_intervals():
    table = scenes()
    wrong = np.where(table["split"] == "train", table["colour"], "pink")
    wrong[::7] = table["colour"][::7]
    said = sentences(table, wrong)
    runs = 5
    copies = {name: np.repeat(np.asarray(table[name]), runs) for name in ("colour", "shape", "split")}
    copies["run"] = np.tile(np.arange(runs), len(said))
    settings = SETTINGS | {"factors": [*SETTINGS["factors"], "run"]}
    once = audit(table, prediction=said, parts=PARTS, **SETTINGS).parts.scores[0]
    copied = audit(copies, prediction=np.repeat(said, runs), parts=PARTS, **settings).parts.scores[0]
    assert copied.unseen.pair == pytest.approx(once.unseen.pair)
