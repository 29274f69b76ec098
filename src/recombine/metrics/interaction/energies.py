"""Energies of mixed derivatives, sorted by the slots they touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.metrics.interaction.slot_partition import SlotIndices, arrangements, slot_of, sorted_tuples
from recombine.models.function import Directions, OutputRows, Rows

Derivative = Callable[[Rows, Directions], OutputRows]
BLOCK = 4_000_000
"""How many numbers of derivatives are held in memory at a time: 32 MB."""


@dataclass(frozen=True, eq=False)
class Energies:
    """Squared derivatives of one order, by set of slots.

    Entry (i, p, s) of `values` is ‖D^m f‖² at sample i over all ordered index tuples whose slots are, in some order,
    `sets[s]`, from random directions p. For order 1 it is instead Σ_l s_lj s_lk (twice that for j ≠ k) with
    s_lk = ‖∂f_l/∂z_k‖. `cross` and `within` are the same per output, averaged over samples.
    """

    order: int
    sets: tuple[tuple[int, ...], ...]
    values: Float[np.ndarray, "samples probes sets"]
    cross: Float[np.ndarray, " outputs"]
    within: Float[np.ndarray, " outputs"]

    @property
    def crossing(self) -> Bool[np.ndarray, " sets"]:
        """Which sets hold more than one slot."""
        return np.array([len(set(s)) > 1 for s in self.sets])


def slot_energies(
    derivative: Derivative,
    rows: Rows,
    slots: SlotIndices,
    order: int,
    *,
    outputs: int,
    scale: Float[np.ndarray, " latents"] | None = None,
    probes: int | None = None,
    rng: np.random.Generator | None = None,
) -> Energies:
    """The energies of one order at every row.

    **Arguments:**

    - `derivative`: D^m f(z)[u_1, …, u_m], or its difference quotient.
    - `scale`: the unit of every latent; derivatives are multiplied by it.
    - `probes`: how many random directions per row and set of slots, Gaussian within each slot, for the unbiased
        estimate E‖D^m f[u_1, …, u_m]‖²; without it every partial derivative is taken once. Order 1 is always exact.
    """
    unit = np.ones(rows.shape[1]) if scale is None else scale
    if order == 1:
        return _sensitivities(derivative, rows, slots, unit, outputs)
    sets = tuple(sorted_tuples(len(slots), order))
    number_of = {s: i for i, s in enumerate(sets)}
    cross = np.array([len(set(s)) > 1 for s in sets])
    maps = np.zeros((2, outputs))
    values = np.zeros((len(rows), probes or 1, len(sets)))
    if probes is None:
        owner = slot_of(slots)
        indices = sorted_tuples(rows.shape[1], order)
        index_set = np.array([number_of[tuple(sorted(owner[list(i)]))] for i in indices])
        weight = np.array([arrangements(i) for i in indices], dtype=float)
        fixed = (np.eye(len(unit)) * unit)[np.array(indices)]  # (indices, order, latents)
        spread = np.equal.outer(index_set, np.arange(len(sets))) * weight[:, None]
        for block in _blocks(len(rows), len(indices) * outputs):
            squares = _squares(derivative, rows[block], fixed[None].repeat(len(rows[block]), axis=0), block)
            values[block, 0] = squares.sum(axis=-1) @ spread
            by_index = squares.sum(axis=0) * weight[:, None]
            maps += np.stack(
                [by_index[cross[index_set]].sum(axis=0), by_index[~cross[index_set]].sum(axis=0)]
            )
    else:
        generator = np.random.default_rng(0) if rng is None else rng
        mask = np.stack([np.isin(np.arange(len(unit)), slot) for slot in slots]) * unit
        chosen = mask[np.array(sets)]  # (sets, order, latents)
        weight = np.array([arrangements(s) for s in sets], dtype=float)
        for block in _blocks(len(rows), probes * len(sets) * outputs):
            count = len(rows[block])
            directions = generator.standard_normal((count, probes, *chosen.shape)) * chosen
            flat = directions.reshape(count, -1, *chosen.shape[1:])
            squares = _squares(derivative, rows[block], flat, block)
            by_set = squares.reshape(count, probes, len(sets), outputs)
            values[block] = by_set.sum(axis=-1) * weight
            pooled = by_set.sum(axis=(0, 1)) * weight[:, None] / probes
            maps += np.stack([pooled[cross].sum(axis=0), pooled[~cross].sum(axis=0)])
    return Energies(order, sets, values, *(maps / len(rows)))


def _sensitivities(
    derivative: Derivative, rows: Rows, slots: SlotIndices, unit: np.ndarray, outputs: int
) -> Energies:
    K = len(slots)
    sets = tuple(sorted_tuples(K, 1 + 1))
    first, second = np.array(sets).T
    twice = np.where(first == second, 1.0, 2.0)
    values, maps = np.zeros((len(rows), 1, len(sets))), np.zeros((2, outputs))
    basis = (np.eye(len(unit)) * unit)[:, None]  # (latents, 1, latents)
    for block in _blocks(len(rows), len(unit) * outputs):
        squares = _squares(derivative, rows[block], basis[None].repeat(len(rows[block]), axis=0), block)
        norms = np.sqrt(np.stack([squares[:, slot].sum(axis=1) for slot in slots], axis=1))  # (n, K, outputs)
        gram = np.einsum("njl,nkl->njk", norms, norms)
        values[block, 0] = gram[:, first, second] * twice
        own = (norms**2).sum(axis=1)
        maps += np.stack([(norms.sum(axis=1) ** 2 - own).sum(axis=0), own.sum(axis=0)])
    return Energies(1, sets, values, *(maps / len(rows)))


def _blocks(rows: int, numbers_per_row: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(numbers_per_row, 1))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


def _squares(derivative: Derivative, rows: Rows, directions: np.ndarray, block: slice) -> np.ndarray:
    """Squared derivatives `(rows, directions, outputs)` along `(rows, directions, order, latents)`."""
    count, per_row = directions.shape[:2]
    derivatives = derivative(np.repeat(rows, per_row, axis=0), directions.reshape(-1, *directions.shape[2:]))
    if not np.isfinite(derivatives).all():
        bad = block.start + int(np.argwhere(~np.isfinite(derivatives))[0, 0]) // per_row
        raise InputError(
            "decoder",
            f"derivatives of order {directions.shape[2]} that are not finite at sample {bad}",
            "a decoder that is smooth at these latents; leave that sample out or use method='differences'",
        )
    return derivatives.reshape(count, per_row, -1) ** 2
