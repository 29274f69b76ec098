"""What a net computes rather than how it is wired: which inputs move which outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.connectivity.assignment import influence, unit_labels
from recombine.metrics.connectivity.layered import Chain, Live


def unit_purity(
    weights: Chain, inputs: Sequence[int] | None = None, *, live: Live | None = None
) -> tuple[dict[str, Float[np.ndarray, " units"]], ...]:
    """How exclusively one module's inputs reach each unit, from the `influence` F of every module's inputs.

    **Returns:**

    For every layer after the inputs: `participation`, 1 - Σ_m (F_m / ΣF)², which is 0 for a unit that only one module
    reaches; and `purity`, max_m F_m / ΣF. NaN for units that no input reaches.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import unit_purity
    >>> unit_purity((np.array([[1.0, 1.0], [0.0, 1.0]]),))[0]["participation"].tolist()
    [0.0, 0.5]

    ```
    """
    layers = []
    for reached in influence(weights, inputs, live=live)[1:]:
        total = reached.sum(axis=1, keepdims=True)
        share = np.divide(reached, total, out=np.full_like(reached, np.nan), where=total > 0)
        layers.append({"participation": 1 - (share**2).sum(axis=1), "purity": share.max(axis=1)})
    return tuple(layers)


def jacobian_ratio(
    jacobian: Any, inputs: Sequence[int] | None = None, outputs: Sequence[int] | None = None
) -> float:
    """Mean |∂y_i/∂x_j| between modules over that within modules; 0 if no output depends on another module's inputs.

    **Arguments:**

    - `jacobian`: `(rows, outputs, inputs)`, from automatic differentiation or `numerical_jacobian`.
    - `inputs`, `outputs`: their modules; by default output i belongs to input i.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import jacobian_ratio
    >>> jacobian_ratio(np.array([[[2.0, 1.0], [0.0, 2.0]]]))
    0.25

    ```
    """
    array = np.abs(np.asarray(jacobian, dtype=np.float64))
    if array.ndim != 3:
        raise InputError("jacobian", f"shape {array.shape}", "(rows, outputs, inputs)")
    n_out, n_in = array.shape[1:]
    if inputs is None and outputs is None and n_out != n_in:
        raise InputError(
            "jacobian", f"{n_out} outputs and {n_in} inputs", "as many of each (square), or their modules"
        )
    if not np.isfinite(array).all():
        raise InputError("jacobian", "values that are not finite", "finite numbers")
    same = unit_labels("outputs", outputs, n_out)[:, None] == unit_labels("inputs", inputs, n_in)
    if same.all() or not same.any():
        raise InputError(
            "modules", f"{int(same.sum())} of {same.size} pairs within", "pairs within and between"
        )
    mean = array.mean(axis=0)
    if not mean[same].mean() > 0:
        raise InputError("jacobian", "no output that depends on its own input", "a net that uses its inputs")
    return float(mean[~same].mean() / mean[same].mean())


def numerical_jacobian(
    function: Callable[[np.ndarray], Any], points: Any, *, step: float = 1e-2
) -> Float[np.ndarray, "rows outputs inputs"]:
    """Derivatives of any function from `(rows, inputs)` to `(rows, outputs)`, by central differences.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import numerical_jacobian
    >>> numerical_jacobian(lambda x: x @ np.array([[1.0], [2.0]]), np.zeros((1, 2))).round(6).tolist()
    [[[1.0, 2.0]]]

    ```
    """
    rows = np.asarray(points, dtype=np.float64)
    if rows.ndim != 2:
        raise InputError("points", f"shape {rows.shape}", "(rows, inputs)")
    columns = []
    for column in range(rows.shape[1]):
        moved = step * (np.arange(rows.shape[1]) == column)
        up, down = (np.asarray(function(rows + sign * moved), dtype=np.float64) for sign in (1, -1))
        columns.append((up - down).reshape(len(rows), -1) / (2 * step))
    return np.stack(columns, axis=-1)
