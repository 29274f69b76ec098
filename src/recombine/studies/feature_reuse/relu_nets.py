"""Networks of one hidden layer of rectified units, with one readout or one for each of two tasks."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets import Net, mlp

TASKS = 2


def relu_net(*, inputs: int, width: int, key: PRNGKeyArray) -> Net:
    """Without biases; weights are normal with variance 2 / fan_in before the recipe's initial scale."""
    return mlp(inputs=inputs, width=width, depth=1, outputs=1, bias=False, normal=True, key=key)


class SharedUnits(eqx.Module):
    """Rectified units of all inputs but the last two, which say which task a row belongs to and are passed on."""

    weight: Float[Array, "inputs width"]

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        """Activities, then the two inputs."""
        return jnp.concatenate([jax.nn.relu(x[:, :-TASKS] @ self.weight), x[:, -TASKS:]], axis=1)


class OwnReadout(eqx.Module):
    """One readout per task; each row gets that of its own task."""

    weight: Float[Array, "width tasks"]

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        """One output per row."""
        outputs = x[:, :-TASKS] @ self.weight
        return (outputs * x[:, -TASKS:]).sum(axis=1, keepdims=True)


def two_task_net(*, inputs: int, width: int, key: PRNGKeyArray) -> Net:
    """The network of multi-task learning, for `recombine.tasks.pooled_task`."""
    first, second = jax.random.split(key)
    units = SharedUnits(jax.random.normal(first, (inputs, width)) * (2 / inputs) ** 0.5)
    readout = OwnReadout(jax.random.normal(second, (width, TASKS)) * (2 / width) ** 0.5)
    return Net(("hidden0", "output"), (units, readout))


def layer_weights(net: Net) -> tuple[Array, Array]:
    """Incoming weights `(inputs, width)` and readout `(width, outputs)`."""
    leaves = [leaf for leaf in jax.tree.leaves(net) if eqx.is_inexact_array(leaf)]
    return leaves[0], leaves[1]


def finetuning_start(net: Net, *, scale: float, readout: float, key: PRNGKeyArray) -> Net:
    """Pretrained units times `scale`, and a new readout with standard deviation `scale · readout · √(2/width)`."""
    units, old = layer_weights(net)
    fresh = scale * readout * (2 / len(old)) ** 0.5 * jax.random.normal(key, old.shape)
    arrays, static = eqx.partition(net, eqx.is_inexact_array)
    structure = jax.tree.structure(arrays)
    started: Net = eqx.combine(jax.tree.unflatten(structure, [scale * units, fresh]), static)
    return started
