"""Three ways to the same profile, and which one is taken."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.metrics.interaction import interaction_profile, mixed_difference
from recombine.metrics.interaction.energies import slot_energies
from recombine.metrics.interaction.slot_partition import as_slots
from recombine.models import as_function

from .conftest import SLOTS

pytestmark = pytest.mark.usefixtures("compile_quickly")
QUIET = {"batched": False, "resamples": 50}


def test_random_directions_agree_with_all_derivatives(polynomial, latents):
    decoder = polynomial(3, np.random.default_rng(5))
    exact = interaction_profile(decoder, latents, SLOTS, method="exact", **QUIET)
    drawn = interaction_profile(decoder, latents, SLOTS, method="probes", probes=50, **QUIET)
    assert drawn.q1 == pytest.approx(exact.q1, rel=1e-12)
    for m in (2, 3):
        share = drawn.share(m)
        assert 0 < share.probe_error < 0.05
        assert abs(share.value - exact.share(m).value) < 4 * share.probe_error
        assert share.cross == pytest.approx(exact.share(m).cross, rel=0.3)
        total = np.abs(drawn.cross_map(m) / exact.cross_map(m) - 1)
        assert total.max() < 0.5
        assert exact.share(m).probe_error == 0.0


def test_errors_fall_with_the_root_of_the_number_of_directions(polynomial, latents):
    decoder = polynomial(2, np.random.default_rng(5))
    few, many = (
        interaction_profile(decoder, latents, SLOTS, method="probes", probes=p, max_order=2, **QUIET).share(2)
        for p in (20, 320)
    )
    assert few.probe_error / many.probe_error == pytest.approx(4, rel=0.3)


def test_the_estimate_is_unbiased(polynomial):
    """The mean over many directions, set by set."""
    z = np.random.default_rng(0).normal(size=(1, 4))
    view = as_function(polynomial(3, np.random.default_rng(2)), z, batched=False, chunk=1000)
    slots = as_slots(SLOTS, 4)
    for order in (2, 3):
        exact = slot_energies(view.derivative, z, slots, order, outputs=5)
        drawn = slot_energies(view.derivative, z, slots, order, outputs=5, probes=3000)
        error = drawn.values[0].std(axis=0) / np.sqrt(3000)
        assert (np.abs(drawn.values[0].mean(axis=0) - exact.values[0, 0]) < 4.5 * error).all()


def test_all_index_tuples_are_counted(polynomial):
    """Sorted tuples with their number of orders against the full tensor."""
    z = np.random.default_rng(0).normal(size=(1, 4))
    decoder = polynomial(3, np.random.default_rng(2))
    view = as_function(decoder, z, batched=False)
    energies = slot_energies(view.derivative, z, as_slots(SLOTS, 4), 3, outputs=5)
    with jax.enable_x64(True):
        full = np.asarray(jax.jacfwd(jax.jacfwd(jax.jacfwd(decoder)))(jnp.asarray(z[0])))
    assert energies.values.sum() == pytest.approx(float((full**2).sum()), rel=1e-10)
    within = (full[:, :2, :2, :2] ** 2).sum() + (full[:, 2:, 2:, 2:] ** 2).sum()
    assert energies.values[0, 0, ~energies.crossing].sum() == pytest.approx(float(within), rel=1e-10)


def test_short_steps_are_derivatives(polynomial, latents):
    decoder = polynomial(3, np.random.default_rng(5))
    drawn = interaction_profile(decoder, latents, SLOTS, method="probes", probes=10, seed=3, **QUIET)
    near = interaction_profile(
        decoder, latents, SLOTS, method="differences", probes=10, seed=3, step=1e-3, **QUIET
    )
    far = interaction_profile(
        decoder, latents, SLOTS, method="differences", probes=10, seed=3, step=1.0, **QUIET
    )
    for m in (1, 2):
        assert near.share(m).value == pytest.approx(drawn.share(m).value, abs=0.05)
    assert near.order == far.order is None


def test_long_steps_still_see_the_order(polynomial, latents):
    for order in (1, 2):
        decoder = polynomial(order, np.random.default_rng(order))
        profile = interaction_profile(
            decoder, latents, SLOTS, method="differences", step=2.0, threshold=1e-6, **QUIET
        )
        assert profile.order == order


def test_mixed_differences_by_hand():
    steps = np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]])
    result = mixed_difference(lambda z: z[:, 0] * z[:, 1] ** 2, np.zeros((1, 2)), steps)
    assert result.tolist() == [[4.0]]
    assert mixed_difference(lambda z: z**2, np.ones((1, 1)), np.zeros((1, 0, 1))).tolist() == [[1.0]]


def test_auto_takes_differences_for_kinks(latents):
    weights = np.random.default_rng(0).normal(size=(4, 6))
    profile = interaction_profile(lambda z: jax.nn.relu(z @ weights), latents, SLOTS)
    assert profile.method == "differences"
    assert "piecewise linear" in profile.notes[0]
    assert profile.r2 > 0.3
    exact = interaction_profile(lambda z: jax.nn.relu(z @ weights), latents, SLOTS, method="exact")
    assert exact.order == 1
    assert "use method='differences'" in exact.notes[0]


def test_a_linear_map_has_no_kinks(latents):
    weights = np.random.default_rng(0).normal(size=(4, 6))
    profile = interaction_profile(lambda z: z @ weights, latents, SLOTS)
    assert (profile.method, profile.order, profile.notes) == ("exact", 1, ())


def test_auto_takes_directions_for_many_latents():
    z = np.random.default_rng(0).normal(size=(6, 24))
    weights = np.random.default_rng(1).normal(size=(24, 9)) / 5
    profile = interaction_profile(lambda z: jnp.tanh(z @ weights).reshape(-1, 3, 3), z, 3, batched=True)
    assert (profile.method, profile.probes) == ("probes", 4)
    assert profile.output_shape == (3, 3)
    assert "strongest pair" in str(profile)


def test_seeds_repeat(polynomial, latents):
    decoder = polynomial(2, np.random.default_rng(5))
    a, b, c = (
        interaction_profile(decoder, latents, SLOTS, method="probes", seed=s, max_order=2, **QUIET).r2
        for s in (0, 0, 1)
    )
    assert a == b != c
