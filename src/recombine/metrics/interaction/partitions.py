"""Partitions of a few latents, and the one that cuts least energy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import factorial, prod

import numpy as np
from jaxtyping import Float, Int

Labels = Int[np.ndarray, " latents"]
Cost = Callable[[Labels], float]
"""How much energy a partition cuts."""
EXHAUSTIVE = 5000
"""Up to this many partitions are all tried; beyond, a search improves some of them."""


def canonical(labels: Sequence[int] | Labels) -> tuple[int, ...]:
    """Labels numbered in the order in which they appear.

    ```python
    >>> canonical([2, 0, 2])
    (0, 1, 0)

    ```
    """
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(label), len(names)) for label in labels)


def all_partitions(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All partitions into blocks of those sizes, as labels, each once.

    ```python
    >>> list(all_partitions([2, 1]))
    [(0, 0, 1), (0, 1, 0), (0, 1, 1)]

    ```
    """
    total = sum(sizes)

    def grow(labels: tuple[int, ...], counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(labels) == total:
            if sorted(counts) == sorted(sizes):
                yield labels
            return
        for label in range(min(len(counts) + 1, len(sizes))):
            more = list(counts) + [0] * (label == len(counts))
            more[label] += 1
            ordered = sorted(more, reverse=True) + [0] * (len(sizes) - len(more))
            if all(used <= size for used, size in zip(ordered, sorted(sizes, reverse=True), strict=True)):
                yield from grow((*labels, label), tuple(more))

    return grow((), ())


def count_partitions(sizes: Sequence[int]) -> int:
    """How many there are."""
    same = [list(sizes).count(size) for size in set(sizes)]
    return factorial(sum(sizes)) // prod(map(factorial, sizes)) // prod(map(factorial, same))


def best_partitions(
    cost: Cost,
    sizes: Sequence[int],
    affinity: Float[np.ndarray, "latents latents"],
    rng: np.random.Generator,
    *,
    restarts: int = 20,
) -> list[tuple[float, tuple[int, ...]]]:
    """The partitions into blocks of those sizes that cut least, cheapest first (two, where there are two).

    All are tried where there are few; otherwise a spectral start and random ones are improved by swaps of two latents
    until none helps, which need not find the best.
    """
    if count_partitions(sizes) <= EXHAUSTIVE:
        return sorted((cost(np.array(labels)), labels) for labels in all_partitions(sizes))[:2]
    seen: dict[tuple[int, ...], float] = {}
    starts = [spectral_start(affinity, sizes)]
    starts += [rng.permutation(np.repeat(np.arange(len(sizes)), sizes)) for _ in range(restarts)]
    for start in starts:
        _improve(start.copy(), cost, seen)
    return sorted((value, labels) for labels, value in seen.items())[:2]


def spectral_start(affinity: Float[np.ndarray, "latents latents"], sizes: Sequence[int]) -> Labels:
    """Blocks of those sizes from the leading eigenvectors of the normalised affinity, filled greedily."""
    weight = affinity - np.diag(np.diag(affinity))
    degree = np.maximum(weight.sum(axis=1), 1e-300)
    _, vectors = np.linalg.eigh(weight / np.sqrt(np.outer(degree, degree)))
    points = vectors[:, -len(sizes) :]
    points = points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300)
    likeness = points @ points.T
    labels = np.full(len(weight), -1)
    for label, size in sorted(enumerate(sizes), key=lambda pair: -pair[1]):
        left = np.flatnonzero(labels < 0)
        together = [np.sort(likeness[i, left])[::-1][:size].sum() for i in left]
        centre = left[int(np.argmax(together))]
        labels[left[np.argsort(-likeness[centre, left], kind="stable")[:size]]] = label
    return labels


def _improve(labels: Labels, cost: Cost, seen: dict[tuple[int, ...], float]) -> None:
    now = seen.setdefault(canonical(labels), cost(labels))
    better = True
    while better:
        better = False
        for i in range(len(labels)):
            for j in range(i):
                if labels[i] == labels[j]:
                    continue
                labels[i], labels[j] = labels[j], labels[i]
                key = canonical(labels)
                value = seen[key] if key in seen else seen.setdefault(key, cost(labels))
                if value < now * (1 - 1e-12):
                    now, better = value, True
                else:
                    labels[i], labels[j] = labels[j], labels[i]
