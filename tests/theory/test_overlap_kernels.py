"""Similarity and salience are two views of one kernel."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from recombine.errors import InputError
from recombine.theory import OverlapKernel
from recombine.theory.overlap_kernels import set_index, set_sizes

numbers = st.floats(-3, 3, allow_nan=False)
set_functions = st.integers(1, 5).flatmap(lambda c: arrays(float, (2,) * c, elements=numbers))
counts = st.integers(1, 5).flatmap(lambda c: arrays(float, c + 1, elements=numbers))


@given(set_functions)
def test_salience_and_similarity_are_inverse(similarity):
    kernel = OverlapKernel(similarity)
    np.testing.assert_allclose(
        OverlapKernel.from_salience(kernel.salience).similarity, similarity, atol=1e-12
    )


@given(set_functions)
def test_salience_is_inclusion_and_exclusion(similarity):
    factors = similarity.ndim
    sets = np.indices((2,) * factors).reshape(factors, -1).T
    salience = OverlapKernel(similarity).salience
    for j in sets:
        inside = [i for i in sets if (i <= j).all()]
        total = sum((-1) ** int((j - i).sum()) * similarity[tuple(i)] for i in inside)
        assert salience[tuple(j)] == pytest.approx(total, abs=1e-12)


@given(counts)
def test_the_count_form_is_a_special_case(similarity):
    kernel = OverlapKernel.by_count(similarity)
    np.testing.assert_array_equal(kernel.similarity, similarity[set_sizes(kernel.factors)])
    np.testing.assert_allclose(
        OverlapKernel.by_order(_by_order(kernel)).similarity, kernel.similarity, atol=1e-11
    )


def _by_order(kernel):
    index = np.unique(set_sizes(kernel.factors), return_index=True)[1]
    return kernel.salience.ravel()[index]


@given(set_functions, st.data())
def test_the_spectrum_is_that_of_the_whole_grid(similarity, data):
    factors = min(similarity.ndim, 3)
    kernel = OverlapKernel(similarity[(slice(None),) * factors + (0,) * (similarity.ndim - factors)])
    sizes = data.draw(st.tuples(*[st.integers(1, 4)] * factors))
    cells = np.indices(sizes).reshape(factors, -1).T
    values, times = kernel.spectrum(sizes)
    expected = np.sort(np.repeat(values.ravel(), times.ravel()))
    np.testing.assert_allclose(np.linalg.eigvalsh(kernel.gram(cells)), expected, atol=1e-10)
    assert kernel.is_positive(sizes) == (expected.min() >= -1e-8)


def test_a_kernel_compares_cells_by_what_they_share():
    kernel = OverlapKernel([[0.0, 2.0], [1.0, 5.0]])
    similarities = kernel.gram([[0, 0]], [[1, 1], [1, 0], [0, 1], [0, 0]])
    np.testing.assert_array_equal(similarities, [[0, 2, 1, 5]])
    assert kernel.similarity[set_index([1], 2)] == 2


def test_shares_add_up_to_one():
    kernel = OverlapKernel.by_count([0.2, 0.3, 0.5, 0.9])
    assert kernel.normalised.sum() == pytest.approx(1)
    assert kernel.order_shares @ [3, 3, 1] == pytest.approx(1)


def test_lower_orders_can_be_kept_alone():
    kernel = OverlapKernel.by_order([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(kernel.lower().similarity, OverlapKernel.by_order([1, 2, 3, 0]).similarity)
    np.testing.assert_array_equal(kernel.lower(1).similarity, OverlapKernel.by_order([1, 2, 0, 0]).similarity)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OverlapKernel(np.zeros((2, 3))), "similarity: got (2, 3), expected an axis of length 2"),
        (lambda: OverlapKernel([np.nan, 1.0]), "finite numbers"),
        (lambda: OverlapKernel.by_count([1.0]), "a number for 0, 1, ... factors in common"),
        (lambda: OverlapKernel.by_count([0, 1]).gram([[0, 0]]), "cells: got (1, 2), expected (rows, 1)"),
        (lambda: OverlapKernel.by_count([1, 1]).normalised, "more similar to themselves"),
        (lambda: OverlapKernel.by_count([0, 1]).spectrum([2, 2]), "a positive number of levels"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=r".*") as error:
        make()
    assert message in str(error.value)
