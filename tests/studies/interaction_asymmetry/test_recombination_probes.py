"""Exchanging slots, in autoencoders that do it perfectly or not at all."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import Net
from recombine.studies.interaction_asymmetry.recombination_probes import (
    image_r2,
    recombination,
    slot_recovery,
    spread_rows,
    stages_of,
)
from recombine.tasks import interaction_task, line_world

pytestmark = pytest.mark.usefixtures("compile_quickly")


@pytest.fixture(scope="module")
def task():
    """A corner of hues is left out."""
    return line_world(rows=60, test=120, support="l-shaped")


def test_slots_that_recombine(task, perfect):
    values = recombination(perfect(task), task, scenes=120)
    assert min(values["pairs_in"], values["pairs_out"]) > 5
    for side in ("in", "out"):
        assert values[f"recombined_r2_{side}"] > 0.9999
        assert values[f"kept_r2_{side}"] < 0.9
    first, _, true, decoded = values["gallery"]
    np.testing.assert_allclose(decoded, true, atol=1e-4)
    assert np.abs(first - true).max() > 0.5


def test_slots_that_can_be_exchanged_without_a_trace(task, stubborn):
    values = recombination(stubborn(task), task, scenes=120)
    for side in ("in", "out"):
        assert values[f"recombined_r2_{side}"] == pytest.approx(values[f"kept_r2_{side}"], abs=1e-4)


def test_where_every_combination_is_shown(perfect):
    task = line_world(rows=1, test=20)
    values = recombination(perfect(task), task, scenes=20, pairs=3)
    assert (values["pairs_in"], values["pairs_out"]) == (3, 0)
    assert np.isnan(values["recombined_r2_out"])
    assert np.isnan(values["gallery"][:, 3:]).all()  # filled up


def lookup(task, codes, decoder):
    known, table = jnp.asarray(task.inputs), jnp.asarray(codes, jnp.float32)

    def encoder(x):
        return table[jnp.abs(known - x[:, None]).sum(axis=2).argmin(axis=1)]

    return Net(("encoding", "slots", "output"), (encoder, lambda z: z, decoder))


@pytest.fixture(scope="module")
def vectors():
    return interaction_task(order=2, rows=10, test=300, support="l-shaped")


def test_the_generator_s_own_slots(vectors):
    """Kept in the other order, and stretched."""
    slots = 3 * vectors.latents.reshape(-1, 2, 2)[:, ::-1]

    def decoder(z):
        return vectors.decoder(z[:, ::-1].reshape(-1, 4) / 3)

    values = slot_recovery(lookup(vectors, slots, decoder), vectors)
    assert values["matched"] > 0.9
    assert values["crossed"] < 0.2
    assert values["gap"] > 0.8
    for name in ("fit_r2", "recombined_r2_in", "recombined_r2_out"):
        assert values[name] == pytest.approx(1, abs=1e-5)


def test_slots_that_mix(vectors):
    """An autoencoder without error whose slots are sums and differences of the true ones."""
    mix = np.kron(np.array([[1, 1], [1, -1]]), np.eye(2))

    def decoder(z):
        return vectors.decoder(z.reshape(-1, 4) @ mix / 2)

    values = slot_recovery(lookup(vectors, (vectors.latents @ mix).reshape(-1, 2, 2), decoder), vectors)
    assert values["fit_r2"] == pytest.approx(1, abs=1e-5)
    assert values["gap"] < 0.2
    assert values["recombined_r2_in"] < 0.8


def test_r2_about_the_mean_image():
    true = np.random.default_rng(0).random((5, 2, 2))
    assert image_r2(true, true) == 1
    assert image_r2(np.broadcast_to(true.mean(axis=0), true.shape), true) == pytest.approx(0)
    assert np.isnan(image_r2(true[:1], true[:1]))


def test_rows_are_spread_evenly():
    np.testing.assert_array_equal(spread_rows(np.arange(10, 20), 4), [10, 13, 16, 19])
    np.testing.assert_array_equal(spread_rows(np.arange(3), 9), [0, 1, 2])
    with pytest.raises(InputError, match="task: got 'no test rows'"):
        spread_rows(np.arange(0), 3)


def test_a_net_without_slots():
    with pytest.raises(InputError, match="a net with a stage 'slots'"):
        stages_of(Net(("output",), (lambda x: x,)), np.ones((1, 2)))
