from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from recombine.errors import InputError
from recombine.metrics.connectivity import assign_known, assign_unknown, choose_modules, influence
from recombine.metrics.connectivity.clusters import k_means
from recombine.metrics.connectivity.graph import layer_modularity

CHAIN = (np.ones((2, 3)), np.ones((3, 2)))


def blocks(modules: int, sizes: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [block_diag(*rng.normal(size=(modules, a, b)) / a**0.5) for a, b in pairwise(sizes)]


def test_influence_is_a_product_of_sizes() -> None:
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in ((3, 4), (4, 5), (5, 2))]
    expected = np.abs(weights[0]) @ np.abs(weights[1]) @ np.abs(weights[2])
    np.testing.assert_allclose(influence(weights)[3].T, expected)
    np.testing.assert_allclose(influence(weights, [0, 1, 0])[3][:, 0], expected[[0, 2]].sum(axis=0))


@pytest.mark.parametrize("by", ["newman", "gap"])
@pytest.mark.parametrize("modules", [2, 4, 8])
@pytest.mark.parametrize("sizes", [(1, 8, 8, 1), (1, 8, 8, 8, 1), (2, 6, 6, 6, 6, 6, 2)], ids=str)
def test_the_number_of_equal_modules(by: Any, modules: int, sizes: tuple[int, ...]) -> None:
    """Also where a net is deep: a chain of layers could be cut between early and late ones."""
    assert choose_modules(blocks(modules, sizes), by=by) == modules


@pytest.mark.parametrize("by", ["newman", "gap"])
def test_as_many_modules_as_are_tried(by: Any) -> None:
    assert choose_modules(blocks(3, (1, 5, 1)), by=by, max_modules=3) == 3
    assert choose_modules([np.ones((1, 1))], by=by) == 1


def test_early_and_late_layers_are_not_modules() -> None:
    dense = (np.ones((3, 3)),) * 5
    cut = [np.full(3, int(layer > 2)) for layer in range(6)]
    assert layer_modularity(dense, cut) == pytest.approx(0)
    assert layer_modularity(blocks(4, (2, 3, 2)), [np.arange(4).repeat(n) for n in (2, 3, 2)]) > 0.6


def test_hidden_units_that_nothing_reaches_are_dead() -> None:
    first = np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    second = np.array([[1.0, 0.1], [0.1, 1.0], [1.0, 1.0]])
    assert [labels.tolist() for labels in assign_known((first, second))] == [[0, 1], [0, 1, -1], [0, 1]]


@given(st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=30)
def test_k_means_finds_points_that_lie_apart(clusters: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = 10 * np.eye(clusters)
    labels = rng.permutation(np.arange(clusters).repeat(4))
    result = k_means(centres[labels] + rng.uniform(-1, 1, size=(len(labels), clusters)), clusters, seed=seed)
    assert len(set(zip(result, labels, strict=True))) == len(set(result)) == clusters


def test_k_means_with_fewer_points_than_clusters() -> None:
    assert len(set(k_means(np.array([[0.0], [1.0], [1.0]]), 3))) == 2


@pytest.mark.parametrize("modules", [0, 8])
def test_more_modules_than_units(modules: int) -> None:
    with pytest.raises(
        InputError, match=f"modules: got {modules}, expected a number from 1 to 7, the live units"
    ):
        assign_unknown(CHAIN, modules)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inputs": [0]}, r"inputs: got \[0\], expected a module number, 0 or more, for each of 2 units"),
        ({"inputs": [0, -1]}, r"inputs: got \[0, -1\]"),
        ({"inputs": [0.0, 1.0]}, r"inputs: got \[0.0, 1.0\]"),
        (
            {"outputs": [0, 1, 1]},
            r"outputs: got \[0, 1, 1\], expected a module number, 0 or more, for each of 2",
        ),
        (
            {"outputs": [0, 2]},
            r"outputs: got \[0, 2\], expected module numbers from 0 to 1, as the inputs have",
        ),
    ],
)
def test_bad_modules(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        assign_known(CHAIN, **settings)


def test_bad_choices() -> None:
    with pytest.raises(InputError, match="by: got 'luck', expected 'newman' or 'gap'"):
        choose_modules(CHAIN, by="luck")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="max_modules: got 0, expected 1 or more"):
        choose_modules(CHAIN, max_modules=0)
