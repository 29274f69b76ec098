"""The verdicts on every task of the theory."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from recombine.theory import separation, task_verdicts


def verdicts(task):
    cells, seen = task.split.space.cells[task.cell], task.split.seen[task.cell]
    labels = task.targets.ravel()
    return task_verdicts(cells[seen], labels[seen], cells[~seen], labels[~seen], task.split.space.shape)


@pytest.mark.parametrize(
    "task",
    [addition(anchors=a) for a in ("extrapolation", "interpolation", "both", "asymmetric")]
    + [dispersed_addition(seed=s) for s in (0, 1)],
    ids=str,
)
def test_addition_is_determined_at_order_one(task):
    verdict = verdicts(task)
    assert verdict.expressible
    assert verdict.fit[1]
    assert verdict.cells[1].determined.all()
    assert verdict.cells[1].certain


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_context_dependence_is_completed_by_the_norm_at_order_two(hidden):
    verdict = verdicts(context_dependence(hidden=hidden))
    assert (verdict.expressible, verdict.expressible_signs) == (True, True)
    assert verdict.fit == {1: False, 2: True}
    assert verdict.fit_signs == {
        1: hidden == 3,
        2: True,
    }  # the shortcut: context and features weigh in, one by one
    assert verdict.cells[1].determined.all()
    assert verdict.cells[2].norm_completed.all()


@pytest.mark.parametrize(
    "task",
    [transitive_equivalence(), transitive_equivalence(classes=(5, 5), hubs=(4, 4)), transitive_chain()],
    ids=str,
)
def test_transitive_equivalence_is_not_expressible(task):
    verdict = verdicts(task)
    assert (verdict.expressible, verdict.expressible_signs) == (False, False)
    if len(task.rows_out) == 4:
        assert verdict.contradiction.tolist() == [0, 1, 2, 3]


def test_transitive_ordering_is_determined_at_odd_distances():
    task = transitive_ordering()
    verdict = verdicts(task)
    assert verdict.expressible_signs
    cells = task.split.space.cells[task.cell[task.rows_out]]
    odd = np.abs(cells[:, 0] - cells[:, 1]) % 2 == 1
    np.testing.assert_array_equal(verdict.cells[1].determined, odd)
    np.testing.assert_array_equal(verdict.cells[1].undetermined, ~odd)
    assert odd.mean() == pytest.approx(0.4)


def test_transverse_patterning_needs_pairs():
    verdict = verdicts(transverse_patterning())
    assert (verdict.fit, verdict.fit_signs) == ({1: False}, {1: False})


@pytest.mark.parametrize("operation", ["and", "or", "xor"])
def test_a_held_out_corner_is_determined_right_or_wrong(operation):
    verdict = verdicts(logical(operation=operation))
    assert verdict.fit[1]
    assert verdict.cells[1].determined.all()


def test_a_new_level_is_completed_by_the_norm():
    assert verdicts(invariance()).cells[1].norm_completed.all()
    assert verdicts(partial_exposure()).cells[1].determined.all()


@given(st.integers(0, 10_000))
def test_a_separation_or_its_certificate(seed):
    rng = np.random.default_rng(seed)
    design, labels = rng.integers(-2, 3, size=(6, 3)).astype(float), rng.choice([-1.0, 1.0], size=6)
    separated = separation(design, labels)
    combined = (separated.certificate * labels) @ design
    np.testing.assert_allclose(combined, 0, atol=1e-6)
    if separated.possible:
        from sklearn.svm import SVC

        assert not separated.certificate.any()
        if len(set(labels)) == 2:
            signed = np.concatenate([design * labels[:, None], -design * labels[:, None]])
            machine = SVC(C=1e8, kernel="linear").fit(signed, np.repeat([1, -1], 6))
            assert machine.score(signed, np.repeat([1, -1], 6)) == 1


@pytest.mark.parametrize("seed", range(10))
def test_least_squares_only_saves_the_linear_program(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    design, labels = rng.integers(-2, 3, size=(6, 4)).astype(float), rng.choice([-1.0, 1.0], size=6)
    quick = separation(design, labels)
    module = import_module("recombine.theory.cell_verdicts")
    monkeypatch.setattr(module, "_least_squares_separates", lambda *_: False)
    assert separation(design, labels).possible == quick.possible


def test_labels_must_be_signs():
    with pytest.raises(InputError, match="labels: got"):
        separation(np.eye(2), np.array([0.0, 1.0]))
