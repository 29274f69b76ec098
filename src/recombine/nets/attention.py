"""Cross-attention whose weights can be read, and the pre-norm layers made of it (Brady et al. 2025)."""

from __future__ import annotations

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.dense import LayerNorm, Linear


def gelu(x: Array) -> Array:
    """x Φ(x) with the normal distribution function Φ itself, not its approximation by a tanh.

    Written with erf: `jax.nn.gelu` takes erfc, which on a CPU is twice the time.
    """
    return 0.5 * x * (1 + jax.lax.erf(x * 0.5**0.5))


def xavier(layer: Linear, key: PRNGKeyArray) -> Linear:
    """The layer with weights uniform within ±√(6 / (inputs + outputs)); its bias stays."""
    inputs, outputs = layer.weight.shape
    bound = (6 / (inputs + outputs)) ** 0.5
    weight = jax.random.uniform(key, (inputs, outputs), jnp.float32, -bound, bound)
    return eqx.tree_at(lambda changed: changed.weight, layer, weight)


def xavier_linear(inputs: int, outputs: int, *, key: PRNGKeyArray) -> Linear:
    """A linear layer with Xavier weights and PyTorch's default bias."""
    own, weight = jax.random.split(key)
    return xavier(Linear(inputs, outputs, key=own), weight)


class MLP(eqx.Module):
    """Linear layers with GELU between them, on the last axis."""

    layers: tuple[Linear, ...]

    def __init__(self, widths: tuple[int, ...], *, glorot: bool = False, key: PRNGKeyArray) -> None:
        make = xavier_linear if glorot else Linear
        pairs = pairwise(widths)
        self.layers = tuple(make(a, b, key=jax.random.fold_in(key, i)) for i, (a, b) in enumerate(pairs))

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        for layer in self.layers[:-1]:
            x = gelu(layer(x))
        return self.layers[-1](x)


class CrossAttention(eqx.Module):
    """Attention of several heads from queries to a context.

    Logits are multiplied by `scale`, by default (width of the queries)^(-1/2): the full width and not that of a
    head, as in the authors' code.
    """

    query: Linear
    key_value: Linear
    merge: Linear
    heads: int = eqx.field(static=True)
    scale: float = eqx.field(static=True)

    def __init__(
        self,
        width: int,
        context: int,
        inner: int,
        heads: int,
        *,
        scale: float | None = None,
        key: PRNGKeyArray,
    ) -> None:
        if inner % heads:
            raise InputError("heads", heads, f"a divisor of the inner width {inner}")
        keys = jax.random.split(key, 3)
        self.query = xavier_linear(width, inner, key=keys[0])
        self.key_value = xavier_linear(context, 2 * inner, key=keys[1])
        self.merge = xavier_linear(inner, width, key=keys[2])
        self.heads, self.scale = heads, width**-0.5 if scale is None else scale

    def __call__(
        self, queries: Float[Array, "rows n width"], context: Float[Array, "batch m context"]
    ) -> tuple[Float[Array, "batch n width"], Float[Array, "batch heads n m"]]:
        """What each query takes from the context, and with which weights; `rows` is the batch or 1."""
        inner = self.query.weight.shape[1]
        if context.shape[1] * self.heads < inner:
            return self._short_context(queries, context)
        if 2 * queries.shape[1] * self.heads <= inner:
            return self._few_queries(queries, context)
        known, carried = (_heads(x, self.heads) for x in jnp.split(self.key_value(context), 2, axis=-1))
        asked = _heads(self.query(queries), self.heads)
        asked = jnp.broadcast_to(asked, (len(known), *asked.shape[1:]))
        weights = jax.nn.softmax(asked @ known.swapaxes(-1, -2) * self.scale)
        taken = weights @ carried  # (batch, heads, n, head)
        return self.merge(taken.swapaxes(1, 2).reshape(len(taken), taken.shape[2], -1)), weights

    def _short_context(self, queries: Array, context: Array) -> tuple[Array, Array]:
        """The same with the maps of queries and of outputs applied to the context.

        By associativity (x W_q) κᵀ = x (W_q κᵀ) and (A v) W_o = A (v W_o): a query meets heads · m numbers instead of
        the inner width, a quarter of the work for 3 slots, 4 heads and an inner width of 48.
        """
        known, carried = (_heads(x, self.heads) for x in jnp.split(self.key_value(context), 2, axis=-1))
        batch, heads, m, head = known.shape
        width = self.query.weight.shape[0]
        asking = self.query.weight.reshape(width, heads, head) * self.scale
        giving = self.merge.weight.reshape(heads, head, width)
        keys = jnp.einsum("whd,bhmd->bwhm", asking, known).reshape(batch, width, heads * m)
        values = jnp.einsum("bhmd,hdw->bhmw", carried, giving).reshape(batch, heads * m, width)
        logits = queries @ keys
        if self.query.bias is not None:
            offset = self.query.bias.reshape(heads, head) * self.scale
            logits = logits + jnp.einsum("hd,bhmd->bhm", offset, known).reshape(batch, 1, heads * m)
        shares = jax.nn.softmax(logits.reshape(batch, -1, heads, m))
        taken = shares.reshape(batch, -1, heads * m) @ values
        merged = taken if self.merge.bias is None else taken + self.merge.bias
        return merged, shares.swapaxes(1, 2)

    def _few_queries(self, queries: Array, context: Array) -> tuple[Array, Array]:
        """The same with the maps of keys and values applied to the queries and to what they have gathered.

        The bias of the keys adds the same to all logits of a query, so that it drops out; weights sum to 1, so that the
        bias of the values is added once.
        """
        inner, heads = self.query.weight.shape[1], self.heads
        asked = self.query(queries).reshape(*queries.shape[:2], heads, inner // heads) * self.scale
        keys, values = jnp.split(self.key_value.weight.reshape(-1, 2 * heads, inner // heads), 2, axis=1)
        looking = jnp.einsum("bnhd,chd->bnhc", asked, keys).reshape(len(queries), -1, len(keys))
        weights = jax.nn.softmax(looking @ context.swapaxes(1, 2))  # (batch, n · heads, m)
        gathered = (weights @ context).reshape(len(context), -1, heads, len(keys))
        taken = jnp.einsum("bnhc,chd->bnhd", gathered, values).reshape(*gathered.shape[:2], inner)
        if self.key_value.bias is not None:
            taken = taken + self.key_value.bias[inner:]
        shares = weights.reshape(len(context), -1, heads, context.shape[1])
        return self.merge(taken), shares.swapaxes(1, 2)


def _heads(x: Float[Array, "batch n inner"], heads: int) -> Float[Array, "batch heads n head"]:
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


class CrossLayer(eqx.Module):
    """Pre-norm cross-attention and feed-forward, each added to what came in."""

    attention: CrossAttention
    forward: MLP
    norms: tuple[LayerNorm, LayerNorm, LayerNorm]

    def __init__(
        self, width: int, context: int, inner: int, heads: int, hidden: int, *, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key)
        self.attention = CrossAttention(width, context, inner, heads, key=keys[0])
        self.forward = MLP((width, hidden, width), glorot=True, key=keys[1])
        self.norms = (LayerNorm(width), LayerNorm(context), LayerNorm(width))

    def __call__(self, x: Array, context: Array) -> tuple[Array, Array]:
        """The new `x` and the attention weights."""
        taken, weights = self.attention(self.norms[0](x), self.norms[1](context))
        x = x + taken
        return x + self.forward(self.norms[2](x)), weights
