"""Newman modularity compared with nets that have the same weights in random places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from recombine.metrics.connectivity import Chain, Labels, Live, newman_modularity, newman_null
from recombine.metrics.connectivity.graph import module_shares, shuffled
from recombine.modularity.module_search import component_count

SEARCHES, FEW_SEARCHES = 20, 10
"""Shuffled nets in which modules are searched anew, if that takes a clustering; the second number is for large nets."""


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

    **Attributes:**

    - `largest`: what it would be without any connection between modules, each as strong as it is: 1 - Σ a_m², with a_m
        the module's share of all weight; 1 - 1/K for K equal modules.
    - `kept`: shuffled nets with the net's own modules.
    - `searched`: shuffled nets with modules found in them in the same way. This is the fair comparison, since
        clustering finds modules in any weight matrix.
    """

    value: float
    largest: float
    kept: Null
    searched: Null


def newman_with_nulls(
    weights: Chain,
    live: Live,
    labels: Labels,
    find: Callable[[Chain], Labels],
    *,
    permutations: int,
    searches: int,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Newman:
    """Modularity compared with that of nets whose weights were shuffled within each layer, among live units.

    **Arguments:**

    - `find`: how modules are found; it is called again for each of `searches` shuffled nets.
    - `permutations`: the number of shuffled nets that keep `labels`.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.nulls import newman_with_nulls
    >>> from recombine.metrics.connectivity import all_live, assign_known
    >>> weights = (np.kron(np.eye(3), np.ones((1, 4))), np.kron(np.eye(3), np.ones((4, 1))))
    >>> result = newman_with_nulls(
    ...     weights, all_live(weights), assign_known(weights), assign_known, permutations=50, searches=50
    ... )
    >>> round(result.value, 3), round(result.largest, 3), result.searched.mean > result.kept.mean
    (0.667, 0.667, True)

    ```
    """
    kept = newman_null(weights, labels, permutations=permutations, seed=seed)
    rng = np.random.default_rng(seed)
    others = []
    for turn in range(searches):
        drawn = shuffled(weights, live, rng)
        others.append(newman_modularity(drawn, find(drawn)))
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


def disconnection_p_value(weights: Chain, live: Live, *, permutations: int, seed: int = 0) -> float | None:
    """How often shuffled nets fall apart as this net does: a permutation test of exact disconnection.

    Newman modularity says little about modules of unequal width: 30 units and 4 without any connection between them
    have at most 0.2, and clustering finds more than that in random weights. Whether a net is in several pieces needs no
    modularity: the statistic is the number of its connected components.

    **Returns:**

    (1 + shuffled nets with at least as many components) / (1 + shuffled nets); `None` for a net in one piece.

    ```python
    >>> import numpy as np
    >>> from scipy.linalg import block_diag
    >>> from recombine.metrics.connectivity import all_live
    >>> from recombine.modularity.nulls import disconnection_p_value
    >>> unequal, tiny = (block_diag(np.ones((9, 9)), np.ones((2, 2))),), (np.eye(2),)
    >>> [disconnection_p_value(w, all_live(w), permutations=99) < 0.05 for w in (unequal, tiny)]
    [True, False]

    ```
    """
    components = component_count(weights, live)
    if components < 2:
        return None
    rng = np.random.default_rng(seed)
    fallen = sum(
        component_count(shuffled(weights, live, rng), live) >= components for _ in range(permutations)
    )
    return (1 + fallen) / (1 + permutations)
