"""Cells that differ only in a factor that changes nothing are one piece of evidence."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.independent_units import copied_factors, one_of_each, units_without

CAUSES = ("memorisation_leak", "shortcut", "superposition", "additive_only")


def _table(seed, *, runs, kind):
    """Random targets and predictions of 36 combinations, each in several runs that change neither."""
    rng = np.random.default_rng(seed)
    a, b, run = np.indices((6, 6, runs)).reshape(3, -1)
    draw = (lambda: rng.integers(4, size=(6, 6))) if kind == "labels" else (lambda: rng.normal(size=(6, 6)))
    target, predicted = draw(), draw()
    seen = np.indices((6, 6)).sum(axis=0) % 3 > 0
    predicted = np.where(seen, target, predicted)
    factors = {"a": a, "b": b, "run": run} if runs > 1 else {"a": a, "b": b}
    return {"factors": factors, "seen": seen[a, b], "target": target[a, b], "prediction": predicted[a, b]}


@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_copies_of_random_errors_are_not_a_pattern(kind):
    """Without units, a cause or a condition was named in 11 of 20 such tables."""
    named = 0
    for seed in range(10):
        report = audit(**_table(seed, runs=5, kind=kind))
        named += bool(report.conditions) or any(report.finding(one).holds for one in CAUSES)
    assert named <= 1


def test_copies_do_not_narrow_intervals():
    once, five = (audit(**_table(3, runs=runs, kind="quantities")).scores for runs in (1, 5))
    assert five.unseen.pair == pytest.approx(once.unseen.pair)
    assert five.ratio.pair == pytest.approx(once.ratio.pair, nan_ok=True)


def test_copies_are_left_out_of_refits_together():
    """Otherwise the nearest seen cell of a cell that was left out is its copy, and everything looks predictable."""
    report = audit(**_table(0, runs=5, kind="quantities"))
    nearest, constant = (report.refits.named(one).held_out.value for one in ("nearest_seen_cell", "constant"))
    assert nearest > 0.5 * constant


def test_copies_are_left_out_one_by_one_if_unseen_cells_have_seen_copies():
    """Which run is unseen differs from cell to cell, so pairs of a and b are known from other runs."""
    rng = np.random.default_rng(0)
    a, b, run = np.indices((6, 6, 5)).reshape(3, -1)
    target = rng.normal(size=(6, 6))[a, b]
    seen = (a + b + run) % 5 > 0
    report = audit(factors={"a": a, "b": b, "run": run}, seen=seen, target=target, prediction=0 * target)
    pairs, constant = (report.refits.named(one).held_out.value for one in ("additive_2", "constant"))
    assert pairs < 0.01 * constant


def test_the_report_says_that_copies_count_once():
    notes = " ".join(audit(**_table(0, runs=5, kind="quantities")).notes)
    assert "depend on run" in notes
    assert "12 instead of 60" in notes


def test_a_factor_that_changes_targets_or_predictions_is_not_copied():
    cells = np.indices((4, 4, 3)).reshape(3, -1).T
    rng = np.random.default_rng(0)
    fixed, varying = rng.normal(size=(4, 4))[cells[:, 0], cells[:, 1]], rng.normal(size=48)
    index, seen = np.arange(48), cells[:, :2].sum(axis=1) % 3 > 0

    def copied(*values):
        return copied_factors(cells, seen, [one[:, None] for one in values], index)

    assert copied(fixed) == (2,)
    assert copied(fixed, varying) == ()
    assert copied(fixed + 0.1 * cells[:, 2]) == ()  # a weak effect is one
    assert copied(fixed, np.ones(48)) == (2,)  # what does not vary says nothing
    assert copied(np.ones(48)) == ()


@pytest.mark.parametrize("kind", ["labels", "quantities"])
def test_copies_are_found_if_all_unseen_predictions_are_equal(kind):
    arguments = _table(0, runs=5, kind=kind)
    arguments["prediction"] = np.where(arguments["seen"], arguments["target"], 2)
    report = audit(**arguments)
    assert report.by_cell.copied == (2,)
    assert report.scores.unseen.pair == pytest.approx(
        audit(
            **{**_table(0, runs=1, kind=kind), "prediction": arguments["prediction"][::5]}
        ).scores.unseen.pair
    )


def test_right_predictions_that_ignore_a_factor_are_not_copies():
    """A classifier of digits in several colours: every colour is a test of its own."""
    arguments = _table(0, runs=5, kind="labels")
    report = audit(**{**arguments, "prediction": arguments["target"]})
    assert report.by_cell.copied == ()
    assert report.finding("composes").holds


def test_text_scored_by_a_function_counts_copies_once():
    arguments = _table(0, runs=5, kind="labels")
    words = {name: np.array([f"class {one}" for one in arguments[name]]) for name in ("target", "prediction")}
    report = audit(**arguments | words, text=lambda target, answer: float(target == answer))
    assert report.by_cell.copied == (2,)
    assert not report.conditions


def test_seen_and_unseen_cells_are_different_units():
    cells = np.indices((2, 2)).reshape(2, -1).T
    unit = units_without(cells, (1,), np.array([True, False, True, True]))
    assert unit[0] != unit[1]
    assert unit[2] == unit[3]
    assert one_of_each(np.array([1, 2, 3]), unit).tolist() == [1, 2]


def test_limits_and_sentences_count_units():
    """Four unseen combinations are too few to name a cause, however many runs repeat them."""
    rng = np.random.default_rng(0)
    a, b, run = np.indices((4, 4, 8)).reshape(3, -1)
    target = rng.normal(size=(4, 4))
    seen = ~np.eye(4, dtype=bool)
    predicted = np.where(seen, target, rng.normal(size=(4, 4)))
    report = audit(
        factors={"a": a, "b": b, "run": run},
        seen=seen[a, b],
        target=target[a, b],
        prediction=predicted[a, b],
    )
    assert (report.scores.cells_unseen, report.scores.units_unseen) == (32, 4)
    assert "rests on few unseen cells" in " ".join(report.notes)
    said = " ".join([report.verdict, *(report.finding(one).explanation for one in CAUSES)])
    assert "4 independent unseen" in said
    assert "32 unseen" not in said
