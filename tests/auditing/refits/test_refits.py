"""Simple models refitted to seen cells: each is exact for its own kind of task, on held-out and on unseen cells."""

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.cells import gather
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.reading import read_audit_inputs
from recombine.auditing.refits import refit_models
from recombine.auditing.refits.kernel_fit import KernelMachine
from recombine.auditing.refits.product_fit import product_fit
from recombine.auditing.seen_cells import SeenCells
from recombine.auditing.units import in_target_units

A, B, C = np.indices((6, 6, 4)).reshape(3, -1)


def tables(target, *, seed=0, prediction=None):
    rng = np.random.default_rng(seed)
    seen = rng.random(len(A)) > 0.3
    prediction = np.where(seen, target, target.mean()) if prediction is None else prediction
    return {"factors": {"a": A, "b": B, "c": C}, "seen": seen, "target": target, "prediction": prediction}


def cells_of(table):
    data = read_audit_inputs(None, **table)
    return gather(data.table, in_target_units(read_outputs(data.target, data.prediction), data.table.seen)[0])


def refits_on(target, **settings):
    """What an audit refits, without everything else that it does."""
    return refit_models(cells_of(tables(target, **settings)), ("a", "b", "c"))


def test_an_audit_has_these_refits():
    target = np.random.default_rng(0).normal(size=6)[A] * np.random.default_rng(1).normal(size=6)[B]
    audited, alone = audit(**tables(target)).refits, refits_on(target)
    assert [one.name for one in audited.models] == [one.name for one in alone.models]
    for one, same in zip(audited.models, alone.models, strict=True):
        assert (one.held_out.value, one.unseen.value) == (same.held_out.value, same.unseen.value)


def effects(rng, size):
    return rng.normal(size=size)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("level:a", lambda r: effects(r, 6)[A]),
        ("additive_1", lambda r: effects(r, 6)[A] + effects(r, 6)[B] + effects(r, 4)[C]),
        ("additive_2", lambda r: r.normal(size=(6, 6))[A, B] + effects(r, 4)[C]),
        ("product", lambda r: r.uniform(0.5, 2, 6)[A] * r.uniform(0.5, 2, 6)[B] * r.uniform(0.5, 2, 4)[C]),
        ("product", lambda r: 3.0 + effects(r, 6)[A] * effects(r, 6)[B] * r.uniform(1, 2, 4)[C]),
    ],
)
def test_the_model_of_the_task_is_best_and_exact(name, task, seed):
    target = task(np.random.default_rng(seed))
    refits = refits_on(target, seed=seed)
    own, constant = refits.named(name), refits.named("constant")
    assert own.unseen.value <= 1e-3 * constant.unseen.value
    assert refits.best.held_out.value <= own.held_out.value + 1e-9 * constant.held_out.value


def test_a_task_without_structure_has_no_better_model_than_a_constant():
    target = np.random.default_rng(0).normal(size=len(A))
    refits = refits_on(target)
    assert refits.best.held_out.value > 0.85 * refits.named("constant").held_out.value


def test_the_kernel_machine_learns_which_factors_matter():
    rng = np.random.default_rng(0)
    target = rng.normal(size=(6, 6))[A, B]  # c does not matter
    index = rng.permutation(len(A))[:100]
    cells = np.stack([A, B, C], axis=1)
    seen = SeenCells("regression", (6, 6, 4), cells[index], target[index, None], np.ones(100, dtype=int))
    relevances = KernelMachine.of(seen).saliences.relevances
    assert relevances[2] < min(relevances[:2])


def test_products_of_every_output_have_their_own_numbers():
    rng = np.random.default_rng(0)
    cells = np.indices((5, 5)).reshape(2, -1).T
    values = np.stack(
        [rng.uniform(1, 2, 5)[cells[:, 0]] * rng.normal(size=5)[cells[:, 1]] for _ in range(3)], axis=1
    )
    known = rng.permutation(25)[:19]
    seen = SeenCells("regression", (5, 5), cells[known], values[known], np.ones(19, dtype=int))
    np.testing.assert_allclose(product_fit(seen, cells), values, atol=1e-4)


def test_held_out_cells_are_predicted_from_the_others():
    """A constant that knew the cell itself would have a smaller error; left out, it is that of the other cells."""
    target = np.random.default_rng(0).normal(size=len(A))
    cells = cells_of(tables(target))
    refits = refit_models(cells, ("a", "b", "c"))
    refit = refits.named("constant")
    inside = cells.inside
    folds = {
        one: np.setdiff1d(inside, [one]) for one in refits.held_out_cells
    }  # leaving out a fold of several changes the mean only a little
    by_hand = [(cells.targets[one, 0] - cells.targets[rest, 0].mean()) ** 2 for one, rest in folds.items()]
    assert refit.held_out.value == pytest.approx(np.mean(by_hand), rel=0.05)


def test_labels_of_which_every_combination_has_its_own_cannot_be_refitted():
    a, b = np.indices((5, 5)).reshape(2, -1)
    seen = np.random.default_rng(0).random(25) > 0.3
    label = np.array([f"{i}-{j}" for i, j in zip(a, b, strict=True)])
    report = audit(factors={"a": a, "b": b}, seen=seen, target=label, prediction=np.roll(label, 1))
    assert report.refits.models == ()
    assert "could be known" not in str(report)


def test_refits_do_not_depend_on_the_scale_of_targets():
    target = np.random.default_rng(0).uniform(0.5, 2, 6)[A] * np.random.default_rng(1).uniform(0.5, 2, 6)[B]
    usual = refits_on(target)
    for scale in (1e-9, 1e9):
        other = refits_on(target * scale)
        for one, same in zip(usual.models, other.models, strict=True):
            assert same.held_out.value / scale**2 == pytest.approx(one.held_out.value, rel=1e-3, abs=1e-6), (
                one.name
            )


def test_nothing_is_refitted_without_seen_or_unseen_targets():
    target = np.where(np.random.default_rng(0).random(len(A)) < 2, np.nan, 1.0)
    report = audit(**tables(target, prediction=np.arange(len(A)) * 1.0))
    assert report.refits.models == ()
    assert refit_models(report.by_cell, ("a", "b", "c")).best is None
