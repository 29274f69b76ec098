"""Audits of models trained as a user would train them, whose behaviour is known by other means."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from recombine import audit

TASKS = {
    "sum": lambda a, b, c: a + b + c,
    "product": lambda a, b, c: (1 + a) * (1 + b),
    "sales": lambda a, b, c: np.exp(0.3 * a + 0.4 * b + 0.2 * c),
}


def table(task, *, seed=0, rows=5):
    """Inputs, targets with a little noise, and which rows are seen; three ordered factors."""
    rng = np.random.default_rng(seed)
    cells = np.indices((6, 6, 4)).reshape(3, -1).T
    seen = rng.random(len(cells)) > 0.3
    row = np.repeat(np.arange(len(cells)), rows)
    x = cells[row].astype(float)
    return x, TASKS[task](*x.T) + 0.3 * rng.normal(size=len(x)), seen[row]


def audited(model, task, **settings):
    x, y, seen = table(task, **settings)
    model.fit(x[seen], y[seen])
    factors = {name: x[:, i] for i, name in enumerate("abc")}
    return audit(factors=factors, seen=seen, target=y, prediction=model.predict(x))


@pytest.mark.parametrize("task", ["sum", "product"])
def test_a_model_that_underfits_does_not_look_up_its_memory(task):
    """Trees of depth 3 are as wrong on seen cells as on unseen ones."""
    report = audited(RandomForestRegressor(100, max_depth=3, random_state=0), task)
    assert report.scores.ratio.value < 2
    assert report.finding("memorisation_leak").holds is not True
    assert report.finding("composes").holds is not False
    assert "It has not learned the seen ones fully" in report.verdict


def test_full_trees_on_multiplicative_sales_do_look_up_their_memory():
    report = audited(RandomForestRegressor(100, random_state=0), "sales")
    assert report.finding("memorisation_leak").holds
    assert "repeats what it stored" in report.verdict


def test_an_error_that_grows_many_times_is_not_said_to_be_like_that_on_seen_cells():
    """A constant is so much worse that the unseen error seems small next to it."""
    report = audited(GradientBoostingRegressor(random_state=0), "sales")
    errors = report.errors
    assert errors["unseen_over_seen"]["interval"][0] > 2
    assert errors["unseen_over_seen"]["estimate"] == pytest.approx(
        errors["unseen"]["estimate"] / errors["seen"]["estimate"]
    )
    assert "like seen ones" not in report.verdict
    assert "times as large" in report.verdict
    assert "times the error" in str(report)


def test_a_shortcut_that_is_not_worth_taking_is_not_named():
    """Modular addition: the commonest label of a level is right by chance, on the cells from which it was taken."""
    rng = np.random.default_rng(0)
    a, b = np.indices((17, 17)).reshape(2, -1)
    seen, label = rng.random(len(a)) < 0.6, (a + b) % 17
    predicted = np.where(seen, label, rng.integers(17, size=len(label)))
    report = audit(
        factors={"a": a, "b": b}, seen=seen, target=label, prediction=predicted, kind="classification"
    )
    rules = report.forecast.advice.shortcuts
    assert all(rule.train > rule.base for rule in rules)
    assert all(rule.gain < 0 and not rule.misleads for rule in rules)
    assert not any("shortcut" in remedy.to_dict()["id"] for remedy in report.remedies)


def test_a_shortcut_that_is_worth_taking_is_named():
    """The colour predicts four of five training labels, and the wrong one everywhere else."""
    rng = np.random.default_rng(0)
    colour, shape = np.indices((10, 10)).reshape(2, -1)
    label = (shape % 2).astype(int)
    seen = (colour % 2 == label) | (rng.random(100) < 0.2)
    report = audit(
        factors={"colour": colour, "shape": shape},
        seen=seen,
        target=label,
        prediction=colour % 2,
        kind="classification",
    )
    first = report.forecast.advice.shortcuts[0]
    assert first.misleads
    assert first.gain > 0.3
    assert report.finding("shortcut").holds


def several(scales, *, seed=0):
    """Three outputs of two factors: two sums, which are predicted well, and one that fails on unseen cells."""
    rng = np.random.default_rng(seed)
    a, b = np.indices((8, 8)).reshape(2, -1)
    seen = rng.random(64) > 0.3
    target = np.stack([a + b, a - b, 1.0 * a * b], axis=1) * scales
    prediction = target + 0.01 * scales * rng.normal(size=target.shape)
    prediction[~seen, 2] = target[rng.permutation(np.flatnonzero(seen))[: (~seen).sum()], 2]
    return {"a": a, "b": b}, seen, target, prediction


@pytest.mark.parametrize("scales", [(1, 1, 1), (1000, 1, 1), (1, 1000, 1e-6)])
def test_no_output_hides_the_failure_of_another(scales):
    factors, seen, target, prediction = several(np.array(scales, dtype=float))
    report = audit(factors=factors, seen=seen, target=target, prediction=prediction)
    assert [one.composes for one in report.by_output.scores] == [True, True, False]
    assert report.finding("composes").holds is False
    assert "This is about output 3 (1 of 3 outputs); in the others it composes." in report.verdict
    assert [one["composes"] for one in report.to_dict()["errors"]["by_output"]] == [True, True, False]
    assert "output 3 no" in str(report)
    assert "Every output by itself" in report.page().html()


def test_outputs_that_all_compose_are_judged_together():
    factors, seen, target, _ = several(np.array([1.0, 1000.0, 1.0]))
    report = audit(factors=factors, seen=seen, target=target, prediction=target)
    assert report.finding("composes").holds
    assert report.by_output.sentence == ""
