from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.metrics.connectivity import laplacian_spectrum, layer_spectra, similarity


def random_matrix(seed: int, rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, columns))


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(2, 12))
@settings(max_examples=50)
def test_the_eigenvalues_are_those_of_the_random_walk(seed: int, rows: int, columns: int) -> None:
    graph = similarity(random_matrix(seed, rows, columns))
    walk = np.eye(columns) - graph / graph.sum(axis=1, keepdims=True)
    values, vectors = laplacian_spectrum(graph)
    expected = np.sort(scipy.linalg.eig(walk)[0].real)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    degree = np.sqrt(graph.sum(axis=1))
    np.testing.assert_allclose(
        walk @ (vectors / degree[:, None]), vectors / degree[:, None] * values, atol=1e-9
    )


def test_similarity_by_a_loop() -> None:
    matrix = random_matrix(0, 3, 4)
    graph = similarity(matrix)
    for i in range(4):
        for j in range(4):
            a, b = np.abs(matrix[:, i]), np.abs(matrix[:, j])
            assert graph[i, j] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)), abs=1e-6)


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=25)
def test_eigenvalue_k_plus_one_is_one_whatever_the_weights(seed: int, modules: int, per_module: int) -> None:
    """A pattern of K numbers makes a similarity of rank K; so a gap behind K means nothing."""
    width = (per_module + 1) * modules
    weights = [
        random_matrix(seed + layer, *shape) for layer, shape in enumerate([(modules, width), (width, width)])
    ]
    np.testing.assert_allclose(layer_spectra(weights, modules)[:, modules:], 1, atol=1e-5)
    np.testing.assert_allclose(layer_spectra(weights, modules, collapsed=False)[0, modules:], 1, atol=1e-5)


def test_collapsing_by_hand() -> None:
    weights = [random_matrix(0, 2, 4), random_matrix(1, 4, 5)]
    communities = [np.array([0, 1]), np.array([0, 1, 1, 0]), np.zeros(5, dtype=int)]
    rows = np.abs(weights[1])
    collapsed = np.stack([rows[0] + rows[3], rows[1] + rows[2]])
    expected = laplacian_spectrum(similarity(collapsed))[0][:4]
    spectra = layer_spectra(weights, 2, communities=communities)
    np.testing.assert_allclose(spectra[1], expected, atol=1e-9)


def test_small_layers_are_filled_up() -> None:
    spectra = layer_spectra([random_matrix(0, 2, 6), random_matrix(1, 6, 2)], 2)
    assert spectra.shape == (2, 4)
    assert np.isnan(spectra[1]).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((2, 3)), r"graph: got 'shape \(2, 3\)', expected a square matrix, as many rows as columns"),
        (np.array([[1, np.nan], [0, 1]]), "graph: got 'values below 0 or not finite'"),
        (np.array([[1.0, 2.0], [0.5, 1.0]]), "graph: got 'a matrix that differs from its transpose'"),
        (np.diag([1.0, 0.0]), "graph: got 'unit 1 without a connection', expected connected units"),
    ],
)
def test_bad_graphs(graph: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        laplacian_spectrum(graph)


@pytest.mark.parametrize(
    ("modules", "settings", "message"),
    [
        (3, {}, "modules: got 3, expected a number from 1 to 2, the live units of the smallest layer"),
        (0, {}, "modules: got 0"),
        (
            2,
            {"communities": ([0, 1], [0, 1], [0, 1])},
            r"labels: got .*, expected module numbers for \[2, 3, 2\] units",
        ),
        (2, {"live": (np.ones(3, bool),) * 3}, r"live: got \[3, 3, 3\]"),
    ],
)
def test_bad_settings(modules: int, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        layer_spectra([np.ones((2, 3)), np.ones((3, 2))], modules, **settings)
