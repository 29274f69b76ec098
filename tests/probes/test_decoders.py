"""Probes of outputs, on nets whose images are known: a perfect one, a blank one, and one that superposes."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Part
from recombine.metrics import superposition_image
from recombine.nets import Net
from recombine.probes import errors, interior_cells, positions, superposition
from recombine.spaces import corner_hole
from recombine.tasks import bumps, bumps_real, one_hot, with_stripes

N = 10


class Lookup(eqx.Module):
    """A stage that outputs the stored image of the cell that a one-hot code of (x, y) names."""

    images: jnp.ndarray

    def __call__(self, x, *, key=None):
        return self.images[x[:, :N].argmax(axis=1) * N + x[:, N:].argmax(axis=1)]


def bump_task(polarity="dark"):
    return bumps(n=N, hole=Part(corner_hole, low=4), encoding=one_hot, polarity=polarity)


def lookup_net(images):
    return Net(("image",), (Lookup(jnp.asarray(images, dtype=jnp.float32)),))


def perfect_net(task):
    return lookup_net(task.targets[: N * N])


def superposing_net(task):
    """Outputs, for unseen cells, the sum of the seen images that share x or y."""
    space, seen = task.split.space, task.split.seen
    sums = superposition_image(1 - task.targets, space.cells, seen)
    return lookup_net(np.where(seen[:, None, None], task.targets, 1 - sums))


@pytest.mark.parametrize("polarity", ["dark", "bright"])
def test_a_perfect_net_has_no_error_and_every_bump_at_its_position(polarity):
    task = bump_task(polarity)
    values = errors(perfect_net(task), task) | positions(perfect_net(task), task, margin=2)
    assert values["error_in"] == values["error_out"] == 0
    assert [values[f"accuracy{t}_{side}"] for t in (0, 1) for side in ("in", "out")] == [1.0] * 4
    assert (values["accuracy_inner"], values["distance_out"]) == (1.0, 0.0)
    assert values["baseline_blank_out"] > 0


def test_a_blank_net_scores_the_blank_baseline():
    task = bump_task()
    values = errors(lookup_net(np.ones_like(task.targets)), task)
    assert values["error_out"] == pytest.approx(values["baseline_blank_out"])
    assert values["error_in"] == pytest.approx(values["baseline_blank_in"])


def test_interior_cells_count_from_the_seen_ones_and_not_from_the_border():
    interior = bump_task().split.space.grid(interior_cells(bump_task(), margin=2))
    assert np.argwhere(interior).min(axis=0).tolist() == [6, 6]
    assert interior[9, 9]


def test_stripes_are_not_scored():
    task = with_stripes(n=N, hole=Part(corner_hole, low=4), encoding=one_hot)
    assert errors(perfect_net(task), task)["error"].shape == (N * N,)


def test_superposition_separates_a_net_that_superposes_from_a_perfect_one():
    task = bump_task()
    superposes = superposition(superposing_net(task), task, margin=1)
    assert superposes["with_superposition"] == pytest.approx(1.0)
    assert superposes["own_superposition"] == pytest.approx(1.0)
    assert superposes["with_truth"] == pytest.approx(superposes["truth_with_superposition"])
    assert superposition(perfect_net(task), task, margin=1)["with_truth"] == pytest.approx(1.0)


def test_rows_that_were_not_trained_on_are_scored_separately():
    task = bumps_real(n=N, p=None, train=20, test_out="grid")
    net = Net(("image",), (lambda x: jnp.ones((len(x), N, N)).at[:, 0, 0].set(0.0),))
    values = positions(net, task, untrained=True)
    assert values["accuracy_untrained"] == 4 / N**2
    assert np.isnan(values["accuracy1_out"])
