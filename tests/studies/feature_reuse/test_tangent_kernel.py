"""The tangent kernel of a rectified network against its closed form, and learners made of it."""

import jax
import numpy as np

from recombine.studies.feature_reuse.draws import relu_draw
from recombine.studies.feature_reuse.relu_nets import layer_weights, relu_net
from recombine.studies.feature_reuse.relu_probes import run_name
from recombine.studies.feature_reuse.tangent_kernel import best_ridge_error, kernel_errors, tangent_features
from recombine.tasks import relu_teachers, teacher_task


def test_features_give_the_closed_form():
    """Σ_h relu(w_h x) relu(w_h z) + x·z Σ_h v_h² [w_h x > 0][w_h z > 0]."""
    net = relu_net(inputs=4, width=30, key=jax.random.key(0))
    x = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    features = tangent_features(net, x)
    w, v = map(np.asarray, layer_weights(net))
    hidden, active = np.maximum(x @ w, 0), x @ w > 0
    expected = hidden @ hidden.T + (x @ x.T) * ((active * v[:, 0] ** 2) @ active.T)
    np.testing.assert_allclose(features @ features.T, expected, rtol=1e-4, atol=1e-5)


def test_ridge_finds_a_linear_target():
    task = teacher_task(relu_teachers().main, train=64, test=50)
    features = np.column_stack([task.targets[:, 0], np.random.default_rng(0).normal(size=len(task.targets))])
    assert best_ridge_error(features, task) < 1e-10
    noise = np.random.default_rng(1).normal(size=(len(task.targets), 3))
    spread = float(task.targets[task.rows_out].var())
    assert 0.5 * spread < best_ridge_error(noise, task) < 1.5 * spread


def test_kernel_and_probe_are_nearly_the_same_at_the_start_of_finetuning():
    draw = relu_draw(conditions=(("half", (("cosines", (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),)),))
    values = kernel_errors(draw, runs=(("half", 64),), width=40, pretrain_steps=300)
    kernel, probe = (values[run_name(learner, "half", 64)] for learner in ("kernel", "probe"))
    np.testing.assert_allclose(kernel, probe, rtol=0.1)
    assert np.isfinite(values["pretraining loss"])
