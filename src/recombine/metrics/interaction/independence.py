"""Sufficient independence: are the highest derivatives of different slots linearly independent?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.interaction.derivative_tensors import Tensors, derivative_tensors
from recombine.metrics.interaction.slot_partition import SlotIndices, as_slots, sorted_tuples


@dataclass(frozen=True)
class Independence:
    """Ranks of derivative vectors at one point.

    It holds if `joint`, the rank of all of them together, is `lower` plus the sum of `slots`. `kept` and
    `dropped` are the smallest singular value of the joint matrix that was counted and the largest that was not, as
    shares of the largest. `outputs_needed` is how many outputs generic derivatives need.
    """

    order: int
    joint: int
    lower: int
    slots: tuple[int, ...]
    kept: float
    dropped: float
    outputs: int
    outputs_needed: int

    @property
    def holds(self) -> bool:
        """Whether the ranks add up."""
        return self.joint == self.lower + sum(self.slots)

    @property
    def margin(self) -> float:
        """`kept` over `dropped`; infinite if nothing was dropped."""
        return self.kept / self.dropped if self.dropped > 0 else np.inf

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        margin = None if np.isinf(self.margin) else self.margin
        return {**vars(self), "slots": list(self.slots), "holds": self.holds, "margin": margin}

    def __str__(self) -> str:
        sign = "=" if self.holds else "<"
        return f"rank {self.joint} {sign} {' + '.join(map(str, (self.lower, *self.slots)))}"


def sufficient_independence(
    derivatives: Tensors, slots: int | Sequence[Sequence[int]], *, tolerance: float = 1e-8
) -> Independence:
    """Sufficient independence of order n = 0, 1, 2 from the derivatives of order 1 to n + 1 at a point.

    rank[L_n, T_1, …, T_K] = rank L_n + Σ_k rank T_k, where L_n holds all derivative vectors of order 1 to n and T_k
    those of order n + 1 with all indices in slot k.

    **Arguments:**

    - `derivatives`: `(outputs, d)`, `(outputs, d, d)`, … from `recombine.metrics.interaction.derivative_tensors`.
    - `slots`: the indices of every slot's latents, or a number of equal blocks.
    - `tolerance`: share of the largest singular value up to which one is zero.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.metrics.interaction import derivative_tensors, sufficient_independence
    >>> derivatives = derivative_tensors(lambda z: jnp.concatenate([z, z**2, jnp.sin(z)]), [0.3, 0.4], 2)
    >>> print(sufficient_independence(derivatives, 2))
    rank 4 = 2 + 1 + 1

    ```
    """
    order = len(derivatives) - 1
    if not 0 <= order <= 2:
        raise InputError("derivatives", f"{len(derivatives)} orders", "derivatives of order 1 to 1, 2 or 3")
    arrays = [np.asarray(array, dtype=np.float64) for array in derivatives]
    outputs, d = arrays[0].shape
    if [a.shape for a in arrays] != [(outputs, *[d] * m) for m in range(1, order + 2)]:
        raise InputError("derivatives", [a.shape for a in arrays], "(outputs, d), (outputs, d, d), …")
    parts = as_slots(slots, d)
    lower = [_columns(array, range(d)) for array in arrays[:-1]]
    top = [_columns(arrays[-1], slot) for slot in parts]
    largest = max(np.linalg.norm(block) for block in (*lower, *top))
    size = [max(float(np.linalg.norm(block)), 1e-300) for block in lower]
    lower = [block / s for block, s in zip(lower, size, strict=True)]
    acting = [np.linalg.norm(block) > tolerance * largest for block in top]
    top = [block / np.linalg.norm(block) if ok else 0 * block for block, ok in zip(top, acting, strict=True)]
    below = np.concatenate([np.zeros((outputs, 0)), *lower], axis=1)
    joint, kept, dropped = _rank(np.concatenate([below, *top], axis=1), tolerance)
    return Independence(
        order,
        joint,
        _rank(below, tolerance)[0],
        tuple(_rank(block, tolerance)[0] for block in top),
        kept,
        dropped,
        outputs,
        outputs_needed(parts, order),
    )


def independence_of(
    decoder: Any,
    point: Any,
    slots: int | Sequence[Sequence[int]],
    order: int,
    *,
    tolerance: float = 1e-8,
    **settings: Any,
) -> Independence:
    """Sufficient independence of a decoder at a point; `settings` are those of `derivative_tensors`.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.metrics.interaction import independence_of
    >>> independence_of(lambda z: jnp.concatenate([z, z**2]), [0.3, 0.4], 2, 1).holds
    True

    ```
    """
    if order not in (0, 1, 2):
        raise InputError("order", order, "0, 1 or 2")
    derivatives = derivative_tensors(decoder, point, order + 1, **settings)
    return sufficient_independence(derivatives, slots, tolerance=tolerance)


def outputs_needed(slots: SlotIndices, order: int) -> int:
    """How many outputs generic derivatives need to be independent."""
    d = sum(map(len, slots))
    lower = sum(comb(d + m - 1, m) for m in range(1, order + 1))
    return lower + sum(comb(len(slot) + order, order + 1) for slot in slots)


def _columns(tensor: np.ndarray, latents: Any) -> Float[np.ndarray, "outputs columns"]:
    """The entries of a symmetric tensor with all indices among some latents, each once."""
    chosen = list(latents)
    indices = np.array(sorted_tuples(len(chosen), tensor.ndim - 1))
    return tensor[(slice(None), *np.array(chosen)[indices].T)]


def _rank(matrix: np.ndarray, tolerance: float) -> tuple[int, float, float]:
    """The rank, and the smallest singular value kept and the largest dropped as shares of the largest."""
    s = np.linalg.svd(matrix, compute_uv=False)
    if not s.size or not s[0] > 0:
        return 0, 0.0, 0.0
    s = s / s[0]
    rank = int((s > tolerance).sum())
    return rank, float(s[rank - 1]), float(s[rank:].max(initial=0.0))
