"""Test functions with known interaction: two slots of one latent each, a and b, and eight outputs.

`g0` to `g3` have interaction of order 0 to 3 across slots; `gs` mixes its slots with a softmax, which has no finite
order; `linear` has no second derivative, so nothing distinguishes its slots. Every function takes one point
`(2,)` and the array namespace to compute in (`jax.numpy` for derivatives, NumPy for values).

```python
>>> import numpy as np
>>> from recombine.studies.interaction_asymmetry.functions import g1, g2
>>> (g2(np.array([1.0, 2.0]), np) - g1(np.array([1.0, 2.0]), np)).tolist()
[0.0, 2.0, 0.0, 4.0, 0.0, -2.0, 0.0, 0.0]

```
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

Function = Callable[..., Any]
"""From a point `(2,)` and an array namespace to eight outputs."""
PRODUCT = (0.0, 1.0, 0.0, 2.0, 0.0, -1.0, 0.0, 0.0)
"""The coefficient of ab in every output of `g2`."""
DECODER_SLOTS = 3
DECODER_LATENTS = 6
DECODER_OUTPUTS = 40
"""Sizes of the random decoder of order 2."""
CUBIC = 0.3
"""The reparametrisation takes a to a + 0.3 a³."""


def g0(z: Any, xp: Any = jnp) -> Any:
    """Every output depends on one slot."""
    a, b = z[0], z[1]
    return xp.stack([a, xp.sin(a), a**2, xp.exp(a / 2), b, xp.exp(b / 2), xp.cos(b), xp.sin(2 * b)])


def g1(z: Any, xp: Any = jnp) -> Any:
    """Sums of functions of one slot."""
    a, b = z[0], z[1]
    return xp.stack(
        [
            a + b,
            xp.sin(a) - b**2,
            xp.exp(a / 2) + xp.cos(b),
            a**2 + xp.sin(2 * b),
            xp.cos(a) + b,
            a + xp.exp(b / 2),
            xp.sin(3 * a) + b,
            a + xp.cos(2 * b),
        ]
    )


def g2(z: Any, xp: Any = jnp) -> Any:
    """`g1` and products ab."""
    return g1(z, xp) + xp.stack([c * z[0] * z[1] for c in PRODUCT])


def g3(z: Any, xp: Any = jnp) -> Any:
    """`g2`, a²b in the first output and ab² in the sixth."""
    a, b = z[0], z[1]
    zero = 0.0 * a
    extra = [a**2 * b, *[zero] * 4, a * b**2, *[zero] * 2]
    return g2(z, xp) + xp.stack(extra)


def gs(z: Any, xp: Any = jnp) -> Any:
    """The slots compete: outputs of either one, weighted by a softmax of four times their latents."""
    a, b = z[0], z[1]
    m = 1 / (1 + xp.exp(-4 * (a - b)))
    rest = 1 - m
    return xp.stack(
        [
            m * a + rest * b,
            m * xp.sin(a) + rest * b**2,
            m * xp.exp(a / 2) + rest * xp.cos(b),
            m,
            m * a**2 + rest * xp.sin(2 * b),
            m * xp.cos(a) + rest * xp.exp(b / 2),
            m * xp.sin(3 * a) + rest * b,
            m * a + rest * xp.cos(2 * b),
        ]
    )


def linear(z: Any, xp: Any = jnp) -> Any:
    """A linear map: its second derivative is zero for any choice of latents."""
    a, b = z[0], z[1]
    return xp.stack([a + b, a - 2 * b, 3 * a, b, 2 * a + b, a, a - b, a + 3 * b])


def reparametrised(function: Function) -> Function:
    """The function of a + 0.3 a³ and b: another generator of the same data, slot by slot."""

    def bent(z: Any, xp: Any = jnp) -> Any:
        return function(xp.stack([z[0] + CUBIC * z[0] ** 3, z[1]]), xp)

    return bent


class Rotated(eqx.Module):
    """A function of latents that a rotation has mixed; one compiled program serves all angles."""

    function: Function
    matrix: Float[np.ndarray, "2 2"]

    def __call__(self, z: Any, xp: Any = jnp) -> Any:
        """The outputs."""
        return self.function(self.matrix @ z, xp)


def rotated(function: Function, degrees: float) -> Rotated:
    """The function of latents rotated by an angle."""
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return Rotated(function, np.array([[c, -s], [s, c]]))


def order_two_decoder(rng: np.random.Generator) -> Function:
    """A random decoder of order 2: a function of every slot, and products of latents of different slots."""
    size = DECODER_LATENTS // DECODER_SLOTS
    own = rng.normal(size=(DECODER_SLOTS, DECODER_OUTPUTS, size))
    phase = rng.normal(size=(DECODER_SLOTS, DECODER_OUTPUTS))
    slot = np.arange(DECODER_LATENTS) // size
    product = rng.normal(size=(DECODER_OUTPUTS, DECODER_LATENTS, DECODER_LATENTS))
    product = product * (slot[:, None] != slot) / 2

    def decoder(z: Any, xp: Any = jnp) -> Any:
        parts = z.reshape(DECODER_SLOTS, size)
        each = xp.sin(xp.einsum("kod,kd->ko", own, parts) + phase)
        return each.sum(axis=0) + xp.einsum("oij,i,j->o", product, z, z)

    return decoder


def grid(side: int = 21) -> Float[np.ndarray, "cells 2"]:
    """An even grid on [-1, 1]², in C order."""
    axis = np.linspace(-1, 1, side)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


FUNCTIONS: dict[str, Function] = {
    "g0": g0,
    "g1": g1,
    "g2": g2,
    "g3": g3,
    "gs": gs,
    "linear": linear,
    "g1 reparametrised": reparametrised(g1),
    "g2 reparametrised": reparametrised(g2),
}
