"""The cost of activity noise to second order, without drawing any: the exact form of weighted activity.

With independent noise of variance σ²|a|^alpha on the hidden units, the expected loss of a net with K outputs grows by

    (σ²/K) Σ_l Σ_i E |a_i^l|^alpha |∂y/∂a_i^l|²  +  O(σ⁴)

for squared error (mean over outputs), up to a term in the curvature ∂²y/∂a² that vanishes for piecewise linear units
and where the residual is zero. `weighted_activity` replaces ∂y/∂a by the next weights: the same for the last hidden
layer, a local surrogate for earlier ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets import trace
from recombine.remedies.activity import power_of
from recombine.remedies.penalties import as_penalty

Loss = Literal["squared", "cross-entropy"]


def check_loss(loss: str) -> None:
    """Refuses losses whose curvature is not known here."""
    if loss not in get_args(Loss):
        raise InputError("loss", loss, "'squared' or 'cross-entropy'")


@as_penalty
def jacobian_activity(
    net: Any,
    outputs: Mapping[str, Array],
    batch: Any,
    *,
    alpha: float = 2.0,
    stages: Sequence[str] | None = None,
    projections: int = 0,
    loss: Loss = "squared",
    key: PRNGKeyArray | None = None,
) -> Float[Array, ""]:
    """Σ_l Σ_i E |a_i^l|^alpha |∂y/∂a_i^l|², over all stages but the last.

    **Arguments:**

    - `alpha`, `stages`: as for `weighted_activity`; here a stage may be of any kind.
    - `projections`: 0 takes every output in turn (exact); otherwise that many random combinations of outputs, whose
        mean is the same, from one backward pass each.
    - `loss`: with `"cross-entropy"` the length of ∂y/∂a is taken in the curvature of the loss, diag(p) - ppᵀ
        (Gauss-Newton), which itself is held fixed; outputs `(batch, parts, classes)` are summed over parts. Noise
        of level σ then stands for a weight of σ² / (2 · parts).
    - `key`: for random projections; a recipe passes it if its `Penalty` is `random`.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import mlp
    >>> from recombine.remedies import jacobian_activity, weighted_activity
    >>> net = mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0))
    >>> x = jnp.ones((5, 3))
    >>> exact, local = jacobian_activity(net, x), weighted_activity(net, x)
    >>> bool(jnp.isclose(exact, local))  # one hidden layer: the same
    True

    ```
    """
    if projections and key is None:
        raise InputError("key", None, "a random key for random projections (Penalty(..., random=True))")
    names = [name for name, _ in net.stages][:-1]
    chosen = names if stages is None else list(stages)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise InputError("stages", unknown[0], f"hidden stages: {', '.join(names)}")

    def output(shifts: Mapping[str, Array]) -> Array:
        return trace(net, batch[0], perturb=_shift(shifts), noise_key=jax.random.key(0))[0]

    activities = {name: outputs[name] for name in chosen}
    y, pull = jax.vjp(output, jax.tree.map(jnp.zeros_like, activities))
    directions = _directions(y, loss, projections, key)

    def squares(direction: Array) -> Array:
        (gradients,) = pull(direction)
        parts = [(power_of(activities[name], alpha) * gradients[name] ** 2).sum() for name in chosen]
        return sum(parts, start=jnp.zeros(()))

    total = jax.vmap(squares)(directions).sum()
    return total / (len(y) * (projections or 1))


def _shift(shifts: Mapping[str, Array]) -> Callable[[str, Array, PRNGKeyArray], Array]:
    return lambda name, activity, _: activity + shifts[name] if name in shifts else activity


def _directions(
    outputs: Float[Array, "batch ..."], loss: Loss, projections: int, key: PRNGKeyArray | None
) -> Float[Array, "directions batch *shape"]:
    """Vectors v whose Σ v vᵀ (or its mean over random ones) is the curvature of the loss in the outputs."""
    check_loss(loss)
    if projections:
        assert key is not None
        drawn = jax.random.normal(key, (projections, *outputs.shape))
    else:
        size = outputs[0].size
        drawn = jnp.broadcast_to(jnp.eye(size).reshape(size, 1, *outputs.shape[1:]), (size, *outputs.shape))
    if loss == "squared":
        return drawn
    probability = jax.lax.stop_gradient(jax.nn.softmax(outputs))
    drawn = jnp.sqrt(probability) * drawn
    return drawn - probability * drawn.sum(axis=-1, keepdims=True)


def penalty_weight(level: float, outputs: int) -> float:
    """The weight σ²/K with which `jacobian_activity` stands for noise of that level, for squared error.

    `weighted_activity` with this weight agrees in its last layer, and costs about twice as much in all.

    ```python
    >>> from recombine.remedies import noise_level, penalty_weight
    >>> penalty_weight(0.1, outputs=4), round(noise_level(1e-3, outputs=4), 3)
    (0.0025, 0.063)

    ```
    """
    if not 0 <= level < float("inf") or outputs < 1:
        raise InputError(
            "level and outputs", (level, outputs), "a level of 0 or more and at least one output"
        )
    return float(f"{level**2 / outputs:.15g}")


def noise_level(weight: float, outputs: int) -> float:
    """The noise level that a penalty weight stands for: the inverse of `penalty_weight`.

    ```python
    >>> from recombine.remedies import noise_level, penalty_weight
    >>> round(noise_level(penalty_weight(0.1, outputs=4), outputs=4), 6)
    0.1

    ```
    """
    if not 0 <= weight < float("inf") or outputs < 1:
        raise InputError(
            "weight and outputs", (weight, outputs), "a weight of 0 or more and at least one output"
        )
    return float((weight * outputs) ** 0.5)
