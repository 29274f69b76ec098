"""Symbolic tasks have the published tables."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.tasks import (
    addition,
    context_dependence,
    dispersed_addition,
    invariance,
    logical,
    partial_exposure,
    transitive_chain,
    transitive_equivalence,
    transitive_ordering,
    transverse_patterning,
)


def counts(task):
    return len(task.rows_in), len(task.rows_out)


@pytest.mark.parametrize(
    ("anchors", "sizes", "squares"),
    [
        ("extrapolation", (17, 64), (7.059, 15)),
        ("interpolation", (32, 49), (21.5, 8)),
        ("both", (32, 49), (11, 14.857)),
        ("asymmetric", (17, 64), (20.235, 11.5)),
    ],
)
def test_addition(anchors, sizes, squares):
    task = addition(anchors=anchors)
    assert counts(task) == sizes
    results = [np.mean(task.targets[rows] ** 2) for rows in (task.rows_in, task.rows_out)]
    np.testing.assert_allclose(results, squares, atol=5e-4)
    assert task.inputs.shape == (81, 18)


def test_dispersed_addition():
    rows = [[7, 8], [0, 1], [1, 2], [4, 5], [2, 3], [5, 6], [0, 8], [6, 7], [3, 4]]
    seen = dispersed_addition(seed=1).split.seen.reshape(9, 9)
    assert [np.flatnonzero(row).tolist() for row in seen] == rows
    assert counts(dispersed_addition(seed=5)) == (18, 63)


@pytest.mark.parametrize(
    ("hidden", "sizes", "alone"), [(3, (54, 18), 2 / 3), (2, (64, 8), 0.5625), (1, (70, 2), 0.5143)]
)
def test_context_dependence(hidden, sizes, alone):
    task = context_dependence(hidden=hidden)
    assert counts(task) == sizes
    context, target = task.split.space.cells[:, 0], task.targets.ravel()
    by_context = np.array([np.sign(target[task.split.seen & (context == c)].sum()) for c in (0, 1)])
    assert np.mean(by_context[context[task.rows_in]] == target[task.rows_in]) == pytest.approx(
        alone, abs=5e-5
    )
    assert not (by_context[context[task.rows_out]] == target[task.rows_out]).any()


@pytest.mark.parametrize(
    ("classes", "hubs", "sizes"),
    [((2, 2), (1, 1), (12, 4)), ((5, 5), (1, 1), (36, 64)), ((5, 5), (4, 4), (96, 4))],
)
def test_transitive_equivalence(classes, hubs, sizes):
    task = transitive_equivalence(classes=classes, hubs=hubs)
    assert counts(task) == sizes
    assert set(task.targets.ravel()) == {-1, 1}


def test_transitive_chain():
    task = transitive_chain()
    assert counts(task) == (28, 8)
    assert sorted(task.targets[task.rows_out].ravel().tolist()) == [-1] * 4 + [1] * 4


def test_transitive_ordering():
    task = transitive_ordering()
    assert counts(task) == (12, 30)
    first, second = task.split.space.cells[task.cell].T
    np.testing.assert_array_equal(task.targets.ravel(), np.where(first < second, 1, -1))


def test_small_tables():
    assert counts(invariance()) == (2, 2)
    assert counts(partial_exposure()) == (3, 1)
    assert partial_exposure().targets.ravel().tolist() == [-1, -1, 1, 1]
    assert logical(operation="and").targets.ravel().tolist() == [-1, -1, -1, 1]
    assert logical(operation="or").targets.ravel().tolist() == [-1, 1, 1, 1]
    assert logical(operation="xor").targets.ravel().tolist() == [-1, 1, 1, -1]
    task = transverse_patterning()
    assert counts(task) == (6, 0)
    assert task.targets.sum() == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: addition(anchors="middle"), "anchors: got 'middle'"),
        (lambda: addition(anchors=[9]), "at least one level index from 0 to 8"),
        (lambda: addition(anchors=[]), "at least one level index"),
        (lambda: dispersed_addition(n=1), "n: got 1"),
        (lambda: context_dependence(hidden=4), "hidden: got 4"),
        (lambda: transitive_equivalence(classes=(2,), hubs=(1,)), "two or more class sizes"),
        (lambda: transitive_equivalence(hubs=(3, 1)), "hubs: got (3, 1)"),
        (lambda: transitive_ordering(n=2), "at least 3 items"),
        (lambda: logical(operation="nand"), "operation: got 'nand'"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError) as error:
        make()
    assert message in str(error.value)
