from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.metrics.connectivity import (
    in_block_mass,
    layered_graph,
    newman,
    newman_modularity,
    newman_null,
)


@st.composite
def nets(draw: st.DrawFn) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """A dense net and labels without any relation to it, some of them dead."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(2, 6), min_size=2, max_size=4))
    weights = [rng.normal(size=pair) for pair in pairwise(sizes)]
    labels = [rng.integers(-1, 3, size=size) for size in sizes]
    for values in labels:
        values[0] = 0  # at least one unit of every layer is alive
    return weights, labels


@given(nets())
@settings(max_examples=40)
def test_newman_modularity_by_its_definition(net: tuple[list[np.ndarray], list[np.ndarray]]) -> None:
    weights, labels = net
    graph, groups = layered_graph(weights), np.concatenate(labels)
    alive = groups >= 0
    graph, groups = graph[np.ix_(alive, alive)], groups[alive]
    expected, twice = 0.0, graph.sum()
    for i in range(len(groups)):
        for j in range(len(groups)):
            if groups[i] == groups[j]:
                expected += (graph[i, j] - graph[i].sum() * graph[j].sum() / twice) / twice
    assert newman(graph, groups) == pytest.approx(expected, abs=1e-12)
    assert newman_modularity(weights, labels) == pytest.approx(expected, abs=1e-12)


@given(nets())
@settings(max_examples=40)
def test_in_block_mass_by_its_definition(net: tuple[list[np.ndarray], list[np.ndarray]]) -> None:
    weights, labels = net
    for power in (1.0, 2.0):
        mass = in_block_mass(weights, labels, power=power)
        for layer, matrix in enumerate(weights):
            inside = total = pairs = same = 0.0
            for i, before in enumerate(labels[layer]):
                for j, after in enumerate(labels[layer + 1]):
                    if min(before, after) >= 0:
                        size = abs(matrix[i, j]) ** power
                        inside, total = inside + size * (before == after), total + size
                        pairs, same = pairs + 1, same + (before == after)
            assert mass["mass"][layer] == pytest.approx(inside / total)
            assert mass["chance"][layer] == pytest.approx(same / pairs)


def test_one_module_has_no_score() -> None:
    mass = in_block_mass([np.ones((2, 3))], [[0, 0], [0, 0, 0]])
    assert mass["mass"] == mass["chance"] == 1
    assert np.isnan(mass["score"]).all()


def test_the_layered_graph_is_symmetric_and_joins_only_neighbours() -> None:
    weights = [np.arange(1.0, 7).reshape(2, 3), -np.arange(1.0, 4).reshape(3, 1)]
    graph = layered_graph(weights)
    np.testing.assert_array_equal(graph, graph.T)
    np.testing.assert_array_equal(graph[:2, 2:5], weights[0])
    np.testing.assert_array_equal(graph[2:5, 5:], -weights[1])
    assert graph.sum() == 2 * (21 + 6)


def test_shuffled_nets_keep_dead_units_dead() -> None:
    """With one live pair per layer there is nothing to shuffle: no spread, no score."""
    null = newman_null([np.ones((2, 2))], [[0, -1], [-1, 1]])
    assert null["null_std"] == 0
    assert np.isnan(null["z"])


SQUARE, CHAIN = np.ones((2, 2)), [np.ones((2, 3)), np.ones((3, 2))]


@pytest.mark.parametrize(
    ("graph", "labels", "message"),
    [
        (np.ones((2, 3)), [0, 1], r"graph: got 'shape \(2, 3\)', expected a square matrix"),
        (SQUARE * np.nan, [0, 1], "graph: got 'values below 0 or not finite'"),
        (-SQUARE, [0, 1], "graph: got 'values below 0 or not finite'"),
        (
            np.triu(SQUARE),
            [0, 1],
            "graph: got 'a matrix that differs from its transpose', expected a symmetric",
        ),
        (SQUARE, [0], r"labels: got 'shape \(1,\)', expected a module number for each of 2 units"),
        (0 * SQUARE, [0, 1], "graph: got 'no connection', expected at least one"),
    ],
)
def test_bad_graphs(graph: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        newman(graph, labels)


def test_bad_labels() -> None:
    short = [[0, 1], [0, 1], [0, 1]]
    for measure in (in_block_mass, newman_modularity, newman_null):
        with pytest.raises(
            InputError, match=r"labels: got .*, expected module numbers for \[2, 3, 2\] units"
        ):
            measure(CHAIN, short)
    dead = [[-1, -1], [-1, -1, -1], [-1, -1]]
    with pytest.raises(
        InputError, match="weights: got 'no connection between live units', expected at least one"
    ):
        newman_modularity(CHAIN, dead)
    with pytest.raises(InputError, match=r"weights\[0\]: got 'only zeros between live units'"):
        in_block_mass(CHAIN, dead)
    with pytest.raises(InputError, match="permutations: got 1, expected 2 or more"):
        newman_null(CHAIN, [[0, 1], [0, 1, 1], [0, 1]], permutations=1)
