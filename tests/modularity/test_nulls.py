"""Newman modularity compared with shuffled nets."""

import numpy as np
import pytest

from recombine.metrics.connectivity import all_live, assign_known, live_units, newman_modularity
from recombine.metrics.connectivity.graph import module_shares, shuffled
from recombine.modularity.module_search import in_order, module_search
from recombine.modularity.nulls import largest_newman, newman_with_nulls


def test_largest_is_reached_without_weight_between_modules(blocks):
    weights = tuple(blocks(4))
    labels = assign_known(weights)
    assert newman_modularity(weights, labels) == pytest.approx(largest_newman(weights, labels))
    equal = (np.kron(np.eye(4), np.ones((2, 2))),) * 2
    assert largest_newman(equal, (np.arange(4).repeat(2),) * 3) == pytest.approx(0.75)


def test_module_shares_leave_out_dead_units():
    weights = (np.array([[1.0, 5.0], [0.0, 5.0]]), np.array([[1.0], [5.0]]))
    labels = (np.array([0, 1]), np.array([0, -1]), np.array([0]))
    assert module_shares(weights, labels).tolist() == [1.0, 0.0]


def test_shuffling_keeps_every_layers_live_weights(dense):
    weights = [matrix.copy() for matrix in dense()]
    weights[0][:, 3] *= 1e-9
    live = live_units(tuple(weights))
    drawn = shuffled(tuple(weights), live, np.random.default_rng(0))
    assert not drawn[0][:, 3].any()
    assert not drawn[1][3].any()
    kept = np.delete(weights[0], 3, axis=1)
    assert sorted(np.delete(drawn[0], 3, axis=1).ravel()) == sorted(kept.ravel())
    assert (drawn[0] != weights[0]).any()


def test_searching_again_is_the_harder_comparison(dense):
    weights = tuple(dense())
    live = all_live(weights)
    find = module_search(weights, live, modules=4, inputs=None, outputs=None, seed=0).find
    newman = newman_with_nulls(weights, live, find(weights), find, permutations=20, searches=20)
    assert newman.kept.mean == pytest.approx(0, abs=0.05)
    assert newman.searched.mean > newman.kept.mean + 3 * newman.kept.std
    assert (newman.kept.shuffles, newman.searched.shuffles) == (20, 20)


def test_numbers_follow_the_units():
    labels = (np.array([2, 2, 0]), np.array([5, 0, -1, 2]))
    assert [values.tolist() for values in in_order(labels)] == [[0, 0, 1], [2, 1, -1, 0]]
