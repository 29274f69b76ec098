"""The render net: every factor is drawn on its own canvas before anything is combined.

For each level t of a factor the layer holds a whole matrix by its decomposition, Σ_j λ_tj l_tj r_tjᵀ with
unit vectors l and r. The matrices of the selected levels are stacked as channels and a tiny convolutional
head combines them (Liang et al. 2025).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import PReLU
from recombine.nets.layers.convolution import ConvTranspose2d
from recombine.nets.stages import Chain, Net, Reshape, Stage


class FactorCanvas(eqx.Module):
    """The matrices of all levels of one factor.

    **Attributes:**

    - `spectrum` λ `(levels, rank)`; `columns` l `(levels, height, rank)`; `rows` r `(levels, rank, width)`.
        The vectors are stored as they are trained and normalised whenever they are used.
    """

    spectrum: Float[Array, "levels rank"]
    columns: Float[Array, "levels height rank"]
    rows: Float[Array, "levels rank width"]

    def __init__(self, levels: int, height: int, width: int, *, key: PRNGKeyArray) -> None:
        rank = min(height, width)
        keys = jax.random.split(key, 3)
        self.spectrum = jax.random.normal(keys[0], (levels, rank)) * rank**-0.5
        columns = jax.random.normal(keys[1], (levels, height, rank))
        rows = jax.random.normal(keys[2], (levels, rank, width))
        self.columns, self.rows = _unit(columns, axis=1), _unit(rows, axis=2)

    def normalised(self) -> FactorCanvas:
        """The same canvas with its vectors stored as unit vectors."""
        return eqx.tree_at(
            lambda canvas: (canvas.columns, canvas.rows),
            self,
            (_unit(self.columns, axis=1), _unit(self.rows, axis=2)),
        )

    def __call__(self, selection: Float[Array, "batch levels"]) -> Float[Array, "batch height width"]:
        """The matrices that one-hot rows select; the vectors are normalised after the selection."""
        spectrum = selection @ self.spectrum
        columns = _unit(jnp.tensordot(selection, self.columns, 1), axis=1)
        rows = _unit(jnp.tensordot(selection, self.rows, 1), axis=2)
        return (columns * spectrum[:, None, :]) @ rows


class RenderLayer(eqx.Module):
    """One canvas per factor as channels: `(batch, codes)` to `(batch, height, width, factors)`."""

    canvases: tuple[FactorCanvas, ...]
    levels: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, levels: tuple[int, ...], height: int, width: int, *, key: PRNGKeyArray) -> None:
        self.levels = tuple(levels)
        self.canvases = tuple(
            FactorCanvas(count, height, width, key=jax.random.fold_in(key, factor))
            for factor, count in enumerate(levels)
        )

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        ends = [sum(self.levels[: i + 1]) for i in range(len(self.levels))]
        codes = jnp.split(x, ends[:-1], axis=1)
        matrices = [canvas(code) for canvas, code in zip(self.canvases, codes, strict=True)]
        return jnp.stack(matrices, axis=-1)


def render_net(
    *,
    levels: tuple[int, ...],
    size: tuple[int, int] | None = None,
    hidden: int = 2,
    key: PRNGKeyArray,
) -> Net:
    """Draws every factor on its own canvas, then combines the canvases with a small convolutional head.

    **Arguments:**

    - `levels`: the number of levels of every factor; the input is the factors' one-hot codes in a row.
    - `size`: height and width; by default the square with as many pixels a side as the first factor has
        levels.
    - `hidden`: hidden convolutions of the head, each preceded by a PReLU.

    Stage `embedding` holds the canvases; the head's modules follow one by one.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, render_net
    >>> net = render_net(levels=(32, 32), key=jax.random.key(0))
    >>> parameter_count(net), net.names
    (133218, ('embedding', 'prelu0', 'conv0', 'prelu1', 'conv1', 'prelu2', 'output'))

    ```
    """
    if len(levels) < 2:
        raise InputError("levels", levels, "the levels of at least two factors")
    height, width = size or (levels[0], levels[0])
    factors = len(levels)
    names, layers = ["embedding"], [RenderLayer(tuple(levels), height, width, key=jax.random.fold_in(key, 0))]
    head: list[tuple[str, Stage]] = []
    for layer in range(hidden):
        mix = ConvTranspose2d(factors, factors, 3, padding=1, key=jax.random.fold_in(key, layer + 1))
        head += [(f"prelu{layer}", PReLU()), (f"conv{layer}", mix)]
    readout = ConvTranspose2d(factors, 1, 3, padding=1, key=jax.random.fold_in(key, hidden + 1))
    head += [(f"prelu{hidden}", PReLU()), ("output", Chain(readout, Reshape((height, width))))]
    return Net((*names, *(name for name, _ in head)), (*layers, *(stage for _, stage in head)))


def render_layer(net: Any) -> RenderLayer:
    """The render layer of a net, at whichever stage.

    ```python
    >>> import jax
    >>> from recombine.nets import render_layer, render_net
    >>> render_layer(render_net(levels=(8, 8), key=jax.random.key(0))).levels
    (8, 8)

    ```
    """
    for _, stage in net.stages:
        if isinstance(stage, RenderLayer):
            return stage
    names = [name for name, _ in net.stages]
    raise InputError("net", names, "a net with a render layer (recombine.nets.render_net)")


def _unit(vectors: Array, axis: int) -> Array:
    """Unit vectors; the zero vector, which an absent factor selects, stays zero and has no gradient."""
    squares = (vectors**2).sum(axis=axis, keepdims=True)
    return vectors / jnp.sqrt(jnp.where(squares > 0, squares, 1.0))
