"""What a net does rather than how it is wired: whose input moves whose output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.probes.connectivity.assignment import influence, unit_labels
from recombine.probes.connectivity.layered import Chain, Live


def unit_purity(
    weights: Chain, inputs: Sequence[int] | None = None, *, live: Live | None = None
) -> tuple[dict[str, Float[np.ndarray, " units"]], ...]:
    """How much every unit keeps to one module, from the `influence` F of each module's inputs on it.

    **Returns:**

    For every layer behind the inputs `participation`, 1 - Σ_m (F_m / ΣF)², 0 for a unit that one module alone reaches;
    and `purity`, max_m F_m / ΣF. NaN for units that nothing reaches.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import unit_purity
    >>> unit_purity((np.array([[1.0, 1.0], [0.0, 1.0]]),))[0]["participation"].tolist()
    [0.0, 0.5]

    ```
    """
    found = []
    for reached in influence(weights, inputs, live=live)[1:]:
        total = reached.sum(axis=1, keepdims=True)
        share = np.divide(reached, total, out=np.full_like(reached, np.nan), where=total > 0)
        found.append({"participation": 1 - (share**2).sum(axis=1), "purity": share.max(axis=1)})
    return tuple(found)


def jacobian_ratio(
    jacobian: Any, inputs: Sequence[int] | None = None, outputs: Sequence[int] | None = None
) -> float:
    """Mean |∂y_i/∂x_j| between modules over that within modules; 0 if no output depends on a foreign input.

    **Arguments:**

    - `jacobian`: `(rows, outputs, inputs)`, from anywhere.
    - `inputs`, `outputs`: their modules; by default output i belongs to input i.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import jacobian_ratio
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
    columns, lines = unit_labels("inputs", inputs, n_in), unit_labels("outputs", outputs, n_out)
    same = lines[:, None] == columns
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
    """Central differences of any model, `(rows, inputs)` to `(rows, outputs)`.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import numerical_jacobian
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
