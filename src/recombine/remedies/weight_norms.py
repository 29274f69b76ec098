"""Penalties on weights only: L1, L2, and the products of neighbouring layers L12 and L21. Biases are not penalised.

The sums `l1_of`, ..., `l21_of` take a list of weight matrices `(units before, units after)` of NumPy, JAX or PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from jaxtyping import Array, Float

from recombine.nets import weighted_layers
from recombine.nets.connections import connections
from recombine.remedies.penalties import as_penalty


def l1_of(weights: Sequence[Any]) -> Any:
    """Σ |w| over all layers.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import l1_of, l2_of
    >>> weights = [np.array([[1.0, -2.0]]), np.array([[3.0], [0.0]])]
    >>> float(l1_of(weights)), float(l2_of(weights))
    (6.0, 14.0)

    ```
    """
    return sum(abs(weight).sum() for weight in weights)


def l2_of(weights: Sequence[Any]) -> Any:
    """Σ w² over all layers.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import l2_of
    >>> float(l2_of([np.array([[1.0, -2.0]]), np.array([[3.0], [0.0]])]))
    14.0

    ```
    """
    return sum((weight**2).sum() for weight in weights)


def l12_of(weights: Sequence[Any]) -> Any:
    """Σ_i (Σ_k |w_ki|)(Σ_j w_ij²) over hidden units `i`: sums of incoming sizes times outgoing squares.

    In a linear net this is weighted activity with alpha 1 when one input at a time is active.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import l12_of, l21_of
    >>> weights = [np.array([[1.0, -2.0]]), np.array([[3.0], [1.0]])]
    >>> float(l12_of(weights)), float(l21_of(weights))
    (11.0, 7.0)

    ```
    """
    return sum((abs(before).sum(0) * (after**2).sum(1)).sum() for before, after in pairwise(weights))


def l21_of(weights: Sequence[Any]) -> Any:
    """Σ_i (Σ_k w_ki²)(Σ_j |w_ij|), the mirror image of `l12_of`.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import l21_of
    >>> float(l21_of([np.array([[1.0, -2.0]]), np.array([[3.0], [1.0]])]))  # 1² · 3 + 2² · 1
    7.0

    ```
    """
    return sum(((before**2).sum(0) * abs(after).sum(1)).sum() for before, after in pairwise(weights))


@as_penalty(weights_only=True)
def l1(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l1_of` all linear maps of the net, convolutions included.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import l1
    >>> net = nets.mlp(inputs=2, width=3, depth=1, outputs=1, key=jax.random.key(0))  # 6 weights, then 3
    >>> ones = jax.tree.map(lambda leaf: np.ones_like(leaf) if eqx.is_array(leaf) else leaf, net)
    >>> float(l1(ones))
    9.0

    ```
    """
    return l1_of([layer.weight for layer in weighted_layers(net)])


@as_penalty(weights_only=True)
def l2(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l2_of` all linear maps of the net, convolutions included.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import l2
    >>> net = nets.mlp(inputs=2, width=3, depth=1, outputs=1, key=jax.random.key(0))  # 6 weights, then 3
    >>> ones = jax.tree.map(lambda leaf: np.ones_like(leaf) if eqx.is_array(leaf) else leaf, net)
    >>> float(l2(ones))
    9.0

    ```
    """
    return l2_of([layer.weight for layer in weighted_layers(net)])


@as_penalty(weights_only=True)
def l12(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l12_of` the maps that read stages or the input; a convolution counts by channel.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import l12
    >>> net = nets.mlp(inputs=2, width=3, depth=1, outputs=1, key=jax.random.key(0))  # 6 weights, then 3
    >>> ones = jax.tree.map(lambda leaf: np.ones_like(leaf) if eqx.is_array(leaf) else leaf, net)
    >>> float(l12(ones))  # 3 hidden units with 2 weights in and 1 out
    6.0

    ```
    """
    return l12_of(connections(net))


@as_penalty(weights_only=True)
def l21(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l21_of` the maps that read stages or the input; a convolution counts by channel.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import l21
    >>> net = nets.mlp(inputs=2, width=3, depth=1, outputs=1, key=jax.random.key(0))  # 6 weights, then 3
    >>> ones = jax.tree.map(lambda leaf: np.ones_like(leaf) if eqx.is_array(leaf) else leaf, net)
    >>> float(l21(ones))  # 3 hidden units with 2 weights in and 1 out
    6.0

    ```
    """
    return l21_of(connections(net))
