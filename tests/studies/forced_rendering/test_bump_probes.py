"""Probes of this study alone, on a net that is perfect on seen cells and superposes their images on unseen ones."""

import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Part
from recombine.metrics import superposition_image
from recombine.nets import Net
from recombine.probes import output_images
from recombine.spaces import corner_hole
from recombine.studies.forced_rendering import bump_probes
from recombine.tasks import bumps, one_hot

N = 10


@pytest.fixture(scope="module")
def task():
    return bumps(n=N, hole=Part(corner_hole, low=4), encoding=one_hot)


def lookup_net(images):
    images = jnp.asarray(images, dtype=jnp.float32)
    return Net(("image",), (lambda x: images[x[:, :N].argmax(axis=1) * N + x[:, N:].argmax(axis=1)],))


@pytest.fixture(scope="module")
def superposing_net(task):
    seen = task.split.seen
    sums = superposition_image(1 - task.targets, task.split.space.cells, seen)
    return lookup_net(np.where(seen[:, None, None], task.targets, 1 - sums))


def test_outputs_that_superpose_agree_with_the_binary_kernel(task, superposing_net):
    superposed = bump_probes.similarity(superposing_net, task)["cosine_binary"]
    assert superposed > 0.5 > bump_probes.similarity(lookup_net(task.targets), task)["cosine_binary"]


def test_sums_of_own_images_are_the_outputs_of_a_net_that_superposes(task, superposing_net):
    cells = [(7, 7), (5, 9)]
    outputs = 1 - output_images(superposing_net, task, cells=cells)["pictures"]
    sums = 1 - bump_probes.sum_images(superposing_net, task, cells=cells)["sum_pictures"]
    np.testing.assert_allclose(sums, outputs / outputs.max(axis=(1, 2), keepdims=True), atol=1e-6)


def test_a_perfect_net_has_no_dissimilarity(task):
    values = bump_probes.dissimilarity(lookup_net(task.targets), task)
    assert values["dissimilarity_in"] == pytest.approx(0, abs=1e-6)
    assert values["dissimilarity_out"] == pytest.approx(0, abs=1e-6)
