"""Probes of every stage of a trained net: what can be decoded from it, and its geometry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np

from recombine.errors import InputError
from recombine.metrics.geometry import log10_volume, metric_summary, metric_tensor
from recombine.metrics.ranks import effective_rank, participation, stripe_energy
from recombine.metrics.representation import linear_probe, ridge_probe
from recombine.nets import evaluate, render_layer
from recombine.tasks import Task

Values = dict[str, Any]


def stage_activations(net: Any, task: Task) -> Iterator[np.ndarray]:
    """The inputs and then every stage's activations for all cells, one stage in memory at a time."""
    cells, rows = np.unique(task.cell, return_index=True)
    rows = rows[cells >= 0]
    if len(rows) != task.split.space.n_cells:
        missing = task.split.space.n_cells - len(rows)
        raise InputError(
            "task", f"{missing} cells without a row", "a task that shows every cell of its space"
        )
    yield task.inputs[rows]
    for name, _ in net.stages:
        yield evaluate(net, task.inputs[rows], stage=name)


def geometry(net: Any, task: Task, *, maps: bool = True) -> Values:
    """Factorisation score and volume element of the inputs and of every stage.

    Each value has one entry per layer, the inputs first. Derivatives are finite differences over the levels.

    **Returns:**

    - `factorisation`, `factorisation_in`, `factorisation_out`;
    - `volume_in`, `volume_out`: mean log10 dv; `volume_gap`: their difference, out - in;
    - `volume_maps` `(layers, *space)`: log10 dv, if `maps`.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import geometry
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> geometry(net, task)["volume_maps"].shape  # input, hidden layer, output
    (3, 8, 8)

    ```
    """
    space, summaries, volume_maps = task.split.space, [], []
    for activations in stage_activations(net, task):
        g = metric_tensor(space.grid(activations.reshape(len(activations), -1)))
        summaries.append(metric_summary(g, task.split.seen))
        volume_maps.append(log10_volume(g).astype(np.float32))
    names = {
        "factorisation": "factorisation",
        "factorisation_in": "in_factorisation",
        "factorisation_out": "out_factorisation",
        "volume_in": "in_log10_volume",
        "volume_out": "out_log10_volume",
        "volume_gap": "volume_gap",
    }
    values: Values = {name: np.array([layer[key] for layer in summaries]) for name, key in names.items()}
    return values | ({"volume_maps": np.stack(volume_maps)} if maps else {})


def readability(net: Any, task: Task) -> Values:
    """How well the factors can be decoded linearly from the inputs and every stage, as R² `(layers, factors)`.

    `r2` is the published measure, least squares scored on the rows it was fitted to. A layer with as many units as
    there are cells would score 1 whatever it represents, so `r2` is NaN there. `r2_held_out` is five-fold
    cross-validated ridge regression and always defined.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import readability
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> readability(net, task)["r2_held_out"].shape  # layers, factors
    (3, 2)

    ```
    """
    levels = task.split.space.cells.astype(float)
    fitted, held_out = [], []
    for activations in stage_activations(net, task):
        flat = activations.reshape(len(activations), -1)
        held_out.append(ridge_probe(flat, levels)["r2"])
        interpolates = flat.shape[1] >= len(flat) - 1
        fitted.append(np.full(levels.shape[1], np.nan) if interpolates else linear_probe(flat, levels)["r2"])
    return {"r2": np.stack(fitted), "r2_held_out": np.stack(held_out)}


def canvases(net: Any, task: Task, *, level: int = 14) -> Values:
    """What each factor of a render net draws on its own canvas.

    **Returns:**

    - `canvas_participation` `(factors, levels)`: exp(H) of the spectrum, the effective number of components;
    - `canvas_rank` `(factors, levels)`: the same from the matrices' singular values;
    - `stripe_energy` `(factors, levels)`: the share of energy that is constant along the factor's own stripe (1 for a
        perfect stripe): down the columns for x (factor 0), along the rows for y (factor 1);
    - `canvas` `(factors, height, width)`: the matrices at `level`.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.probes import canvases
    >>> from recombine.tasks import bumps, one_hot
    >>> net = nets.render_net(levels=(8, 8), key=jax.random.key(0))
    >>> canvases(net, bumps(n=8, encoding=one_hot))["stripe_energy"].shape  # factors, levels
    (2, 8)

    ```
    """
    layer = render_layer(net)
    if len(layer.levels) != 2 or len(set(layer.levels)) != 1:
        raise InputError("net", layer.levels, "a render net with two factors of as many levels each")
    participations, effective_ranks, energies, examples = [], [], [], []
    for factor, (canvas, levels) in enumerate(zip(layer.canvases, layer.levels, strict=True)):
        matrices = np.asarray(canvas(jnp.eye(levels)))
        participations.append(participation(np.asarray(canvas.spectrum)))
        effective_ranks.append(effective_rank(matrices))
        energies.append(stripe_energy(matrices, axis=factor))
        examples.append(matrices[min(level, levels - 1)])
    return {
        "canvas_participation": np.stack(participations),
        "canvas_rank": np.stack(effective_ranks),
        "stripe_energy": np.stack(energies),
        "canvas": np.stack(examples).astype(np.float32),
    }
