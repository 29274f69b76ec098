"""Gradients of a PyTorch module's outputs by its parameters, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from recombine.models.model import Model
from recombine.models.model_errors import ModelError, NoDerivativeError, user_code
from recombine.models.model_inputs import Inputs
from recombine.models.tangents import Sample
from recombine.models.torch.tensors import precision_of, to_tensor

STAGE = "while differentiating it by its parameters"


def parameter_sizes(function: Any) -> list[int]:
    """Sizes of all arrays of parameters of a module, also of those that were frozen."""
    return [value.numel() for value in _parameters(function).values()]


def gradients(
    model: Model, inputs: Inputs, direction: np.ndarray, sample: Sample, shuffle: int | None
) -> np.ndarray:
    """`(rows, entries)`: gradients of the outputs times `direction`; the module itself is not changed.

    One row at a time, because a batch would add up the gradients of its rows.
    """
    module: Any = model.function
    dtype, device = precision_of([module])
    values = {
        name: (_shuffled(value, shuffle) if shuffle is not None else value.detach()).requires_grad_()
        for name, value in _parameters(module).items()
    }
    along = torch.as_tensor(direction, device=device)
    index = [
        (None if entries is None else torch.as_tensor(entries, device=device), factor)
        for entries, factor in sample
    ]

    def value(row: Inputs) -> Tensor:
        def call(*args: Any, **named: Any) -> Tensor:
            return functional_call(module, values, args, named)

        with torch.enable_grad(), user_code(STAGE):
            outputs: Tensor = row.feed(call)
        return (outputs.reshape(-1) * along).sum()

    as_floats, tangents = False, np.empty((inputs.rows, _entries(sample, values)), dtype=np.float32)
    for number in range(inputs.rows):
        row = inputs.take(np.array([number])).convert(lambda part: to_tensor(part, dtype, device))
        try:
            total = value(_floats(row, dtype) if as_floats else row)
        except ModelError:
            if as_floats or all(part.is_floating_point() for part in row.parts):
                raise
            as_floats, total = True, value(_floats(row, dtype))
        if not total.requires_grad:
            raise NoDerivativeError("its outputs have no gradient")
        with user_code(STAGE):
            slopes = torch.autograd.grad(
                total, list(values.values()), allow_unused=True, materialize_grads=True
            )
        kept = [
            (slope.reshape(-1) if entries is None else slope.reshape(-1)[entries]) * factor
            for slope, (entries, factor) in zip(slopes, index, strict=True)
        ]
        tangents[number] = torch.cat(kept).float().cpu().numpy()
    return tangents


def _parameters(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: value for name, value in module.named_parameters() if value.is_floating_point()}


def _entries(sample: Sample, values: dict[str, Tensor]) -> int:
    sizes = (
        value.numel() if entries is None else len(entries)
        for value, (entries, _) in zip(values.values(), sample, strict=True)
    )
    return sum(sizes)


def _floats(row: Inputs, dtype: torch.dtype) -> Inputs:
    """Whole numbers as floating-point numbers, for models that cannot take them otherwise."""
    return row.convert(lambda part: part.to(dtype))


def _shuffled(value: Tensor, seed: int) -> Tensor:
    """Weight matrices and kernels in random order; vectors (biases, gains) as they are."""
    if value.ndim < 2:
        return value.detach()
    order = torch.randperm(value.numel(), generator=torch.Generator().manual_seed(seed)).to(value.device)
    return value.detach().reshape(-1)[order].reshape(value.shape)
