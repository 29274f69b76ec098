"""The linear maps of PyTorch: what they read, and the variance they pass on.

`torch.nn.Linear`, convolutions and transposed convolutions of one to three dimensions, and the projections of queries,
keys and values in `torch.nn.MultiheadAttention`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

CONVOLUTIONS: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.Conv1d: F.conv1d,
    nn.Conv2d: F.conv2d,
    nn.Conv3d: F.conv3d,
}
TRANSPOSED: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.ConvTranspose1d: F.conv_transpose1d,
    nn.ConvTranspose2d: F.conv_transpose2d,
    nn.ConvTranspose3d: F.conv_transpose3d,
}
CONVOLVING: tuple[type[nn.Module], ...] = (*CONVOLUTIONS, *TRANSPOSED)
LINEAR_MAPS: tuple[type[nn.Module], ...] = (nn.Linear, nn.MultiheadAttention, *CONVOLVING)


@dataclass(frozen=True, eq=False)
class Read:
    """A linear map and what it read in one call; weights are those of the call."""

    name: str
    layer: nn.Module
    tensor: Tensor
    """As the module got it."""
    weight: Tensor
    """Outputs first, as PyTorch stores it (inputs first for a transposed convolution)."""
    batch_axis: int = 0
    version: int = 0

    @property
    def is_overwritten(self) -> bool:
        """Whether the tensor holds something else by now, as after `h += block(h)`."""
        return _version(self.tensor) != self.version

    @property
    def is_convolution(self) -> bool:
        """Whether the map shares its weights between pixels."""
        return isinstance(self.layer, CONVOLVING)

    @property
    def activity(self) -> Tensor:
        """What was read, examples first, in the weights' precision."""
        activity = self.tensor.movedim(self.batch_axis, 0) if self.batch_axis else self.tensor
        if self.is_convolution and activity.ndim == self.weight.ndim - 1:
            activity = activity[None]
        return activity.to(self.weight.dtype)

    def push_variance(self, variance: Tensor) -> Tensor:
        """The variance that arrives at all outputs from independent noise of this variance, summed over channels.

        Summing squared kernels before the convolution, instead of its results after it, is the same and cheaper. The
        channels of a group are summed.
        """
        if not self.is_convolution:
            return variance @ (self.weight**2).sum(0)
        layer: Any = self.layer
        squares = self.weight**2
        for kind, function in TRANSPOSED.items():
            if isinstance(layer, kind):
                geometry = (layer.stride, layer.padding, layer.output_padding, layer.groups, layer.dilation)
                return function(variance, squares.sum(1, keepdim=True), None, *geometry)
        summed = squares.reshape(layer.groups, -1, *squares.shape[1:]).sum(1)
        padding = layer.padding
        if layer.padding_mode != "zeros":
            variance, padding = F.pad(variance, _margins(layer), mode=layer.padding_mode), 0
        function = next(function for kind, function in CONVOLUTIONS.items() if isinstance(layer, kind))
        return function(variance, summed, None, layer.stride, padding, layer.dilation, layer.groups)


def reads_of(name: str, layer: nn.Module, args: tuple[Any, ...], named: Mapping[str, Any]) -> Iterator[Read]:
    """What a module reads in a call with these arguments; nothing if it is not a linear map."""
    if isinstance(layer, nn.MultiheadAttention):
        inputs = dict(zip(("query", "key", "value"), args[:3], strict=False)) | dict(named)
        for role, weight in zip(("query", "key", "value"), attention_weights(layer), strict=True):
            tensor = inputs[role]
            axis = 0 if layer.batch_first or tensor.ndim < 3 else 1
            yield Read(name, layer, tensor, weight, axis, _version(tensor))
    elif isinstance(layer, LINEAR_MAPS) and isinstance(layer.weight, Tensor):
        tensor = args[0] if args else named["input"]
        yield Read(name, layer, tensor, layer.weight, version=_version(tensor))


def attention_weights(layer: nn.MultiheadAttention) -> tuple[Tensor, ...]:
    """The projections of queries, keys and values, outputs first."""
    if layer.in_proj_weight is None:
        return layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight
    return layer.in_proj_weight.chunk(3)


def _version(tensor: Tensor) -> int:
    """How often it was written into; PyTorch does not count that in inference mode."""
    return 0 if tensor.is_inference() else tensor._version


def _margins(layer: Any) -> list[int]:
    """Padding before and after every axis, last axis first."""
    if layer.padding == "valid":
        return [0] * (2 * len(layer.kernel_size))
    if layer.padding == "same":
        totals = [step * (size - 1) for step, size in zip(layer.dilation, layer.kernel_size, strict=True)]
        return [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
    return [side for margin in reversed(layer.padding) for side in (margin, margin)]
