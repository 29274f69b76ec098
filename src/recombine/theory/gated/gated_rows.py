"""Rows of data with the context of every unit, and the sums over contexts that all programmes need.

A gated unit picks one of its weight vectors by the row's context. `contexts[i, h]` is the number of the vector that
unit `h` uses for row `i`, or `OFF` (-1) if the unit is silent there, as a rectified unit below its threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.theory.penalties import finite

Array = np.ndarray
OFF = -1
MAX_CONTEXTS = 2**16
"""Contexts of one unit."""
MAX_INDICATOR = 2**28
"""Rows times weight vectors: 2 GiB of indicators."""


@dataclass(frozen=True, eq=False)
class GatedRows:
    """Inputs, and which weight vectors every row uses. Make them with `GatedRows.of`.

    - `inputs`: `(rows, inputs)`.
    - `indicator`: `(rows, units, contexts)`, 1 where a row uses a weight vector.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.gated import GatedRows
    >>> rows = GatedRows.of([[1.0, 2.0], [3.0, 4.0]], [[0], [1]])
    >>> rows.predict(np.array([[[1.0, 0.0], [0.0, 1.0]]]))  # one unit: first weights, then second weights
    array([1., 4.])

    ```
    """

    inputs: Float[Array, "rows inputs"]
    indicator: Float[Array, "rows units contexts"]

    @staticmethod
    def of(inputs: object, contexts: object, *, n_contexts: int | None = None) -> GatedRows:
        """From the context of every unit in every row.

        **Arguments:**

        - `inputs`: `(rows, inputs)`; append a constant 1 for a threshold.
        - `contexts`: `(rows, units)`, whole numbers from 0 on, or -1 where a unit is silent; or truth values, which say
            whether a unit is on.
        - `n_contexts`: of each unit; by default one more than the largest number.
        """
        x = finite("inputs", inputs, ndim=2)
        found = np.asarray(contexts)
        if found.ndim != 2 or len(found) != len(x) or found.shape[1] == 0:
            raise InputError(
                "contexts", found.shape, f"(rows, units) with {len(x)} rows and at least one unit"
            )
        if found.dtype == bool:
            found = np.where(found, 0, OFF)
        if not np.issubdtype(found.dtype, np.integer):
            raise InputError(
                "contexts", str(found.dtype), "whole numbers, or truth values for units that are on or off"
            )
        smallest, largest = int(found.min(initial=OFF)), int(found.max(initial=OFF))
        n = max(1, largest + 1) if n_contexts is None else n_contexts
        if smallest < OFF or not largest < n <= MAX_CONTEXTS:
            expected = f"numbers from -1 (silent) to {min(n, MAX_CONTEXTS) - 1}"
            raise InputError("contexts", f"{smallest} to {largest}", expected)
        if found.size * n > MAX_INDICATOR:
            raise InputError(
                "contexts", f"{found.size * n:,} entries", f"rows x units x contexts up to {MAX_INDICATOR:,}"
            )
        indicator = np.zeros((*found.shape, n))
        row, unit = np.nonzero(found != OFF)
        indicator[row, unit, found[row, unit]] = 1.0
        return GatedRows(x, indicator)

    @property
    def units(self) -> int:
        """How many units there are."""
        return self.indicator.shape[1]

    @property
    def n_contexts(self) -> int:
        """How many weight vectors each unit has."""
        return self.indicator.shape[2]

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def pieces(self) -> Float[Array, "rows units*contexts"]:
        """The indicator, with one column per weight vector."""
        return self.indicator.reshape(len(self), -1)

    @cached_property
    def gram(self) -> Float[Array, "rows rows"]:
        """Inner products of the inputs."""
        return np.asarray(self.inputs @ self.inputs.T)

    @cached_property
    def squared_sizes(self) -> Float[Array, " rows"]:
        """Squared norms of the rows' features: the squared norm of the input for each weight vector that it uses."""
        return np.asarray(self.pieces.sum(axis=1) * np.square(self.inputs).sum(axis=1))

    def kernel(self, scales: Float[Array, " units"]) -> Float[Array, "rows rows"]:
        """`sum_h scales_h <x, x'> 1[same context of unit h]`."""
        scaled = self.pieces * np.repeat(scales, self.n_contexts)
        return np.asarray(self.gram * (scaled @ self.pieces.T))

    def sums(self, coefficients: Float[Array, " rows"]) -> Float[Array, "units contexts inputs"]:
        """The sum of `coefficients_i x_i` over the rows of every context of every unit."""
        weighted = (self.pieces * coefficients[:, None]).T @ self.inputs
        return weighted.reshape(self.units, self.n_contexts, -1)

    def scores(self, weights: Float[Array, "units contexts inputs"]) -> Float[Array, "rows units"]:
        """What every unit contributes to every row."""
        flat = weights.reshape(self.units * self.n_contexts, -1)
        products = (self.inputs @ flat.T) * self.pieces
        return products.reshape(self.indicator.shape).sum(axis=2)

    def predict(self, weights: Float[Array, "units contexts inputs"]) -> Float[Array, " rows"]:
        """The sum of all units' contributions."""
        if weights.shape != (self.units, self.n_contexts, self.inputs.shape[1]):
            expected = (self.units, self.n_contexts, self.inputs.shape[1])
            raise InputError("weights", weights.shape, f"(units, contexts, inputs), here {expected}")
        return np.asarray(self.scores(weights).sum(axis=1))


@dataclass(frozen=True, eq=False)
class DiagonalRows:
    """Inputs as units of their own, for diagonal networks: the group norm is then the l1 norm."""

    inputs: Float[Array, "rows inputs"]

    @property
    def units(self) -> int:
        """One per input."""
        return self.inputs.shape[1]

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def squared_sizes(self) -> Float[Array, " rows"]:
        """Squared norms of the rows."""
        return np.asarray(np.square(self.inputs).sum(axis=1))

    def kernel(self, scales: Float[Array, " units"]) -> Float[Array, "rows rows"]:
        """`sum_d scales_d x_d x_d'`."""
        return np.asarray((self.inputs * scales) @ self.inputs.T)

    def sums(self, coefficients: Float[Array, " rows"]) -> Float[Array, "units 1 1"]:
        """The weighted sum of the rows."""
        return np.asarray((coefficients @ self.inputs)[:, None, None])

    def scores(self, weights: Float[Array, "units 1 1"]) -> Float[Array, "rows units"]:
        """What every input contributes."""
        return np.asarray(self.inputs * weights[:, 0, 0])

    def predict(self, weights: Float[Array, "units 1 1"]) -> Float[Array, " rows"]:
        """The weighted sum of the inputs."""
        return np.asarray(self.inputs @ weights[:, 0, 0])
