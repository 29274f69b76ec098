"""Modules by a penalty of one line, in a training loop of your own (Equinox and Optax).

Three inputs, three outputs, each a function of its own input. A plain perceptron solves the task by mixing; with the
weighted-activity penalty (Qian et al. 2025, arXiv 2512.13707) it comes apart into three modules.
`penalty_in_torch.py` does the same with PyTorch.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from recombine.metrics.connectivity import assign_known, in_block_mass, live_units
from recombine.nets import leaky_relu, staged, weight_matrices
from recombine.remedies import l2, weighted_activity
from recombine.tasks import modular_task

optimiser = optax.adam(5e-3)


def error(net: eqx.nn.MLP, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((jax.vmap(net)(x) - y) ** 2)


def objective(net: eqx.nn.MLP, x: jax.Array, y: jax.Array, strength: jax.Array) -> jax.Array:
    return error(net, x, y) + strength * weighted_activity(net, x) + 1e-4 * l2(net, x)


@eqx.filter_jit
def step(net: eqx.nn.MLP, state: optax.OptState, *batch: jax.Array) -> tuple[eqx.nn.MLP, optax.OptState]:
    gradients = eqx.filter_grad(objective)(net, *batch)
    updates, state = optimiser.update(gradients, state)
    return eqx.apply_updates(net, updates), state


def main(steps: int = 3000) -> None:
    task = modular_task(modules=3, train=400)
    x, y = (jnp.asarray(array[task.train]) for array in (task.inputs, task.targets))
    for strength in (0.0, 5e-3):
        net = eqx.nn.MLP(3, 3, width_size=24, depth=3, activation=leaky_relu, key=jax.random.key(0))
        state = optimiser.init(eqx.filter(net, eqx.is_array))
        for _ in range(steps):
            net, state = step(net, state, x, y, jnp.float32(strength))
        weights = weight_matrices(staged(net))
        labels = assign_known(weights, outputs=range(3), live=live_units(weights))
        mass = " ".join(f"{value:.3f}" for value in in_block_mass(weights, labels)["mass"])
        loss = float(error(net, x, y))
        print(
            f"penalty {strength:g}: loss {loss:.1e}, share of squared weight inside modules, by layer: {mass}"
        )


if __name__ == "__main__":
    main()
