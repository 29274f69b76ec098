"""The demo: what it says about made-up evidence, and a run at its smallest."""

import re

import numpy as np
import pytest

from recombine.studies import Arm, Evidence
from recombine.studies.demo import METHODS, DemoResult, run_demo, task_statement


def arm(unseen, *, sums=0.8, target=0.1, volume=-1.0):
    n = len(unseen)
    values = {
        "error_in": np.full(n, 0.01),
        "error_out": np.asarray(unseen, dtype=float),
        "baseline_blank_in": np.ones(n),
        "baseline_blank_out": np.ones(n),
        "accuracy1_in": np.ones(n),
        "accuracy1_out": np.full(n, 0.5),
        "with_superposition": np.full(n, sums),
        "with_truth": np.full(n, target),
        "r2_held_out": np.full((n, 5, 2), 0.995),
        "volume_gap": np.full((n, 5), volume),
    }
    return Arm(tuple(range(n)), ("finished",) * n, values, {})


def result(standard, rendering, stripes, **settings):
    arms = (arm(standard, **settings), arm(rendering), arm(stripes, volume=0.1))
    return DemoResult(Evidence(dict(zip(METHODS, arms, strict=True)), "quick"))


def test_table_and_sentences_quote_the_same_medians():
    text = result([0.5, 0.62, 0.9], [0.03, 0.08, 0.12], [0.04, 0.25, 0.15]).results_text(width=120)
    rows = {method: re.search(rf"^{method} .*$", text, re.MULTILINE).group() for method in METHODS}
    assert "0.62 [0.50, 0.90]" in rows[METHODS[0]]
    assert "0.08 [0.03, 0.12]" in rows[METHODS[1]]
    assert "0.15 [0.04, 0.25]" in rows[METHODS[2]]
    words = " ".join(text.split())
    assert re.search(r"forced rendering .* from 0\.62 to 0\.08, stripes .* to 0\.15\.", words)
    assert "correlation 0.80 with that sum, 0.10 with the target" in words


def test_a_decoder_that_does_not_fail_is_not_explained():
    text = result([0.2, 0.3, 0.4], [0.1] * 3, [0.3] * 3).results_text()
    assert "did not fail" in text
    assert "Why" not in text
    assert "stripes (" not in text  # does not help
    assert "from 0.30 to 0.10" in " ".join(text.split())


def test_a_failure_that_is_not_a_sum_gets_no_explanation():
    text = result([0.9] * 3, [0.9] * 3, [0.8] * 3, sums=0.3, target=0.2).results_text()
    assert "The standard decoder fails" in text
    assert "Why" not in text
    assert "Neither remedy helped" in text


def test_lines_fit_the_terminal_and_the_task_comes_first():
    made_up = result([0.5, 0.62, 0.9], [0.03, 0.08, 0.12], [0.04, 0.25, 0.15])
    for width in (60, 80, 120):
        lines = (task_statement(width=width) + made_up.results_text(width=width)).splitlines()
        assert max(map(len, lines)) <= width
    assert "144 of the 400 combinations" in " ".join(task_statement().split())
    assert str(made_up).startswith("Task: ")
    assert repr(made_up) == (
        "DemoResult(unseen error: standard decoder 0.62, forced rendering 0.08, stripes in the curriculum 0.15)"
    )


@pytest.mark.usefixtures("compile_quickly")
def test_the_demo_runs_and_writes_a_report(tmp_path):
    finished = run_demo(scale="smoke", store=tmp_path / "store", jobs=0, quiet=True)
    assert set(finished.to_dict()["methods"]) == set(finished.evidence) == set(METHODS)
    page = finished.page().write(tmp_path / "demo.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 5
    assert "http://" not in page.replace("http://www.w3.org", "")
    for method in METHODS:
        assert finished.estimates[method].unseen_error_text in page
