"""Retention of unseen cells for a growing set of training cells: large tables are updated from a kept inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Float, Int

from recombine.spaces.cell_numbers import are_among
from recombine.theory.conjunctions import Conjunctions
from recombine.theory.levelwise_inverse import LevelwiseColumns
from recombine.theory.overlap_kernels import OverlapKernel, set_index
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

MIN_SALIENCE = 1e-6
"""Saliences below this share of a cell's similarity to itself are next to 0, of which the prior needs the inverse."""
MAX_KEPT = 2**30
"""Bytes of inverses that are kept for updates; three kernels of 9,000 conjunctions take as much."""


@dataclass(frozen=True, eq=False)
class GrowingRetention:
    """The retention of unseen cells for several kernels, and what it takes to update it.

    **Attributes:**

    - `values`: for each kernel, the retention of the unseen cells `targets`, as `recombine.theory.retention` has it.
    - `coding`: what the inverses' columns are; `inverses`: empty for small tables, which are updated without, and for
        very large ones.
    """

    kernels: Sequence[OverlapKernel]
    sizes: tuple[int, ...]
    train: Int[np.ndarray, "train factors"]
    targets: Int[np.ndarray, "targets factors"]
    values: Sequence[Float[np.ndarray, " targets"]]
    coding: Conjunctions | LevelwiseColumns | None = None
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
        coding, inverses = _inverses(kernels, seen, counts, len(train))
        values = retention_by_inverse(inverses, targets, coding)
        return GrowingRetention(kernels, sizes, train, targets, values, coding, inverses)

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
        coding = self.coding.also_of(added) if isinstance(self.coding, Conjunctions) else self.coding
        if (
            coding is None
            or kept.sum() != len(targets)
            or not self._can_correct(coding, len(train), len(targets), len(added))
        ):
            values = updated_retention(
                self.kernels, self.values, self.train, self.targets, train, targets, sizes
            )
            return GrowingRetention(self.kernels, sizes, train, targets, values)
        earlier, inverses = [values[kept] for values in self.values], list(self.inverses)
        if not len(added):
            return GrowingRetention(self.kernels, sizes, train, targets, earlier, coding, inverses)
        if isinstance(coding, Conjunctions) and isinstance(self.coding, Conjunctions):
            order = max(map(len, coding.subsets))
            scales = [feature_weights(without_constant(kernel), coding, order)[0] for kernel in self.kernels]
            inverses = [
                inverse.with_conjunctions(self.coding, coding, scale)
                for inverse, scale in zip(inverses, scales, strict=True)
            ]
        blocks = (coding.columns(targets[i : i + BLOCK]) for i in range(0, len(targets), BLOCK))
        inverses, gains = corrected(inverses, coding.columns(added), blocks)
        values = [old + gain for old, gain in zip(earlier, gains, strict=True)]
        return GrowingRetention(self.kernels, sizes, train, targets, values, coding, inverses)

    def _can_correct(
        self, coding: Conjunctions | LevelwiseColumns, n_train: int, n_targets: int, n_added: int
    ) -> bool:
        fits = True
        if isinstance(coding, Conjunctions):
            fits = max(map(len, coding.subsets)) == 1 or coding.starts[-1] <= MAX_COLUMNS
        return bool(
            n_added <= MAX_ADDED
            and max(inverse.n_added for inverse in self.inverses) + n_added <= MAX_CORRECTIONS
            and uses_features(n_train, n_targets, self.sizes)
            and fits
        )


def _inverses(
    kernels: Sequence[OverlapKernel],
    seen: Conjunctions,
    counts: Float[np.ndarray, "columns columns"],
    n_cells: int,
) -> tuple[Conjunctions | LevelwiseColumns, list[PosteriorInverse]]:
    """One inverse for each kernel, and what their columns are: split by levels if that is less work."""
    order, plain = max(map(len, seen.subsets)), [without_constant(kernel) for kernel in kernels]
    weights = [feature_weights(kernel, seen, order) for kernel in plain]
    coding = LevelwiseColumns(seen.sizes, order)
    saliences = [
        {subset: float(kernel.salience[set_index(subset, kernel.factors)]) for subset in seen.subsets}
        for kernel in plain
    ]
    all_conjunctions = sum(prod(seen.sizes[axis] for axis in subset) for subset in seen.subsets)
    if (
        coding.work < float(seen.starts[-1]) ** 3
        and all_conjunctions <= MAX_COLUMNS  # more training does not lead to a lower order
        and all(
            min(salience.values()) >= MIN_SALIENCE * total
            for salience, (*_, total) in zip(saliences, weights, strict=True)
        )
    ):
        grams = coding.grams(seen, counts, n_cells)
        inverses = [
            PosteriorInverse.by_level(coding, grams, salience, ridge, total)
            for salience, (_, ridge, total) in zip(saliences, weights, strict=True)
        ]
        known = [inverse for inverse in inverses if inverse is not None]
        if len(known) == len(inverses):
            return coding, known
    return seen, [PosteriorInverse.of(counts, *one) for one in weights]
