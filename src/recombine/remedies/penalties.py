"""One call for all penalties: `penalty(net, x)` in your own training loop, and the same function inside a `Recipe`.

The compiled loop of `recombine.fit` has run the net already, so it calls a penalty with three arguments: the net, the
outputs of all its stages, and the batch. In your own loop you have the net and its inputs; `as_penalty` makes a
function that accepts both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

from jaxtyping import Array

from recombine.errors import InputError
from recombine.nets import staged, trace

PenaltyFunction: TypeAlias = Callable[..., Array]


def as_penalty(
    function: PenaltyFunction | None = None,
    *,
    weights_only: bool = False,
    of_decoder: PenaltyFunction | None = None,
) -> Any:
    """A decorator: makes `function(net, stages, batch, **settings)` callable as `penalty(net, x, **settings)`, too.

    **Arguments:**

    - `weights_only`: the function looks at weights only, so `x` is not needed.
    - `of_decoder`: called as `of_decoder(decoder, slots, **settings)` if `net` is a plain decoder function.

    ```python
    >>> import equinox as eqx, jax, jax.numpy as jnp
    >>> from recombine import Part, Penalty
    >>> from recombine.remedies import as_penalty, l2
    >>> @as_penalty
    ... def mean_activity(net, stages, batch):
    ...     return stages["hidden0"].mean()
    >>> net = eqx.nn.MLP(3, 2, width_size=8, depth=1, key=jax.random.key(0))
    >>> mean_activity(net, jnp.ones((5, 3))).shape
    ()
    >>> Penalty(Part(l2), 1e-4).weight
    0.0001

    ```
    """
    if function is None:
        return lambda function: as_penalty(function, weights_only=weights_only, of_decoder=of_decoder)
    own = function

    @wraps(own)
    def penalty(net: Any, *inputs: Any, **settings: Any) -> Array:
        if len(inputs) == 2:  # stages and batch, from the compiled loop
            return own(net, *inputs, **settings)
        x = inputs[0] if inputs else settings.pop("x", None)
        if of_decoder is not None and not hasattr(net, "stages"):
            return of_decoder(net, x, **settings)
        readable = staged(net)
        if weights_only:
            return own(readable, {}, (x, None), **settings)
        if x is None:
            raise InputError("x", None, f"the batch's inputs: {own.__name__}(net, x)")
        _, stages = trace(readable, x)
        return own(readable, stages, (x, None), **settings)

    _, _, _, *settings = inspect.signature(own).parameters.values()
    shown = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("net", "x")]
    penalty.__signature__ = inspect.Signature([*shown, *settings])  # type: ignore[attr-defined]
    return penalty
