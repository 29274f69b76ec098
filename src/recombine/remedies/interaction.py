"""Penalties on interaction between slots in a decoder (Brady et al. 2025, arXiv:2411.07784).

| penalty | what it makes small | order it leaves |
|---|---|---|
| `attention_interaction` | pixels that attend to several slots; needs a decoder with attention | 0 |
| `compositional_contrast` | Σ_l Σ_{j<k} |∂x_l/∂z_j| |∂x_l/∂z_k|; any decoder, a derivative per latent | 0 |
| `cross_hessian` | |∂²x/∂z_j ∂z_k|² of different slots, by random directions; any decoder | 1 |

They are penalties in the sense of `recombine.Penalty`. Their arithmetic is open to other training loops:
`attention_interaction_of` and `contrast_of` are functions of plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets import Drawn, decode
from recombine.nets.convolution import forward_differentiable
from recombine.probes.slots import attention_interaction_of, contrast_of

AUTHORS_HEADS = 12


def attention_interaction(
    net: Any, trace: Mapping[str, Any], batch: Any, *, stage: str = "decoder"
) -> Float[Array, ""]:
    """`attention_interaction_of` the weights in a decoder stage's output, a `recombine.nets.Drawn`."""
    drawn = trace[stage]
    if not isinstance(drawn, Drawn):
        raise InputError("stage", stage, "a decoder with attention (recombine.nets.attention_decoder)")
    return attention_interaction_of(drawn.attention)


def head_mean_weight(alpha: float, heads: int = AUTHORS_HEADS) -> float:
    """The weight of `attention_interaction` that equals the authors' coefficient alpha with that many heads.

    ```python
    >>> from recombine.remedies import head_mean_weight
    >>> round(head_mean_weight(0.05), 4)
    7.2

    ```
    """
    return alpha * heads**2


def paper_equivalent_weight(pixels: int, reconstruction: float = 5.0) -> float:
    """The weight with the published balance between a pixel's attention and its error, for pictures of another size.

    The error is a sum over pixels, the penalty a mean: 144 · 0.05 / (5 · 4096) = 3.5e-4 for sprites and 4.4e-4 for
    CLEVR6, taken as 4e-4 times `reconstruction` (the weight of the squared error) times the number of pixels.

    ```python
    >>> from recombine.remedies import paper_equivalent_weight
    >>> round(paper_equivalent_weight(32 * 32), 3)
    2.048

    ```
    """
    return 4e-4 * reconstruction * pixels


def compositional_contrast(
    net: Any, trace: Mapping[str, Array], batch: Any, *, stage: str = "slots", rows: int | None = None
) -> Float[Array, ""]:
    """`contrast_of` the decoder's Jacobian (Brady et al. 2023), mean over the first `rows` of the batch or all.

    It takes one forward-mode product per latent.
    """
    net = forward_differentiable(net)
    slots = trace[stage] if rows is None else trace[stage][:rows]
    _, count, width = slots.shape

    def along(direction: Array) -> Array:
        pushed = jax.jvp(lambda z: decode(net, z), (slots,), (jnp.broadcast_to(direction, slots.shape),))[1]
        return pushed.reshape(len(slots), -1)

    directions = jnp.eye(count * width).reshape(-1, count, width)
    jacobian = jax.lax.map(along, directions).reshape(count, width, len(slots), -1)
    lengths = jnp.sqrt((jacobian**2).sum(axis=1) + 1e-12)  # (slots, batch, outputs)
    return contrast_of(lengths.transpose(1, 2, 0)).mean()


def cross_hessian(
    net: Any, trace: Mapping[str, Array], batch: Any, *, stage: str = "slots", key: PRNGKeyArray
) -> Float[Array, ""]:
    """An unbiased draw of Σ_{j≠k} |∂²x/∂z_j ∂z_k|², summed over outputs, mean over the batch.

    Two different slots are drawn for every row and a Gaussian direction in each; for K slots the squared second
    derivative along both, times the K (K - 1) ordered pairs, has the sum as its mean. No Hessian is formed. A recipe
    gives the `key` if its `Penalty` is `random`.
    """
    net = forward_differentiable(net)
    return cross_hessian_of(lambda z: decode(net, z), trace[stage], key=key).mean()


def cross_hessian_of(
    decoder: Callable[[Array], Array], slots: Float[Array, "batch slots width"], *, key: PRNGKeyArray
) -> Float[Array, " batch"]:
    """`cross_hessian` of any decoder of batches, for every row."""
    batch, count, _ = slots.shape
    if count < 2:
        raise InputError("slots", slots.shape, "two slots or more")
    choose, draw = jax.random.split(key)
    order = jax.vmap(lambda k: jax.random.permutation(k, count)[:2])(jax.random.split(choose, batch))
    drawn = jax.random.normal(draw, (2, *slots.shape))
    chosen = jax.nn.one_hot(order.T, count)[..., None]  # (2, batch, slots, 1)
    left, right = drawn * chosen

    def slope(z: Array) -> Array:
        return jax.jvp(decoder, (z,), (left,))[1]

    second = jax.jvp(slope, (slots,), (right,))[1]
    return count * (count - 1) * (second.reshape(batch, -1) ** 2).sum(axis=1)
