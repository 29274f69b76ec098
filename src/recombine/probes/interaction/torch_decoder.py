"""PyTorch modules: values without gradients, and nested forward-mode products of `torch.func`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.probes.interaction.decoder import (
    Decoder,
    Directions,
    Outputs,
    Rows,
    calling_convention,
    first_line,
)


def torch_decoder(decoder: Any, latents: Rows, *, batched: bool | None, chunk: int) -> Decoder:
    """The view of a PyTorch module, or of a function of tensors, in the precision of its parameters."""
    try:
        import torch
    except ImportError:
        raise InputError(
            "framework", "torch", "PyTorch to be installed: pip install 'recombine[torch]'"
        ) from None

    own = next(iter(decoder.parameters()), None) if isinstance(decoder, torch.nn.Module) else None
    dtype = torch.get_default_dtype() if own is None else own.dtype
    device = torch.device("cpu") if own is None else own.device

    def tensor(array: np.ndarray) -> Any:
        return torch.as_tensor(np.ascontiguousarray(array), dtype=dtype, device=device)

    def call(array: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return decoder(tensor(array)).detach().cpu().double().numpy()

    by_rows, shape = calling_convention(call, latents, batched)

    def nested(rows: Any, directions: Any) -> Any:
        function = decoder if by_rows else (lambda z: torch.stack([decoder(row) for row in z]))
        for order in range(directions.shape[1]):
            function = _product(torch, function, directions[:, order])
        return function(rows)

    def derivative(rows: Rows, directions: Directions) -> Outputs:
        parts = []
        for start in range(0, len(rows), chunk):
            z, u = tensor(rows[start : start + chunk]), tensor(directions[start : start + chunk])
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's own, at the first product
                found = nested(z, u)
            parts.append(found.detach().cpu().double().numpy().reshape(len(z), -1))
        return np.concatenate(parts)

    def values(rows: Rows) -> Outputs:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    parts = decoder.modules() if isinstance(decoder, torch.nn.Module) else ()
    unsteady = any(
        part.training and type(part).__name__.startswith(("Dropout", "BatchNorm")) for part in parts
    )
    notes = ("the module is in training mode; call .eval() first",) if unsteady else ()
    try:
        derivative(latents[:1], np.ones((1, 2, latents.shape[1])))
        why = ""
    except Exception as error:  # its derivative rules may raise anything, and PyTorch where there are none
        why = f"torch.func.jvp fails ({first_line(error)})"
    eps = float(torch.finfo(dtype).eps)
    return Decoder("torch", shape, values, None if why else derivative, eps, why, notes)


def _product(torch: Any, function: Any, direction: Any) -> Any:
    return lambda z: torch.func.jvp(function, (z,), (direction,))[1]
