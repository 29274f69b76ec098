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
    """Σ w² over all layers."""
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
    """Σ_i (Σ_k w_ki²)(Σ_j |w_ij|), the mirror image of `l12_of`."""
    return sum(((before**2).sum(0) * abs(after).sum(1)).sum() for before, after in pairwise(weights))


@as_penalty(weights_only=True)
def l1(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l1_of` all linear maps of the net, convolutions included."""
    return l1_of([layer.weight for layer in weighted_layers(net)])


@as_penalty(weights_only=True)
def l2(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l2_of` all linear maps of the net, convolutions included."""
    return l2_of([layer.weight for layer in weighted_layers(net)])


@as_penalty(weights_only=True)
def l12(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l12_of` the maps that read stages or the input; a convolution counts by channel."""
    return l12_of(connections(net))


@as_penalty(weights_only=True)
def l21(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """`l21_of` the maps that read stages or the input; a convolution counts by channel."""
    return l21_of(connections(net))
