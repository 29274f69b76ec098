"""Tasks of independent parts: the published constants, and the laws of the inputs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.tasks import modular_task, sine_functions

PUBLISHED = {
    145: {
        "amplitude": [0.784913, 0.700609, 0.859174, 0.724108],
        "frequency": [1.313161, 1.479035, 1.237395, 0.857357],
        "phase": [4.383000, 3.112341, 5.957863, 3.598351],
        "first": [-1.303291, -1.631225, -1.726323, 1.674598],
    },
    4: {
        "amplitude": [0.990109, 0.864170, 0.991805, 0.914445],
        "frequency": [1.376820, 0.702525, 1.766784, 0.408722],
        "phase": [1.589535, 2.731876, 4.897007, 1.242092],
        "first": [1.451973, 1.933603, -1.344631, 0.389336],
    },
}
"""By the seed: the main task and that of a modular in front of a dense block."""


@pytest.mark.parametrize("draw", PUBLISHED)
def test_published_constants(draw: int) -> None:
    sines, task = sine_functions(draw=draw), modular_task(draw=draw)
    for name in ("amplitude", "frequency", "phase"):
        np.testing.assert_allclose(getattr(sines, name), PUBLISHED[draw][name], atol=5e-7)
    np.testing.assert_allclose(task.inputs[0], PUBLISHED[draw]["first"], atol=6e-7)
    np.testing.assert_allclose(task.targets, sines(task.inputs.astype(float)), atol=1e-6)
    assert (len(task.train), len(task.rows_in), len(task.rows_out)) == (1000, 1000, 1000)
    np.testing.assert_array_equal(task.train, np.arange(1000))


@given(st.integers(1, 8), st.integers(0, 100))
@settings(max_examples=30)
def test_every_output_depends_on_its_own_input(modules: int, seed: int) -> None:
    task = modular_task(modules=modules, train=20, test=10, draw=None, seed=seed)
    sines = sine_functions(modules, draw=seed)
    for module in range(modules):
        a, w, p = (getattr(sines, name)[module] for name in ("amplitude", "frequency", "phase"))
        expected = a * np.sin(w * task.inputs[:, module] + p)
        np.testing.assert_allclose(task.targets[:, module], expected, atol=1e-5)
        assert 0.7 <= a <= 1
        assert 0.4 <= w <= (1.8 if modules <= 4 else 0.8)
        assert 0 <= p <= 2 * np.pi
    assert np.abs(task.inputs).max() <= 2


def test_the_draw_is_fixed_or_follows_the_seed() -> None:
    fixed = [modular_task(train=5, test=5, seed=seed).inputs for seed in (0, 1)]
    np.testing.assert_array_equal(*fixed)
    drawn = [modular_task(train=5, test=5, draw=None, seed=seed).inputs for seed in (0, 1)]
    assert not np.array_equal(*drawn)
    np.testing.assert_array_equal(drawn[1], modular_task(train=5, test=5, draw=1).inputs)


def test_fewer_rows_are_the_beginning_of_more() -> None:
    """So that a sweep over the number of samples only adds some; the functions stay the same."""
    few, many = (modular_task(train=n, test=10) for n in (30, 300))
    np.testing.assert_array_equal(few.inputs[:30], many.inputs[:30])


def test_identity() -> None:
    task = modular_task(functions="identity")
    np.testing.assert_array_equal(task.inputs, task.targets)
    np.testing.assert_array_equal(task.inputs, modular_task().inputs)


def test_sparse_inputs_keep_one_value() -> None:
    task, dense = modular_task(inputs="sparse"), modular_task()
    kept = task.inputs != 0
    assert (kept.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(task.inputs[kept], dense.inputs[kept])
    np.testing.assert_allclose(kept.mean(axis=0), 0.25, atol=0.05)


@pytest.mark.parametrize(("modules", "side"), [(2, 5), (3, 10), (4, 2)])
def test_a_grid_has_every_combination_once(modules: int, side: int) -> None:
    task = modular_task(modules=modules, train=side**modules, inputs="grid")
    rows = task.inputs[task.train]
    assert len(np.unique(rows, axis=0)) == side**modules
    np.testing.assert_allclose(np.unique(rows), np.linspace(-2, 2, side), rtol=1e-6)
    test = task.inputs[task.rows_out]
    assert len(np.unique(test[:, 0])) == 1000  # uniform


@pytest.mark.parametrize(("permuted", "published"), [(0.0, 1.0), (0.25, 0.644), (0.5, 0.405), (1.0, 0.030)])
def test_correlated_inputs(permuted: float, published: float) -> None:
    """Mean absolute correlation of two inputs; each input has the same values in another order."""
    task = modular_task(inputs="correlated", permuted=permuted)
    rows = task.inputs[task.train]
    for module in range(4):
        np.testing.assert_array_equal(np.sort(rows[:, module]), np.sort(rows[:, 0]))
    result = np.mean([abs(np.corrcoef(rows[:, i], rows[:, j])[0, 1]) for i, j in combinations(range(4), 2)])
    assert result == pytest.approx(published, abs=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modules": 0}, "modules: got 0, expected a whole number, at least 1"),
        ({"train": 0}, "train: got 0, expected a whole number, at least 1"),
        ({"test": 0}, "test: got 0"),
        ({"functions": "cosine"}, "functions: got 'cosine', expected 'sine' or 'identity'"),
        ({"inputs": "normal"}, "inputs: got 'normal', expected 'uniform', 'sparse', 'grid' or 'correlated'"),
        ({"permuted": 1.5}, "permuted: got 1.5, expected a share from 0 to 1"),
        ({"permuted": 0.5}, "permuted: got 0.5, expected 0, or inputs='correlated'"),
        ({"frequencies": (2.0, 1.0)}, r"frequencies: got \(2.0, 1.0\), expected a lower and an upper bound"),
        ({"inputs": "grid"}, "train: got 1000, expected a whole number to the power of 4, such as 1296"),
        (
            {"inputs": "grid", "train": 1},
            "train: got 1, expected a whole number to the power of 4, such as 16",
        ),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        modular_task(**settings)
