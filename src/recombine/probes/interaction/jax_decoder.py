"""Decoders that JAX can trace: nested forward-mode products, compiled once per order."""

from __future__ import annotations

from collections.abc import Iterable
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
    first_line,
    padded_chunks,
)


class UntraceableError(TypeError):
    """JAX cannot trace the function; the message says why in one line."""


def jax_decoder(
    decoder: Any, latents: Rows, *, batched: bool | None, precision: Precision | None, chunk: int
) -> Decoder:
    """The view of a JAX function or Equinox module.

    float64 is tried first; a function that insists on float32 (a convolution with float32 weights, say) is
    computed in float32, with a note.
    """
    points = {False: latents[0], True: latents[:1]}
    if batched is not None:
        points = {batched: points[batched]}

    def traced(precision: Precision) -> str:
        """Why there are no forward-mode products, if so; raises `UntraceableError`."""
        first: Exception | None = None
        with jax.enable_x64(precision == "float64"):
            for point in points.values():
                z = jnp.asarray(point, precision)
                try:
                    eqx.filter_eval_shape(_call, decoder, z)
                except Exception as error:  # the user's function may raise anything while it is traced
                    first = first or error
                    continue
                try:
                    eqx.filter_eval_shape(_nested, decoder, False, z, (z, z))
                except Exception as error:  # so may its derivative rules, and JAX where there are none
                    return f"it has no forward-mode derivative in JAX ({first_line(error)})"
                return ""
        assert first is not None
        raise UntraceableError(f"JAX cannot trace it ({type(first).__name__})") from first

    notes: tuple[str, ...] = ()
    chosen: Precision = precision or "float64"
    constants = chosen == "float64" and _holds_numpy(decoder, points.values())
    if constants:
        _forget()
    try:
        why = traced(chosen)
    except UntraceableError:
        if precision is not None:
            raise
        chosen = "float32"
        why = traced(chosen)
        notes = ("computed in float32: the decoder does not take float64",)
    wide = chosen == "float64"
    dtype = np.dtype(chosen)

    def call(array: np.ndarray) -> np.ndarray:
        with jax.enable_x64(wide):
            return np.asarray(_called(decoder, jnp.asarray(array, dtype)))

    by_rows, shape = calling_convention(call, latents, batched)
    if constants:
        decoder = _with_own_constants(decoder, points[by_rows], wide)
        _forget()

    def derivative(rows: Rows, directions: Directions) -> Outputs:
        parts = []
        with jax.enable_x64(wide):
            for count, pieces in padded_chunks(chunk, rows, directions):
                z, u = (jnp.asarray(piece, dtype) for piece in pieces)
                parts.append(np.asarray(_products(decoder, by_rows, z, u), dtype=np.float64)[:count])
        return np.concatenate(parts)

    def values(rows: Rows) -> Outputs:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    eps = float(np.finfo(dtype).eps)
    return Decoder("jax", shape, values, None if why else derivative, eps, why, notes)


def _holds_numpy(decoder: Any, points: Iterable[np.ndarray]) -> bool:
    """Whether a function closes over NumPy arrays.

    JAX keeps such an array in the precision in which a program met it first, as long as that program lives: after a
    float64 program, the same function fails in float32, and the other way round. So they are replaced by arrays of
    JAX, and what JAX has compiled so far is forgotten before and after.
    """
    for point in points:
        with jax.enable_x64(True):
            try:
                traced, _, _ = eqx.filter_make_jaxpr(_call)(decoder, jnp.asarray(point))
            except Exception:  # the user's function may raise anything; it is tried again where that is told
                continue
        return any(isinstance(constant, np.ndarray) for constant in traced.consts)
    return False


def _with_own_constants(decoder: Any, point: np.ndarray, wide: bool) -> Any:
    with jax.enable_x64(wide):
        z = jnp.asarray(point, np.float64 if wide else np.float32)
        closed = eqx.filter_closure_convert(decoder, z)
        return jax.tree.map(lambda x: jnp.array(x) if isinstance(x, np.ndarray) else x, closed)


def _forget() -> None:
    jax.clear_caches()  # type: ignore[no-untyped-call]


def _call(decoder: Any, z: Any) -> Any:
    return jnp.asarray(decoder(z))


@eqx.filter_jit
def _called(decoder: Any, array: Any) -> Any:
    return _call(decoder, array)


@eqx.filter_jit
def _products(decoder: Any, by_rows: bool, rows: Any, directions: Any) -> Any:
    """One program per order and decoder; decoders that differ in their arrays alone share it."""
    return jax.vmap(lambda z, u: _nested(decoder, by_rows, z, u))(rows, directions)


def _nested(decoder: Any, by_rows: bool, z: Any, directions: Any) -> Any:
    if not len(directions):
        return jnp.ravel(decoder(z[None])[0] if by_rows else decoder(z))
    return jax.jvp(lambda y: _nested(decoder, by_rows, y, directions[1:]), (z,), (directions[0],))[1]
