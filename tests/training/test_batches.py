from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.training.batches import batches


def draw(
    seed: int, rows: int, batch: int, *, sampling: str = "shuffled", start: int = 0, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers and weights, `(steps, batch)` each."""
    index, weights = batches(seed, start, rows=rows, batch=batch, steps=steps, sampling=sampling)
    assert index is not None
    return index, np.ones(index.shape) if weights is None else weights


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(2, 70), data=st.data())
def test_every_epoch_is_a_permutation(seed: int, rows: int, data: st.DataObject) -> None:
    batch = data.draw(st.integers(1, rows - 1))
    per_epoch = -(-rows // batch)
    index, weights = draw(seed, rows, batch, steps=3 * per_epoch)
    for epoch in range(3):
        steps = slice(epoch * per_epoch, (epoch + 1) * per_epoch)
        counted = index[steps][weights[steps] > 0]
        assert sorted(counted.tolist()) == list(range(rows))


@given(
    seed=st.integers(0, 100),
    rows=st.integers(2, 70),
    sampling=st.sampled_from(["shuffled", "replacement", "ordered"]),
    start=st.integers(0, 2000),
    data=st.data(),
)
def test_a_piece_is_the_same_wherever_training_is_cut(
    seed: int, rows: int, sampling: str, start: int, data: st.DataObject
) -> None:
    batch, steps = data.draw(st.integers(1, rows - 1)), data.draw(st.integers(1, 1500))
    whole = draw(seed, rows, batch, sampling=sampling, steps=3500)
    piece = draw(seed, rows, batch, sampling=sampling, start=start, steps=steps)
    for some, all_of_it in zip(piece, whole, strict=True):
        np.testing.assert_array_equal(some, all_of_it[start : start + steps])


def test_all_rows_at_once_need_no_order() -> None:
    assert batches(0, 0, rows=5, batch=5, steps=3, sampling="shuffled") == (None, None)


def test_a_short_batch_counts_only_its_own_rows() -> None:
    _, weights = draw(0, rows=10, batch=4, steps=3)
    np.testing.assert_array_equal(weights[:3], [[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]])


def test_epochs_and_seeds_differ() -> None:
    index, _ = draw(0, rows=12, batch=4, steps=30)
    other, _ = draw(1, rows=12, batch=4, steps=30)
    epochs = index.reshape(-1, 12)
    assert len(np.unique(epochs, axis=0)) == len(epochs)
    assert not np.array_equal(index, other)


def test_ordered_keeps_the_order() -> None:
    index, weights = draw(0, rows=10, batch=4, sampling="ordered", steps=6)
    assert index[:3][weights[:3] > 0].tolist() == list(range(10))
    np.testing.assert_array_equal(index[:3], index[3:6])


def test_replacement_draws_rows_evenly_and_repeats_them() -> None:
    index, weights = draw(0, 10, 4, sampling="replacement", steps=2500)
    counts = np.bincount(index.reshape(-1), minlength=10)
    assert len(counts) == 10
    assert (weights == 1).all()
    np.testing.assert_allclose(counts / counts.sum(), 0.1, atol=0.015)  # 5 standard deviations
    assert any(len(set(row)) < 4 for row in index.tolist())


def test_unknown_sampling() -> None:
    with pytest.raises(InputError, match="sampling: got 'sorted', expected 'shuffled'"):
        batches(0, 0, rows=4, batch=2, steps=1, sampling="sorted")
