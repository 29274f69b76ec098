"""What a gate decides."""

from dataclasses import replace

import numpy as np
import pytest
from tests.auditing.gate.tables import SEEN, TRUTH, A, B, audited, composing, failing

from recombine import InputError, audit
from recombine.intervals import Estimate

NOISE = np.random.default_rng(0).normal(size=len(TRUTH))


def statuses(report, conditions, **options):
    return [one.status for one in report.check(conditions, **options).results]


def test_findings_and_states():
    conditions = "does-not-compose, undecided, model-error"
    assert statuses(failing(), conditions) == ["failed", "passed", "passed"]
    assert statuses(composing(), conditions) == ["passed", "passed", "passed"]


def test_a_result_counts_as_true_if_the_gate_is_passed():
    assert composing().check("does-not-compose")
    assert not failing().check("does-not-compose")


def test_a_comparison_fails_only_beyond_noise_unless_it_is_about_the_estimate():
    report = audited(np.where(SEEN, TRUTH, TRUTH + 2 * NOISE))
    low, value = report.scores.unseen.low, report.scores.unseen.value
    inside = (low + value) / 2
    below = low * 0.9
    assert statuses(report, f"unseen > {below}") == ["failed"]
    assert statuses(report, f"unseen > {inside}") == ["passed"]
    assert "within noise" in report.check(f"unseen > {inside}").results[0].sentence
    assert statuses(report, f"estimate: unseen > {inside}") == ["failed"]
    assert statuses(report, f"unseen > {inside}", strict=True) == ["failed"]
    assert statuses(report, f"unseen < {report.scores.unseen.high * 1.1}") == ["failed"]


def test_the_ratio_is_infinite_without_errors_on_seen_cells():
    assert statuses(failing(), "unseen/seen > 2") == ["failed"]
    assert statuses(failing(), "unseen/seen > 1e12") == ["failed"]
    assert statuses(composing(), "unseen/seen > 2") == ["passed"]


def test_one_wrong_cell_does_not_make_an_infinite_ratio():
    prediction = TRUTH.copy()
    prediction[np.flatnonzero(~SEEN)[0]] += 3
    assert statuses(audited(prediction), "unseen/seen > 2") == ["passed"]
    assert statuses(audited(prediction), "estimate: unseen/seen > 2") == ["failed"]


def test_one_unseen_cell_has_no_interval():
    seen = np.ones_like(SEEN)
    seen[10] = False
    report = audited(np.where(seen, TRUTH, 0.0), seen=seen)
    assert statuses(report, "unseen > 0.1, estimate: unseen > 0.1") == ["not measured", "failed"]
    assert report.check("unseen > 0.1").summary == "gate passed, but not measured: unseen > 0.1"


def test_any_output_looks_at_each():
    targets = np.stack([TRUTH, 1000 * TRUTH, TRUTH * B + 60], axis=1)
    predictions = np.where(SEEN[:, None], targets, targets * [1, 1, 0])
    report = audited(predictions, target=targets)
    gate = report.check("any output > 0.5, any output transfer < 0.5, any output seen > 0.5")
    assert [one.status for one in gate.results] == ["failed", "failed", "passed"]
    assert "of output 3" in gate.results[0].sentence
    assert statuses(audited(targets, target=targets), "any output > 0.5") == ["passed"]


def test_any_output_of_a_single_output():
    assert statuses(failing(), "any output > 0.5, any output transfer < 0.5") == ["failed", "failed"]


def test_a_model_that_raises_is_not_measured():
    def broken(rows):
        raise RuntimeError("out of order")

    report = audit(
        factors={"a": A, "b": B},
        seen=SEEN,
        target=TRUTH,
        model=broken,
        inputs=np.stack([A, B], 1).astype(float),
    )
    gate = report.check("does-not-compose, unseen > 0.3, model-error, undecided")
    assert [one.status for one in gate.results] == ["not measured", "not measured", "failed", "failed"]
    assert gate.results[2].sentence == "RuntimeError: out of order"


def test_a_change_needs_a_baseline():
    with pytest.raises(InputError, match="an earlier audit to compare with"):
        composing().check("worse")


def test_plain_values_and_text():
    gate = failing().check("unseen > 0.3, seen > 1")
    plain = gate.to_dict()
    assert plain["passed"] is False
    assert [one["status"] for one in plain["conditions"]] == ["failed", "passed"]
    assert plain["conditions"][0]["estimate"] == pytest.approx(failing().scores.unseen.value)
    assert str(gate).startswith("failed: unseen > 0.3: The error on unseen cells is")
    assert repr(gate) == "GateResult(FAILED, 2 conditions)"


def test_the_page_and_the_summary_show_the_gate():
    report = failing().gated("unseen > 0.3")
    assert "Gate: failed" in str(report)
    assert "Gate: failed" in report.page().html()
    assert report.summary.endswith("gate FAILED: unseen > 0.3")
    assert report.to_dict()["gate"]["passed"] is False
    assert "\n" not in report.summary


def test_metrics_are_finite_and_flat():
    metrics = failing().gated("unseen > 0.3").metrics()
    assert metrics["unseen_error"] == pytest.approx(failing().scores.unseen.value)
    assert (metrics["composes"], metrics["gate_passed"]) == (0.0, 0.0)
    assert "unseen_over_seen" not in metrics  # it is infinite
    assert all(type(value) is float and np.isfinite(value) for value in metrics.values())


def test_an_end_without_a_bound_is_shown_and_stored():
    report = failing()
    with_transfer = [
        replace(report, scores=replace(report.scores, transfer=Estimate(0.5, low, high)))
        for low, high in ((-np.inf, 36.8), (-np.inf, np.inf))
    ]
    one, both = (changed.check("transfer < 0.9").results[0] for changed in with_transfer)
    assert "is 0.50 [-∞, 37], below 0.9, but within noise" in one.sentence
    assert "is 0.50 [-∞, ∞], below 0.9, but within noise" in both.sentence
    assert (one.to_dict()["interval"], both.to_dict()["interval"]) == ([None, 36.8], None)
    assert with_transfer[0].to_dict()["errors"]["transfer"]["interval"] == [None, 36.8]
