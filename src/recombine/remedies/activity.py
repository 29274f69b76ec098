"""Penalties on activity and on the weights that carry it, which make nets modular (Qian et al. 2025).

The arithmetic (`weighted_activity_of`, `pushed_activity_of`, `activity_of`) uses operators only, so it takes arrays of
NumPy, JAX and PyTorch alike. The penalties go into a `recombine.Recipe`, or into your own training loop as
`weighted_activity(net, x)`. `recombine.torch` has the same for PyTorch modules.

**Reference:** Qian, Liang and Fiete, Modular connectivity in neural networks emerges from Poisson noise-motivated
regularisation, and promotes robustness and compositional generalisation, 2025, arXiv 2512.13707.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.nets import Link, links
from recombine.nets.connections import with_squared_weights
from recombine.remedies.penalties import as_penalty

Activities = Mapping[str, Array]


def power_of(activity: Any, alpha: float) -> Any:
    """|a|^alpha; with alpha 0 one for every unit, silent or not."""
    if alpha < 0:
        raise InputError("alpha", alpha, "an exponent of 0 or more")
    if alpha == 0:
        return activity * 0 + 1
    if alpha == 2:
        return activity * activity
    if alpha >= 1:
        return abs(activity) if alpha == 1 else abs(activity) ** alpha
    silent = activity == 0  # there the slope is infinite: let no gradient through
    return (abs(activity) + silent) ** alpha * ~silent


def weighted_activity_of(activity: Any, next_weight: Any, *, alpha: float = 2.0) -> Any:
    """Mean over examples of Σ_i |a_i|^alpha Σ_j w_ij²: how much noise of variance |a|^alpha arrives at the next units.

    **Arguments:**

    - `activity`: `(batch, units)`, from NumPy, JAX or PyTorch.
    - `next_weight`: `(units, next units)`, of the same kind (PyTorch's `linear.weight.T`).
    - `alpha`: 2 is the published choice, which no rescaling of units can escape; 1 is Poisson-like noise.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import weighted_activity_of
    >>> float(weighted_activity_of(np.array([[1.0, 3.0], [-1.0, 1.0]]), np.array([[2.0], [1.0]])))
    9.0

    ```
    """
    if activity.ndim != 2 or next_weight.ndim != 2 or activity.shape[1] != next_weight.shape[0]:
        shapes = f"activity {tuple(activity.shape)}, next_weight {tuple(next_weight.shape)}"
        raise InputError("weights", shapes, "(batch, units) and (units, next units)")
    return (power_of(activity, alpha).mean(0) * (next_weight**2).sum(1)).sum()


def pushed_activity_of(activity: Any, push: Callable[[Any], Any], *, alpha: float = 2.0) -> Any:
    """`weighted_activity_of` for any linear map: `push` is the map with squared weights and without bias.

    For a convolution in PyTorch: `push=lambda v: F.conv2d(v, conv.weight**2, stride=conv.stride, padding=...)`.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import pushed_activity_of, weighted_activity_of
    >>> activity, weight = np.ones((4, 3)), np.arange(6.0).reshape(3, 2)
    >>> pushed = pushed_activity_of(activity, lambda variance: variance @ weight**2)
    >>> bool(pushed == weighted_activity_of(activity, weight))
    True

    ```
    """
    return push(power_of(activity, alpha)).sum() / len(activity)


def activity_of(activity: Any, *, alpha: float = 2.0) -> Any:
    """Mean over examples of Σ_i |a_i|^alpha, without regard to where the activity goes.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import activity_of
    >>> float(activity_of(np.array([[1.0, 2.0], [0.0, -1.0]])))
    3.0

    ```
    """
    return power_of(activity, alpha).sum() / len(activity)


@as_penalty
def weighted_activity(
    net: Any, outputs: Activities, batch: Any, *, alpha: float = 2.0, stages: Sequence[str] | None = None
) -> Float[Array, ""]:
    """The weighted-activity penalty Σ_l E Σ_i |a_i^l|^alpha Σ_j (w_ij^{l+1})², over the hidden layers of a net.

    Inputs and biases are not penalised. A convolution is penalised by the variance that arrives at all of its output
    pixels. Differentiable in activity and weights.

    **Arguments:**

    - `net`: a net with stages, or Equinox's own `MLP` or `Sequential` of dense and convolutional layers.
    - `x`: the batch's inputs, `(batch, ...)`.
    - `alpha`: see `weighted_activity_of`.
    - `stages`: the stages whose activity counts; by default all that a linear map reads.

    ```python
    >>> import equinox as eqx, jax, jax.numpy as jnp
    >>> from recombine.remedies import weighted_activity
    >>> net = eqx.nn.MLP(3, 2, width_size=8, depth=2, key=jax.random.key(0))
    >>> gradients = eqx.filter_grad(lambda net: 1e-3 * weighted_activity(net, jnp.ones((5, 3))))(net)
    >>> bool((gradients.layers[1].weight != 0).any())
    True

    ```
    """
    total = jnp.zeros(())
    for link in _hidden_links(net, stages):
        activity = link.reads(outputs[link.source])  # type: ignore[index]
        if activity.ndim > 2:  # images or tokens
            total = total + pushed_activity_of(activity, with_squared_weights(link.layer), alpha=alpha)
        else:
            total = total + weighted_activity_of(activity, link.matrix, alpha=alpha)
    return total


@as_penalty
def activity(
    net: Any, outputs: Activities, batch: Any, *, alpha: float = 2.0, stages: Sequence[str] | None = None
) -> Float[Array, ""]:
    """Activity decay: `activity_of` the hidden stages, summed.

    **Arguments:** those of `weighted_activity`.

    ```python
    >>> import equinox as eqx, jax, numpy as np
    >>> from recombine.remedies import activity
    >>> net = eqx.nn.MLP(2, 1, width_size=3, depth=1, use_bias=False, key=jax.random.key(0))
    >>> ones = jax.tree.map(lambda leaf: np.ones_like(leaf) if eqx.is_array(leaf) else leaf, net)
    >>> float(activity(ones, np.ones((4, 2))))  # each of 3 hidden units has activity 2
    12.0

    ```
    """
    total = jnp.zeros(())
    for link in _hidden_links(net, stages):
        total = total + activity_of(outputs[link.source], alpha=alpha)  # type: ignore[index]
    return total


def _hidden_links(net: Any, stages: Sequence[str] | None) -> list[Link]:
    """The links that read a stage, or only some stages."""
    hidden = [link for link in links(net) if link.source is not None]
    if stages is None:
        return hidden
    known = [link.source for link in hidden]
    unknown = [name for name in stages if name not in known]
    if unknown:
        raise InputError(
            "stages", unknown[0], f"stages that a linear map reads: {', '.join(map(str, known))}"
        )
    return [link for link in hidden if link.source in stages]
