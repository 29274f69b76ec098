import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import (
    additive_kernel,
    binary_kernel,
    compare_kernels,
    fold_numbers,
    gaussian_kernel,
    kernel_regression,
)
from recombine.spaces import Space, centre_hole

SPACE = Space({"x": 9, "y": 9})
SEEN = ~centre_hole(SPACE, low=3, high=6)


def additive_features() -> np.ndarray:
    rng = np.random.default_rng(0)
    f, g = rng.normal(size=(2, 9, 3))
    return f[SPACE.cells[:, 0]] + g[SPACE.cells[:, 1]]


def test_sums_of_single_factor_functions():
    """The binary kernel interpolates them on seen cells; the additive kernel extends them to all cells."""
    binary = kernel_regression(additive_features(), SPACE.cells, SEEN, family="binary")
    additive = kernel_regression(additive_features(), SPACE.cells, SEEN, family="additive")
    assert binary["in_mse"] < 1e-20
    assert binary["out_mse"] > 1e-6
    assert additive["in_mse"] < 1e-20
    assert additive["out_mse"] < 1e-20


def test_additive_kernel_cannot_express_an_interaction():
    product = SPACE.cells.prod(axis=1).astype(float)
    assert kernel_regression(product, SPACE.cells, SEEN, family="additive")["in_mse"] > 1


@pytest.mark.parametrize(("family", "kernel"), [("binary", binary_kernel), ("additive", additive_kernel)])
def test_predictions_equal_those_of_numpy_least_squares(family, kernel):
    features = np.random.default_rng(1).normal(size=(81, 2))
    train = SPACE.cells[SEEN]
    alpha = np.linalg.lstsq(kernel(train), features[SEEN], rcond=1e-10)[0]
    fit = kernel_regression(features, SPACE.cells, SEEN, family=family, rcond=1e-10)
    np.testing.assert_allclose(fit["predictions"], kernel(SPACE.cells, train) @ alpha, atol=1e-9)


def test_constant_kernel_predicts_the_mean_of_the_training_cells():
    features = np.random.default_rng(1).normal(size=81)
    fit = kernel_regression(features, SPACE.cells, SEEN, family="constant")
    np.testing.assert_allclose(fit["predictions"], features[SEEN].mean())
    assert fit["widths"] is None
    assert fit["out_mse"] == pytest.approx(np.mean((features[~SEEN] - features[SEEN].mean()) ** 2))


def test_repeated_training_draws_change_nothing():
    features = additive_features()
    draws = np.concatenate([np.flatnonzero(SEEN), np.flatnonzero(SEEN)[:17]])
    for family in ("binary", "radial"):
        once = kernel_regression(features, SPACE.cells, SEEN, family=family)
        twice = kernel_regression(features, SPACE.cells, SEEN, family=family, train=draws)
        np.testing.assert_allclose(once["predictions"], twice["predictions"], atol=1e-12)


def test_widths_are_recovered_from_a_function_of_the_family():
    centres = SPACE.cells[SEEN][::7]
    features = gaussian_kernel(SPACE.cells, centres, widths=(0.5, 2.0))
    fit = kernel_regression(features, SPACE.cells, SEEN, family="factorised", rcond=1e-10)
    assert fit["widths"] == (0.5, 2.0)
    assert fit["out_mse"] < 1e-12
    radial = kernel_regression(features, SPACE.cells, SEEN, family="radial", rcond=1e-10)
    assert radial["widths"][0] == radial["widths"][1]
    assert radial["out_mse"] > fit["out_mse"]


def test_selection_on_seen_cells_ignores_unseen_outputs():
    features = np.random.default_rng(3).normal(size=(81, 2))
    spoilt = features.copy()
    spoilt[~SEEN] += 100.0
    for family in ("factorised", "radial"):
        fits = [kernel_regression(f, SPACE.cells, SEEN, family=family) for f in (features, spoilt)]
        np.testing.assert_array_equal(fits[0]["predictions"], fits[1]["predictions"])


def test_published_selection_takes_the_lowest_total_error():
    features = np.random.default_rng(3).normal(size=(81, 2))
    chosen = kernel_regression(features, SPACE.cells, SEEN, family="radial", select="probe")
    errors = {
        w: kernel_regression(features, SPACE.cells, SEEN, family="radial", widths=(w,))["mse"]
        for w in (0.5, 1.0, 2.0, 4.0)
    }
    assert chosen["mse"] == min(errors.values())
    both = compare_kernels(features, SPACE.cells, SEEN, families=("factorised", "radial"), select="probe")
    assert both["factorised"]["mse"] <= both["radial"]["mse"]  # true by construction


def test_comparison_has_every_family():
    fits = compare_kernels(additive_features(), SPACE.cells, SEEN)
    assert set(fits) == {"factorised", "radial", "binary", "additive", "constant"}
    assert min(fits, key=lambda family: fits[family]["out_mse"]) == "additive"


def test_folds_are_balanced_and_repeatable():
    assert np.ptp(np.bincount(fold_numbers(53, 5, seed=2))) <= 1
    np.testing.assert_array_equal(fold_numbers(53, 5, seed=2), fold_numbers(53, 5, seed=2))
    assert (fold_numbers(53, 5, seed=2) != fold_numbers(53, 5, seed=3)).any()
    with pytest.raises(InputError, match="folds"):
        fold_numbers(3, 5)


def test_mistakes_are_named():
    features = additive_features()
    with pytest.raises(InputError, match="family"):
        kernel_regression(features, SPACE.cells, SEEN, family="cubic")
    with pytest.raises(InputError, match="select"):
        kernel_regression(features, SPACE.cells, SEEN, select="luck")
    with pytest.raises(InputError, match="seen cells only"):
        kernel_regression(features, SPACE.cells, SEEN, train=np.flatnonzero(~SEEN))
