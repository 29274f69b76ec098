"""Geometry: the factorisation score, and how a layer stretches the space of factors.

A layer `A` maps factor values to points. Its metric tensor (the pulled-back Euclidean metric) is
`g_ij = d_i A . d_j A`, one small matrix per cell. Off-diagonal terms mean that the layer mixes factors. An uneven
volume element means that it stretches some combinations and compresses others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Real

from recombine.errors import InputError
from recombine.metrics.behaviour import summarise
from recombine.metrics.gram import unit_blocks


def metric_tensor(
    grid: Real[np.ndarray, "*levels units"], *, spacing: float | Sequence[float] = 1.0
) -> Float[np.ndarray, "*levels factors factors"]:
    """The metric tensor of a layer on a grid of cells, by finite differences.

    `g_ij = d_i A . d_j A`, where `d_i` is the central difference along factor `i`, one-sided at the edges
    (the convention of `np.gradient`).

    **Arguments:**

    - `grid`: `(*levels, units)`, one axis per factor and then the flattened layer; at least two levels each.
        `space.grid(activations)` makes it. A float32 array of 50,000 units is read in blocks, so memory
        beyond the input stays below about 200 MB.
    - `spacing`: the distance between neighbouring levels, one number or one per factor.

    **Returns:**

    `(*levels, factors, factors)`, symmetric and positive semi-definite, in float64. Null value: all zeros, for a
    layer that ignores the factors.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import metric_tensor
    >>> x, y = np.indices((4, 4))
    >>> metric_tensor(np.stack([x, 2 * y], axis=-1))[1, 2].tolist()
    [[1.0, 0.0], [0.0, 4.0]]

    ```
    """
    grid = np.asarray(grid)
    factors = grid.ndim - 1
    levels = grid.shape[:-1]
    if factors < 1 or min(levels) < 2:
        raise InputError("grid", grid.shape, "(*levels, units), at least two levels of every factor")
    steps = np.broadcast_to(np.asarray(spacing, dtype=np.float64), factors)
    g = np.zeros((*levels, factors, factors))
    for block in unit_blocks(grid.shape[-1], bytes_per_unit=8 * int(np.prod(levels))):
        part = grid[..., block].astype(np.float64)
        slopes = [np.gradient(part, step, axis=axis) for axis, step in enumerate(steps)]
        for i, j in combinations_with_replacement(range(factors), 2):
            g[..., i, j] += np.einsum("...u,...u->...", slopes[i], slopes[j])
    for i, j in combinations(range(factors), 2):
        g[..., j, i] = g[..., i, j]
    return g


def metric_tensor_exact(
    function: Callable[[Any], Any], points: Real[np.ndarray, "rows factors"], *, chunk: int = 64
) -> Float[np.ndarray, "rows factors factors"]:
    """The metric tensor of a differentiable JAX function of continuous factor values, `g = J^T J`.

    The columns `d f / d factor` of `J` come from forward-mode differentiation. Functions that contain
    `jax.custom_vjp` refuse it; for these the backward pass is transposed, which is just as exact.

    **Arguments:**

    - `function`: from one point, a JAX array `(factors,)`, to a JAX array of any shape.
    - `points`: `(rows, factors)`.
    - `chunk`: the number of points differentiated at a time; memory grows with `chunk * factors * units`.

    **Returns:**

    `(rows, factors, factors)`, computed in JAX's default precision and returned as float64.

    ```python
    >>> import jax.numpy as jnp
    >>> import numpy as np
    >>> from recombine.metrics import metric_tensor_exact
    >>> metric_tensor_exact(lambda p: jnp.stack([p[0] ** 2, 3 * p[1]]), np.array([[2.0, 5.0]])).tolist()
    [[[16.0, 0.0], [0.0, 9.0]]]

    ```
    """
    import jax  # here, so that the other metrics work without JAX
    import jax.numpy as jnp

    points = np.asarray(points)
    if points.ndim != 2 or not len(points):
        raise InputError("points", points.shape, "shape (rows, factors) with at least one row")
    if chunk < 1:
        raise InputError("chunk", chunk, "a positive number of points")
    dtype = jnp.result_type(float)
    directions = jnp.eye(points.shape[1], dtype=dtype)

    def forward(point: Any) -> Any:
        return jax.vmap(lambda v: jax.jvp(function, (point,), (v,))[1])(directions)

    def transposed(point: Any) -> Any:
        output, pull_back = jax.vjp(function, point)
        push_forward = jax.linear_transpose(lambda u: pull_back(u)[0], output)
        return jax.vmap(lambda v: push_forward(v)[0])(directions)

    try:
        jax.eval_shape(forward, directions[0])
        columns = forward
    except TypeError:  # custom_vjp; any other error of the function is raised again below
        columns = transposed

    @jax.jit
    def metric(batch: Any) -> Any:
        slopes = jax.vmap(columns)(batch)  # (chunk, factors, *output)
        slopes = slopes.reshape(*slopes.shape[:2], -1)
        return jnp.einsum("pfu,pgu->pfg", slopes, slopes, precision=jax.lax.Precision.HIGHEST)

    chunk = min(chunk, len(points))
    missing = -len(points) % chunk  # repeat the last point, so that all chunks run the same compiled program
    padded = np.concatenate([points, np.repeat(points[-1:], missing, axis=0)]).astype(dtype)
    parts = [np.asarray(metric(padded[i : i + chunk])) for i in range(0, len(padded), chunk)]
    return np.concatenate(parts)[: len(points)].astype(np.float64)


def volume(g: Real[np.ndarray, "*cells factors factors"]) -> Float[np.ndarray, "*cells"]:
    """The volume element, `dv = sqrt(|det g|)`: the volume that one cell occupies in the layer.

    **Arguments:**

    - `g`: metric tensors, `(..., factors, factors)`.

    **Returns:**

    `(...)`, from 0 (collapsed) upwards, per cell, in layer units to the power of the number of factors. The scale
    is arbitrary; compare cells of one layer, where the null is the same volume everywhere.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import volume
    >>> float(volume(np.diag([4.0, 9.0])))
    6.0

    ```
    """
    return np.sqrt(np.abs(np.linalg.det(np.asarray(g, dtype=np.float64))))


def log10_volume(g: Real[np.ndarray, "*cells factors factors"]) -> Float[np.ndarray, "*cells"]:
    """The volume element on a log scale, `log10(dv + 1e-12)`.

    **Arguments:** as for [`recombine.metrics.volume`][].

    **Returns:**

    `(...)`, from -12 (collapsed) upwards.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import log10_volume
    >>> log10_volume(np.stack([np.eye(2), np.zeros((2, 2))])).round(6).tolist()
    [0.0, -12.0]

    ```
    """
    return np.log10(volume(g) + 1e-12)


def factorisation(
    g: Real[np.ndarray, "*cells factors factors"], mask: Bool[np.ndarray, " ..."] | None = None
) -> float:
    """The factorisation score `F = 1 - mean|g_01| / (mean(g_00 + g_11) + 1e-9)`: whether factors are orthogonal.

    The published score is for two factors (Liang et al., arXiv 2501.18797). For more, it is the mean of the same
    score over all pairs.

    **Arguments:**

    - `g`: metric tensors, `(..., factors, factors)`, of two factors or more.
    - `mask`: the cells to use, in the shape of the cells or flat; default: all.

    **Returns:**

    From 0.5 (the factors move the layer along the same line) to 1 (orthogonal); NaN if the mask is empty. Null
    value: about `1 - 0.4 / sqrt(units)`, for factors that move the layer in random directions, so a high score of a
    wide layer is weak evidence alone. A layer that hardly moves at all scores 1 because of the `1e-9`: check its
    volume as well.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import factorisation
    >>> round(factorisation(np.eye(2)), 6), round(factorisation(np.ones((2, 2))), 6)
    (1.0, 0.5)

    ```
    """
    g = np.asarray(g, dtype=np.float64)
    if g.ndim < 2 or g.shape[-1] != g.shape[-2] or g.shape[-1] < 2:
        raise InputError("g", g.shape, "(..., factors, factors), two factors or more")
    flat = g.reshape(-1, *g.shape[-2:])
    if mask is not None:
        flat = flat[_flat_mask(mask, g.shape[:-2])]
    if not len(flat):
        return float("nan")
    # By Cauchy-Schwarz and the inequality of means |g_ij| <= (g_ii + g_jj) / 2, hence the lower bound 0.5.
    mean_g = flat.mean(axis=0)
    mean_abs_g = np.abs(flat).mean(axis=0)
    pairs = combinations(range(g.shape[-1]), 2)
    return float(np.mean([1 - mean_abs_g[i, j] / (mean_g[i, i] + mean_g[j, j] + 1e-9) for i, j in pairs]))


def volume_gap(g: Real[np.ndarray, "*cells factors factors"], seen: Bool[np.ndarray, " ..."]) -> float:
    """Mean `log10 dv` of unseen cells minus that of seen cells: whether the layer is warped where it was not trained.

    **Arguments:**

    - `g`: metric tensors, `(..., factors, factors)`.
    - `seen`: true for seen cells, in the shape of the cells or flat.

    **Returns:**

    Positive if unseen cells are stretched, negative if they are compressed; a gap of 1 is a factor of 10. NaN if
    there are no seen or no unseen cells. Null value: 0 for an even layer, but the inputs and targets of a task have
    a small gap of their own, which is the value to compare with.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import volume_gap
    >>> round(volume_gap(np.stack([np.eye(2), 10 * np.eye(2)]), np.array([True, False])), 6)
    1.0

    ```
    """
    return metric_summary(g, seen)["volume_gap"]


def metric_summary(
    g: Real[np.ndarray, "*cells factors factors"], seen: Bool[np.ndarray, " ..."]
) -> dict[str, float]:
    """Factorisation and volume of a layer over all, seen and unseen cells.

    **Arguments:** as for [`recombine.metrics.volume_gap`][].

    **Returns:**

    `factorisation`, `in_factorisation`, `out_factorisation`, the means `in_log10_volume` and
    `out_log10_volume`, and their difference `volume_gap`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import metric_summary
    >>> summary = metric_summary(np.stack([np.eye(2), np.ones((2, 2))]), np.array([True, False]))
    >>> round(summary["in_factorisation"], 6), round(summary["out_factorisation"], 6)
    (1.0, 0.5)

    ```
    """
    g = np.asarray(g, dtype=np.float64)
    seen = _flat_mask(seen, g.shape[:-2])
    logs = summarise(log10_volume(g).ravel(), seen)
    return {
        "factorisation": factorisation(g),
        "in_factorisation": factorisation(g, seen),
        "out_factorisation": factorisation(g, ~seen),
        "in_log10_volume": logs["in_mean"],
        "out_log10_volume": logs["out_mean"],
        "volume_gap": logs["out_mean"] - logs["in_mean"],
    }


def _flat_mask(mask: Bool[np.ndarray, " ..."], cells: tuple[int, ...]) -> Bool[np.ndarray, " cells"]:
    mask = np.asarray(mask, dtype=bool)
    if mask.shape not in {cells, (int(np.prod(cells)),)}:
        raise InputError("mask", mask.shape, f"shape {cells} or flat")
    return mask.reshape(-1)
