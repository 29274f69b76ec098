"""Newman modularity, and what nets with the same weights in other places have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from recombine.probes.connectivity import Chain, Labels, Live, newman_modularity, newman_null
from recombine.probes.connectivity.graph import module_shares, shuffled

SEARCHES, FEW_SEARCHES = 20, 10
"""Shuffled nets whose modules are searched anew, where that is a search and not a look at the strongest input; and in
large nets."""


@dataclass(frozen=True)
class Null:
    """Shuffled nets: the mean and standard deviation of their modularity, and the net's distance from it in those."""

    mean: float
    std: float
    z: float
    shuffles: int


@dataclass(frozen=True)
class Newman:
    """Newman modularity of a net.

    - `largest`: what it would be without a connection between modules, each as strong as it is, 1 - Σ a_m² with a_m
        the module's share of all weight; 1 - 1/K if they are equal.
    - `kept`: shuffled nets with the net's own modules.
    - `searched`: shuffled nets with the modules that one would find in them. This is the fair comparison: who
        looks for modules finds some in any weights.
    """

    value: float
    largest: float
    kept: Null
    searched: Null


def newman_with_nulls(
    weights: Chain,
    live: Live,
    labels: Labels,
    assign: Callable[[Chain], Labels],
    *,
    permutations: int,
    searches: int,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Newman:
    """Modularity beside that of nets whose weights were shuffled within each layer, among live units.

    **Arguments:**

    - `assign`: how modules are found; it is asked again for every one of `searches` shuffled nets.
    - `permutations`: shuffled nets that keep `labels`.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.nulls import newman_with_nulls
    >>> from recombine.probes.connectivity import all_live, assign_known
    >>> weights = (np.kron(np.eye(3), np.ones((1, 4))), np.kron(np.eye(3), np.ones((4, 1))))
    >>> found = newman_with_nulls(
    ...     weights, all_live(weights), assign_known(weights), assign_known, permutations=50, searches=50
    ... )
    >>> round(found.value, 3), round(found.largest, 3), found.searched.mean > found.kept.mean
    (0.667, 0.667, True)

    ```
    """
    kept = newman_null(weights, labels, permutations=permutations, seed=seed)
    rng = np.random.default_rng(seed)
    others = []
    for turn in range(searches):
        drawn = shuffled(weights, live, rng)
        others.append(newman_modularity(drawn, assign(drawn)))
        if progress is not None:
            progress((turn + 1) / searches)
    mean, spread = float(np.mean(others)), float(np.std(others, ddof=1))
    z = (kept["newman"] - mean) / spread if spread > 1e-12 else float("nan")
    return Newman(
        kept["newman"],
        largest_newman(weights, labels),
        Null(kept["null_mean"], kept["null_std"], kept["z"], permutations),
        Null(mean, spread, z, searches),
    )


def largest_newman(weights: Chain, labels: Sequence[Int[np.ndarray, " units"]]) -> float:
    """1 - Σ a_m², a_m being the share of all weight (from both ends) that module m has."""
    return float(1 - (module_shares(weights, labels) ** 2).sum())
