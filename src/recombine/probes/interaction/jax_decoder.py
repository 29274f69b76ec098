"""Decoders that JAX can trace: nested forward-mode products, compiled once per order."""

from __future__ import annotations

from typing import Any

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


class Untraceable(TypeError):
    """JAX cannot trace the function; the message says why in one line."""


def jax_decoder(
    decoder: Any, latents: Rows, *, batched: bool | None, precision: Precision | None, chunk: int
) -> Decoder:
    """The view of a JAX function or Equinox module.

    float64 is tried first; a function that insists on float32 (a convolution with float32 weights, say) is
    computed in float32, with a note.
    """
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    def traced(precision: Precision) -> bool:
        """Raises `Untraceable`; otherwise whether forward-mode products exist."""
        dtype = np.dtype(precision)
        shapes = [
            jax.ShapeDtypeStruct(shape, dtype) for shape in ((latents.shape[1],), (2, latents.shape[1]))
        ]
        first: Exception | None = None
        with jax.enable_x64(precision == "float64"):
            for shape in shapes:
                try:
                    jax.eval_shape(lambda z: jnp.asarray(decoder(z)), shape)
                except Exception as error:
                    first = first or error
                    continue
                try:
                    jax.eval_shape(lambda z: jax.jvp(lambda y: jnp.asarray(decoder(y)), (z,), (z,))[1], shape)
                except Exception:
                    return False
                return True
        assert first is not None
        raise Untraceable(f"JAX cannot trace it ({type(first).__name__})") from first

    notes: tuple[str, ...] = ()
    chosen: Precision = precision or "float64"
    try:
        forward = traced(chosen)
    except Untraceable:
        if precision is not None:
            raise
        chosen = "float32"
        forward = traced(chosen)
        notes = ("computed in float32: the decoder does not take float64",)
    wide = chosen == "float64"
    dtype = np.dtype(chosen)

    def call(array: np.ndarray) -> np.ndarray:
        with jax.enable_x64(wide):
            return np.asarray(decoder(jnp.asarray(array, dtype)))

    by_rows, shape = calling_convention(call, latents, batched)

    def point(function: Any, z: Any) -> Any:
        return jnp.ravel(function(z[None])[0] if by_rows else function(z))

    def nested(function: Any, z: Any, directions: Any) -> Any:
        if not len(directions):
            return point(function, z)
        return jax.jvp(lambda y: nested(function, y, directions[1:]), (z,), (directions[0],))[1]

    @eqx.filter_jit
    def compiled(function: Any, rows: Any, directions: Any) -> Any:
        return jax.vmap(lambda z, u: nested(function, z, u))(rows, directions)

    def derivative(rows: Rows, directions: Directions) -> Outputs:
        parts = []
        with jax.enable_x64(wide):
            for count, pieces in padded_chunks(chunk, rows, directions):
                z, u = (jnp.asarray(piece, dtype) for piece in pieces)
                parts.append(np.asarray(compiled(decoder, z, u), dtype=np.float64)[:count])
        return np.concatenate(parts)

    def values(rows: Rows) -> Outputs:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    why = "" if forward else "it has no forward-mode derivative in JAX (jax.custom_vjp?)"
    return Decoder(
        "jax", shape, values, derivative if forward else None, float(np.finfo(dtype).eps), why, notes
    )
