"""Probes of nets on tasks, on nets whose pictures are known: a perfect one, a blank one, one that adds up."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Part, bumps, corner_hole, one_hot
from recombine.nets import Net
from recombine.probes import decoders, layers, superposition_image
from recombine.tasks import bumps_real, with_stripes

N = 10


class Lookup(eqx.Module):
    """A stage that answers a one-hot code of (x, y) with the picture of that cell."""

    pictures: jnp.ndarray

    def __call__(self, x, *, key=None):
        return self.pictures[x[:, :N].argmax(axis=1) * N + x[:, N:].argmax(axis=1)]


def task(polarity="dark"):
    return bumps(n=N, hole=Part(corner_hole, low=4), encoding=one_hot, polarity=polarity)


def drawing(pictures):
    return Net(("picture",), (Lookup(jnp.asarray(pictures, dtype=jnp.float32)),))


def perfect(asked):
    return drawing(asked.targets[: N * N])


def adding(asked):
    """The net that draws, for unseen cells, the sum of the seen pictures that share x or y."""
    space, seen = asked.split.space, asked.split.seen
    sums = superposition_image(1 - asked.targets, space.cells, seen)
    return drawing(np.where(seen[:, None, None], asked.targets, 1 - sums))


@pytest.mark.parametrize("polarity", ["dark", "bright"])
def test_a_perfect_net_has_no_error_and_is_always_in_place(polarity):
    asked = task(polarity)
    found = decoders.errors(perfect(asked), asked) | decoders.positions(perfect(asked), asked, margin=2)
    assert found["error_in"] == found["error_out"] == 0
    assert [found[f"accuracy{t}_{side}"] for t in (0, 1) for side in ("in", "out")] == [1.0] * 4
    assert (found["accuracy_inner"], found["distance_out"]) == (1.0, 0.0)
    assert found["baseline_blank_out"] > 0


def test_a_blank_net_scores_the_blank_baseline():
    asked = task()
    found = decoders.errors(drawing(np.ones_like(asked.targets)), asked)
    assert found["error_out"] == pytest.approx(found["baseline_blank_out"])
    assert found["error_in"] == pytest.approx(found["baseline_blank_in"])


def test_inner_cells_count_from_the_seen_ones_and_not_from_the_border():
    inner = task().split.space.grid(decoders.inner(task(), margin=2))
    assert np.argwhere(inner).min(axis=0).tolist() == [6, 6]
    assert inner[9, 9]


def test_stripes_are_not_scored():
    asked = with_stripes(n=N, hole=Part(corner_hole, low=4), encoding=one_hot)
    assert decoders.errors(perfect(asked), asked)["error"].shape == (N * N,)


def test_the_net_that_adds_up_is_found_out():
    asked = task()
    told = decoders.superposition(adding(asked), asked, margin=1)
    assert told["with_superposition"] == pytest.approx(1.0)
    assert told["own_superposition"] == pytest.approx(1.0)
    assert told["with_truth"] == pytest.approx(told["truth_with_superposition"])
    true = decoders.superposition(perfect(asked), asked, margin=1)
    assert true["with_truth"] == pytest.approx(1.0)
    liked = decoders.similarity(adding(asked), asked)["cosine_binary"]
    assert liked > 0.5 > decoders.similarity(perfect(asked), asked)["cosine_binary"]


def test_sums_of_own_pictures_are_the_pictures_of_the_net_that_adds_up():
    asked, cells = task(), [(7, 7), (5, 9)]
    net = adding(asked)
    drawn = 1 - decoders.pictures(net, asked, cells=cells)["pictures"]
    sums = 1 - decoders.sum_pictures(net, asked, cells=cells)["sum_pictures"]
    np.testing.assert_allclose(sums, drawn / drawn.max(axis=(1, 2), keepdims=True), atol=1e-6)


def test_rows_that_were_not_trained_on_are_scored_apart():
    asked = bumps_real(n=N, p=None, train=20, test_out="grid")
    net = Net(("picture",), (lambda x: jnp.ones((len(x), N, N)).at[:, 0, 0].set(0.0),))
    found = decoders.positions(net, asked, untrained=True)
    assert found["accuracy_untrained"] == 4 / N**2
    assert np.isnan(found["accuracy1_out"])


def test_every_layer_of_an_identity_is_as_flat_as_its_input():
    asked = bumps(n=N, hole=Part(corner_hole, low=4))
    net = Net(("same", "double"), (lambda x: x, lambda x: 2 * x))
    found = layers.geometry(net, asked) | layers.readability(net, asked)
    np.testing.assert_allclose(found["factorisation"], 1.0, atol=1e-6)
    np.testing.assert_allclose(found["volume_gap"], found["volume_gap"][0], atol=1e-6)
    np.testing.assert_allclose(found["volume_in"][2] - found["volume_in"][1], np.log10(4), atol=1e-6)
    assert (found["r2"] > 0.99).all()
