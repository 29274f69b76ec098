"""Several models at once."""

import json

import numpy as np
import polars as pl
import pytest
from tests.auditing.gate.tables import COLOUR, SEEN, TRUTH, A, B, audited

from recombine import InputError, audit
from recombine.auditing import AuditComparison, AuditReport
from recombine.auditing.comparison.paired_difference import paired_difference

LABEL = np.where((A + B) % 2, "odd", "even")
WRONG = np.where((A + B) % 2, "even", "odd")
NOISE = np.random.default_rng(0).normal(size=(12, len(TRUTH)))


def bad(value=0.0):
    return np.where(SEEN, TRUTH, value)


def test_two_models_are_compared_cell_by_cell():
    both = audited({"v1": bad(), "v2": TRUTH})
    assert isinstance(both, AuditComparison)
    assert all(isinstance(report, AuditReport) for report in both.reports.values())
    pair = both.pair("v1", "v2")
    assert pair.unseen.better
    assert pair.seen.same
    assert pair.unseen.difference.value == pytest.approx(-(TRUTH[~SEEN] ** 2).mean())
    assert both.verdict.startswith(
        "v2 is better than v1 on unseen combinations: error 0 against 47, difference 47 ["
    )
    assert both.verdict.endswith("; on seen ones they are the same. v2 composes; v1 does not.")


def test_a_report_of_several_models_is_that_of_each_alone():
    both = audited({"v1": bad(), "v2": TRUTH})
    alone = audited(bad())
    assert both.reports["v1"].verdict == alone.verdict
    assert both.reports["v1"].scores.unseen == alone.scores.unseen
    assert both.unseen["v1"] == alone.scores.unseen


def test_the_order_of_models_only_turns_the_sign():
    there, back = audited({"v1": bad(), "v2": TRUTH}), audited({"v2": TRUTH, "v1": bad()})
    one, other = there.pair("v1", "v2").unseen.difference, back.pair("v2", "v1").unseen.difference
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_the_same_predictions_twice():
    both = audited({"v1": bad(), "v2": bad()})
    assert both.verdict.startswith("v1 and v2 have the same errors on unseen combinations")
    assert not both.pairs[0].changed.worse.any()
    assert both.ranks == {"v1": 1, "v2": 1}
    assert both.page().html()


def test_cells_that_changed_with_labels():
    first, second = LABEL.copy(), LABEL.copy()
    unseen = np.flatnonzero(~SEEN)
    first[unseen[:2]], second[unseen[2:5]] = WRONG[unseen[:2]], WRONG[unseen[2:5]]
    both = audited({"v1": first, "v2": second}, target=LABEL)
    changed = both.pairs[0].changed
    assert both.changed(changed.better) == [
        {"colour": COLOUR[i], "size": B[i]} for i in sorted(unseen[:2], key=rank)
    ]
    assert both.changed(changed.worse) == [
        {"colour": COLOUR[i], "size": B[i]} for i in sorted(unseen[2:5], key=rank)
    ]
    assert both.changed(changed.worse, unseen=False) == []
    plain = both.to_dict()["pairs"][0]
    assert len(plain["cells_worse"]["unseen"]) == 3


def rank(row):
    return (COLOUR[row], B[row])


def test_quantities_change_beyond_the_noise_of_rows():
    cells = np.repeat(np.arange(len(TRUTH)), 6)
    draw = np.random.default_rng(1)
    y = TRUTH[cells] + 0.5 * draw.normal(size=len(cells))
    changes = {"factors": {"colour": COLOUR[cells], "size": B[cells]}, "seen": SEEN[cells], "target": y}
    off = np.where(cells == np.flatnonzero(~SEEN)[0], 4.0, 0.0)
    both = audited({"v1": TRUTH[cells], "v2": TRUTH[cells] + off}, **changes)
    changed = both.pairs[0].changed
    assert changed.noise_known
    assert int(changed.worse.sum()) == 1
    assert not changed.better.any()
    assert not any("cannot be separated from noise" in note for note in both.notes)


def test_one_row_per_cell_cannot_show_noise():
    both = audited({"v1": bad(), "v2": TRUTH})
    assert not both.pairs[0].changed.noise_known
    assert any("cannot be separated from noise" in note for note in both.notes)


def test_three_models_have_ranks_and_corrected_intervals():
    three = audited({"far": TRUTH - 3 * ~SEEN, "near": TRUTH - ~SEEN, "right": TRUTH})
    assert three.ranks == {"far": 3, "near": 2, "right": 1}
    assert three.pairs[0].unseen.difference.level == pytest.approx(1 - 0.05 / 3)
    assert three.verdict.startswith(
        "right has the smallest error on unseen combinations, 0: it is better than near (1.0) and far (9.0)."
    )
    assert "rank" in str(three)


def test_twelve_models_and_too_many():
    predictions = {f"m{i}": np.where(SEEN, TRUTH, TRUTH + i * NOISE[i]) for i in range(12)}
    twelve = audited(predictions)
    assert len(twelve.pairs) == 66
    assert "56 more pairs" in str(twelve)
    assert twelve.page().html()
    with pytest.raises(InputError, match="at most 20"):
        audited({f"m{i}": TRUTH for i in range(21)})


def test_one_model_in_a_mapping():
    one = audited({"v1": TRUTH})
    assert one.verdict.startswith("Only one model, v1: The model composes")
    assert one.pairs == ()
    assert one.page().html()


def test_a_model_that_raises_does_not_stop_the_others():
    def broken(rows):
        raise RuntimeError("out of order")

    models = {"good": lambda rows: rows @ np.array([1.5, 1.0]), "broken": broken}
    inputs = np.stack([A, B], axis=1).astype(float)
    both = audit(factors={"a": A, "b": B}, seen=SEEN, target=TRUTH, model=models, inputs=inputs)
    assert both.verdict == "Only good has predictions to judge. broken could not be run. good composes."
    assert "RuntimeError: out of order" in str(both)
    gate = both.check("broken: model-error, good: does-not-compose")
    assert [one.name for one in gate.failed] == ["broken: model-error"]
    assert both.page().html()


def test_labels_and_scores_may_be_mixed():
    target = (A + B) % 2
    scores = np.clip(target + 0.1 * NOISE[0], 0, 1)
    mixed = audited({"labels": target, "score": scores, "scores": np.eye(2)[target]}, target=target)
    assert all(pair.unseen.same for pair in mixed.pairs)


def test_models_that_fail_in_different_outputs_are_compared_on_all():
    targets = np.stack([TRUTH, 1000 * TRUTH], axis=1)
    both = audited(
        {
            "v1": np.where(SEEN[:, None], targets, targets * [0.1, 1]),
            "v2": np.where(SEEN[:, None], targets, targets * [1, 0.1]),
        },
        target=targets,
    )
    # Both miss one of two outputs that are the same up to their units.
    assert both.unseen["v1"].value == pytest.approx(both.unseen["v2"].value)
    assert any("each in units of its own spread" in note for note in both.notes)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        ({}, "an empty mapping"),
        ({1: TRUTH}, "names of models"),
        ({" ": TRUTH}, "names of models"),
        ({"a\x01b": TRUTH}, "a control character"),
        ({"x" * 2000: TRUTH}, "at most 100 characters"),
        ({"v1": TRUTH, "v2": TRUTH[:3]}, "prediction of 'v2': got '3 rows'"),
        ({"v1": TRUTH, "v2": "absent"}, "prediction of 'v2': got 'absent'"),
        ({"v1": TRUTH, "v2": None}, "v2"),
    ],
)
def test_other_mappings_are_refused(prediction, words):
    with pytest.raises(InputError, match=words):
        audited(prediction)


def test_models_and_predictions_go_together():
    model, inputs = {"v1": lambda rows: rows[:, 0]}, np.stack([A, B], axis=1).astype(float)
    with pytest.raises(InputError, match="one for each model, by name"):
        audited(TRUTH, model=model, inputs=inputs)
    with pytest.raises(InputError, match="the models that have predictions: v2"):
        audited({"v2": TRUTH}, model=model, inputs=inputs)
    with pytest.raises(InputError, match="one model at a time"):
        audited({"v1": TRUTH, "v2": TRUTH}, activations={"layer": inputs})
    with pytest.raises(InputError, match="the mapping names the models"):
        audited({"v1": TRUTH}, name="other")


def test_kinds_that_differ_are_refused():
    target = (A + B) % 5
    with pytest.raises(InputError, match="one kind for all models"):
        audited({"labels": target, "quantities": target + 0.3}, target=target)


def test_all_forms_of_a_comparison():
    both = audited({"<b>&": bad(), "error": TRUTH})
    assert repr(both).startswith("AuditComparison(<b>&, error: 'error is better than")
    assert "<b>&" not in both.page().html()
    assert "&lt;b&gt;&amp;" in both.page().html()
    frame = both.cells()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns[-2:] == ["error <b>&", "error error"]
    assert frame["error <b>&"].sum() == pytest.approx((TRUTH[~SEEN] ** 2).sum())
    plain = json.loads(json.dumps(both.to_dict(), allow_nan=False))
    assert plain["format"] == "recombine-comparison/1"
    assert list(plain["models"]) == ["<b>&", "error"]
    assert both.figure()
    assert set(both.metrics()) == {"<b>&", "error"}
    assert len(both.summary.splitlines()) == 2


def test_columns_of_factors_are_kept_whatever_models_are_called():
    frame = audit(
        factors={"error v1": A, "b": B}, seen=SEEN, target=TRUTH, prediction={"v1": TRUTH, "v2": bad()}
    ).cells()
    assert frame.columns == ["error v1", "b", "rows", "seen", "familiar", "error v1_", "error v2"]


def test_a_gate_checks_every_model_or_one():
    both = audited({"v1": bad(), "v2": TRUTH})
    assert [one.name for one in both.check("unseen > 0.3").failed] == ["v1: unseen > 0.3"]
    assert both.check("v2: unseen > 0.3").passed
    assert len(both.check("v2: unseen > 0.3, does-not-compose").results) == 3
    assert "Gate: failed" in str(both.gated("does-not-compose"))


def test_a_baseline_of_several_models_goes_by_their_names():
    before = audited({"v1": TRUTH, "v2": bad()})
    now = audited({"v1": bad(), "v2": TRUTH, "v3": TRUTH})
    gate = now.check("worse", baseline=before.to_dict())
    assert [one.status for one in gate.results] == ["failed", "passed", "not measured"]
    compared = now.compared_with(before)
    assert compared.reports["v2"].since.unseen.better
    assert compared.reports["v3"].since is None
    assert "v1, since the baseline" in compared.page().html()
    with pytest.raises(InputError, match="an audit of one of the models"):
        audited({"v4": TRUTH}).check("worse", baseline=before)
    with pytest.raises(InputError, match="an earlier audit to compare with"):
        now.check("worse")


def test_a_baseline_of_one_model_is_compared_with_all():
    gate = audited({"v1": bad(), "v2": TRUTH}).check("worse", baseline=audited(TRUTH))
    assert [one.status for one in gate.results] == ["failed", "passed"]


@pytest.mark.parametrize("n", [8, 18, 50])
@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_models_that_are_equally_good_rarely_differ(n, kind):
    """Nominally 5%; at most 8% of 300 draws here, three standard errors above."""
    draw = np.random.default_rng(n)
    differs = 0
    for _ in range(300):
        errors = draw.exponential(size=(2, n)) if kind == "quantities" else draw.integers(0, 2, (2, n)) * 1.0
        differs += paired_difference(*errors, scale=1.0).differs
    assert differs <= 24 + 3


def test_cells_can_count_by_their_rows():
    cells = np.repeat(np.arange(len(TRUTH)), 1 + 3 * (B == 1))
    changes = {
        "factors": {"colour": COLOUR[cells], "size": B[cells]},
        "seen": SEEN[cells],
        "target": TRUTH[cells],
    }
    both = audited({"v1": bad()[cells], "v2": TRUTH[cells]}, **changes, weigh="rows")
    off = -np.mean(TRUTH[cells][~SEEN[cells]] ** 2)
    assert both.pairs[0].unseen.difference.value == pytest.approx(off)
    assert both.pairs[0].unseen.before == pytest.approx(both.reports["v1"].scores.unseen.value)
    assert "cells count by their rows" in str(both)
    once = audited({"v1": bad()[cells], "v2": TRUTH[cells]}, **changes)
    assert once.pairs[0].unseen.difference.value == pytest.approx(-np.mean(TRUTH[~SEEN] ** 2))
    # Cell by cell the weights are those of the newer audit; means alone must be weighed alike.
    alike = both.reports["v2"].compared_with(once.reports["v1"].to_dict()).since
    assert alike.unseen.difference.value == pytest.approx(off)
    with pytest.raises(InputError, match="an audit that weighs rows"):
        both.reports["v2"].compared_with(once.reports["v1"].to_dict() | {"cells": None})


def test_errors_by_another_metric():
    both = audited({"v1": bad(), "v2": TRUTH}, metric="absolute")
    assert both.pairs[0].unseen.before == pytest.approx(TRUTH[~SEEN].mean())
    with pytest.raises(InputError, match="with the same measure"):
        both.reports["v1"].compared_with(audited(TRUTH))


def _two_random_models(runs, *, perfect=False):
    """Labels of 36 combinations, copied in several runs; two models that guess in unseen ones."""
    rng = np.random.default_rng(0)
    a, b, run = np.indices((6, 6, runs)).reshape(3, -1)
    target, *guesses = rng.integers(3, size=(3, 6, 6))
    seen = np.indices((6, 6)).sum(axis=0) % 3 > 0
    models = {f"v{i}": np.where(seen, target, one)[a, b] for i, one in enumerate(guesses)}
    if perfect:
        models["v0"] = target[a, b]
    factors = {"a": a, "b": b} | ({"run": run} if runs > 1 else {})
    labels = np.array(["red", "green", "blue"])
    predictions = {name: labels[one] for name, one in models.items()}
    return audit(factors=factors, seen=seen[a, b], target=labels[target[a, b]], prediction=predictions)


@pytest.mark.parametrize("perfect", [False, True])
def test_copies_of_cells_declare_no_winner(perfect):
    once, copied = (_two_random_models(runs, perfect=perfect).pairs[0].unseen for runs in (1, 8))
    assert copied.difference.pair == pytest.approx(once.difference.pair)
    assert copied.differs == once.differs


def test_copies_of_differences_are_one_unit():
    before, after = np.zeros(40), np.repeat([1.0, 1.0, 1.0, 1.0, 0.0], 8)
    assert paired_difference(before, after, scale=1.0).worse
    found = paired_difference(before, after, scale=1.0, units=np.repeat(np.arange(5), 8), comparisons=3)
    once = paired_difference(before[::8], after[::8], scale=1.0, comparisons=3)
    assert not found.worse
    assert found.difference.pair == pytest.approx(once.difference.pair)
