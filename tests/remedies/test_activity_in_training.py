from __future__ import annotations

import jax
import numpy as np
import pytest
import torch
from benchmarks import peers

from recombine.nets import leaky_relu, mlp, weight_matrices
from recombine.parts import Part
from recombine.remedies import l2, weighted_activity
from recombine.tasks import modular_task
from recombine.training import Penalty, Recipe, adam, fit


@pytest.mark.usefixtures("compile_quickly")
def test_training_with_both_penalties_against_torch() -> None:
    """The benchmark's loop does what `fit` does, step by step."""
    net = Part(mlp, inputs=4, width=8, depth=3, outputs=4, activation=Part(leaky_relu, slope=0.1))
    penalties = (Penalty(Part(weighted_activity), 0.1), Penalty(Part(l2), 0.01))
    recipe = Recipe(
        steps=12, batch=20, sampling="ordered", record_every=1, optimiser=adam(1e-2), penalties=penalties
    )
    task, module = modular_task(train=60, test=10), peers.LeakyNet(4, 8, 8, 8, 4)
    peers.load_weights(module, net(key=jax.random.fold_in(jax.random.key(0), 0)))
    result = peers.train(
        module,
        torch.tensor(task.inputs),
        torch.tensor(task.targets),
        peers.ordered(60, 20, 12),
        torch.optim.Adam(module.parameters(), lr=1e-2),
        penalty=lambda: module.penalty(weighted=0.1, squares=0.01),
    )
    fitted = fit(net, task, recipe)
    np.testing.assert_allclose(fitted.curves["train"][0], result, rtol=1e-4)
    for ours, layer in zip(weight_matrices(fitted.net()), module.layers, strict=True):
        np.testing.assert_allclose(ours, layer.weight.detach().numpy().T, rtol=1e-3, atol=1e-5)
