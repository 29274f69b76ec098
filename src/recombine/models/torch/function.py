"""PyTorch modules as functions of rows: values without gradients, and nested forward-mode products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from recombine.models.function import Directions, ModelFunction, OutputRows, Rows, first_line, row_convention
from recombine.models.model_outputs import to_numpy
from recombine.models.torch.derivatives import derivative_along, forward_mode
from recombine.models.torch.hooks import eval_mode, modules_of, original, training_note
from recombine.models.torch.tensors import precision_of, to_tensor


def torch_function(
    model: Any,
    rows: Rows,
    *,
    batched: bool | None,
    chunk: int,
    field: str,
    also: Sequence[torch.nn.Module] = (),
) -> ModelFunction:
    """A PyTorch module, a method of one, or a function of tensors, in the precision of its parameters.

    Modules that can be seen, and those in `also`, are in eval mode while they run.
    """
    if isinstance(model, torch.nn.Module):
        model = original(model)
    modules = [*modules_of(model), *also]
    dtype, device = precision_of(modules)

    def tensor(array: np.ndarray) -> torch.Tensor:
        return to_tensor(array, dtype, device)

    def call(array: np.ndarray) -> np.ndarray:
        with torch.no_grad(), eval_mode(modules):
            return to_numpy(model(tensor(array))).astype(np.float64)

    by_rows, shape = row_convention(call, rows, batched, field)

    def together(z: torch.Tensor) -> torch.Tensor:
        return model(z) if by_rows else torch.stack([model(row) for row in z])

    def derivative(rows: Rows, directions: Directions) -> OutputRows:
        parts = []
        for start in range(0, len(rows), chunk):
            z, u = tensor(rows[start : start + chunk]), tensor(directions[start : start + chunk])
            with torch.no_grad(), eval_mode(modules), forward_mode():
                result = derivative_along(together, z, u.unbind(1))
            parts.append(to_numpy(result).astype(np.float64).reshape(len(z), -1))
        return np.concatenate(parts)

    def values(rows: Rows) -> OutputRows:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    try:
        derivative(rows[:1], np.ones((1, 2, rows.shape[1])))
        reason = ""
    except (
        Exception
    ) as error:  # derivative rules of the user's may raise anything, and PyTorch where there are none
        reason = f"torch.func.jvp fails ({first_line(error)})"
    return ModelFunction(
        "torch",
        shape,
        values,
        None if reason else derivative,
        float(torch.finfo(dtype).eps),
        reason,
        tuple(training_note(modules)),
    )
