"""Penalties on weights only, for PyTorch modules: L1, L2, and the products of neighbouring layers L12 and L21.

The arithmetic is that of `recombine.remedies.weight_norms`. Linear maps are `Linear`, convolutions and their
transposes, and the projections of `MultiheadAttention`; biases are not penalised.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.eager import uncompiled
from recombine.models.torch.hooks import call_hooks, hooked, original, reachable, run
from recombine.models.torch.linear_maps import CONVOLVING, LINEAR_MAPS, TRANSPOSED, attention_weights
from recombine.remedies.weight_norms import l1_of, l2_of, l12_of, l21_of


def l1(net: nn.Module, x: Any = None) -> Tensor:
    """Σ |w| over all linear maps of a module. `x` is not needed.

    ```python
    >>> import torch
    >>> from recombine.torch import l1
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    >>> bool(torch.isclose(l1(net), net[0].weight.abs().sum() + net[2].weight.abs().sum()))
    True

    ```
    """
    return l1_of(_weights(net))


def l2(net: nn.Module, x: Any = None) -> Tensor:
    """Σ w² over all linear maps of a module. `x` is not needed."""
    return l2_of(_weights(net))


def l12(net: nn.Module, x: Any) -> Tensor:
    """Σ_i (Σ_k |w_ki|)(Σ_j w_ij²) over hidden units `i` of a chain of dense and convolutional layers.

    `x`, an input of the module, is run to find the order of the layers. A convolution counts by channel, and a dense
    layer that reads every pixel of a convolution is summed over pixels.

    ```python
    >>> import torch
    >>> from recombine.torch import l12
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    >>> into, out_of = net[0].weight.abs().sum(1), (net[2].weight ** 2).sum(0)
    >>> bool(torch.isclose(l12(net, torch.ones(5, 3)), (into * out_of).sum()))
    True

    ```
    """
    return l12_of(uncompiled(_connections, net, x))


def l21(net: nn.Module, x: Any) -> Tensor:
    """Σ_i (Σ_k w_ki²)(Σ_j |w_ij|), the mirror image of `l12`."""
    return l21_of(uncompiled(_connections, net, x))


def _weights(net: nn.Module) -> list[Tensor]:
    weights: list[Tensor] = []
    for part in original(net).modules():
        if isinstance(part, nn.MultiheadAttention):
            weights += attention_weights(part)
        elif isinstance(part, LINEAR_MAPS) and isinstance(part.weight, Tensor):
            weights.append(part.weight)
    if not weights:
        raise InputError("net", type(net).__name__, "a module with linear, convolutional or attention layers")
    return weights


def _connections(net: nn.Module, x: Any) -> list[Tensor]:
    """Matrices `(units before, units after)` in the order of execution: `recombine.nets.connections.connections`."""
    net = original(net)
    if x is None:
        raise InputError("x", None, "an input of the module, which shows the order of its layers")
    layers: list[nn.Module] = []
    kinds: tuple[type[nn.Module], ...] = (nn.Linear, *CONVOLVING)
    maps: dict[str, nn.Module] = {name: part for name, part in net.named_modules() if isinstance(part, kinds)}
    with reachable(), hooked(call_hooks(maps, lambda name, part, output: layers.append(part))):
        run(net, x)
    matrices: list[Tensor] = []
    behind_convolution = False
    for layer in layers:
        matrix = _matrix(layer)
        is_convolution = isinstance(layer, CONVOLVING)
        channels = matrices[-1].shape[1] if matrices else 0
        if behind_convolution and not is_convolution and matrix.shape[0] != channels:
            # a flattened image, channel by channel: root sum of squares over its pixels
            matrix = (matrix.reshape(channels, -1, matrix.shape[1]) ** 2).sum(1).sqrt()
        elif matrices and matrix.shape[0] != channels:
            got = f"a layer that reads {matrix.shape[0]} units behind one of {channels}"
            raise InputError("net", got, "a chain of dense and convolutional layers")
        matrices.append(matrix)
        behind_convolution = is_convolution
    if not matrices:
        raise InputError("net", type(net).__name__, "a module that calls dense or convolutional layers")
    return matrices


def _matrix(layer: Any) -> Tensor:
    """Inputs first; for a convolution one non-negative number per pair of channels."""
    if isinstance(layer, nn.Linear):
        return layer.weight.T
    if layer.groups > 1:
        raise InputError("net", "a convolution with groups", "convolutions between all channels")
    sizes = (layer.weight**2).flatten(2).sum(2).sqrt()
    return sizes if isinstance(layer, tuple(TRANSPOSED)) else sizes.T
