"""Cross-attention that also returns its weights, and the pre-norm layers built from it (Brady et al. 2025)."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.dense import MLP, Linear, xavier_linear
from recombine.nets.layers.normalisation import LayerNorm


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
        """The value each query retrieves from the context, and its weights; `rows` is the batch or 1."""
        inner = self.query.weight.shape[1]
        if context.shape[1] * self.heads < inner:
            return self._short_context(queries, context)
        if 2 * queries.shape[1] * self.heads <= inner:
            return self._few_queries(queries, context)
        keys, values = (_heads(x, self.heads) for x in jnp.split(self.key_value(context), 2, axis=-1))
        asking = _heads(self.query(queries), self.heads)
        asking = jnp.broadcast_to(asking, (len(keys), *asking.shape[1:]))
        weights = jax.nn.softmax(asking @ keys.swapaxes(-1, -2) * self.scale)
        attended = weights @ values  # (batch, heads, n, head)
        return self.merge(attended.swapaxes(1, 2).reshape(len(attended), attended.shape[2], -1)), weights

    def _short_context(self, queries: Array, context: Array) -> tuple[Array, Array]:
        """The same result, with the query and output maps applied to the context.

        By associativity (x W_q) κᵀ = x (W_q κᵀ) and (A v) W_o = A (v W_o): each query is multiplied by heads · m
        columns instead of the inner width, a quarter of the work for 3 slots, 4 heads and an inner width of 48.
        """
        keys, values = (_heads(x, self.heads) for x in jnp.split(self.key_value(context), 2, axis=-1))
        batch, heads, m, head = keys.shape
        width = self.query.weight.shape[0]
        query_map = self.query.weight.reshape(width, heads, head) * self.scale
        merge_map = self.merge.weight.reshape(heads, head, width)
        mapped_keys = jnp.einsum("whd,bhmd->bwhm", query_map, keys).reshape(batch, width, heads * m)
        mapped_values = jnp.einsum("bhmd,hdw->bhmw", values, merge_map).reshape(batch, heads * m, width)
        logits = queries @ mapped_keys
        if self.query.bias is not None:
            offset = self.query.bias.reshape(heads, head) * self.scale
            logits = logits + jnp.einsum("hd,bhmd->bhm", offset, keys).reshape(batch, 1, heads * m)
        weights = jax.nn.softmax(logits.reshape(batch, -1, heads, m))
        attended = weights.reshape(batch, -1, heads * m) @ mapped_values
        merged = attended if self.merge.bias is None else attended + self.merge.bias
        return merged, weights.swapaxes(1, 2)

    def _few_queries(self, queries: Array, context: Array) -> tuple[Array, Array]:
        """The same result, with the key map applied to the queries and the value map to the attended context.

        The bias of the keys adds the same number to all logits of a query and cancels in the softmax. The weights sum
        to 1, so the bias of the values is added once.
        """
        inner, heads = self.query.weight.shape[1], self.heads
        asking = self.query(queries).reshape(*queries.shape[:2], heads, inner // heads) * self.scale
        key_map, value_map = jnp.split(
            self.key_value.weight.reshape(-1, 2 * heads, inner // heads), 2, axis=1
        )
        mapped_queries = jnp.einsum("bnhd,chd->bnhc", asking, key_map).reshape(len(queries), -1, len(key_map))
        weights = jax.nn.softmax(mapped_queries @ context.swapaxes(1, 2))  # (batch, n · heads, m)
        attended = (weights @ context).reshape(len(context), -1, heads, len(key_map))
        mapped = jnp.einsum("bnhc,chd->bnhd", attended, value_map).reshape(*attended.shape[:2], inner)
        if self.key_value.bias is not None:
            mapped = mapped + self.key_value.bias[inner:]
        per_head = weights.reshape(len(context), -1, heads, context.shape[1])
        return self.merge(mapped), per_head.swapaxes(1, 2)


def _heads(x: Float[Array, "batch n inner"], heads: int) -> Float[Array, "batch heads n head"]:
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


class CrossLayer(eqx.Module):
    """Pre-norm cross-attention and feed-forward, each with a residual connection."""

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
        attended, weights = self.attention(self.norms[0](x), self.norms[1](context))
        x = x + attended
        return x + self.forward(self.norms[2](x)), weights
