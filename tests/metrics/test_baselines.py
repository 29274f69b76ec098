import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import baseline_errors, baseline_images, structural_dissimilarity

# Exact arithmetic on dark bumps, N = 28, sigma = 1; bright bumps, N = 32, sigma = 1.5.
CONSTANTS = [
    ((28, 1.0, 6, 22, "dark"), 1.0, (495, 289), (0.00380, 0.00401), (0.00372, 0.00406)),
    ((28, 1.0, 10, 18, "dark"), 1.0, (703, 81), (0.00386, 0.00401), (0.00380, 0.00404)),
    ((32, 1.5, 12, 31, "bright"), 0.0, (624, 400), (0.006528, 0.006636), (0.00627, 0.00684)),
]


@pytest.mark.parametrize(("drawing", "blank", "counts", "blank_mse", "mean_mse"), CONSTANTS)
def test_constants_of_the_bump_images(draw_bumps, drawing, blank, counts, blank_mse, mean_mse):
    bumps = draw_bumps(*drawing)
    assert (bumps.seen.sum(), (~bumps.seen).sum()) == counts
    errors = baseline_errors(bumps.images, bumps.seen, bumps.levels, blank)
    assert (errors["in_blank"], errors["out_blank"]) == pytest.approx(blank_mse, abs=1e-5)
    assert (errors["in_mean_image"], errors["out_mean_image"]) == pytest.approx(mean_mse, abs=1e-5)


def test_interior_blank_error_is_the_energy_of_a_bump(draw_bumps):
    bumps = draw_bumps(28, 1.0, 10, 18)
    errors = baseline_errors(bumps.images, bumps.seen, bumps.levels, 1.0)
    sampled = (1 + 2 * np.exp(-(np.pi**2))) ** 2  # Poisson summation: pixels instead of an integral
    assert errors["out_blank"] == pytest.approx(np.pi / 28**2 * sampled, rel=1e-9)


def test_polarity_does_not_matter(draw_bumps):
    dark, bright = (draw_bumps(12, 1.0, 3, 8, polarity) for polarity in ("dark", "bright"))
    ours = baseline_images(dark.images, dark.seen, dark.levels, 1.0)
    theirs = baseline_images(bright.images, bright.seen, bright.levels, 0.0)
    for name, images in ours.items():
        np.testing.assert_allclose(1 - images, theirs[name], atol=1e-12)


def test_superposition_baseline_has_full_contrast_and_misses_the_hole(donut):
    images = baseline_images(donut.images, donut.seen, donut.levels, 1.0)["superposition"]
    np.testing.assert_allclose(images.min(axis=(1, 2)), 0.0, atol=1e-12)
    x, y = donut.levels[~donut.seen].T
    centre = images[~donut.seen][np.arange(x.size), y, x]
    assert centre.min() > 0.3  # never the darkest pixel


def test_any_error_can_have_its_baselines(draw_bumps):
    bumps = draw_bumps(12, 1.0, 3, 8)
    errors = baseline_errors(bumps.images, bumps.seen, bumps.levels, 1.0, error=structural_dissimilarity)
    images = baseline_images(bumps.images, bumps.seen, bumps.levels, 1.0)
    for name in images:
        per_row = structural_dissimilarity(images[name], bumps.images)
        assert errors[f"out_{name}"] == pytest.approx(per_row[~bumps.seen].mean())


def test_blank_targets_and_empty_splits():
    levels = np.array([[0, 0], [0, 1]])
    images = baseline_images(np.ones((2, 3)), np.array([True, False]), levels, 1.0)
    assert all((image == 1).all() for image in images.values())
    with pytest.raises(InputError, match="at least one seen"):
        baseline_images(np.ones((2, 3)), np.array([False, False]), levels, 1.0)
