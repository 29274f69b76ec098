"""Audits of free text: labels, scores by row, and answers that try to break it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine import InputError, audit
from recombine.auditing import TextScoring
from recombine.auditing.text.row_scores import NEED_OUTPUTS
from recombine.auditing.text.text_labels import OTHER, excerpt, text_labels
from recombine.cli import app

ROOT = Path(__file__).parents[3]
COLOURS = ("red", "blue", "green", "grey", "pink")
SHAPES = ("cube", "ball", "cone", "ring", "star")


def scenes(rows=3):
    """Every colour with every shape, several times; two fifths of the combinations are unseen."""
    colour, shape = np.indices((5, 5)).reshape(2, -1).repeat(rows, axis=1)
    seen = (colour + 2 * shape) % 5 < 3
    return {
        "colour": np.array(COLOURS)[colour],
        "shape": np.array(SHAPES)[shape],
        "split": np.where(seen, "train", "test"),
    }


def sentences(table, colours=None):
    wordings = ("It is a {} {}.", "{} {}", "I see THE {}   {}!")
    said = zip(table["colour"] if colours is None else colours, table["shape"], strict=True)
    return [wordings[i % 3].format(*words) for i, words in enumerate(said)]


def targets(table):
    return [f"{colour} {shape}" for colour, shape in zip(table["colour"], table["shape"], strict=True)]


SETTINGS = {"factors": ["colour", "shape"], "seen": "split=train"}


def test_right_answers_compose_however_they_are_worded():
    table = scenes()
    report = audit(table, target=targets(table), prediction=sentences(table), text="contains", **SETTINGS)
    assert report.scores.unseen.value == report.scores.seen.value == 0.0
    assert report.finding("composes").holds is True
    assert OTHER not in report.outputs.classes


def test_text_is_audited_as_labels_are():
    table = scenes(6)
    wrong = np.where(table["split"] == "train", table["colour"], "red")
    labels = [f"{colour} {shape}" for colour, shape in zip(wrong, table["shape"], strict=True)]
    plain = audit(table, target=targets(table), prediction=labels, **SETTINGS)
    said = sentences(table, wrong)
    report = audit(
        table, target=targets(table), prediction=said, text=TextScoring(match="contains"), **SETTINGS
    )
    assert report.verdict == plain.verdict
    assert report.errors == plain.errors
    assert [one.to_dict() for one in report.findings] == [one.to_dict() for one in plain.findings]


def test_the_report_says_how_text_was_compared_and_what_matched_nothing():
    table = scenes()
    said = ["red cube" if i % 5 else f"no idea {i}" for i in range(len(table["split"]))]
    said[5], said[10] = None, "  "
    report = audit(table, target=targets(table), prediction=said, text=True, **SETTINGS)
    notes = " ".join(report.notes)
    assert "case, punctuation, articles and white space are ignored" in notes
    assert (
        "15 of 75 answers match no class and count as (other): 'no idea 0', 'no idea 15', 'no idea 20' …"
        in notes
    )
    assert "2 of them are empty" in notes
    assert report.outputs.classes[-1] == OTHER
    document = str(report)
    assert "no idea 15" in document


def test_targets_of_the_same_form_are_one_class():
    labels = text_labels(
        ["Red cube", "red cube", "red cube", "ball"], ["RED CUBE", "a ball", "x", "ball"], TextScoring()
    )
    assert labels.classes == ("red cube", "ball", OTHER)
    assert labels.targets == ("red cube", "red cube", "red cube", "ball")
    assert any("1 spelling of targets stands for the same class" in note for note in labels.notes)


def test_articles_count_if_they_are_choices():
    labels = text_labels(["A", "B", "C", "A"], ["a.", "(B)", "The answer", "C"], TextScoring())
    assert labels.predictions == ("A", "B", OTHER, "C")
    assert any("articles were kept" in note for note in labels.notes)


def test_the_class_of_other_answers_has_a_name_of_its_own():
    labels = text_labels([OTHER, "x"], ["x", "nothing"], TextScoring())
    assert labels.classes == (OTHER, "x", "(other answers)")


def test_answers_that_name_several_classes_match_none():
    labels = text_labels(["red", "blue"], ["red or blue", "blue"], TextScoring(match="contains"))
    assert labels.predictions == (OTHER, "blue")
    assert any("1 of these name several classes, such as 'red or blue'" in note for note in labels.notes)


def test_long_targets_are_cut_but_stay_different():
    long = ["x" * 3000 + end for end in ("a", "b")]
    labels = text_labels(long, long, TextScoring())
    assert len(set(labels.classes)) == 2
    assert max(map(len, labels.classes)) < 80


HOSTILE = [
    "",
    None,
    "   ",
    "🙂🙃",
    "x" * 10_000,
    "أحمر مكعب",
    "\u202ered cube\u202c",
    "<script>alert(1)</script>",
    "**bold** `code`",
    "\x00\x07\x1b[31m",
    "red cube\n" * 500,
    "a" + "\u0301" * 500,
    "=cmd()",
    "%s %d {0} {}",
    "\\N{BULLET} \\x41",
]


def test_hostile_answers_are_answers(tmp_path):
    table = scenes()
    said = sentences(table)
    said[: len(HOSTILE)] = HOSTILE
    for match in ("exact", "contains", lambda target, answer: float(target in answer)):
        report = audit(
            table, target=targets(table), prediction=said, text=match, parts=["colour", "shape"], **SETTINGS
        )
        report.page().write(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "<script>alert" not in page
        json.dumps(report.to_dict())
        str(report)
        assert "\x1b" not in str(report)


@pytest.mark.parametrize("text", HOSTILE)
def test_excerpts_fit_on_a_line(text):
    shown = excerpt(text or "")
    assert len(shown) <= 63
    assert "\n" not in shown


def test_text_from_files_is_the_same_as_from_memory(tmp_path):
    table = scenes()
    frame = pl.DataFrame(table | {"target": targets(table), "answer": sentences(table)})
    frame = frame.with_columns(answer=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("answer"))
    frame = frame.with_columns(
        answer=pl.when(pl.int_range(pl.len()) == 4).then(pl.lit("y" * 5000)).otherwise("answer")
    )
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_ndjson(tmp_path / "t.jsonl")
    forms = [frame, frame.lazy(), frame.to_dicts(), frame.to_dict(as_series=False), tmp_path / "t.csv"]
    results = [
        audit(form, target="target", prediction="answer", text="contains", **SETTINGS).errors
        for form in [*forms, tmp_path / "t.parquet", tmp_path / "t.jsonl"]
    ]
    assert all(one == results[0] for one in results)
    assert results[0]["seen"]["estimate"] > 0


def test_numbers_can_be_answers(tmp_path):
    a, b = np.indices((4, 4)).reshape(2, -1).repeat(2, axis=1)
    words = np.array(["zero", "one", "two", "three", "four", "five", "six"])
    report = audit(
        factors={"a": a, "b": b}, seen=(a + b) % 3 > 0, target=a + b, prediction=words[a + b], text=True
    )
    assert report.scores.unseen.value == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"target": None}, "targets to compare text with"),
        ({"target": [None] * 75}, "no text in any row"),
        ({"target": [" "] * 75}, "no text in any row"),
        ({"prediction": ["nothing"] * 75}, r"no other answer that matches.*contains"),
        ({"prediction": [None] * 75}, "no other answer that matches"),
        ({"prediction": ["x"] * 74}, "as many as the table has"),
        ({"prediction": ["colour", "shape"]}, "as many as the table has"),
        ({"prediction": [{"a": 1}] * 75}, "dict in row 1"),
        ({"text": "fuzzy"}, "'contains', a function"),
        ({"text": 3}, "'contains', a function"),
        ({"target": [str(i) * 3 for i in range(75)] * 1, "prediction": ["222"] * 75}, None),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(change, words):
    table = scenes()
    arguments = {"target": targets(table), "prediction": sentences(table), "text": True} | SETTINGS | change
    if words is None:
        assert audit(table, **arguments).scores.seen.value > 0.9
        return
    with pytest.raises(InputError, match=words) as refused:
        audit(table, **arguments)
    assert "\n" not in str(refused.value)


def test_very_many_different_targets_need_a_function():
    rows = 1200
    table = {
        "a": np.arange(rows) % 30,
        "b": np.arange(rows) // 30 % 4,
        "y": [f"text {i}" for i in range(rows)],
    }
    seen = (table["a"] + table["b"]) % 3 > 0
    arguments = {"factors": ["a", "b"], "seen": seen, "target": "y", "prediction": "y"}
    with pytest.raises(InputError, match=r"1,200 different texts.*match=function"):
        audit(table, text=True, **arguments)
    report = audit(table, text=lambda target, answer: target == answer, **arguments)
    assert report.finding("composes").holds is True


# ---- a user's function ----------------------------------------------------------------------------------------------


def overlap(target, answer):
    return len(set(target.split()) & set(answer.split())) / len(target.split())


def test_scores_of_a_function_are_errors_and_need_no_labels():
    table = scenes()
    wrong = np.where(table["split"] == "train", table["colour"], "purple")
    said = [f"{colour} {shape}" for colour, shape in zip(wrong, table["shape"], strict=True)]
    report = audit(table, target=targets(table), prediction=said, text=overlap, **SETTINGS)
    assert report.scores.seen.value == 0.0
    assert report.scores.unseen.value == 0.5
    assert list(report.scores.baselines) == ["constant"]
    assert report.scores.measure == "mean of 1 - score"
    for id in NEED_OUTPUTS:
        assert not report.finding(id).applicable
        assert "only a score" in report.finding(id).explanation
    assert "Scores of rows cannot show why" in report.verdict
    assert any("scored by overlap" in note for note in report.notes)
    assert "several rows" not in str(report)
    assert "There is no forecast" in report.forecast
    assert "n/a" in str(report)
    assert report.to_dict()["errors"]["unseen"]["estimate"] == 0.5


def test_a_function_that_is_satisfied_composes():
    table = scenes()
    report = audit(table, target=targets(table), prediction=targets(table), text=overlap, **SETTINGS)
    assert report.finding("composes").holds is True


def test_a_function_sees_texts_as_written_and_each_pair_once():
    table, calls = scenes(), []

    def match(target, answer):
        calls.append((target, answer))
        return target == answer

    said = [text.upper() for text in targets(table)]
    said[0] = None
    audit(table, target=targets(table), prediction=said, text=TextScoring(match=match), **SETTINGS)
    assert len(calls) == len(set(calls))
    assert ("red cube", "") in calls
    assert ("red cube", "RED CUBE") in calls


@pytest.mark.parametrize(
    "result",
    [None, float("nan"), "1", "right", 1.5, -0.1, float("inf"), [1.0], np.array([0.5]), 1j, object()],
)
def test_functions_that_return_other_things_are_refused(result):
    table = scenes()
    with pytest.raises(InputError, match="from 0") as refused:
        audit(table, target=targets(table), prediction=targets(table), text=lambda t, p: result, **SETTINGS)
    assert "in row 1" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("result", [1, True, np.float32(0.5), np.bool_(False), np.array(1.0)])
def test_functions_may_return_any_number(result):
    table = scenes()
    report = audit(
        table, target=targets(table), prediction=targets(table), text=lambda t, p: result, **SETTINGS
    )
    assert report.scores.seen.value == 1 - float(result)


def test_functions_that_raise_are_named():
    def broken(target, answer):
        raise KeyError("colour\nmissing")

    table = scenes()
    with pytest.raises(InputError, match=r"KeyError.*row 1|row 1.*KeyError") as refused:
        audit(table, target=targets(table), prediction=targets(table), text=broken, **SETTINGS)
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value.__cause__, KeyError)


# ---- the command ----------------------------------------------------------------------------------------------------

COMMAND = [
    "audit",
    str(ROOT / "examples" / "answers.csv"),
    "--factors",
    "colour,shape",
    "--seen",
    "split=train",
]
COMMAND += ["--prediction", "answer", "--json"]


def run(*more):
    return CliRunner().invoke(app, [*COMMAND, *more])


def test_the_command_reads_text_and_synonyms():
    synonyms = str(ROOT / "examples" / "synonyms.csv")
    exact = json.loads(run("--target", "target", "--text").stdout)
    named = json.loads(run("--target", "target", "--match", "contains", "--synonyms", synonyms).stdout)
    assert exact["errors"]["seen"]["estimate"] > 0.8
    assert named["errors"]["seen"]["estimate"] < 0.1
    assert named["parts"] is None
    parts = json.loads(run("--parts", "colour,shape", "--synonyms", synonyms).stdout)
    assert parts["parts"]["worst"] == "colour"


@pytest.mark.parametrize(
    "more",
    [
        ["--target", "target", "--match", "fuzzy"],
        ["--target", "target", "--synonyms", "missing.csv", "--text"],
        ["--target", "target", "--synonyms", str(ROOT / "examples" / "synonyms.csv")],
        ["--text"],
        ["--parts", "size"],
    ],
)
def test_the_command_refuses_in_a_line(more):
    result = run(*more)
    assert result.exit_code == 2 or isinstance(result.exception, InputError)


def test_targets_of_whole_combinations_are_noted():
    table = scenes()
    report = audit(table, target=targets(table), prediction=sentences(table), text="contains", **SETTINGS)
    assert any("training has none of the targets of unseen combinations" in note for note in report.notes)
    shapes = audit(table, target=table["shape"], prediction=table["shape"], text=True, **SETTINGS)
    assert not any("training has none" in note for note in shapes.notes)


@pytest.mark.parametrize("metric", ["absolute", lambda target, prediction: np.zeros(len(target))])
def test_scores_of_answers_are_the_metric(metric):
    table = scenes()
    with pytest.raises(InputError, match="1 - score"):
        audit(
            table, target=targets(table), prediction=sentences(table), text=overlap, metric=metric, **SETTINGS
        )


@pytest.mark.parametrize("text", ["contains", overlap])
def test_two_models_that_answer_in_text_are_compared(text):
    table = scenes()
    wrong = np.where(table["split"] == "train", table["colour"], "pink")
    both = audit(
        table,
        target=targets(table),
        prediction={"v1": sentences(table), "v2": sentences(table, wrong)},
        text=text,
        parts=["colour", "shape"],
        **SETTINGS,
    )
    assert both.verdict.startswith("v1 is better than v2 on unseen combinations")
    assert both.reports["v2"].parts.worst == "colour"
    assert both.reports["v1"].parts.worst == ""
