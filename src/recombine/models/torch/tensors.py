"""Arrays as tensors, in the precision and on the device of a module; and the tensors in nested outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from recombine.errors import InputError


def precision_of(modules: Sequence[nn.Module]) -> tuple[torch.dtype, torch.device]:
    """Type and device of the first floating-point parameter (or buffer); PyTorch's default type without any."""
    for values in (nn.Module.parameters, nn.Module.buffers):
        for module in modules:
            for value in values(module):
                if value.is_floating_point():
                    return value.dtype, value.device
    return torch.get_default_dtype(), torch.device("cpu")


def to_tensor(array: Any, dtype: torch.dtype, device: torch.device | None = None) -> Tensor:
    """An array of any framework as a tensor; floating-point numbers become `dtype`, whole numbers stay whole.

    ```python
    >>> import numpy as np, torch
    >>> from recombine.models.torch.tensors import to_tensor
    >>> to_tensor(np.ones(2), torch.float32).dtype, to_tensor(np.arange(2, dtype=np.uint16), torch.float32).dtype
    (torch.float32, torch.int64)

    ```
    """
    if isinstance(array, Tensor):
        tensor = array.detach().to(device)
    else:
        array = np.asarray(array)
        if array.dtype.kind == "V" and "float" in array.dtype.name:  # bfloat16 of JAX
            array = array.astype(np.float32)
        if array.dtype.kind not in "fiubc":
            raise InputError("inputs", f"values of type {array.dtype.name}", "numbers")
        unsigned = array.dtype.kind == "u" and array.dtype.itemsize > 1  # PyTorch computes with uint8 only
        kind = np.int64 if unsigned else array.dtype.newbyteorder("=")
        tensor = torch.tensor(np.ascontiguousarray(array, dtype=kind), device=device)
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def tensors(tree: Any) -> Iterator[Tensor]:
    """All tensors in nested tuples, lists and dictionaries, in order."""
    if isinstance(tree, Tensor):
        yield tree
    elif isinstance(tree, tuple | list):
        for part in tree:
            yield from tensors(part)
    elif isinstance(tree, Mapping):
        for part in tree.values():
            yield from tensors(part)


def first_tensor(tree: Any) -> Tensor | None:
    """What counts as the output of a module that returns several (attention returns its weights, too)."""
    return next(tensors(tree), None)
