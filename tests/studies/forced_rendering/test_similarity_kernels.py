"""Which kernel explains similarity, on nets whose answer is known; and the volume element of even and warped layers."""

import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Part
from recombine.metrics import superposition_image
from recombine.nets import Net
from recombine.spaces import corner_hole
from recombine.studies.forced_rendering.held_out_error import held_out_error
from recombine.studies.forced_rendering.similarity_kernels import (
    explained_variance,
    radial_kernel,
    shared_factor_kernel,
    similarity_kernels,
)
from recombine.studies.forced_rendering.warping import warping
from recombine.tasks import bumps, bumps_real, one_hot

N = 12


@pytest.fixture(scope="module")
def task():
    return bumps(n=N, hole=Part(corner_hole, low=4), encoding=one_hot)


def lookup_net(images):
    images = jnp.asarray(images, dtype=jnp.float32)
    return Net(("image",), (lambda x: images[x[:, :N].argmax(axis=1) * N + x[:, N:].argmax(axis=1)],))


def test_images_that_superpose_are_alike_if_they_share_a_factor(task):
    seen = task.split.seen
    sums = superposition_image(1 - task.targets, task.split.space.cells, seen)
    for gain in (1.0, 0.1):  # one gain per net: faint images give the same answer
        images = np.where(seen[:, None, None], task.targets, 1 - gain * sums)
        values = similarity_kernels(lookup_net(images), task, margin=1)
        for kind in ("overlap", "cosine"):
            assert values[f"explained_{kind}_shared"] > values[f"explained_{kind}_radial"] + 0.2


def test_correct_images_are_alike_if_they_are_close(task):
    values = similarity_kernels(lookup_net(task.targets), task, margin=0)
    for kind in ("overlap", "cosine"):
        assert values[f"explained_{kind}_radial"] > 0.99
        assert values[f"explained_{kind}_radial"] > values[f"explained_{kind}_shared"] + 0.2


def test_each_kernel_explains_what_it_generates():
    rng = np.random.default_rng(0)
    differences = rng.integers(-8, 9, size=(40, 60, 2)).astype(float)
    fold = np.arange(40) % 4
    for kernel in (shared_factor_kernel, radial_kernel):
        explained, width = explained_variance(3 * kernel(differences, 1.5) - 1, differences, kernel, fold)
        assert explained == pytest.approx(1.0)
        assert width == 1.5
    noise = rng.normal(size=(40, 60))
    assert explained_variance(noise, differences, radial_kernel, fold)[0] < 0.05


def test_narrow_kernels_of_shared_factors_are_binary():
    differences = np.array([[[0.0, 5.0], [1.0, 1.0], [0.0, 0.0]]])
    np.testing.assert_allclose(shared_factor_kernel(differences, 0.25), [[1, 0, 1]], atol=1e-3)
    np.testing.assert_allclose(radial_kernel(differences, 0.25), [[0, 0, 1]], atol=1e-3)


def test_a_plane_is_even_and_a_bent_one_is_not(task):
    x, y = task.split.space.cells.T.astype(float)
    stretch = np.where(task.split.unseen, x * x * y, x)
    values = warping(lookup_net(np.stack([x, y], axis=-1).reshape(-1, 1, 2)), task)
    assert values["volume_spread_in"][-1] == pytest.approx(0, abs=1e-6)
    assert values["volume_spread_out"][-1] == pytest.approx(0, abs=1e-6)
    bent = warping(lookup_net(np.stack([stretch, y], axis=-1).reshape(-1, 1, 2)), task)
    assert bent["volume_spread_out"][-1] > 0.1


def test_errors_on_unseen_cells_or_where_nothing_is_unseen_on_untrained_rows(task):
    wrong = np.where(task.split.unseen[:, None, None], 1.0, task.targets)
    values = held_out_error(lookup_net(wrong), task)
    assert values["held_out_error"] == pytest.approx(values["held_out_blank"], rel=1e-6)
    everywhere = bumps_real(n=N, p=None, train=30, test_out="grid")
    blank = Net(("image",), (lambda x: jnp.ones((len(x), N, N)),))
    values = held_out_error(blank, everywhere)
    assert values["held_out_error"] == pytest.approx(values["held_out_blank"], rel=1e-6)
