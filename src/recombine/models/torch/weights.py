"""The weights of a PyTorch module as a chain of layers, if it is one; found out by cutting each layer in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recombine.models.model_errors import ModelError
from recombine.models.model_outputs import to_numpy
from recombine.models.torch.linear_maps import CONVOLVING, TRANSPOSED

if TYPE_CHECKING:
    from recombine.models.torch.backend import Call, TorchBackend

_MAPS: tuple[type[torch.nn.Module], ...] = (torch.nn.Linear, *CONVOLVING)


def chain_weights(backend: TorchBackend) -> dict[str, np.ndarray] | str:
    """Matrices and kernels in the order of execution, inputs first; or why the module is not a chain of them.

    Each layer in turn gets the same output for every row. In a chain, all later rows are then the same; where they are
    not, something leads around the layer.
    """
    if isinstance(backend.module, _MAPS):
        return {"output": _inputs_first(backend.module)}
    calls = [call for call in backend.calls if isinstance(call.module, _MAPS)]
    if not calls:
        return "it has no dense layers or convolutions"
    reason = _other_weights(backend, {id(call.module) for call in calls}) or _repeated(calls)
    if reason:
        return reason
    if _equal_rows(backend.outputs_with()):
        return "the rows that were tried give the same outputs, so the paths through the model cannot be distinguished"
    for call in calls:
        if call.axis is None:
            return f"{call.name!r} does not give a row for every row"
        try:
            outputs = backend.outputs_with((call.module, _same_rows(call.axis)))
        except ModelError as error:
            return f"it fails when the activity of {call.name!r} is changed ({error.words})"
        if not _equal_rows(outputs):
            return f"something leads from the inputs to the outputs around {call.name!r}"
    weights: dict[str, np.ndarray] = {}
    channels = 0
    for call in calls:
        array = _inputs_first(call.module)
        if array.ndim == 2 and channels:
            array = _channels_last(array, channels)
        channels = array.shape[-1] if array.ndim == 4 else 0
        weights[call.name] = array
    return weights


def _other_weights(backend: TorchBackend, maps: set[int]) -> str:
    """Weights outside the layers that were called."""
    for name, module in backend.module.named_modules():
        if id(module) in maps or ".parametrizations" in f".{name}":
            continue
        if any(p.ndim >= 2 and p.numel() > max(p.shape) for p in module.parameters(recurse=False)):
            if isinstance(module, _MAPS):
                return f"{name!r} is not called as a layer"
            where = repr(name) if name else "the model itself"
            return f"{where} ({type(module).__name__}) has weights, but is not a dense layer or convolution"
    return ""


def _repeated(calls: list[Call]) -> str:
    seen: set[int] = set()
    for call in calls:
        if id(call.module) in seen:
            return f"{call.name.split('#')[0]!r} is called more than once"
        seen.add(id(call.module))
    return ""


def _same_rows(axis: int) -> Callable[..., Any]:
    def hook(module: Any, inputs: Any, result: Any) -> Any:
        return result.narrow(axis, 0, 1).expand_as(result).clone()

    return hook


def _equal_rows(outputs: np.ndarray) -> bool:
    scale = float(np.abs(np.nan_to_num(outputs)).max(initial=0.0))
    first = np.broadcast_to(outputs[:1], outputs.shape)
    return bool(np.allclose(outputs, first, rtol=1e-4, atol=1e-5 * scale, equal_nan=True))


def _inputs_first(module: Any) -> np.ndarray:
    """`(inputs, outputs)`, or `(height, width, inputs, outputs)` with all groups of channels."""
    weight = to_numpy(module.weight).astype(np.float64)
    if isinstance(module, torch.nn.Linear):
        return weight.T.copy()
    transposed = isinstance(module, tuple(TRANSPOSED))
    weight = weight.reshape(*weight.shape[:3], -1)  # (one axis, other axis, height, width)
    groups = module.groups
    inputs, outputs = module.in_channels // groups, module.out_channels // groups
    full = np.zeros((*weight.shape[2:], module.in_channels, module.out_channels))
    for group in range(groups):
        rows = slice(group * inputs, (group + 1) * inputs)
        columns = slice(group * outputs, (group + 1) * outputs)
        kernel = weight[rows].transpose(2, 3, 0, 1) if transposed else weight[columns].transpose(2, 3, 1, 0)
        full[:, :, rows, columns] = kernel
    return full


def _channels_last(matrix: np.ndarray, channels: int) -> np.ndarray:
    """Rows of a dense layer behind a flattened image: PyTorch has them channel by channel."""
    if matrix.shape[0] == channels or matrix.shape[0] % channels:
        return matrix
    return matrix.reshape(channels, -1, matrix.shape[1]).swapaxes(0, 1).reshape(matrix.shape)
