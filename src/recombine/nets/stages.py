"""Nets as named stages, all of whose outputs are accessible.

Arrays carry the examples on their first axis: a stage maps `(batch, ...)` to `(batch, ...)`. A stage is any
callable; if it is an Equinox module it is called with a keyword `key`, which is `None` in evaluation and a
random key in training (dropout draws from it; batch normalisation uses the batch's own statistics if it is
given). A stage with state (running statistics) also has a method `observe`, which returns its output in
training and the updated stage. A stage may return a named tuple of arrays (such as an image and the attention
that produced it), which the next stage receives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from recombine.errors import InputError

Stage = Callable[..., Any]
Perturb = Callable[[str, Array, PRNGKeyArray], Array]
"""Changes a stage's output in training: `(stage name, output, key) -> output` (activity noise)."""


@runtime_checkable
class Staged(Protocol):
    """Anything with `stages`, pairs of a name and a callable, applied one after another."""

    @property
    def stages(self) -> tuple[tuple[str, Stage], ...]:
        """The stages in order."""
        ...


class Net(eqx.Module):
    """A trainable function made of named stages.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import Linear, Net, trace
    >>> net = Net(("hidden", "output"), (Linear(2, 3, key=jax.random.key(0)), jnp.tanh))
    >>> output, stages = trace(net, jnp.zeros((5, 2)))
    >>> output.shape, list(stages)
    ((5, 3), ['hidden', 'output'])

    ```
    """

    names: tuple[str, ...] = eqx.field(static=True)
    layers: tuple[Stage, ...]

    def __check_init__(self) -> None:
        if len(self.names) != len(self.layers) or len(set(self.names)) != len(self.names):
            raise InputError("names", self.names, f"{len(self.layers)} different stage names")

    @property
    def stages(self) -> tuple[tuple[str, Stage], ...]:
        """Names and callables in order."""
        return tuple(zip(self.names, self.layers, strict=True))

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return trace(self, x, key=key)[0]


class Chain(eqx.Module):
    """Several callables as one stage, such as a convolution and its non-linearity."""

    layers: tuple[Stage, ...]

    def __init__(self, *layers: Stage) -> None:
        self.layers = layers

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return self.observe(x, key=key, weight=None)[0]

    def observe(self, x: Array, *, key: PRNGKeyArray | None, weight: Array | None) -> tuple[Array, Chain]:
        """The output, and the chain with the updated state of its layers."""
        after = []
        for position, layer in enumerate(self.layers):
            own_key = None if key is None else jax.random.fold_in(key, position)
            x, layer = watch(layer, x, key=own_key, weight=weight)
            after.append(layer)
        same = all(new is old for new, old in zip(after, self.layers, strict=True))
        return x, self if same else Chain(*after)


class Reshape(eqx.Module):
    """Reshapes every example to `shape`; the batch axis stays."""

    shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return x.reshape(x.shape[0], *self.shape)


class Buffer(eqx.Module):
    """An array that belongs to a net but is not trained: a position table, running statistics."""

    value: Array


def call(stage: Stage, x: Array, *, key: PRNGKeyArray | None) -> Array:
    """Calls one stage; only modules are passed the key."""
    return stage(x, key=key) if isinstance(stage, eqx.Module) else stage(x)


def watch(stage: Stage, x: Array, *, key: PRNGKeyArray | None, weight: Array | None) -> tuple[Array, Stage]:
    """Calls one stage and, in training (if a key is given), lets it update its state.

    **Returns:** the output and the updated stage; most stages have no state and stay the same.
    """
    if key is not None and hasattr(stage, "observe"):
        return stage.observe(x, key=key, weight=weight)
    return call(stage, x, key=key), stage


def trace(
    net: Staged,
    x: Array,
    *,
    key: PRNGKeyArray | None = None,
    perturb: Perturb | None = None,
    noise_key: PRNGKeyArray | None = None,
) -> tuple[Array, dict[str, Array]]:
    """Runs a net and keeps the output of every stage.

    **Arguments:**

    - `x`: `(batch, ...)`.
    - `key`: `None` to evaluate, a random key to run as in training.
    - `perturb`: changes stage outputs on the way, for activity noise (`recombine.nets.noisy`); off without a key.
    - `noise_key`: for noise in evaluation, where `key` is `None`; by default it follows from `key`.

    **Returns:**

    The net's output and a dictionary from stage name to stage output, each `(batch, ...)`.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import mlp, trace
    >>> output, stages = trace(mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0)), jnp.ones((5, 3)))
    >>> {name: stage.shape for name, stage in stages.items()}
    {'hidden0': (5, 8), 'output': (5, 2)}

    ```
    """
    return observe(net, x, key=key, perturb=perturb, noise_key=noise_key)[:2]


def observe(
    net: Any,
    x: Array,
    *,
    key: PRNGKeyArray | None,
    weight: Float[Array, " batch"] | None = None,
    perturb: Perturb | None = None,
    noise_key: PRNGKeyArray | None = None,
) -> tuple[Array, dict[str, Array], Any]:
    """`trace`, and the net with the updated state of its stages (the running statistics of batch normalisation).

    **Arguments:**

    - `weight`: rows of weight 0 only pad the batch; batch statistics ignore them.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import BatchNorm, Net, observe
    >>> net = Net(("norm",), (BatchNorm(1, momentum=1.0),))
    >>> rows, weight = jnp.array([[1.0], [3.0], [9.0]]), jnp.array([1.0, 1.0, 0.0])
    >>> _, _, after = observe(net, rows, key=jax.random.key(0), weight=weight)
    >>> after.layers[0].mean.value.tolist()
    [2.0]

    ```
    """
    outputs, after = {}, net
    if noise_key is None and key is not None:
        noise_key = jax.random.fold_in(key, len(net.stages))
    for position, (name, stage) in enumerate(net.stages):
        own_key = None if key is None else jax.random.fold_in(key, position)
        x, updated = watch(stage, x, key=own_key, weight=weight)
        if updated is not stage:
            after = eqx.tree_at(_stage_at(position), after, updated)
        if perturb is not None and noise_key is not None:
            x = perturb(name, x, jax.random.fold_in(noise_key, position))
        outputs[name] = x
    return x, outputs, after


def _stage_at(position: int) -> Callable[[Any], Any]:
    return lambda net: net.stages[position][1]


def trainable(net: PyTree) -> PyTree:
    """A filter for `equinox.partition`: true at every floating-point array outside a `Buffer`."""

    def mark(node: Any) -> Any:
        if isinstance(node, Buffer):
            return jax.tree.map(lambda _: False, node)
        return _is_float_array(node)

    return jax.tree.map(mark, net, is_leaf=lambda node: isinstance(node, Buffer))


def parameter_count(net: PyTree, *, buffers: bool = False) -> int:
    """The number of trained values; with `buffers`, fixed values are counted too.

    ```python
    >>> import jax
    >>> from recombine.nets import mlp, parameter_count
    >>> parameter_count(mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0)))
    50

    ```
    """
    kept = net if buffers else eqx.filter(net, trainable(net))
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(kept, _is_float_array)))


def _is_float_array(leaf: Any) -> bool:
    """Also true for the shapes of arrays, so that a net can be counted without being built."""
    return isinstance(leaf, jax.Array | np.ndarray | jax.ShapeDtypeStruct) and jnp.issubdtype(
        leaf.dtype, jnp.inexact
    )


def evaluate(
    net: Staged, inputs: np.ndarray | Array, *, stage: str | None = None, batch: int = 64
) -> np.ndarray:
    """Runs a net in evaluation mode over many rows, `batch` at a time.

    **Returns:**

    The outputs `(rows, ...)`, or those of one stage, as a NumPy array.

    ```python
    >>> import jax, numpy as np
    >>> from recombine.nets import evaluate, mlp
    >>> evaluate(mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0)), np.ones((100, 3))).shape
    (100, 2)

    ```
    """
    pieces = []
    for output, outputs in _batches(net, inputs, batch):
        pieces.append(output if stage is None else outputs[stage])
    return np.concatenate(pieces)


def evaluate_stages(net: Staged, inputs: np.ndarray | Array, *, batch: int = 64) -> dict[str, Any]:
    """`evaluate`, with the outputs of all stages as NumPy arrays (or named tuples of them), by name.

    ```python
    >>> import jax, numpy as np
    >>> from recombine.nets import evaluate_stages, mlp
    >>> net = mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0))
    >>> {name: values.shape for name, values in evaluate_stages(net, np.ones((100, 3))).items()}
    {'hidden0': (100, 8), 'output': (100, 2)}

    ```
    """
    batches = [outputs for _, outputs in _batches(net, inputs, batch)]
    joined: dict[str, Any] = jax.tree.map(lambda *pieces: np.concatenate(pieces), *batches)
    return joined


def _batches(net: Staged, inputs: np.ndarray | Array, batch: int) -> Iterator[tuple[np.ndarray, Any]]:
    """Output and stages of `batch` rows at a time; the last batch is padded and its outputs are cut.

    All batches have the same shape: a few spare rows cost far less than compiling for a second shape.
    """
    for start in range(0, len(inputs), batch):
        piece = jnp.asarray(inputs[start : start + batch])
        padded = jnp.pad(piece, [(0, batch - len(piece))] + [(0, 0)] * (piece.ndim - 1))
        rows = slice(len(piece))
        yield jax.tree.map(lambda values, rows=rows: np.asarray(values)[rows], _trace(net, padded))


@eqx.filter_jit
def _trace(net: Staged, x: Array) -> tuple[Array, dict[str, Array]]:
    return trace(net, x)
