"""Decoders that JAX can trace: nested forward-mode products, compiled once per order."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.probes.interaction.decoder import (
    Decoder,
    Directions,
    Outputs,
    Precision,
    Rows,
    calling_convention,
    padded_chunks,
)


class UntraceableError(TypeError):
    """JAX cannot trace the function; the message says why in one line."""


def jax_decoder(
    decoder: Any, latents: Rows, *, batched: bool | None, precision: Precision | None, chunk: int
) -> Decoder:
    """The view of a JAX function or Equinox module.

    float64 is tried first; a function that insists on float32 (a convolution with float32 weights, say, or NumPy
    constants that JAX has met in float32 before) is computed in float32, with a note.
    """

    def traced(precision: Precision) -> bool:
        """Raises `UntraceableError`; otherwise whether forward-mode products exist."""
        shapes: list[Any] = [
            jax.ShapeDtypeStruct(shape, np.dtype(precision))  # type: ignore[no-untyped-call]
            for shape, rows in (((latents.shape[1],), False), ((2, latents.shape[1]), True))
            if batched in (None, rows)
        ]
        first: Exception | None = None
        with jax.enable_x64(precision == "float64"):
            for shape in shapes:
                try:
                    # lowered, not only traced: JAX may keep constants of a function that has run in float32
                    jax.jit(lambda z: jnp.asarray(decoder(z))).lower(shape)
                except Exception as error:  # the user's function may raise anything while it is traced
                    first = first or error
                    continue
                try:
                    jax.eval_shape(
                        lambda z: _nested(lambda y: jnp.asarray(decoder(y)), False, z, (z, z)), shape
                    )
                except (TypeError, NotImplementedError):
                    return False
                return True
        assert first is not None
        raise UntraceableError(f"JAX cannot trace it ({type(first).__name__})") from first

    notes: tuple[str, ...] = ()
    chosen: Precision = precision or "float64"
    try:
        forward = traced(chosen)
    except UntraceableError:
        if precision is not None:
            raise
        chosen = "float32"
        forward = traced(chosen)
        notes = ("computed in float32: the decoder does not take float64",)
    wide = chosen == "float64"
    dtype = np.dtype(chosen)

    def call(array: np.ndarray) -> np.ndarray:
        with jax.enable_x64(wide):
            return np.asarray(_called(decoder, jnp.asarray(array, dtype)))

    by_rows, shape = calling_convention(call, latents, batched)

    def derivative(rows: Rows, directions: Directions) -> Outputs:
        parts = []
        with jax.enable_x64(wide):
            for count, pieces in padded_chunks(chunk, rows, directions):
                z, u = (jnp.asarray(piece, dtype) for piece in pieces)
                parts.append(np.asarray(_products(decoder, by_rows, z, u), dtype=np.float64)[:count])
        return np.concatenate(parts)

    def values(rows: Rows) -> Outputs:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    why = "" if forward else "it has no forward-mode derivative in JAX (jax.custom_vjp?)"
    return Decoder(
        "jax", shape, values, derivative if forward else None, float(np.finfo(dtype).eps), why, notes
    )


@eqx.filter_jit
def _called(decoder: Any, array: Any) -> Any:
    return jnp.asarray(decoder(array))


@eqx.filter_jit
def _products(decoder: Any, by_rows: bool, rows: Any, directions: Any) -> Any:
    """One program per order and decoder; decoders that differ in their arrays alone share it."""
    return jax.vmap(lambda z, u: _nested(decoder, by_rows, z, u))(rows, directions)


def _nested(decoder: Any, by_rows: bool, z: Any, directions: Any) -> Any:
    if not len(directions):
        return jnp.ravel(decoder(z[None])[0] if by_rows else decoder(z))
    return jax.jvp(lambda y: _nested(decoder, by_rows, y, directions[1:]), (z,), (directions[0],))[1]
