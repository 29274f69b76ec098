"""Every warning, with a net to which it applies; and a net without any."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from recombine import modularity_report

RNG = np.random.default_rng(0)


def codes(report):
    return [pitfall.code for pitfall in report.warnings]


def message(report, code):
    (results,) = [results.message for results in report.warnings if results.code == code]
    return results


def even(modules, units=6):
    """Modules whose weights all have about the same size, so that no unit is weak."""
    return [
        block_diag(*RNG.uniform(0.5, 1, size=(modules, *shape)))
        for shape in ((1, units), (units, units), (units, 1))
    ]


def test_a_clean_net_has_none():
    assert codes(modularity_report(even(4), inputs="own", outputs="own")) == []
    assert "Keep in mind" not in str(modularity_report(even(4), inputs="own"))


def test_dead_units_are_reported():
    weights = even(4)
    weights[0][:, ::2] *= 1e-6
    report = modularity_report(weights, inputs="own", threshold=0.02)
    assert message(report, "M1").startswith("dead units were left out (12 of 24 in hidden 1; weaker than 2%")
    assert "only few units" not in message(report, "M1")
    weights[1][:, 1::2] *= 1e-6
    weights[1][:, ::6] *= 1e-6
    assert "only few units carry its function" in message(modularity_report(weights, inputs="own"), "M1")


def test_two_modules_are_easy():
    assert "even ordinary nets look modular" in message(modularity_report(even(2), inputs="own"), "M2")


def test_unequal_modules():
    weights = [block_diag(*[RNG.uniform(0.5, 1, size=s) for s in shapes]) for shapes in (
        [(1, 16), (1, 3), (1, 3)], [(16, 1), (3, 1), (3, 1)])]  # fmt: skip
    assert "very unequal (3 to 16 hidden units)" in message(modularity_report(weights, inputs="own"), "M3")


def test_modules_that_do_not_go_through(dense):
    report = modularity_report(
        dense((2, *[12] * 8, 2)), modules=3
    )  # a deep net falls into early and late layers
    assert "has no unit among" in message(report, "M4")
    assert "pieces of a deep net by depth" in message(report, "M4")


def test_modules_by_chance():
    report = modularity_report([np.eye(2)], inputs="own")
    assert "these may be there by chance" in message(report, "M5")
    assert "z is undefined" in message(modularity_report([np.ones((2, 2))], inputs="own"), "M5")


def test_a_gap_that_means_nothing(dense):
    report = modularity_report(dense(), inputs="own")
    assert report.collapsed[1, 4] == pytest.approx(1, abs=1e-6)
    assert "have λ5 = 1 and so a gap after λ4 for any weights" in message(report, "M6")
    assert "M7" not in codes(report)


def test_cosines_ignore_size():
    weights = even(3)
    weights[0][:, ::2] = 0.04 * RNG.uniform(
        0.9, 1, size=weights[0][:, ::2].shape
    )  # weak units that read all alike
    report = modularity_report(weights, inputs="own", threshold=0.001)
    assert report.score[0] > 0.95
    assert "cosines ignore size" in message(report, "M7")


def test_layers_smaller_than_the_modules():
    weights = [*even(4), np.ones((4, 2))]
    report = modularity_report(weights, inputs="own")
    assert message(report, "M8") == "spectra were left out: outputs has 2 live units, fewer than 4 modules"
    assert report.collapsed is report.raw is None
    assert "λ" not in "".join(str(report).split("Keep in mind")[0])
    assert report.page()


def test_outputs_in_another_order():
    report = modularity_report(even(3), inputs="own", outputs=[1, 0, 2])
    assert message(report, "M9").startswith("outputs 0, 1: inputs of another module reach them far more")
    assert "M9" not in codes(modularity_report(even(3), inputs="own", outputs="own"))


def test_units_without_connections():
    weights = even(3)
    weights[0][2] = 0.0
    assert message(modularity_report(weights, modules=2), "M10").startswith("input has no connection (2)")


def test_small_weights_that_are_needed():
    x = RNG.uniform(-1, 1, size=(200, 3))
    weights = even(3)
    weights[0] += np.where(weights[0] == 0, 0.08, 0)
    weights[1] += np.where(weights[1] == 0, 0.05, 0)
    biases = [np.zeros(matrix.shape[1]) for matrix in weights]
    settings = {"biases": biases, "activation": "linear", "x": x, "inputs": "own", "outputs": "own"}
    y = x @ weights[0] @ weights[1] @ weights[2]
    report = modularity_report(weights, y=y + 1e-3 * RNG.normal(size=y.shape), **settings)
    assert report.verdict.word == "modular"
    assert "small but needed" in message(report, "M11")
    wrong = modularity_report(weights, y=-y, **settings)
    assert "do weights, biases, activation and data belong together?" in message(wrong, "M12")
