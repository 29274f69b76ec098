"""Activity noise: the output of a unit varies more, the more active it is (Qian et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from recombine.nets.stages import Perturb


def activity_noise(activity: Array, key: PRNGKeyArray, *, level: float | Array, exponent: float) -> Array:
    """`a + level |a|^(exponent/2) ξ` with ξ ~ N(0, 1), independent for every unit and example.

    The variance is level² |a|^exponent: 0 is additive, 1 Poisson-like, 2 multiplicative noise. Gradients flow
    through the size of the noise.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import activity_noise
    >>> rows = jnp.full((100_000, 1), 4.0)
    >>> noisy = activity_noise(rows, jax.random.key(0), level=0.5, exponent=1)
    >>> round(float(noisy.var()), 1)  # 0.5² × 4
    1.0

    ```
    """
    draw = jax.random.normal(key, activity.shape, activity.dtype)
    return activity + level * _spread(activity, exponent) * draw


def _spread(activity: Array, exponent: float) -> Array | float:
    """|a|^(exponent/2), with gradient 0 where a unit is silent."""
    if exponent == 0:
        return 1.0
    size = jnp.abs(activity)
    if exponent == 2:
        return size
    silent = size == 0
    positive = jnp.where(silent, 1.0, size)
    root = jnp.sqrt(positive) if exponent == 1 else positive ** (exponent / 2)
    return jnp.where(silent, 0.0, root)


def noisy(stages: Sequence[str], *, level: float | Array, exponent: float) -> Perturb:
    """Activity noise on some stages, as `trace` takes it.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import mlp, noisy, trace
    >>> net = mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0))
    >>> noise = noisy(["hidden0"], level=0.1, exponent=2)
    >>> output, _ = trace(net, jnp.ones((5, 3)), perturb=noise, noise_key=jax.random.key(1))
    >>> output.shape
    (5, 2)

    ```
    """
    chosen = frozenset(stages)

    def perturb(name: str, activity: Array, key: PRNGKeyArray) -> Array:
        return activity_noise(activity, key, level=level, exponent=exponent) if name in chosen else activity

    return perturb
