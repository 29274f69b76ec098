"""Where one verdict ends and the next begins."""

import numpy as np
import pytest

from recombine import modularity_report
from recombine.modularity.verdict import MIXED, MODULAR


@pytest.mark.parametrize(
    ("between", "word"), [(0.0, "modular"), (0.05, "modular"), (0.2, "partly modular"), (1.0, "mixed")]
)
def test_weight_between_modules_decides(blocks, between, word):
    report = modularity_report(blocks(4, between=between), inputs="own", outputs="own")
    assert report.verdict.word == word
    lowest = np.nanmin(report.score)
    assert (lowest >= MODULAR, MIXED <= lowest < MODULAR, lowest < MIXED)[
        ["modular", "partly modular", "mixed"].index(word)
    ]
    assert report.verdict.layer == int(np.nanargmin(report.score))
    reason = f"layer {report.verdict.layer + 1}" if between else "without any connection between them"
    assert reason in str(report.verdict)


def test_one_mixed_layer_is_enough(blocks):
    weights = blocks(4)
    weights[2] = np.random.default_rng(0).normal(size=weights[2].shape)
    report = modularity_report(weights, inputs="own", outputs="own")
    assert report.verdict.word == "mixed"
    assert report.score[0] == pytest.approx(1)


def test_a_tiny_net_is_not_decided():
    report = modularity_report([np.eye(2)], inputs="own")
    assert report.verdict.word == "undecided"
    assert "hardly less" in str(report.verdict)


def test_published_bounds():
    """In-block shares of four equal modules: 98% is modular, 92% partly, 80% mixed."""
    score = (np.array([0.98, 0.92, 0.80]) - 0.25) / 0.75
    assert (score >= MODULAR).tolist() == [True, False, False]
    assert (score >= MIXED).tolist() == [True, True, False]
