"""Gated linear networks: units that pick one of several weight vectors by a fixed gate on the input.

Only the weights are trained. Gates are part of the net and are saved with it, thresholds included.

**Reference:** Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks,
2022, arXiv 2202.02649.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.dense import Linear
from recombine.nets.stages import Buffer, Net

DIRECTION_SCALE, THRESHOLD_SCALE = 36.0, 9.0
"""Published standard deviations of gate directions and of random thresholds."""


class HyperplaneGates(eqx.Module):
    """Gates that compare projections of the input with thresholds.

    With `bits` hyperplanes a unit has `2 ** bits` contexts, one for each combination of sides. On/off gates have one
    hyperplane and one context: a unit is silent below its threshold.
    """

    directions: Buffer  # (units, bits, inputs)
    thresholds: Buffer  # (units, bits)
    on_off: bool = eqx.field(static=True, default=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Units and contexts."""
        units, bits = self.thresholds.value.shape
        return units, 1 if self.on_off else 2**bits

    def __call__(self, x: Float[Array, "batch inputs"]) -> Int[Array, "batch units"]:
        """The context of every unit."""
        units, bits, inputs = self.directions.value.shape
        sides = (x @ self.directions.value.reshape(-1, inputs).T).reshape(len(x), units, bits)
        above = (sides > self.thresholds.value).astype(jnp.int32)
        if self.on_off:
            return above[:, :, 0] - 1
        return (above * 2 ** jnp.arange(bits)).sum(axis=2)


class CentroidGates(eqx.Module):
    """Gates that pick the nearest of several centroids of each unit."""

    centroids: Buffer  # (units, contexts, inputs)

    @property
    def shape(self) -> tuple[int, int]:
        """Units and contexts."""
        units, contexts, _ = self.centroids.value.shape
        return units, contexts

    def __call__(self, x: Float[Array, "batch inputs"]) -> Int[Array, "batch units"]:
        """The context of every unit."""
        centres = self.centroids.value
        products = (x @ centres.reshape(-1, centres.shape[2]).T).reshape(len(x), *self.shape)
        return (0.5 * (centres**2).sum(axis=2) - products).argmin(axis=2)


Gates = HyperplaneGates | CentroidGates


def random_gates(
    *,
    units: int,
    inputs: int,
    bits: int = 1,
    shared: bool = False,
    direction_scale: float = DIRECTION_SCALE,
    threshold_scale: float = THRESHOLD_SCALE,
    key: PRNGKeyArray,
) -> HyperplaneGates:
    """Normal directions and thresholds.

    **Arguments:**

    - `bits`: hyperplanes per unit; 0 for a linear unit.
    - `shared`: whether all units have the same gate.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets.gated import random_gates
    >>> gates = random_gates(units=3, inputs=5, bits=2, key=jax.random.key(0))
    >>> gates.shape, gates(jnp.ones((2, 5))).shape
    ((3, 4), (2, 3))

    ```
    """
    if min(units, inputs) < 1 or bits < 0:
        raise InputError(
            "units, inputs, bits", (units, inputs, bits), "units and inputs from 1 on, bits from 0 on"
        )
    one, two = jax.random.split(key)
    drawn = 1 if shared else units
    directions = direction_scale * jax.random.normal(one, (drawn, bits, inputs))
    thresholds = threshold_scale * jax.random.normal(two, (drawn, bits))
    return HyperplaneGates(
        Buffer(jnp.broadcast_to(directions, (units, bits, inputs))),
        Buffer(jnp.broadcast_to(thresholds, (units, bits))),
    )


def at_quantiles(
    gates: HyperplaneGates, x: Float[np.ndarray, "rows inputs"], quantile: float = 0.5
) -> HyperplaneGates:
    """The same directions with thresholds at a quantile of the data, by default the median.

    ```python
    >>> import jax, numpy as np
    >>> from recombine.nets.gated import at_quantiles, random_gates
    >>> x = np.random.default_rng(0).normal(size=(100, 5))
    >>> gates = at_quantiles(random_gates(units=3, inputs=5, key=jax.random.key(0)), x)
    >>> np.asarray(gates(x)).mean(axis=0).tolist()  # half of the rows on each side
    [0.5, 0.5, 0.5]

    ```
    """
    if not 0 < quantile < 1:
        raise InputError("quantile", quantile, "a number between 0 and 1")
    units, bits, inputs = gates.directions.value.shape
    rows = jnp.asarray(x, dtype=jnp.float32)
    if rows.ndim != 2 or rows.shape[1] != inputs or len(rows) < 2:
        raise InputError("x", rows.shape, f"at least two rows of {inputs} inputs")
    sides = rows @ gates.directions.value.reshape(-1, inputs).T
    thresholds = jnp.quantile(sides, quantile, axis=0).reshape(units, bits)
    return HyperplaneGates(gates.directions, Buffer(thresholds), gates.on_off)


def k_means_gates(
    x: Float[np.ndarray, "rows inputs"],
    *,
    units: int,
    contexts: int,
    shared: bool = False,
    share: float = 0.5,
    seed: int = 0,
) -> CentroidGates:
    """Contexts around the centroids of the data, each unit from its own random part of the rows.

    **Arguments:**

    - `share`: of the rows that a unit sees, so that units differ.

    ```python
    >>> import numpy as np
    >>> from recombine.nets.gated import k_means_gates
    >>> x = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
    >>> gates = k_means_gates(x, units=1, contexts=2)
    >>> len(set(np.asarray(gates(x)[:20, 0]))), len(set(np.asarray(gates(x)[:, 0])))
    (1, 2)

    ```
    """
    from sklearn.cluster import KMeans

    rows = np.asarray(x, dtype=np.float64)
    taken = int(np.ceil(share * len(rows)))
    if not 0 < share <= 1 or taken < contexts:
        raise InputError("share", share, f"a share of the rows with at least {contexts} of them")
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(1 if shared else units):
        own = rows if shared else rows[rng.choice(len(rows), taken, replace=False)]
        found = KMeans(contexts, n_init=2, random_state=int(rng.integers(2**31))).fit(own)
        drawn.append(found.cluster_centers_)
    centroids = np.broadcast_to(np.stack(drawn), (units, contexts, rows.shape[1]))
    return CentroidGates(Buffer(jnp.asarray(centroids, dtype=jnp.float32)))


def frozen_gates(
    weight: Float[np.ndarray, "inputs units"], bias: Float[np.ndarray, " units"] | None = None
) -> HyperplaneGates:
    """The gates of a layer of rectified units, kept as they are: on where `x @ weight + bias` is positive.

    ```python
    >>> import numpy as np
    >>> from recombine.nets.gated import frozen_gates
    >>> np.asarray(frozen_gates(np.eye(2))(np.array([[1.0, -1.0]]))).tolist()  # 0: on, -1: off
    [[0, -1]]

    ```
    """
    directions = jnp.asarray(weight, dtype=jnp.float32).T[:, None, :]
    thresholds = (
        jnp.zeros((len(directions), 1)) if bias is None else -jnp.asarray(bias, dtype=jnp.float32)[:, None]
    )
    return HyperplaneGates(Buffer(directions), Buffer(thresholds), on_off=True)


class GatedUnits(eqx.Module):
    """Units that apply the weight vector of their context; weight `(units, contexts, inputs)`."""

    weight: Float[Array, "units contexts inputs"]
    gates: Gates

    def __init__(self, gates: Gates, inputs: int, *, key: PRNGKeyArray) -> None:
        units, contexts = gates.shape
        draw = jax.nn.initializers.orthogonal()
        self.weight = draw(key, (units * contexts, inputs), jnp.float32).reshape(units, contexts, inputs)
        self.gates = gates

    def __call__(self, x: Float[Array, "batch inputs"], *, key: PRNGKeyArray | None = None) -> Array:
        units, contexts, inputs = self.weight.shape
        products = (x @ self.weight.reshape(-1, inputs).T).reshape(len(x), units, contexts)
        picked = jax.nn.one_hot(
            self.gates(x), contexts, dtype=products.dtype
        )  # all zeros for a unit that is off
        return (products * picked).sum(axis=2)


def one_layer_gated(gates: Gates, *, inputs: int, key: PRNGKeyArray) -> Net:
    """One gated unit: a linear function in each context.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count
    >>> from recombine.nets.gated import one_layer_gated, random_gates
    >>> gates = random_gates(units=1, inputs=785, bits=4, key=jax.random.key(0))
    >>> parameter_count(one_layer_gated(gates, inputs=785, key=jax.random.key(1)))
    12560

    ```
    """
    if gates.shape[0] != 1:
        raise InputError("gates", gates.shape, "the gate of one unit")
    return Net(("output",), (GatedUnits(gates, inputs, key=key),))


def two_layer_gated(gates: Gates, *, inputs: int, bias: bool = False, key: PRNGKeyArray) -> Net:
    """Gated units and a linear readout.

    **Arguments:**

    - `bias`: of the readout; published nets have one, the theory's norm does not count it.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count
    >>> from recombine.nets.gated import random_gates, two_layer_gated
    >>> gates = random_gates(units=10, inputs=785, key=jax.random.key(0))
    >>> parameter_count(two_layer_gated(gates, inputs=785, key=jax.random.key(1)))
    15710

    ```
    """
    first, second, third = jax.random.split(key, 3)
    units = GatedUnits(gates, inputs, key=first)
    readout = Linear(gates.shape[0], 1, bias=bias, key=third)
    orthogonal = jax.nn.initializers.orthogonal()(second, readout.weight.shape, jnp.float32)
    return Net(("hidden", "output"), (units, eqx.tree_at(lambda new: new.weight, readout, orthogonal)))


def parts(net: Net) -> Float[np.ndarray, "units contexts inputs"]:
    """The weights of every unit and context in the output, `readout_h w_hc`; a net with one layer has one unit.

    ```python
    >>> import jax
    >>> from recombine.nets.gated import parts, random_gates, two_layer_gated
    >>> gates = random_gates(units=3, inputs=5, key=jax.random.key(0))
    >>> parts(two_layer_gated(gates, inputs=5, key=jax.random.key(1))).shape
    (3, 2, 5)

    ```
    """
    units = net.layers[0]
    if not isinstance(units, GatedUnits):
        raise InputError("net", list(net.names), "a net of this module")
    weight = np.asarray(units.weight, dtype=np.float64)
    if len(net.layers) == 1:
        return weight
    readout = net.layers[1]
    assert isinstance(readout, Linear)
    return weight * np.asarray(readout.weight, dtype=np.float64)[:, :, None]
