"""Retention of unseen cells for a growing set of training cells: large tables are updated from a kept inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Float, Int

from recombine.spaces.cell_numbers import are_among
from recombine.theory.conjunctions import Conjunctions
from recombine.theory.overlap_kernels import OverlapKernel
from recombine.theory.posterior_inverse import (
    MAX_CORRECTIONS,
    PosteriorInverse,
    can_be_corrected,
    corrected,
)
from recombine.theory.retention import (
    BLOCK,
    MAX_COLUMNS,
    feature_weights,
    retention,
    retention_by_inverse,
    uses_features,
    without_constant,
)
from recombine.theory.retention_update import MAX_ADDED, updated_retention

MAX_KEPT = 2**30
"""Bytes of inverses that are kept for updates; three kernels of 9,000 conjunctions take as much."""


@dataclass(frozen=True, eq=False)
class GrowingRetention:
    """The retention of unseen cells for several kernels, and what it takes to update it.

    **Attributes:**

    - `values`: for each kernel, the retention of the unseen cells `targets`, as `recombine.theory.retention` has it.
    - `seen`: the seen conjunctions that are the inverses' columns; `inverses`: empty for small tables, which are
        updated without, and for very large ones.
    """

    kernels: Sequence[OverlapKernel]
    sizes: tuple[int, ...]
    train: Int[np.ndarray, "train factors"]
    targets: Int[np.ndarray, "targets factors"]
    values: Sequence[Float[np.ndarray, " targets"]]
    seen: Conjunctions | None = None
    inverses: Sequence[PosteriorInverse] = ()

    @staticmethod
    def of(
        kernels: Sequence[OverlapKernel],
        train: Int[np.ndarray, "train factors"],
        targets: Int[np.ndarray, "targets factors"],
        sizes: Sequence[int],
        *,
        seen: Conjunctions | None = None,
        counts: Float[np.ndarray, "columns columns"] | None = None,
    ) -> GrowingRetention:
        """The retention of `targets`.

        **Arguments:**

        - `seen`, `counts`: the conjunctions of training of order 1 to `feature_order`, and how often they occur
            together. Needed to keep inverses.

        ```python
        >>> import numpy as np
        >>> from recombine.theory import GrowingRetention, OverlapKernel
        >>> kernel, cells = OverlapKernel.by_order([0, 0.3, 0.4]), np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> grown = GrowingRetention.of([kernel], cells[:2], cells[2:], (2, 2)).with_cells(cells[:3], cells[3:])
        >>> [values.round(4).tolist() for values in grown.values]
        [[0.3659]]

        ```
        """
        sizes, plain = tuple(sizes), []
        if seen is not None and uses_features(len(train), len(targets), sizes):
            order = max(map(len, seen.subsets))
            plain = [feature_weights(without_constant(kernel), seen, order) for kernel in kernels]
        if (
            seen is None
            or counts is None
            or not plain
            or len(kernels) * 4 * len(counts) ** 2 > MAX_KEPT
            or not all(can_be_corrected(counts, scale, ridge) for scale, ridge, _ in plain)
        ):
            values = retention(kernels, train, targets, sizes)
            return GrowingRetention(kernels, sizes, train, targets, values)
        inverses = [PosteriorInverse.of(counts, scale, ridge) for scale, ridge, _ in plain]
        values = retention_by_inverse(inverses, targets, seen, [total for *_, total in plain])
        return GrowingRetention(kernels, sizes, train, targets, values, seen, inverses)

    def with_cells(
        self, train: Int[np.ndarray, "train factors"], targets: Int[np.ndarray, "targets factors"]
    ) -> GrowingRetention:
        """The same for more training cells and for some of the targets."""
        sizes = self.sizes
        codes = [
            np.ravel_multi_index(tuple(cells.T), sizes)
            for cells in (self.train, train, self.targets, targets)
        ]
        n_cells = prod(sizes)
        added = train[~are_among(codes[1], codes[0], n_cells)]
        kept = are_among(codes[2], codes[3], n_cells)
        seen = None if self.seen is None else self.seen.also_of(added)
        if (
            seen is None
            or kept.sum() != len(targets)
            or not self._can_correct(seen, len(train), len(targets), len(added))
        ):
            values = updated_retention(
                self.kernels, self.values, self.train, self.targets, train, targets, sizes
            )
            return GrowingRetention(self.kernels, sizes, train, targets, values)
        earlier = [values[kept] for values in self.values]
        if not len(added):
            return GrowingRetention(self.kernels, sizes, train, targets, earlier, self.seen, self.inverses)
        assert self.seen is not None
        order = max(map(len, seen.subsets))
        plain = [feature_weights(without_constant(kernel), seen, order) for kernel in self.kernels]
        inverses = [
            inverse.with_conjunctions(self.seen, seen, scale)
            for inverse, (scale, *_) in zip(self.inverses, plain, strict=True)
        ]
        blocks = (seen.columns(targets[i : i + BLOCK]) for i in range(0, len(targets), BLOCK))
        inverses, gains = corrected(inverses, seen.columns(added), blocks)
        values = [old + gain / total for old, gain, (*_, total) in zip(earlier, gains, plain, strict=True)]
        return GrowingRetention(self.kernels, sizes, train, targets, values, seen, inverses)

    def _can_correct(self, seen: Conjunctions, n_train: int, n_targets: int, n_added: int) -> bool:
        order = max(map(len, seen.subsets))
        return (
            n_added <= MAX_ADDED
            and max(inverse.n_added for inverse in self.inverses) + n_added <= MAX_CORRECTIONS
            and uses_features(n_train, n_targets, self.sizes)
            and (order == 1 or seen.starts[-1] <= MAX_COLUMNS)
        )
