"""Probes of every stage of a trained net: what can be read from it, and how it is bent."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from recombine.errors import InputError
from recombine.nets import evaluate, render_layer
from recombine.probes.geometry import log10_volume, metric_summary, metric_tensor
from recombine.probes.ranks import activation_ranks, effective_rank, participation, stripe_energy
from recombine.probes.representation import linear_probe, ridge_probe
from recombine.tasks import Task

Values = dict[str, Any]


def _stages(net: Any, task: Task) -> Any:
    """Every stage's activations for all cells, in order, one stage in memory at a time."""
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

    Each value has one entry per layer, the inputs first. By finite differences over the levels of the factors.

    - `factorisation`, `factorisation_in`, `factorisation_out`;
    - `volume_in`, `volume_out`: mean log10 dv; `volume_gap`: their difference, out - in;
    - `volume_maps` `(layers, *space)`: log10 dv, if `maps`.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import layers
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> layers.geometry(net, task)["volume_maps"].shape  # input, hidden layer, picture
    (3, 8, 8)

    ```
    """
    space, found, drawn = task.split.space, [], []
    for activity in _stages(net, task):
        g = metric_tensor(space.grid(activity.reshape(len(activity), -1)))
        found.append(metric_summary(g, task.split.seen))
        drawn.append(log10_volume(g).astype(np.float32))
    names = {
        "factorisation": "factorisation",
        "factorisation_in": "in_factorisation",
        "factorisation_out": "out_factorisation",
        "volume_in": "in_log10_volume",
        "volume_out": "out_log10_volume",
        "volume_gap": "volume_gap",
    }
    values: Values = {name: np.array([layer[key] for layer in found]) for name, key in names.items()}
    return values | ({"volume_maps": np.stack(drawn)} if maps else {})


def readability(net: Any, task: Task) -> Values:
    """Linear readability of the factors from the inputs and every stage, as R² `(layers, factors)`.

    `r2` is the published measure, least squares scored on the points it was fitted to. Once a layer has as
    many units as there are cells it would be 1 by interpolation, whatever the layer holds, and is NaN.
    `r2_held_out` is five-fold cross-validated ridge regression, which always says something.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import layers
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> layers.readability(net, task)["r2_held_out"].shape  # layers, factors
    (3, 2)

    ```
    """
    levels = task.split.space.cells.astype(float)
    same, held_out = [], []
    for activity in _stages(net, task):
        flat = activity.reshape(len(activity), -1)
        held_out.append(ridge_probe(flat, levels)["r2"])
        vacuous = flat.shape[1] >= len(flat) - 1
        same.append(np.full(levels.shape[1], np.nan) if vacuous else linear_probe(flat, levels)["r2"])
    return {"r2": np.stack(same), "r2_held_out": np.stack(held_out)}


def ranks(net: Any, task: Task, *, units: int = 1500, seed: int = 0) -> Values:
    """Numerical rank and components for 99 % of the variance, of the inputs and every stage.

    Of wider stages `units` units are chosen at random.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import layers
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> layers.ranks(net, task)["numerical_rank"].shape
    (3,)

    ```
    """
    found = []
    for activity in _stages(net, task):
        flat = activity.reshape(len(activity), -1)
        if flat.shape[1] > units:
            chosen = np.random.default_rng(seed).choice(flat.shape[1], units, replace=False)
            flat = flat[:, np.sort(chosen)]
        found.append(activation_ranks(flat))
    return {name: np.array([layer[name] for layer in found]) for name in found[0]}


def canvases(net: Any, task: Task, *, level: int = 14) -> Values:
    """What each factor of a render net draws on its own canvas.

    - `canvas_participation` `(factors, levels)`: exp(H) of the spectrum, the number of components in use;
    - `canvas_rank` `(factors, levels)`: the same from the matrices' singular values;
    - `stripe_energy` `(factors, levels)`: energy that is constant along the factor's own stripe, so 1 for a
        perfect stripe: down the columns for x (factor 0), along the rows for y (factor 1);
    - `canvas` `(factors, height, width)`: the matrices at `level`.

    ```python
    >>> import jax
    >>> from recombine import bumps, nets, one_hot
    >>> from recombine.probes import layers
    >>> net = nets.render_net(levels=(8, 8), key=jax.random.key(0))
    >>> layers.canvases(net, bumps(n=8, encoding=one_hot))["stripe_energy"].shape  # factors, levels
    (2, 8)

    ```
    """
    layer = render_layer(net)
    if len(layer.levels) != 2 or len(set(layer.levels)) != 1:
        raise InputError("net", layer.levels, "a render net with two factors of as many levels each")
    participations, effective, energies, drawn = [], [], [], []
    for factor, (canvas, levels) in enumerate(zip(layer.canvases, layer.levels, strict=True)):
        matrices = np.asarray(canvas(jnp.eye(levels)))
        participations.append(participation(np.asarray(canvas.spectrum)))
        effective.append(effective_rank(matrices))
        energies.append(stripe_energy(matrices, axis=factor))
        drawn.append(matrices[min(level, levels - 1)])
    return {
        "canvas_participation": np.stack(participations),
        "canvas_rank": np.stack(effective),
        "stripe_energy": np.stack(energies),
        "canvas": np.stack(drawn).astype(np.float32),
    }


def tuning(net: Any, task: Task, *, stages: tuple[int, ...] = (0, 3), units: int = 8) -> Values:
    """Maps over all cells of the most strongly modulated units of some stages, `(stages, units, *space)`.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import layers
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> layers.tuning(net, task, stages=(0,), units=2)["tuning"].shape
    (1, 2, 8, 8)

    ```
    """
    kept = []
    for position, activity in enumerate(_stages(net, task)):
        if position - 1 in stages:
            flat = activity.reshape(len(activity), -1)
            strongest = np.argsort(flat.var(axis=0))[::-1][:units]
            kept.append(task.split.space.grid(flat[:, strongest]))
    return {"tuning": np.stack([np.moveaxis(grid, -1, 0) for grid in kept]).astype(np.float32)}
