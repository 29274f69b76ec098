"""Slots whose parts are known, hidden by a change of basis."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from recombine.errors import InputError
from recombine.metrics.interaction import hessian_parts, jacobian_parts, slot_parts, third_parts


def symmetric(rng, outputs, sizes, order):
    """Random symmetric tensors that are zero across blocks, in a random basis."""
    d = sum(sizes)
    raw = rng.normal(size=(outputs, *[d] * order))
    tensor = sum(
        np.moveaxis(raw, range(1, order + 1), [i + 1 for i in p]) for p in permutations(range(order))
    )
    owner = np.repeat(np.arange(len(sizes)), sizes)
    indices = np.indices([d] * order)
    tensor = tensor * (owner[indices] == owner[indices[0]]).all(axis=0)
    left, _, right = np.linalg.svd(rng.normal(size=(d, d)))
    basis = (
        left @ np.diag(np.linspace(0.5, 2.0, d)) @ right
    )  # far from singular, which no test could see through
    for axis in range(1, order + 1):
        tensor = np.moveaxis(np.tensordot(tensor, basis, axes=([axis], [0])), -1, axis)
    return tensor


SIZES = st.sampled_from([(4,), (2, 2), (3, 1), (2, 1, 1), (3, 2)])


@given(SIZES, st.integers(0, 10_000))
@settings(max_examples=40)
def test_hidden_blocks_of_hessians_are_found(sizes, seed):
    """A block of one latent is always whole, as its one number is not zero."""
    splitting = hessian_parts(symmetric(np.random.default_rng(seed), 8, sizes, 2))
    assert splitting.parts == splitting.dimension == len(sizes)
    assert splitting.holds == (len(sizes) == 1)
    assert splitting.margin > 1e3


@given(SIZES, st.integers(0, 10_000))
@settings(max_examples=20)
def test_hidden_blocks_of_third_derivatives_are_found(sizes, seed):
    splitting = third_parts(symmetric(np.random.default_rng(seed), 4, sizes, 3))
    assert splitting.parts == splitting.dimension == len(sizes)


@given(SIZES, st.integers(0, 10_000))
@settings(max_examples=40)
def test_hidden_components_of_jacobians_are_found(sizes, seed):
    rng = np.random.default_rng(seed)
    blocks = block_diag(*(rng.normal(size=(size + 3, size)) for size in sizes))
    basis = rng.normal(size=(sum(sizes), sum(sizes))) + 2 * np.eye(sum(sizes))
    splitting = jacobian_parts(rng.permutation(blocks) @ basis)
    assert splitting.parts == len(sizes)


def test_few_outputs_leave_a_large_centroid():
    rng = np.random.default_rng(0)
    assert [hessian_parts(symmetric(rng, n, (4,), 2)).dimension for n in (1, 2, 3, 5)] == [10, 4, 1, 1]


def test_a_rotation_that_no_real_basis_splits():
    """Hessians of the real and imaginary part of (x + iy)²: the centroid is the complex numbers."""
    splitting = hessian_parts(np.array([[[1.0, 0.0], [0.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]]]))
    assert (splitting.dimension, splitting.parts, splitting.holds) == (2, None, False)


def test_slots_that_do_not_act():
    assert hessian_parts(np.zeros((3, 2, 2))).parts == 0
    assert jacobian_parts(np.zeros((3, 2))).parts == 0
    assert third_parts(np.zeros((3, 1, 1, 1))).parts == 0
    assert hessian_parts(np.ones((1, 1, 1))).holds
    assert jacobian_parts(np.array([[1.0, 1.0], [2.0, 2.0]])).parts == 2  # one direction is felt, one is not


def test_the_margin_shows_a_weak_link():
    """Two blocks that are joined by a thousandth."""
    rng = np.random.default_rng(0)
    apart = np.stack([block_diag(*(m + m.T for m in rng.normal(size=(2, 2, 2)))) for _ in range(6)])
    bridge = np.zeros((6, 4, 4))
    bridge[:, 0, 3] = bridge[:, 3, 0] = 1e-3
    weak = hessian_parts(apart + bridge)
    assert weak.holds
    assert 1e-5 < weak.kept < 1e-2
    assert hessian_parts(apart + bridge, tolerance=0.03).parts == 2
    link = jacobian_parts(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-4]]))
    assert link.holds
    assert link.kept < 1e-3


def test_of_a_decoder():
    import jax.numpy as jnp

    def decoder(z):
        a, b = z[:2], z[2:]
        return jnp.concatenate([jnp.stack([a[0] ** 2 * a[1], a[1] ** 3, a[0] ** 3]), b**3, z])

    point = [0.3, 0.4, 0.5, 0.6]
    assert [part.parts for part in slot_parts(decoder, point, 2, order=2)] == [1, 2]
    assert [part.parts for part in slot_parts(decoder, point, 2, order=0)] == [1, 2]
    by_hand = slot_parts(lambda z: np.asarray(decoder(z)), point, 2, order=0, tolerance=1e-3)
    assert [part.parts for part in by_hand] == [1, 2]


def test_bad_derivatives():
    with pytest.raises(InputError, match=r"derivatives: got 'shape \(3, 2\)', expected \(outputs, d, d\)"):
        hessian_parts(np.ones((3, 2)))
    with pytest.raises(InputError, match="expected finite numbers"):
        jacobian_parts(np.full((2, 2), np.nan))
    with pytest.raises(InputError, match="order: got 3, expected 0, 1 or 2"):
        slot_parts(np.sin, [0.0, 1.0], 2, order=3)
