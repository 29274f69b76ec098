"""Models that JAX can trace as functions of rows: nested forward-mode products, compiled once per order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.models.function import (
    Directions,
    ModelFunction,
    OutputRows,
    Precision,
    Rows,
    first_line,
    padded_chunks,
    row_convention,
)
from recombine.models.model_errors import UntraceableError


def jax_function(
    model: Any, rows: Rows, *, batched: bool | None, precision: Precision | None, chunk: int, field: str
) -> ModelFunction:
    """A JAX function or Equinox module. Raises `UntraceableError` if JAX cannot trace it.

    float64 is tried first; a function that insists on float32 (a convolution with float32 weights, say) is computed in
    float32, with a note.
    """
    points = {False: rows[0], True: rows[:1]}
    if batched is not None:
        points = {batched: points[batched]}

    def traced(precision: Precision) -> str:
        """Why there are no forward-mode products, if so; raises `UntraceableError`."""
        first: Exception | None = None
        with jax.enable_x64(precision == "float64"):
            for point in points.values():
                z = jnp.asarray(point, precision)
                try:
                    eqx.filter_eval_shape(_call, model, z)
                except Exception as error:  # the user's function may raise anything while it is traced
                    first = first or error
                    continue
                try:
                    eqx.filter_eval_shape(_nested, model, False, z, (z, z))
                except Exception as error:  # so may its derivative rules, and JAX where there are none
                    return f"it has no forward-mode derivative in JAX ({first_line(error)})"
                return ""
        assert first is not None
        raise UntraceableError(f"JAX cannot trace it ({type(first).__name__})") from first

    notes: tuple[str, ...] = ()
    chosen: Precision = precision or "float64"
    constants = chosen == "float64" and _holds_numpy(model, points.values())
    if constants:
        _forget()
    try:
        reason = traced(chosen)
    except UntraceableError:
        if precision is not None:
            raise
        chosen = "float32"
        reason = traced(chosen)
        notes = ("computed in float32: the decoder does not take float64",)
    wide = chosen == "float64"
    dtype = np.dtype(chosen)

    def call(array: np.ndarray) -> np.ndarray:
        with jax.enable_x64(wide):
            return np.asarray(_called(model, jnp.asarray(array, dtype)))

    by_rows, shape = row_convention(call, rows, batched, field)
    if constants:
        model = _with_own_constants(model, points[by_rows], wide)
        _forget()

    def derivative(rows: Rows, directions: Directions) -> OutputRows:
        parts = []
        with jax.enable_x64(wide):
            for count, pieces in padded_chunks(chunk, rows, directions):
                z, u = (jnp.asarray(piece, dtype) for piece in pieces)
                parts.append(np.asarray(_products(model, by_rows, z, u), dtype=np.float64)[:count])
        return np.concatenate(parts)

    def values(rows: Rows) -> OutputRows:
        return derivative(rows, np.zeros((len(rows), 0, rows.shape[1])))

    eps = float(np.finfo(dtype).eps)
    return ModelFunction("jax", shape, values, None if reason else derivative, eps, reason, notes)


def _holds_numpy(model: Any, points: Iterable[np.ndarray]) -> bool:
    """Whether a function closes over NumPy arrays.

    JAX keeps such an array in the precision in which a program met it first, as long as that program lives: after a
    float64 program, the same function fails in float32, and the other way round. So they are replaced by arrays of
    JAX, and JAX's compiled programs are dropped before and after.
    """
    for point in points:
        with jax.enable_x64(True):
            try:
                traced, _, _ = eqx.filter_make_jaxpr(_call)(model, jnp.asarray(point))
            except (
                Exception
            ):  # the user's function may raise anything; `traced` tries it again and reports it
                continue
        return any(isinstance(constant, np.ndarray) for constant in traced.consts)
    return False


def _with_own_constants(model: Any, point: np.ndarray, wide: bool) -> Any:
    with jax.enable_x64(wide):
        z = jnp.asarray(point, np.float64 if wide else np.float32)
        closed = eqx.filter_closure_convert(model, z)
        return jax.tree.map(lambda x: jnp.array(x) if isinstance(x, np.ndarray) else x, closed)


def _forget() -> None:
    jax.clear_caches()  # type: ignore[no-untyped-call]


def _call(model: Any, z: Any) -> Any:
    return jnp.asarray(model(z))


@eqx.filter_jit
def _called(model: Any, array: Any) -> Any:
    return _call(model, array)


@eqx.filter_jit
def _products(model: Any, by_rows: bool, rows: Any, directions: Any) -> Any:
    """One program per order and model; models that differ in their arrays alone share it."""
    return jax.vmap(lambda z, u: _nested(model, by_rows, z, u))(rows, directions)


def _nested(model: Any, by_rows: bool, z: Any, directions: Any) -> Any:
    if not len(directions):
        return jnp.ravel(model(z[None])[0] if by_rows else model(z))
    return jax.jvp(lambda y: _nested(model, by_rows, y, directions[1:]), (z,), (directions[0],))[1]
