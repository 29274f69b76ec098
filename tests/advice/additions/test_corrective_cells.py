"""Corrective cells: the fewest cells to add, known answers, symmetry, and bans."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from recombine import advise
from recombine.advice.additions import corrective_cells
from recombine.advice.thresholds import MAX_GREEDY_SIZE, MIN_MARGIN
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.theory import named_profile


def advice_on(task, **settings):
    space = task.split.space
    columns = {f.name: space.cells[:, axis] for axis, f in enumerate(space.factors)}
    table = pl.DataFrame(columns | {"train": task.split.seen, "y": task.targets.ravel().astype(float)})
    return advise(table, factors=space.names, seen="train", target="y", **{"orders": [1]} | settings)


@pytest.fixture(scope="module")
def context():
    return advice_on(context_dependence())


def words(advice):
    return " ".join(str(advice).split())


@pytest.fixture
def search(context):
    labels = context.labels
    allowed = np.ones(len(labels.seen), dtype=bool)
    return corrective_cells._Search(
        labels.cells, labels.values[:, 0], labels.seen, allowed, named_profile("relu:3", 3)
    )


def test_moved_pairs_of_context_dependence(search):
    """Pairs of features that are moved to training in both contexts: accuracy 0, 1/2, 1, 1 on the rest."""
    rng = np.random.default_rng(0)
    first = search.candidates[search.cells[search.candidates, 0] == 0]
    for pairs, expected in enumerate((0, 0.5, 1, 1)):
        chosen = rng.choice(first, size=pairs, replace=False)
        both = [
            c
            for c in search.candidates
            if any((search.cells[c, 1:] == search.cells[d, 1:]).all() for d in chosen)
        ]
        assert len(both) == 2 * pairs
        assert search.accuracy(both) == pytest.approx(expected)
    assert search.accuracy(first[:1]) == pytest.approx(4 / 17)


def test_four_cells_correct_context_dependence_and_no_three_do(context):
    advice = context
    assert advice.corrective_cells.before == 0
    assert advice.corrective_cells.after == 1
    assert len(advice.corrective_cells.cells) == advice.corrective_cells.lower_bound == 4
    assert "adding 4 cells (the minimum) makes it right about all others: (0, 0, 3)," in words(advice)
    plain = advice.to_dict()["flip"]
    assert plain["smallest"]
    assert plain["cells"][0] == {"context": 0, "feature1": 0, "feature2": 3}
    assert "add the 4 corrective cells" in words(advice)


def test_banned_cells_are_not_suggested():
    advice = advice_on(context_dependence(), ban=[{"feature1": 0}])
    assert advice.corrective_cells.before == 0
    assert len(advice.corrective_cells.cells)
    assert not (advice.corrective_cells.cells[:, 1] == 0).any()


def test_errors_without_a_shortcut_are_a_step_as_well():
    cells = np.indices((3, 3)).reshape(2, -1).T
    train = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0], dtype=bool)
    labels = [1, 1, 1, -1, -1, -1, -1, -1, 1]
    table = pl.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "train": train, "y": labels})
    advice = advise(table, factors=["a", "b"], seen="train", target="y", orders=[1])
    assert not any(rule.misleads for rule in advice.shortcuts)
    assert "add the 1 corrective cell" in words(advice)


def test_greedy_searches_prove_nothing():
    advice = advice_on(context_dependence(), salience="relu:1").corrective_cells
    assert advice.after == 1
    assert advice.lower_bound <= len(advice.cells) <= MAX_GREEDY_SIZE
    assert not advice.smallest


def test_nothing_to_correct_and_nothing_that_corrects():
    assert advice_on(context_dependence(), salience="quadratic:3").corrective_cells is None
    assert advice_on(addition()).corrective_cells is None
    hopeless = advice_on(transitive_equivalence())
    assert not len(hopeless.corrective_cells.cells)
    assert "no small set of cells was found" in words(hopeless)


def test_levels_that_are_treated_alike(search):
    assert [kind.tolist() for kind in search.level_kinds] == [[0, 1], [0, 0, 0, 3, 3, 3], [0, 0, 0, 3, 3, 3]]
    cells = np.array([[0, 0, 3], [1, 0, 4]])
    swapped = np.array([[1, 2, 5], [0, 2, 3]])
    assert corrective_cells.canonical_form(cells, search.level_kinds) == corrective_cells.canonical_form(
        swapped, search.level_kinds
    )
    assert corrective_cells.canonical_form(cells, search.level_kinds) != corrective_cells.canonical_form(
        np.array([[0, 0, 3], [0, 0, 4]]), search.level_kinds
    )


def test_sets_of_one_name_have_one_accuracy(search):
    """Symmetry is only used to save time: brute force over all pairs of cells agrees."""
    for chosen in list(combinations(search.candidates.tolist(), 2))[::11]:
        rest, margins = search.margins(chosen)
        assert search.accuracy(chosen) == pytest.approx((margins > MIN_MARGIN).sum() / len(rest))
