"""Makes an encoder invert its decoder on new combinations, too (Wiedemer et al. 2024, arXiv:2310.05327)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets import decode, encode
from recombine.remedies.penalties import as_penalty

MAX_SLOTS = 7
"""Slots are matched by trying every order of them."""


def matched_distance(
    target: Float[Array, "n slots width"], slots: Float[Array, "n slots width"]
) -> Float[Array, " n"]:
    """The squared distance between two sets of slots in the best order, mean over slots.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.remedies import matched_distance
    >>> slots = jnp.array([[[0.0, 1.0], [2.0, 3.0]]])
    >>> matched_distance(slots, slots[:, ::-1]).tolist()
    [0.0]

    ```
    """
    count = target.shape[1]
    if count > MAX_SLOTS:
        raise InputError("slots", count, f"at most {MAX_SLOTS}, because every order of them is tried")
    orders = jnp.asarray(np.array(list(permutations(range(count)))))
    apart = ((target[:, :, None] - slots[:, None]) ** 2).sum(axis=-1)  # (n, slots, slots)
    totals = apart[:, jnp.arange(count), orders].mean(axis=-1)  # (n, orders)
    return totals.min(axis=1)


@as_penalty
def compositional_consistency(
    net: Any,
    outputs: Mapping[str, Array],
    batch: Any,
    *,
    samples: int = 64,
    stage: str = "slots",
    key: PRNGKeyArray,
) -> Float[Array, ""]:
    """Shuffles the batch's slots among images, decodes and encodes them again, and compares the slots.

    The shuffled slots and their images (clipped to 0 ... 1) get no gradient, so that only the encoder learns. Latents
    are standardised over the batch. A recipe passes the `key` if its `Penalty` is `random`; the authors switch it on
    after 100 to 150 epochs, of which `Penalty.warmup` is a gradual form.

    ```python
    >>> import jax
    >>> from recombine.nets import Net
    >>> from recombine.remedies import compositional_consistency
    >>> net = Net(("slots", "output"), (lambda x: 2 * x, lambda z: z / 2))  # the encoder inverts the decoder
    >>> float(compositional_consistency(net, jax.random.uniform(jax.random.key(0), (4, 2, 3)), key=jax.random.key(1)))
    0.0

    ```
    """
    slots = jax.lax.stop_gradient(outputs[stage])
    rows, count, width = slots.shape
    order = jax.random.permutation(key, rows * count)[: min(samples, rows) * count]
    mixed = slots.reshape(rows * count, width)[order].reshape(-1, count, width)
    images = jax.lax.stop_gradient(jnp.clip(decode(net, mixed), 0, 1))
    scale = slots.std(axis=(0, 1)) + 1e-6
    return matched_distance(mixed / scale, encode(net, images) / scale).mean()
