"""Wrong labels: estimated from rows of the same cell, and not taken for a failure of the model."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.label_noise import label_noise, voted
from recombine.auditing.outputs import Outputs


def split(rng, sizes, rows):
    """Cells, which of them are seen (every level is), and the cell of every row."""
    cells = np.indices(sizes).reshape(len(sizes), -1).T
    while True:
        seen = rng.random(len(cells)) > 0.3
        covered = all(
            len(np.unique(column[seen])) == size for column, size in zip(cells.T, sizes, strict=True)
        )
        if covered and (~seen).sum() > 4:
            return cells, seen, np.repeat(np.arange(len(cells)), rows)


def labelled(rng, cells, classes):
    """Labels of cells: the largest of several sums of effects."""
    return sum(rng.normal(size=(column.max() + 1, classes))[column] for column in cells.T).argmax(axis=1)


def flipped(rng, labels, share, classes):
    other = (labels + rng.integers(1, classes, size=len(labels))) % classes
    return np.where(rng.random(len(labels)) < share, other, labels)


def audited(seed, sizes, rows, noise, classes=2, *, memory=False):
    """The audit of a perfect composer, or of one that repeats the nearest seen cell, given noisy labels."""
    rng = np.random.default_rng(seed)
    cells, seen, row = split(rng, sizes, rows)
    labels = labelled(rng, cells, classes)
    predicted = labels
    if memory:
        apart = (cells[:, None] != cells[seen]).sum(axis=2)
        predicted = labels[seen][apart.argmin(axis=1)]
    return audit(
        factors={f"f{i}": column[row] for i, column in enumerate(cells.T)},
        seen=seen[row],
        target=flipped(rng, labels[row], noise, classes),
        prediction=predicted[row],
    )


def one_hot(labels, classes):
    return np.eye(classes)[labels]


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_the_share_of_wrong_labels_is_estimated_from_rows_of_the_same_cell(classes, noise):
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(400), 4)
    truth = rng.integers(classes, size=400)[cell]
    targets = one_hot(flipped(rng, truth, noise, classes), classes)
    outputs = Outputs(
        "classification", targets, one_hot(truth, classes), np.ones(1600, bool), (), tuple(range(classes)), ()
    )
    assert label_noise(outputs, cell, np.zeros(1600, bool)) == pytest.approx(noise, abs=0.03)


def test_what_a_model_knows_beyond_the_factors_is_not_noise():
    """The label also depends on something else that the model sees: rows disagree, but the model is right."""
    rng = np.random.default_rng(0)
    cell = np.repeat(np.arange(40), 10)
    truth = (cell + rng.integers(2, size=400)) % 2
    outputs = Outputs(
        "classification", one_hot(truth, 2), one_hot(truth, 2), np.ones(400, bool), (), (0, 1), ()
    )
    assert label_noise(outputs, cell, np.zeros(400, bool)) == 0
    by_heart = label_noise(outputs, cell, np.ones(400, bool))  # training rows alone may be known by heart
    assert by_heart > 0.3


def test_nothing_is_known_about_noise_without_repeated_rows():
    outputs = Outputs(
        "classification",
        one_hot(np.arange(10) % 2, 2),
        np.eye(2)[[0] * 10],
        np.ones(10, bool),
        (),
        (0, 1),
        (),
    )
    assert np.isnan(label_noise(outputs, np.arange(10), np.zeros(10, bool)))


def test_votes_are_the_posterior_of_every_class():
    """Bayes' rule by hand: three labels of class 0 and one of class 2, three classes, 10% noise."""
    found = voted(np.array([[0.75, 0.0, 0.25], [1 / 3, 1 / 3, 1 / 3]]), np.array([4, 3]), 0.1)
    common = np.array([0.75 + 1 / 3, 1 / 3, 0.25 + 1 / 3]) / 2
    weights = common * np.array([0.9**3 * 0.05, 0.05**4, 0.9 * 0.05**3])
    np.testing.assert_allclose(found[0], weights / weights.sum())
    np.testing.assert_allclose(found[1], common / common.sum())


@pytest.mark.parametrize(
    ("sizes", "rows", "noise", "classes"),
    [((6, 6), 4, 0.3, 2), ((6, 6), 20, 0.3, 2), ((6, 6), 20, 0.3, 3), ((3, 3, 3, 3, 3), 4, 0.15, 2)],
)
def test_a_composer_with_noisy_labels_is_not_said_to_fail(sizes, rows, noise, classes):
    reports = [audited(seed, sizes, rows, noise, classes) for seed in range(10)]
    answers = [report.finding("composes").holds for report in reports]
    assert False not in answers
    if rows == 20:
        assert answers.count(True) >= 7
    for report in reports:
        assert not any(report.finding(id).holds for id in ("memorisation_leak", "shortcut", "additive_only"))


def test_memory_is_still_found_behind_noisy_labels():
    reports = [audited(seed, (3, 3, 3, 3, 3), 4, 0.15, memory=True) for seed in range(10)]
    assert sum(report.finding("memorisation_leak").holds is True for report in reports) >= 8
    noisy = "of the labels are wrong, since rows of the same cell disagree"
    assert all(noisy in report.finding("composes").explanation for report in reports)


def test_without_repeated_rows_the_audit_says_that_noise_cannot_be_told():
    report = audited(3, (6, 6), 1, 0.3, 3)
    assert np.isnan(report.scores.label_noise)
    assert "No cell has several rows" in report.finding("composes").explanation


def test_baselines_are_wrong_as_often_as_the_labels_that_they_are_compared_with():
    """A baseline that knows the true labels errs as often as labels are flipped, like the model that knows them."""
    rng = np.random.default_rng(0)
    a, b = np.indices((8, 8)).reshape(2, -1)
    seen = rng.random(64) > 0.3
    row = np.repeat(np.arange(64), 12)
    label = (a >= 4).astype(int)  # a sum of effects
    report = audit(
        factors={"a": a[row], "b": b[row]},
        seen=seen[row],
        target=flipped(rng, label[row], 0.2, 2),
        prediction=label[row],
    )
    additive = report.scores.baselines["additive_1"].value
    assert additive == pytest.approx(0.2, abs=0.05)
    assert additive == pytest.approx(report.scores.unseen.value, abs=0.06)
