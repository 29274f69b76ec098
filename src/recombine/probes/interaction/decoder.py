"""One view of any decoder: its values, and its mixed derivatives along given directions where it has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError

Framework = Literal["jax", "torch", "numpy"]
Precision = Literal["float32", "float64"]
Rows = Float[np.ndarray, "rows latents"]
Directions = Float[np.ndarray, "rows order latents"]
Outputs = Float[np.ndarray, "rows outputs"]


@dataclass(frozen=True, eq=False)
class Decoder:
    """A decoder as functions of NumPy rows, whatever it is written in.

    `values` gives the flattened outputs `(rows, outputs)` of latents `(rows, latents)`. `derivative` gives
    D^m f(z)[u_1, …, u_m] for rows z and directions `(rows, m, latents)` by m nested forward-mode products; it is
    `None` where there are no derivatives, and `why` then says so in words.
    """

    framework: Framework
    output_shape: tuple[int, ...]
    values: Callable[[Rows], Outputs]
    derivative: Callable[[Rows, Directions], Outputs] | None
    eps: float
    why: str = ""
    notes: tuple[str, ...] = ()


def as_decoder(
    decoder: Any,
    latents: Rows,
    *,
    framework: Framework | None = None,
    batched: bool | None = None,
    precision: Precision | None = None,
    chunk: int = 128,
) -> Decoder:
    """The one view of a decoder.

    **Arguments:**

    - `decoder`: a callable from latents `(latents,)` to outputs of any shape, or from `(rows, latents)` to
        `(rows, ...)`; a JAX function or Equinox module, a PyTorch module, or any function of NumPy arrays.
    - `latents`: `(samples, latents)`, two of which are tried.
    - `framework`: what it is written in; found by trying unless given. A plain function of PyTorch tensors needs it.
    - `batched`: whether it takes rows; found by trying unless given.
    - `precision`: of JAX functions, by default float64 where the function allows it.
    - `chunk`: how many rows are computed at a time, which bounds memory.
    """
    if not callable(decoder):
        raise InputError("decoder", type(decoder).__name__, "a function of latents")
    if framework not in (None, *get_args(Framework)):
        raise InputError("framework", framework, "'jax', 'torch' or 'numpy'")
    if precision not in (None, *get_args(Precision)):
        raise InputError("precision", precision, "'float32' or 'float64'")
    if chunk < 1:
        raise InputError("chunk", chunk, "a positive number of rows")
    if framework is None and is_torch_module(decoder):
        framework = "torch"
    if framework == "torch":
        from recombine.probes.interaction.torch_decoder import torch_decoder

        return torch_decoder(decoder, latents, batched=batched, chunk=chunk)
    if framework in (None, "jax"):
        from recombine.probes.interaction.jax_decoder import UntraceableError, jax_decoder

        try:
            return jax_decoder(decoder, latents, batched=batched, precision=precision, chunk=chunk)
        except UntraceableError as error:
            if framework == "jax":
                raise InputError("decoder", str(error), "a function that JAX can trace") from error
            why = str(error)
        return replace(numpy_decoder(decoder, latents, batched=batched, chunk=chunk), why=why)
    return numpy_decoder(decoder, latents, batched=batched, chunk=chunk)


def is_torch_module(decoder: Any) -> bool:
    """Whether it is a PyTorch module, without importing PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(decoder, torch.nn.Module)


def numpy_decoder(decoder: Any, latents: Rows, *, batched: bool | None, chunk: int) -> Decoder:
    """A black box: values alone."""

    def call(array: np.ndarray) -> np.ndarray:
        return np.asarray(decoder(array), dtype=np.float64)

    batched, shape = calling_convention(call, latents, batched)

    def values(rows: Rows) -> Outputs:
        parts = []
        for start in range(0, len(rows), chunk):
            block = rows[start : start + chunk]
            parts.append(call(block) if batched else np.stack([call(row) for row in block]))
        return np.concatenate(parts).reshape(len(rows), -1)

    kind = np.asarray(decoder(latents[:1] if batched else latents[0])).dtype
    eps = float(np.finfo(kind if kind in (np.float32, np.float16) else np.float64).eps)
    return Decoder("numpy", shape, values, None, eps, "it is a function of NumPy arrays")


def calling_convention(
    call: Callable[[np.ndarray], np.ndarray], latents: Rows, batched: bool | None
) -> tuple[bool, tuple[int, ...]]:
    """Whether a function takes rows, and the shape of one output; by trying, unless `batched` says so.

    Where both work they must agree: rows in, the same rows out.
    """
    point = latents[0]
    rows = np.repeat(
        latents[[0, -1]], (2, latents.shape[1] + 5), axis=0
    )  # a count that no shape has by chance
    single = together = None
    errors = []
    if batched is not True:
        try:
            single = call(point)
        except Exception as error:
            errors.append(error)
    if batched is not False:
        try:
            together = call(rows)
        except Exception as error:
            errors.append(error)
    if together is not None and (together.ndim == 0 or len(together) != len(rows)):
        if batched:
            raise InputError(
                "decoder", f"outputs {together.shape} for {len(rows)} rows", "one output per row"
            )
        together = None
    if single is None and together is None:
        accepted = f"outputs for latents ({len(point)},) or (rows, {len(point)}) [{first_line(errors[0])}]"
        raise InputError("decoder", f"an error ({type(errors[0]).__name__})", accepted) from errors[0]
    if single is not None and together is not None:
        last = call(latents[-1])
        same = together.shape[1:] == single.shape and all(
            np.allclose(a, b, rtol=1e-3, atol=1e-5 * (1 + _largest(b)), equal_nan=True)
            for a, b in ((together[0], single), (together[-1], last))
        )
        if not same:
            raise InputError(
                "decoder", "other outputs for rows than for single latents", "batched=True or batched=False"
            )
    if together is not None:
        return True, tuple(together.shape[1:])
    assert single is not None
    return False, tuple(single.shape)


def _largest(array: np.ndarray) -> float:
    return float(np.abs(np.nan_to_num(array, posinf=0.0, neginf=0.0)).max(initial=0.0))


def first_line(error: Exception) -> str:
    """What an error says, or its kind, in one line of a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def padded_chunks(chunk: int, *arrays: np.ndarray) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Pieces of `chunk` rows, the last filled up with its last row, so that one compiled program serves all."""
    for start in range(0, len(arrays[0]), chunk):
        pieces = [array[start : start + chunk] for array in arrays]
        count = len(pieces[0])
        yield count, tuple(np.concatenate([p, np.repeat(p[-1:], chunk - count, axis=0)]) for p in pieces)
