"""Forecasts with labels: the theory's slopes, the loss that decides, and the fewest cells that turn the tide."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq

from recombine import advise
from recombine.advice import flips, forecasts
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


@pytest.mark.parametrize(
    ("anchors", "depth", "slope"),
    [([4], 1, 0.7434), ([4], 2, 0.6016), ([4], 3, 0.5090), ([4], 10, 0.2551), ([0, 8], 1, 0.8528)],
)
def test_slopes_of_addition(anchors, depth, slope):
    found = advice_on(addition(anchors=anchors), salience=f"relu:{depth}").slope
    assert found.slope == pytest.approx(slope, abs=1e-4)
    assert found.slopes[depth - 1] == pytest.approx(slope, abs=1e-4)
    assert found.explained == pytest.approx(1)


def test_the_slope_is_told():
    advice = advice_on(addition())
    assert "rise by 0.51 where the truth rises by 1 (0.26 to 0.74 for random ReLU networks" in words(advice)
    assert advice.to_dict()["slope"]["band"] == pytest.approx([0.2551, 0.7434], abs=1e-4)
    assert advice.losses is None
    assert advice.to_dict()["losses"] is None


def test_large_tables_try_few_depths(monkeypatch):
    monkeypatch.setattr(forecasts, "MOST_FOR_ALL_DEPTHS", 10)
    assert advice_on(addition()).slope.depths == (1, 3, 10)


def test_labels_that_do_not_differ_have_no_slope():
    task = addition(anchors=[0, 1, 2, 3, 4, 5, 6, 7])  # leaves one cell
    assert advice_on(task).slope is None


def test_squared_loss_fixes_the_shortcut(context):
    losses = context.losses
    assert (losses.chosen_margin, losses.chosen_squared) == (0, 1)
    assert losses.passing == (0.3, 1)  # from depth 8 on
    assert losses.squared_helps
    assert "3 of 10 kernel machines" in words(context)
    assert "squared loss would fix it" in words(context)
    assert advice_on(context_dependence(), salience="quadratic:3").losses.squared_helps is None


def test_the_critical_ratio_of_saliences_is_the_closed_form_s(context):
    """CD-3 with S3 fixed: right where 18 S1² < S2 (1 + 12 S1 + 6 S2)."""
    shares = named_profile("relu:3", 3).order_shares
    lower = 3 * (shares[0] + shares[1])

    def excess(ratio):
        pair = lower / (3 * ratio + 3)
        return 18 * (ratio * pair) ** 2 - pair * (1 + 12 * ratio * pair + 6 * pair)

    expected = brentq(excess, 0.1, 10)
    np.testing.assert_allclose(context.losses.critical, expected, rtol=0.02)
    np.testing.assert_allclose(context.losses.ratio, shares[0] / shares[1])
    assert "at most 1.3 times as salient as pairs (here 2.2)" in words(context)


def test_squared_loss_does_not_fix_what_is_out_of_reach():
    advice = advice_on(transitive_equivalence())
    assert advice.losses.squared_helps is False
    assert set(advice.losses.margin) == {0}  # answers are exactly 0; signs of rounding errors are not right
    assert "squared loss would not fix it" in words(advice)


def test_a_margin_that_is_not_found_is_unknown(monkeypatch):
    monkeypatch.setattr(forecasts, "margin_machine", lambda *_: None)
    advice = advice_on(context_dependence(hidden=1))
    assert np.isnan(advice.losses.chosen_margin)
    assert advice.to_dict()["losses"]["chosen"]["margin"] is None
    assert str(advice)


@pytest.fixture
def search(context):
    labels = context.labels
    allowed = np.ones(len(labels.seen), dtype=bool)
    return flips._Search(labels.cells, labels.values[:, 0], labels.seen, allowed, named_profile("relu:3", 3))


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


def test_four_cells_cure_context_dependence_and_no_three_do(context):
    advice = context
    assert advice.flip.before == 0
    assert advice.flip.after == 1
    assert len(advice.flip.cells) == advice.flip.least == 4
    assert "adding 4 cells makes all others right [4 is the least possible]: (0, 0, 3);" in words(advice)
    plain = advice.to_dict()["flip"]
    assert plain["smallest"]
    assert plain["cells"][0] == {"context": 0, "feature1": 0, "feature2": 3}
    assert "add the 4 cells named as a cure" in words(advice)


def test_banned_cells_are_no_cure():
    advice = advice_on(context_dependence(), ban=[{"feature1": 0}])
    assert advice.flip.before == 0
    assert len(advice.flip.cells)
    assert not (advice.flip.cells[:, 1] == 0).any()


def test_what_is_wrong_without_a_shortcut_is_a_step_too():
    cells = np.indices((3, 3)).reshape(2, -1).T
    train = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0], dtype=bool)
    labels = [1, 1, 1, -1, -1, -1, -1, -1, 1]
    table = pl.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "train": train, "y": labels})
    advice = advise(table, factors=["a", "b"], seen="train", target="y", orders=[1])
    assert not any(rule.misleads for rule in advice.shortcuts)
    assert "add the 1 cell named as a cure" in words(advice)


def test_no_cell_of_interest_is_explained():
    cells = np.indices((2, 3)).reshape(2, -1).T[:4]
    table = pl.DataFrame({"a": cells[:, 0], "b": cells[:, 1], "train": [True] * 4})
    advice = advise(table, factors=["a", "b"], seen="train", interest="table")
    assert "no row shows an unseen combination (--interest unseen asks about all 2 of them)" in words(advice)
    assert "every combination" not in words(advice)


def test_greedy_searches_prove_nothing():
    found = advice_on(context_dependence(), salience="relu:1").flip
    assert found.after == 1
    assert found.least <= len(found.cells) <= flips.LARGEST
    assert not found.smallest


def test_nothing_to_cure_and_nothing_that_cures():
    assert advice_on(context_dependence(), salience="quadratic:3").flip is None
    assert advice_on(addition()).flip is None
    hopeless = advice_on(transitive_equivalence())
    assert not len(hopeless.flip.cells)
    assert "no few further training cells were found" in words(hopeless)


def test_levels_that_are_treated_alike(search):
    assert [kind.tolist() for kind in search.alike] == [[0, 1], [0, 0, 0, 3, 3, 3], [0, 0, 0, 3, 3, 3]]
    cells = np.array([[0, 0, 3], [1, 0, 4]])
    swapped = np.array([[1, 2, 5], [0, 2, 3]])
    assert flips.canonical(cells, search.alike) == flips.canonical(swapped, search.alike)
    assert flips.canonical(cells, search.alike) != flips.canonical(
        np.array([[0, 0, 3], [0, 0, 4]]), search.alike
    )


def test_sets_of_one_name_have_one_accuracy(search):
    """Symmetry is only used to save time: brute force over all pairs of cells agrees."""
    for chosen in list(combinations(search.candidates.tolist(), 2))[::11]:
        rest, margins = search.margins(chosen)
        assert search.accuracy(chosen) == pytest.approx((margins > forecasts.RIGHT).sum() / len(rest))
