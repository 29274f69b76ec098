"""The zoo's truth about predictors that are made by hand, and some of its kinds (`python -m benchmarks zoo`: all)."""

import numpy as np
import pytest
from benchmarks.calibration import CAUSES, boundary_table, covers, declared, patternless, population
from benchmarks.zoo.designs import Design, draw_design
from benchmarks.zoo.drawing import draw
from benchmarks.zoo.following import chosen_cells, follow
from benchmarks.zoo.judging import judge
from benchmarks.zoo.kinds import KINDS, SHOWS
from benchmarks.zoo.patterns import second_differences
from benchmarks.zoo.sample import Fitted, Sample
from benchmarks.zoo.simple_models import fit_simple
from benchmarks.zoo.truth import GROWS, NO_PATTERN, NOT_LEARNED, find_truth

from recombine import audit
from recombine.auditing.rules.failure import explains


@pytest.fixture(scope="module")
def design():
    return draw_design(np.random.default_rng(0), sizes=(9, 9), ordered=True, rows=(2,), unseen=(0.3, 0.3))


def code(cells, design):
    return np.ravel_multi_index(tuple(cells.T), design.sizes)


def product(design):
    values = np.random.default_rng(3).uniform(-1.0, 2.0, size=9)
    return (values[design.cells[:, 0]] * values[design.cells[:, 1]])[:, None]


def truth_of(design, clean, fit):
    sample = Sample(design, clean, clean[design.cell], fit, "")
    return find_truth(sample, fit(design, sample.target, 0))


def fixed(values):
    """A model that was not trained, with these predictions for the cells."""
    return lambda design, target, seed: Fitted(lambda cells: values[code(cells, design)])


def by_cell(design, target):
    """The mean training target of every cell; NaN for unseen cells."""
    sums, rows = np.zeros((len(design.cells), target.shape[1])), design.training_rows[:, None]
    np.add.at(sums, design.cell[design.train], target[design.train])
    return np.where(rows > 0, sums / np.maximum(rows, 1), np.nan)


def lookup(design, target, seed):
    """Stored targets; for an unseen cell that of the seen cell whose level numbers are nearest."""
    stored, seen = by_cell(design, target), np.flatnonzero(design.training_rows)

    def predict(cells):
        distance = ((cells[:, None] - design.cells[seen][None]) ** 2).sum(axis=2)
        return stored[seen[distance.argmin(axis=1)]]

    return Fitted(predict)


def additive(design, target, seed):
    return Fitted(fit_simple("additive_1", design, target))


def shrunken(design, target, seed):
    """Right on seen cells; elsewhere two fifths of the right deviation from the mean."""
    good = fit_simple("product", design, target)
    seen, mean = design.training_rows > 0, target[design.train].mean(axis=0)

    def predict(cells):
        full = good(cells)
        return np.where(seen[code(cells, design)][:, None], full, mean + 0.4 * (full - mean))

    return Fitted(predict)


def first_factor(design, target, seed):
    return Fitted(fit_simple(f"level:{design.names[0]}", design, target))


@pytest.mark.parametrize(
    ("fit", "cause"),
    [
        (lookup, "memorisation_leak"),
        (shrunken, "memorisation_leak"),
        (additive, "additive_only"),
        (first_factor, "shortcut"),
    ],
)
def test_the_cause_of_a_failure_that_is_made_by_hand(design, fit, cause):
    truth = truth_of(design, product(design), fit)
    assert (truth.composes, truth.cause, truth.clear) == (False, cause, True)


def test_the_rule_itself_composes(design):
    clean = product(design)
    assert truth_of(design, clean, fixed(clean)).composes is True


def test_a_product_that_is_fitted_to_seen_cells_composes(design):
    fit = lambda design, target, seed: Fitted(fit_simple("product", design, target))  # noqa: E731
    assert truth_of(design, product(design), fit).composes is True


def test_random_errors_are_none_of_the_causes(design):
    clean, rng = product(design), np.random.default_rng(0)
    wrong = np.where(design.seen[:, None], clean, clean + clean.std() * rng.normal(size=clean.shape))
    truth = truth_of(design, clean, fixed(wrong))
    assert (truth.composes, truth.cause, truth.clear) == (False, NO_PATTERN, True)


def test_random_labels_are_none_of_the_causes(design):
    rng = np.random.default_rng(1)
    clean = design.cells.sum(axis=1) % 9
    truth = truth_of(design, clean, fixed(np.where(design.seen, clean, rng.integers(9, size=81))))
    assert (truth.composes, truth.cause, truth.clear) == (False, NO_PATTERN, True)


def test_a_constant_has_not_learned(design):
    clean = product(design)
    truth = truth_of(design, clean, fixed(np.zeros_like(clean) + clean.mean()))
    assert (truth.composes, truth.cause) == (None, NOT_LEARNED)


def test_a_small_error_that_is_many_times_the_seen_one_is_neither_success_nor_failure(design):
    clean, rng = product(design), np.random.default_rng(0)
    off = 0.3 * clean.std() * rng.choice([-1, 1], size=clean.shape)
    truth = truth_of(design, clean, fixed(np.where(design.seen[:, None], clean, clean + off)))
    assert (truth.composes, truth.cause) == (None, GROWS)


def test_overlaid_pictures_are_a_superposition(design):
    canvas = np.zeros((81, 9, 9))
    canvas[np.arange(81), design.cells[:, 0], design.cells[:, 1]] = 1.0
    stripes = canvas.copy()
    for cell in np.flatnonzero(~design.seen):
        one, other = design.cells[cell]
        shared = design.seen & ((design.cells == (one, other)).any(axis=1))
        stripes[cell] = canvas[shared].mean(axis=0)
    clean = canvas.reshape(81, -1)
    sample = Sample(design, clean, clean[design.cell], fixed(stripes.reshape(81, -1)), "", images=(9, 9))
    truth = find_truth(sample, sample.fit(design, sample.target, 0))
    assert (truth.cause, truth.clear) == ("superposition", True)


def test_second_differences_are_zero_for_sums_and_all_of_the_variance_for_pure_interactions(design):
    sums = design.cells.sum(axis=1, keepdims=True).astype(float)
    signs = ((-1.0) ** np.arange(9))[design.cells]
    assert second_differences(design, sums) == pytest.approx(0, abs=1e-12)
    balanced = (signs - signs.mean(axis=0)).prod(axis=1, keepdims=True)
    assert second_differences(design, balanced, count=20_000) == pytest.approx(1.0, abs=0.05)


def test_every_kind_shows_something():
    assert set(SHOWS) == set(KINDS)
    assert len(KINDS) >= 40


@pytest.mark.parametrize("kind", ["ridge_sum", "nearest_product", "wrong_labels"])
def test_a_kind_is_drawn_audited_and_kept(kind, tmp_path):
    made = draw(kind, 0, tmp_path)
    assert made is not None
    outcome = judge(made, follow_remedy=True)
    again = draw(kind, 0, tmp_path)
    assert again is not None
    assert np.array_equal(made.prediction, again.prediction)
    assert made.truth.cause == again.truth.cause
    assert outcome.truth["composes"] is (kind == "ridge_sum")
    assert not outcome.false_praise


def remedy(**fields):
    """A remedy with a measured gain."""
    gain = type("Gain", (), {"value": 0.5})()
    return type("Remedy", (), {"id": "measured", "gain": gain, "cells": (), "refit": ""} | fields)()


def report_with(*remedies):
    return type("Report", (), {"remedies": remedies})()


def test_following_a_refit_lowers_the_error_of_a_lookup():
    made = draw("nearest_product", 1)
    assert made is not None
    drawn = made.sample.design
    cells = tuple(
        {
            name: levels[index]
            for name, levels, index in zip(drawn.names, drawn.levels, drawn.cells[cell], strict=True)
        }
        for cell in np.flatnonzero(~drawn.seen)[::2]
    )
    refit = follow(made, report_with(remedy(refit="product")))
    assert refit is not None
    assert refit["after"] < 0.2 * refit["before"]
    added = follow(made, report_with(remedy(cells=cells)))
    assert added is not None
    assert added["cells"] == len(cells)
    assert follow(made, report_with()) is None


def test_cells_of_a_remedy_are_found_by_their_levels(design: Design):
    chosen = chosen_cells(design, ({"x": design.levels[0][2], "y": design.levels[1][5]},))
    assert np.flatnonzero(chosen).tolist() == [2 * 9 + 5]


def test_populations_have_the_mean_errors_that_they_state():
    rng = np.random.default_rng(0)
    for errors in ("normal", "skewed", "zero-inflated", "labels"):
        drawn = [population(rng, errors, 200) for _ in range(10)]
        off = [cells.error[cells.outside].mean() / means[1] - 1 for cells, means in drawn]
        assert np.mean(off) == pytest.approx(0, abs=0.15)
    assert len(covers("normal", 10, 0)) == 4


def test_tables_of_the_calibration_can_be_audited():
    assert audit(**boundary_table(0)).scores is not None
    assert isinstance(declared(5, 4, 0), set)
    assert patternless(0, 1, 2)["kind"] == "regression"


@pytest.mark.parametrize(("classes", "each"), [(2, 1), (5, 4), (0, 4)])
def test_calibration_decides_as_audits_do(classes, each):
    for seed in range(2):
        report = audit(**patternless(classes, each, seed))
        names = {one.rule.name for one in report.failure.results if explains(one)}
        causes = {"cause"} if any(report.finding(name).holds is True for name in CAUSES) else set()
        assert declared(classes, each, seed) == names | causes
