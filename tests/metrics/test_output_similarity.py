import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import (
    cosine_similarity,
    euclidean_distance,
    kernel_agreement,
    pixel_overlap,
    signal,
    superposition_image,
)
from recombine.spaces import Space


@pytest.mark.parametrize(
    ("threshold", "pixels"),
    [(0.3, 1), (0.4, 5), (0.5, 5), (0.6, 5), (0.7, 9), (0.8, 9), (0.9, 13), (None, 9)],
)
def test_dark_pixels_of_a_perfect_bump(donut, threshold, pixels):
    """The diagonal of the overlap counts marked pixels; inner bumps are not cut off by the border."""
    inner = donut.images[~donut.seen]
    np.testing.assert_allclose(np.diag(pixel_overlap(inner, "dark", threshold)) * 784, pixels)
    bright = None if threshold is None else 1 - threshold
    np.testing.assert_array_equal(
        pixel_overlap(1 - inner, "bright", bright), pixel_overlap(inner, "dark", threshold)
    )


def test_similarities_against_direct_sums():
    outputs = np.random.default_rng(0).uniform(size=(6, 3, 4))
    cosine, distance = cosine_similarity(outputs), euclidean_distance(outputs)
    overlap = pixel_overlap(outputs, "bright", 0.5)
    for i, a in enumerate(outputs):
        for j, b in enumerate(outputs):
            expected = (a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum())
            assert cosine[i, j] == pytest.approx(expected)
            assert distance[i, j] == pytest.approx(np.linalg.norm(a - b), abs=1e-12)
            assert overlap[i, j] == pytest.approx(((a > 0.5) & (b > 0.5)).mean())


def test_blank_outputs_are_similar_to_nothing():
    assert (cosine_similarity(np.zeros((2, 3))) == 0).all()


def test_agreement_separates_superposition_from_composition(draw_bumps):
    bumps = draw_bumps(16, 1.0, 5, 15)
    signals = signal(bumps.images, "dark")
    superposing = np.where(
        bumps.seen[:, None, None], signals, superposition_image(signals, bumps.levels, bumps.seen)
    )
    wrong = kernel_agreement(cosine_similarity(superposing), bumps.levels, bumps.seen)
    right = kernel_agreement(cosine_similarity(signals), bumps.levels, bumps.seen)
    assert wrong["binary"] > 0.5 > 0.2 > right["binary"]
    assert wrong["mean_shared"] > wrong["mean_not_shared"]
    assert wrong["binary"] == pytest.approx(wrong["additive"])  # no unseen cell shares both levels


def test_agreement_of_a_flat_matrix_is_not_a_number():
    levels = Space({"a": 2, "b": 2}).cells
    agreement = kernel_agreement(np.ones((4, 4)), levels, np.array([True, True, True, False]))
    assert np.isnan(agreement["binary"])
    assert agreement["mean_shared"] == 1.0
    with pytest.raises(InputError, match="similarity"):
        kernel_agreement(np.ones((3, 4)), levels, np.ones(4, bool))
