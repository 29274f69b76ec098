"""Calibration and ranks: known answers, intervals that cover, and scores that are neither."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from recombine import InputError, audit
from recombine.auditing.cells import gather
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.probabilities.class_scores import ClassScores, class_scores
from recombine.auditing.probabilities.score_measures import measure_scores, ranked_lists
from recombine.auditing.reading import read_audit_inputs
from recombine.cli import app


def cells(side=8, rows=4):
    a, b = np.indices((side, side)).reshape(2, -1).repeat(rows, axis=1)
    return {"a": a, "b": b}, (a + b) % 3 > 0, (3 * a + b) % side


def probabilities(label, confidence, right, classes):
    """One class with a confidence, the right one or the next; the rest shared."""
    chosen = np.where(right, label, (label + 1) % classes)
    p = np.repeat(((1 - confidence) / (classes - 1))[:, None], classes, axis=1)
    p[np.arange(len(label)), chosen] = confidence
    return p


def test_confidence_and_accuracy_by_hand():
    factors, seen, label = cells()
    p = probabilities(label, np.full(len(label), 0.8), seen, 8)
    report = audit(factors=factors, seen=seen, target=label, prediction=p)
    inside, outside = report.calibration.seen, report.calibration.unseen
    assert report.calibration.form == "probabilities"
    assert inside.confidence.value == pytest.approx(0.8)
    assert (inside.accuracy.value, outside.accuracy.value) == (1.0, 0.0)
    assert inside.error.value == pytest.approx(0.2)
    assert outside.error.value == pytest.approx(0.8)
    other = 0.2 / 7
    assert inside.brier.value == pytest.approx(0.2**2 + 7 * other**2)
    assert outside.brier.value == pytest.approx(0.8**2 + (1 - other) ** 2 + 6 * other**2)
    assert "overconfident, more than on seen ones: confidence 80%, accuracy 0%" in report.calibration.sentence
    assert "overconfident" in str(report)
    plain = report.to_dict()
    assert plain["calibration"]["unseen"]["expected_calibration_error"]["estimate"] == pytest.approx(0.8)
    json.dumps(plain, allow_nan=False)


def test_logits_are_turned_into_probabilities():
    factors, seen, label = cells()
    confidence = np.random.default_rng(0).uniform(0.3, 0.9, len(label))
    p = probabilities(label, confidence, seen, 8)
    one, other = (
        audit(factors=factors, seen=seen, target=label, prediction=scores) for scores in (p, np.log(p) - 3)
    )
    assert other.calibration.form == "logits"
    assert one.calibration.unseen.error.value == pytest.approx(other.calibration.unseen.error.value)
    assert one.calibration.unseen.brier.value == pytest.approx(other.calibration.unseen.brier.value)


@pytest.mark.parametrize("form", ["probabilities", "log-odds"])
def test_one_score_of_two_classes(form):
    factors, seen, _ = cells()
    label = (factors["a"] + factors["b"]) % 2
    p = np.where(label == 1, 0.9, 0.1)
    p[~seen] = 1 - p[~seen]
    scores = p if form == "probabilities" else np.log(p / (1 - p))
    report = audit(factors=factors, seen=seen, target=label, prediction=scores)
    assert report.calibration.seen.confidence.value == pytest.approx(0.9)
    assert report.calibration.unseen.overconfidence.value == pytest.approx(0.9)
    assert report.top_k == ()


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_other_scores_have_no_calibration(scale):
    factors, seen, label = cells()
    votes = scale * (np.eye(8)[label] + np.random.default_rng(0).random((len(label), 8)))
    report = audit(factors=factors, seen=seen, target=label, prediction=votes)
    assert report.calibration.unseen is None
    assert "neither probabilities" in report.calibration.reason
    assert report.top_k


def test_labels_and_quantities_have_neither():
    factors, seen, label = cells()
    for outputs in (label, label * 1.5):
        report = audit(factors=factors, seen=seen, target=outputs, prediction=outputs)
        assert report.calibration is None
        assert report.top_k == ()
        with pytest.raises(InputError, match="top_k"):
            audit(factors=factors, seen=seen, target=outputs, prediction=outputs, top_k=(1, 5))


def test_a_calibrated_model_has_only_the_error_of_chance():
    factors, seen, label = cells(10, 6)
    errors, chance, covered = [], [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        confidence = rng.uniform(0.3, 0.95, len(label))
        p = probabilities(label, confidence, rng.random(len(label)) < confidence, 10)
        # what an audit does with scores, without everything else that it does
        data = read_audit_inputs(None, factors=factors, seen=seen, target=label, prediction=p)
        outputs = read_outputs(data.target, p)
        measured, _ = measure_scores(data.table, gather(data.table, outputs), outputs, p, None, seed=seed)
        unseen = measured.unseen
        if seed == 0:
            audited = audit(factors=factors, seen=seen, target=label, prediction=p, seed=seed)
            assert audited.calibration.to_dict() == measured.to_dict()
        errors.append(unseen.error.value)
        chance.append(unseen.by_chance)
        covered.append(unseen.overconfidence.low <= 0 <= unseen.overconfidence.high)
    assert np.mean(errors) == pytest.approx(np.mean(chance), rel=0.15)
    assert np.mean(covered) >= 0.8


def test_every_cell_counts_once():
    factors, seen, label = cells(6, 2)
    p = probabilities(label % 6, np.full(len(label), 0.8), seen, 6)
    p[0] = probabilities(label[:1] % 6, np.array([0.5]), np.array([True]), 6)[0]
    index = np.r_[np.arange(len(label)), np.full(500, 0)]
    many = {name: values[index] for name, values in factors.items()}
    one = audit(factors=factors, seen=seen, target=label % 6, prediction=p)
    other = audit(factors=many, seen=seen[index], target=(label % 6)[index], prediction=p[index])
    assert one.calibration.unseen.confidence.value == pytest.approx(0.8, abs=0.02)
    assert abs(other.calibration.unseen.confidence.value - one.calibration.unseen.confidence.value) < 0.02


def test_rows_may_count_instead_of_cells():
    factors, seen, label = cells(6, 2)
    unseen = np.flatnonzero(~seen)
    index = np.r_[np.arange(len(label)), np.repeat(unseen[:1], 50)]
    factors = {name: values[index] for name, values in factors.items()}
    seen, label = seen[index], label[index]
    right = np.arange(len(index)) >= 72
    p = probabilities(label % 6, np.full(len(label), 0.8), seen | right, 6)
    by_rows, by_cells = (
        audit(factors=factors, seen=seen, target=label % 6, prediction=p, weigh=weigh, top_k=1)
        for weigh in ("rows", "cells")
    )
    assert by_rows.calibration.unseen.accuracy.value == pytest.approx(right[~seen].mean())
    assert by_rows.top_k[0].unseen.value == pytest.approx(1 - by_rows.scores.unseen.value)
    assert by_cells.top_k[0].unseen.value == pytest.approx(1 - by_cells.scores.unseen.value)
    assert by_cells.calibration.unseen.accuracy.value < 0.1


# ---- ranks ----------------------------------------------------------------------------------------------------------


def test_ranks_agree_with_a_sort_and_with_predictions():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (200, 7)).astype(float)
    target = rng.integers(0, 7, 200)
    found = ClassScores(scores, target, 7).ranks()
    order = np.argsort(-scores, axis=1, kind="stable")
    assert (found == (order == target[:, None]).argmax(axis=1) + 1).all()
    assert ((found == 1) == (scores.argmax(axis=1) == target)).all()


def test_top_k_by_hand():
    factors, seen, label = cells()
    scores = np.zeros((len(label), 8))
    rows = np.arange(len(label))
    scores[rows, (label + 1) % 8] = np.where(seen, 1, 3)
    scores[rows, label] = 2
    report = audit(factors=factors, seen=seen, target=label, prediction=scores, top_k=(2, 1))
    assert [one.k for one in report.top_k] == [1, 2]
    assert [one.seen.value for one in report.top_k] == [1.0, 1.0]
    assert [one.unseen.value for one in report.top_k] == [0.0, 1.0]
    assert [one.chance for one in report.top_k] == [1 / 8, 2 / 8]
    assert report.top_k[0].unseen.value == pytest.approx(1 - report.scores.unseen.value)
    assert [one["k"] for one in report.to_dict()["top_k"]] == [1, 2]
    assert "target among first" in str(report)


def test_usual_ranks_depend_on_the_number_of_classes():
    for side, expected in ((4, []), (8, [1, 5])):
        factors, seen, label = cells(side)
        report = audit(factors=factors, seen=seen, target=label, prediction=np.eye(side)[label] + 0.5)
        assert [one.k for one in report.top_k] == expected


@pytest.mark.parametrize("top_k", [0, -1, (), [], "1,5", (1, 8), 99, (1.5,), [True], (None,), {1: 2}])
def test_other_ranks_are_refused(top_k):
    factors, seen, label = cells()
    with pytest.raises(InputError, match="top_k"):
        audit(factors=factors, seen=seen, target=label, prediction=np.eye(8)[label], top_k=top_k)


def test_ranked_lists_of_labels(tmp_path):
    factors, seen, label = cells()
    names = np.array([f"class {number}" for number in range(8)])
    lists = [
        [names[one], names[(one + 1) % 8]] if train else [names[(one + 1) % 8], names[one], names[0]]
        for one, train in zip(label, seen, strict=True)
    ]
    lists = [[str(one) for one in row] for row in lists]
    report = audit(factors=factors, seen=seen, target=names[label], prediction=lists, top_k=[1, 2])
    assert [one.seen.value for one in report.top_k] == [1.0, 1.0]
    assert [one.unseen.value for one in report.top_k] == [0.0, 1.0]
    assert report.scores.unseen.value == 1.0
    assert report.calibration is None
    frame = pl.DataFrame(factors | {"seen": seen, "y": names[label], "p": lists})
    frame.write_ndjson(tmp_path / "t.jsonl")
    frame.write_parquet(tmp_path / "t.parquet")
    for form in (frame, tmp_path / "t.jsonl", tmp_path / "t.parquet", frame.to_dicts()):
        again = audit(form, factors=["a", "b"], seen="seen", target="y", prediction="p", top_k=[1, 2])
        assert again.top_k == report.top_k
    with pytest.raises(InputError, match="at most 3"):
        audit(factors=factors, seen=seen, target=names[label], prediction=lists, top_k=4)


@pytest.mark.parametrize("lists", [[["a"], []], [["a"], [None]], [["a"], [{"b": 1}]], [["a"], ["b"] * 1001]])
def test_broken_lists_are_refused(lists):
    with pytest.raises(InputError, match="row 2"):
        ranked_lists("prediction", lists)


def test_lists_of_numbers_are_not_ranked_labels():
    assert ranked_lists("prediction", [[1, 2], [2, 1]]) is None
    assert ranked_lists("prediction", ["a", "b"]) is None
    assert ranked_lists("prediction", []) is None


def test_scores_are_not_copied():
    scores = np.random.default_rng(0).random((50, 5)).astype(np.float32)
    found = class_scores(scores, read_outputs(np.arange(50) % 5, scores))
    assert found.values is scores


def test_the_command_takes_ranks(tmp_path):
    factors, seen, label = cells()
    scores = np.log(probabilities(label, np.full(len(label), 0.8), seen, 8))
    columns = {f"p_{number}": scores[:, number] for number in range(8)}
    pl.DataFrame(factors | {"seen": seen, "y": label} | columns).write_csv(tmp_path / "t.csv")
    command = ["audit", str(tmp_path / "t.csv"), "--factors", "a,b", "--seen", "seen", "--target", "y"]
    command += ["--prediction", ",".join(columns), "--json", "--top-k"]
    result = json.loads(CliRunner().invoke(app, [*command, "1,2,3"]).stdout)
    assert [one["k"] for one in result["top_k"]] == [1, 2, 3]
    assert result["calibration"]["form"] == "logits"
    assert CliRunner().invoke(app, [*command, "one"]).exit_code != 0


def test_copies_of_cells_are_one_unit():
    """Intervals, bins and what chance would do are those of the table without copies."""

    def audited(runs):
        rng = np.random.default_rng(0)
        factors, seen, label = cells(side=12, rows=1)
        p = rng.dirichlet(np.ones(12), size=len(label)) + 0.3 * np.eye(12)[label]
        factors = {name: np.repeat(one, runs) for name, one in factors.items()}
        factors |= {"run": np.tile(np.arange(runs), len(label))} if runs > 1 else {}
        many = [np.repeat(one, runs, axis=0) for one in (seen, label, p / p.sum(axis=1, keepdims=True))]
        return audit(factors=factors, seen=many[0], target=many[1], prediction=many[2], top_k=[2])

    once, copied = audited(1), audited(5)
    assert copied.top_k[0].unseen.pair == pytest.approx(once.top_k[0].unseen.pair)
    first, second = once.calibration.unseen, copied.calibration.unseen
    assert second.overconfidence.pair == pytest.approx(first.overconfidence.pair)
    assert second.error.pair == pytest.approx(first.error.pair)
    assert second.by_chance == pytest.approx(first.by_chance)
    assert second.bins == first.bins
