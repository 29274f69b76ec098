"""A model as a function of NumPy rows: its values, and its mixed derivatives along directions where it has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.models.model import TRYING
from recombine.models.model_errors import ModelError, user_code
from recombine.models.model_inputs import Inputs, as_inputs
from recombine.models.row_function import RowFunction, same_numbers

Precision = Literal["float32", "float64"]
Arrays = Literal["jax", "torch", "numpy"]
"""The arrays that a function takes."""
Rows = Float[np.ndarray, "rows latents"]
Directions = Float[np.ndarray, "rows order latents"]
OutputRows = Float[np.ndarray, "rows outputs"]


@dataclass(frozen=True, eq=False)
class ModelFunction:
    """A model as functions of NumPy rows, whatever it is written in; made by `recombine.models.as_function`.

    **Attributes:**

    - `values` maps `(rows, latents)` to flattened outputs `(rows, outputs)`.
    - `derivative` is D^m f(z)[u_1, …, u_m] for rows z and directions `(rows, m, latents)`, by m nested forward-mode
        products; `None` where there are no derivatives, and `no_derivative` then says why.
    - `eps` is the relative rounding error of its numbers.
    """

    arrays: Arrays
    output_shape: tuple[int, ...]
    values: Callable[[Rows], OutputRows]
    derivative: Callable[[Rows, Directions], OutputRows] | None
    eps: float
    no_derivative: str = ""
    notes: tuple[str, ...] = ()


def numpy_function(
    model: Any, rows: Rows, *, batched: bool | None, chunk: int, field: str, reason: str = ""
) -> ModelFunction:
    """A black box: values alone, and why there is nothing else."""

    def call(array: np.ndarray) -> np.ndarray:
        return np.asarray(model(array), dtype=np.float64)

    by_rows, shape = row_convention(call, rows, batched, field)

    def values(rows: Rows) -> OutputRows:
        parts = []
        for start in range(0, len(rows), chunk):
            block = rows[start : start + chunk]
            parts.append(call(block) if by_rows else np.stack([call(row) for row in block]))
        return np.concatenate(parts).reshape(len(rows), -1)

    kind = np.asarray(model(rows[:1] if by_rows else rows[0])).dtype
    eps = float(np.finfo(kind if kind in (np.float32, np.float16) else np.float64).eps)
    return ModelFunction("numpy", shape, values, None, eps, reason or "it is a function of NumPy arrays")


def row_convention(
    call: Callable[[np.ndarray], np.ndarray], rows: Rows, batched: bool | None, field: str
) -> tuple[bool, tuple[int, ...]]:
    """Whether a function takes rows together, and the shape of one output; by trying, unless `batched` says so.

    Where both ways work they must agree but for axes of length one, which decoders that end in `.view(-1, h, w)` add to
    a single row.
    """
    inputs, width = as_inputs(rows), rows.shape[1]
    try:
        function = RowFunction(call, inputs, batched=batched, strict=False)
        output = function(inputs.spread(1), TRYING)[0]
    except ModelError as error:
        cause = error.__cause__ or error
        accepted = f"outputs for an input ({width},) or (rows, {width}) [{first_line(cause)}]"
        raise InputError(field, f"an error ({type(cause).__name__})", accepted) from cause
    except InputError as error:
        raise InputError(field, error.got, error.expected) from error
    if batched is None and function.by_rows:
        _check_agreement(call, function, inputs, field)
    return function.by_rows, tuple(output.shape)


def _check_agreement(
    call: Callable[[np.ndarray], np.ndarray], function: RowFunction, inputs: Inputs, field: str
) -> None:
    together = function(inputs.spread(2), TRYING)
    for number, row in ((0, together[0]), (inputs.rows - 1, together[-1])):
        try:
            with user_code(TRYING):
                single = call(inputs.row(number).parts[0])
        except ModelError:  # then rows are taken together only
            return
        if not same_numbers(single.squeeze(), row.squeeze()):
            got = "different outputs for rows together and for single rows"
            raise InputError(field, got, "batched=True (rows) or batched=False (single rows)")


def first_line(error: BaseException) -> str:
    """What an error says, or its kind, in one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def padded_chunks(chunk: int, *arrays: np.ndarray) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
    """Pieces of `chunk` rows, the last filled up with its last row, so that one compiled program serves all."""
    for start in range(0, len(arrays[0]), chunk):
        pieces = [array[start : start + chunk] for array in arrays]
        count = len(pieces[0])
        yield count, tuple(np.concatenate([p, np.repeat(p[-1:], chunk - count, axis=0)]) for p in pieces)
