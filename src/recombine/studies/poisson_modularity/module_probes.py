"""Probes of a trained net's modules: connectivity, behaviour under noise, under shifted inputs and after pruning.

They take a net with stages and its task, and apply the metrics of `recombine.metrics.connectivity`. Modules are
known: input m and output m belong to module m by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.metrics import connectivity as wires
from recombine.nets import evaluate, links, noisy, trace, weight_matrices, with_matrices
from recombine.nets.layers.dense import Linear
from recombine.tasks import Task

Values = dict[str, Any]
BATCH = 500
"""Rows per evaluation; these nets are small."""


def task_errors(net: Any, task: Task) -> Values:
    """Mean squared error on training and test rows, without noise, and the sum of squared weights.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.studies.poisson_modularity import module_probes
    >>> net = nets.mlp(inputs=4, width=8, depth=1, outputs=4, key=jax.random.key(0))
    >>> sorted(module_probes.task_errors(net, tasks.modular_task(train=20, test=20)))
    ['mse_test', 'mse_train', 'sum_squares']

    ```
    """
    return {
        "mse_train": _error(net, task, task.rows_in).mean(),
        "mse_test": _error(net, task, task.rows_out).mean(),
        "sum_squares": sum(float((matrix**2).sum()) for matrix in weight_matrices(net)),
    }


def modularity(
    net: Any,
    task: Task,
    *,
    inputs: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
    maps: bool = True,
) -> Values:
    """How modular a net of dense layers is, given the modules of inputs and outputs.

    One entry per layer of weights (L) or per hidden layer (L - 1); activity is that on test rows.

    **Returns:**

    - `in_block`, `chance` (L,): share of squared weight within modules, live units only, and its chance level;
    - `in_block_all` (L,): the same including dead units;
    - `live` (L - 1,): live units; `module_sizes` (L - 1, K): of each module;
    - `newman`, `newman_z`: Newman modularity, and its distance from shuffled weights in standard deviations;
    - `participation` (L,): mean over live units;
    - `spectra`, `spectra_all`, `spectra_raw` (L, K + 2): Laplacian eigenvalues, collapsed over live units, collapsed
        over all, and not collapsed over live ones; NaN where a layer has fewer units than modules;
    - `jacobian_ratio`: |∂y_i/∂x_j| between modules divided by that within modules;
    - `pruned_error` (K,): squared error of every output after cutting all connections between modules;
    - with `maps`, `weights0`, ... and `labels0`, ... for drawing.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.studies.poisson_modularity import module_probes
    >>> net = nets.mlp(inputs=4, width=16, depth=2, outputs=4, key=jax.random.key(0))
    >>> values = module_probes.modularity(net, tasks.modular_task(train=20, test=20))
    >>> values["in_block"].shape, values["spectra"].shape, values["pruned_error"].shape
    ((3,), (3, 6), (4,))

    ```
    """
    weights = weight_matrices(net)
    rows = task.inputs[task.rows_out]
    activity = _activities(net, rows)
    live = wires.live_units(weights, activity)
    outputs = tuple(range(weights[-1].shape[1])) if outputs is None else outputs
    labels = wires.assign_known(weights, inputs=inputs, outputs=outputs, live=live)
    all_labels = wires.assign_known(weights, inputs=inputs, outputs=outputs)
    modules = int(labels[0].max()) + 1
    mass = wires.in_block_mass(weights, labels)
    null = wires.newman_null(weights, labels)
    purity = wires.unit_purity(weights, inputs, live=live)
    values: Values = {
        "in_block": mass["mass"],
        "chance": mass["chance"],
        "in_block_all": wires.in_block_mass(weights, all_labels)["mass"],
        "live": np.array([mask.sum() for mask in live[1:-1]]),
        "module_sizes": np.array([[(ids == m).sum() for m in range(modules)] for ids in labels[1:-1]]),
        "newman": null["newman"],
        "newman_z": null["z"],
        "participation": np.array([np.nanmean(layer["participation"]) for layer in purity]),
        "spectra": _spectra(weights, modules, live=live),
        "spectra_all": _spectra(weights, modules),
        "spectra_raw": _spectra(weights, modules, live=live, collapsed=False),
        "jacobian_ratio": wires.jacobian_ratio(_jacobian(net, rows), inputs, outputs),
        "pruned_error": _error(block_pruned(net, task, labels), task, task.rows_out).mean(axis=0),
    }
    if maps:
        values |= {f"weights{i}": matrix.astype(np.float32) for i, matrix in enumerate(weights)}
        values |= {f"labels{i}": ids for i, ids in enumerate(labels)}
    return values


def _spectra(weights: Any, modules: int, **how: Any) -> Float[np.ndarray, "layers values"]:
    try:
        return wires.layer_spectra(weights, modules, **how)
    except InputError:
        return np.full((len(weights), modules + 2), np.nan)


def block_pruned(net: Any, task: Task, labels: Sequence[np.ndarray]) -> Any:
    """The net without connections between modules; the mean output of dead units is added to the biases."""
    layers = [link.layer for link in links(net) if isinstance(link.layer, Linear)]
    if len(layers) < len(links(net)):
        return net  # modular by construction
    weights = weight_matrices(net)
    means = [values.mean(axis=0) for values in _activities(net, task.inputs[task.rows_out])]
    biases = [np.zeros(m.shape[1]) if b is None else np.asarray(b) for m, b in _biases(weights, layers)]
    matrices, shifts = wires.block_pruned(weights, labels, biases=biases, means=means)
    pruned = with_matrices(net, matrices)
    if any(layer.bias is None for layer in layers):
        return pruned
    return eqx.tree_at(
        lambda changed: [link.layer.bias for link in links(changed)],  # type: ignore[union-attr]
        pruned,
        [jnp.asarray(shift, jnp.float32) for shift in shifts],
    )


def _biases(weights: Any, layers: Any) -> Any:
    return zip(weights, (layer.bias for layer in layers), strict=True)


def noise_robustness(
    net: Any,
    task: Task,
    *,
    level: float = 0.1,
    exponents: Sequence[float] = (0, 1, 2),
    draws: int = 10,
    seed: int = 0,
) -> Values:
    """`noisy_error` `(exponents,)`: error on test rows with activity noise on all hidden stages, mean over draws.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.studies.poisson_modularity import module_probes
    >>> net = nets.mlp(inputs=4, width=8, depth=1, outputs=4, key=jax.random.key(0))
    >>> module_probes.noise_robustness(net, tasks.modular_task(train=20, test=20))["noisy_error"].shape
    (3,)

    ```
    """
    hidden = [name for name, _ in net.stages][:-1]
    x, y = (jnp.asarray(values[task.rows_out]) for values in (task.inputs, task.targets))
    keys = jax.vmap(lambda draw: jax.random.fold_in(jax.random.key(seed), draw))(jnp.arange(draws))
    errors = [_noisy_error(net, x, y, keys, level, exponent, tuple(hidden)) for exponent in exponents]
    return {"noisy_error": np.array([float(error) for error in errors])}


@eqx.filter_jit
def _noisy_error(
    net: Any, x: Array, y: Array, keys: Array, level: float, exponent: float, hidden: tuple[str, ...]
) -> Array:
    def error(key: Array) -> Array:
        output, _ = trace(net, x, perturb=noisy(hidden, level=level, exponent=exponent), noise_key=key)
        return ((output - y) ** 2).mean()

    return jax.lax.map(error, keys).mean()


SHIFTS = tuple(float(size) for size in 10 ** np.linspace(-1, 3, 51))


def shift_errors(net: Any, task: Task, *, shifts: Sequence[float] = (0.0, *SHIFTS)) -> Values:
    """Squared error of every output when a constant is added to the first input alone.

    The targets of the other outputs do not change. `shift_error` and `shift_error_pruned` `(shifts, outputs)`: of the
    net, and after cutting all connections between modules.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.studies.poisson_modularity import module_probes
    >>> net = nets.mlp(inputs=4, width=8, depth=1, outputs=4, key=jax.random.key(0))
    >>> module_probes.shift_errors(net, tasks.modular_task(train=20, test=20), shifts=(0, 10))["shift_error"].shape
    (2, 4)

    ```
    """
    weights = weight_matrices(net)
    live = wires.live_units(weights, _activities(net, task.inputs[task.rows_out]))
    labels = wires.assign_known(weights, outputs=range(weights[-1].shape[1]), live=live)
    pruned = block_pruned(net, task, labels)
    errors: Values = {"shift_error": [], "shift_error_pruned": []}
    for shift in shifts:
        moved = task.inputs[task.rows_out].copy()
        moved[:, 0] += shift
        for name, which in (("shift_error", net), ("shift_error_pruned", pruned)):
            error = (evaluate(which, moved, batch=BATCH) - task.targets[task.rows_out]) ** 2
            errors[name].append(error.mean(axis=0))
    return {name: np.stack(values) for name, values in errors.items()}


def affine_readout(net: Any, task: Task, *, stage: str) -> Values:
    """Whether module j's one value already determines output j: root mean squared error of the best affine prediction.

    `readout_rmse` `(outputs,)` on test rows, and the net's own `mse_train` and `mse_test`.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.studies.poisson_modularity import module_probes
    >>> net = nets.modules_then_dense(
    ...     modules=4, module_width=4, module_depth=1, width=8, depth=1, outputs=4, key=jax.random.key(0)
    ... )
    >>> task = tasks.modular_task(train=20, test=20)
    >>> module_probes.affine_readout(net, task, stage="scalars")["readout_rmse"].shape
    (4,)

    ```
    """
    values = evaluate(net, task.inputs[task.rows_out], stage=stage, batch=BATCH).astype(np.float64)
    targets = task.targets[task.rows_out].astype(np.float64)
    centred, centred_targets = values - values.mean(axis=0), targets - targets.mean(axis=0)
    power = (centred**2).sum(axis=0)
    slope = np.divide(
        (centred * centred_targets).sum(axis=0), power, out=np.zeros_like(power), where=power > 0
    )
    return {
        "readout_rmse": np.sqrt(((centred_targets - slope * centred) ** 2).mean(axis=0)),
        "mse_train": _error(net, task, task.rows_in).mean(),
        "mse_test": _error(net, task, task.rows_out).mean(),
    }


def _error(net: Any, task: Task, rows: np.ndarray) -> Float[np.ndarray, "rows outputs"]:
    return (evaluate(net, task.inputs[rows], batch=BATCH) - task.targets[rows]) ** 2


def _activities(net: Any, rows: np.ndarray) -> list[np.ndarray]:
    """The input activity of every linear map but the first."""
    return [evaluate(net, rows, stage=link.source, batch=BATCH) for link in links(net)[1:]]


@eqx.filter_jit
def _jacobian_of(net: Any, x: Array) -> Array:
    return jax.vmap(jax.jacrev(lambda row: trace(net, row[None])[0][0]))(x)


def _jacobian(net: Any, rows: np.ndarray) -> Float[np.ndarray, "rows outputs inputs"]:
    return np.asarray(_jacobian_of(net, jnp.asarray(rows)))
