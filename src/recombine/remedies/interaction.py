"""Penalties on interaction between slots in a decoder (Brady et al. 2025, arXiv:2411.07784).

| penalty | what it makes small | order it leaves |
|---|---|---|
| `attention_interaction` | pixels that attend to several slots; needs a decoder with attention | 0 |
| `compositional_contrast` | Σ_l Σ_{j<k} |∂x_l/∂z_j| |∂x_l/∂z_k|; any decoder, a derivative per latent | 0 |
| `cross_hessian` | |∂²x/∂z_j ∂z_k|² of different slots, by random directions; any decoder | 1 |

In your own training loop: `compositional_contrast(net, x)` for a slot autoencoder and its inputs, or
`compositional_contrast(decoder, slots)` for any decoder of slots `(batch, slots, width)`. The arithmetic,
`attention_interaction_of` and `recombine.metrics.slots.contrast_of`, takes arrays of NumPy, JAX and PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.metrics.slots import attention_interaction_of, contrast_of
from recombine.nets import DecodedPixels, decode
from recombine.nets.layers.convolution import forward_differentiable
from recombine.remedies.penalties import as_penalty

AUTHORS_HEADS = 12
"""Attention heads in the published models."""


@as_penalty
def attention_interaction(
    net: Any, outputs: Mapping[str, Any], batch: Any, *, stage: str = "decoder"
) -> Float[Array, ""]:
    """`attention_interaction_of` the weights in a decoder stage's output, `recombine.nets.DecodedPixels`.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.nets import DecodedPixels, Net
    >>> from recombine.remedies import attention_interaction
    >>> shared, single = jnp.full((1, 1, 1, 4, 2), 0.5), jnp.eye(2)[None, None, None]
    >>> for attention in (shared, single):  # every pixel attends to both slots, or to one
    ...     net = Net(("decoder",), (lambda x: DecodedPixels(x, attention, None),))
    ...     float(attention_interaction(net, jnp.zeros((1, 4, 3))))
    0.25
    0.0

    ```
    """
    drawn = outputs[stage]
    if not isinstance(drawn, DecodedPixels):
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
    """The weight with the published balance between a pixel's attention and its error, for images of another size.

    The error is a sum over pixels, the penalty a mean: 144 · 0.05 / (5 · 4096) = 3.5e-4 for sprites and 4.4e-4 for
    CLEVR6, taken as 4e-4 times `reconstruction` (the weight of the squared error) times the number of pixels.

    ```python
    >>> from recombine.remedies import paper_equivalent_weight
    >>> round(paper_equivalent_weight(32 * 32), 3)
    2.048

    ```
    """
    return 4e-4 * reconstruction * pixels


def contrast_at(
    decoder: Callable[[Array], Array], slots: Float[Array, "batch slots width"]
) -> Float[Array, ""]:
    """`compositional_contrast` of a decoder of slots."""
    _check_slots(slots)
    _, count, width = slots.shape

    def along(direction: Array) -> Array:
        pushed = jax.jvp(decoder, (slots,), (jnp.broadcast_to(direction, slots.shape),))[1]
        return pushed.reshape(len(slots), -1)

    directions = jnp.eye(count * width).reshape(-1, count, width)
    jacobian = jax.lax.map(along, directions).reshape(count, width, len(slots), -1)
    lengths = jnp.sqrt((jacobian**2).sum(axis=1) + 1e-12)  # (slots, batch, outputs)
    return contrast_of(lengths.transpose(1, 2, 0)).mean()


@as_penalty(of_decoder=contrast_at)
def compositional_contrast(
    net: Any, outputs: Mapping[str, Array], batch: Any, *, stage: str = "slots", rows: int | None = None
) -> Float[Array, ""]:
    """Σ_l Σ_{j<k} |∂x_l/∂z_j| |∂x_l/∂z_k|, mean over the batch: 0 if each output depends on one slot.

    It takes one forward-mode product per latent (Brady et al. 2023).

    **Arguments:**

    - `net`, `x`: a net with a stage of slots, and its inputs; or a decoder, and its slots `(batch, slots, width)`.
    - `rows`: use the first rows of the batch only.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.remedies import compositional_contrast
    >>> slots = jax.random.normal(jax.random.key(0), (4, 2, 3))
    >>> separate = compositional_contrast(lambda z: z.reshape(4, -1) ** 2, slots)
    >>> together = compositional_contrast(lambda z: z.sum(axis=1), slots)
    >>> round(float(separate), 3), round(float(together), 3)
    (0.0, 3.0)

    ```
    """
    net = forward_differentiable(net)
    slots = outputs[stage] if rows is None else outputs[stage][:rows]
    return contrast_at(lambda z: decode(net, z), slots)


def cross_hessian_of(
    decoder: Callable[[Array], Array], slots: Float[Array, "batch slots width"], *, key: PRNGKeyArray
) -> Float[Array, " batch"]:
    """`cross_hessian` of a decoder of slots, for every row.

    ```python
    >>> import jax
    >>> from recombine.remedies import cross_hessian_of
    >>> slots = jax.random.normal(jax.random.key(0), (4, 2, 3))
    >>> cross_hessian_of(lambda z: (z**3).sum(axis=1), slots, key=jax.random.key(1)).tolist()  # slots add up
    [0.0, 0.0, 0.0, 0.0]
    >>> bool((cross_hessian_of(lambda z: z.prod(axis=1), slots, key=jax.random.key(1)) > 0).all())
    True

    ```
    """
    _check_slots(slots)
    batch, count, _ = slots.shape
    choose, draw = jax.random.split(key)
    order = jax.vmap(lambda k: jax.random.permutation(k, count)[:2])(jax.random.split(choose, batch))
    drawn = jax.random.normal(draw, (2, *slots.shape))
    chosen = jax.nn.one_hot(order.T, count)[..., None]  # (2, batch, slots, 1)
    left, right = drawn * chosen

    def slope(z: Array) -> Array:
        return jax.jvp(decoder, (z,), (left,))[1]

    second = jax.jvp(slope, (slots,), (right,))[1]
    return count * (count - 1) * (second.reshape(batch, -1) ** 2).sum(axis=1)


@as_penalty(of_decoder=lambda decoder, slots, *, key: cross_hessian_of(decoder, slots, key=key).mean())
def cross_hessian(
    net: Any, outputs: Mapping[str, Array], batch: Any, *, stage: str = "slots", key: PRNGKeyArray
) -> Float[Array, ""]:
    """An unbiased draw of Σ_{j≠k} |∂²x/∂z_j ∂z_k|², summed over outputs, mean over the batch.

    Two different slots are drawn for every row and a Gaussian direction in each. For K slots, the squared second
    derivative along both, times the K (K - 1) ordered pairs, has this sum as its mean. No Hessian is formed.

    **Arguments:**

    - `net`, `x`: as for `compositional_contrast`.
    - `key`: a recipe passes it if its `Penalty` is `random`.

    ```python
    >>> import jax
    >>> from recombine.remedies import cross_hessian
    >>> slots = jax.random.normal(jax.random.key(0), (4, 2, 3))
    >>> float(cross_hessian(lambda z: (z**3).sum(axis=1), slots, key=jax.random.key(1)))  # slots add up
    0.0

    ```
    """
    net = forward_differentiable(net)
    return cross_hessian_of(lambda z: decode(net, z), outputs[stage], key=key).mean()


def _check_slots(slots: Any) -> None:
    if slots.ndim != 3 or slots.shape[1] < 2:
        raise InputError("slots", tuple(slots.shape), "(batch, slots, width) with two slots or more")
