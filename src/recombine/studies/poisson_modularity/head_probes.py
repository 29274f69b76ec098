"""Probes of a net that classifies several images at once: is its head one net, or one per frame?"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.metrics import connectivity as wires
from recombine.nets import evaluate, links
from recombine.tasks import Task

Values = dict[str, Any]
HEAD = "head"
ROWS = 2000
"""The maximum number of training rolls on which accuracy is measured."""


def frame_accuracy(net: Any, task: Task) -> Values:
    """The share of frames classified correctly: `accuracy_train` and `accuracy_test`.

    ```python
    >>> import jax
    >>> from recombine.studies.poisson_modularity import head_probes
    >>> from recombine.studies.poisson_modularity.film_net import film_net
    >>> from recombine.studies.poisson_modularity.film_roll import film_roll
    >>> net = film_net(frames=2, widths=(4,), blocks=1, key=jax.random.key(0))
    >>> 0 <= head_probes.frame_accuracy(net, film_roll(frames=2))["accuracy_test"] <= 1
    True

    ```
    """
    values = {}
    for name, rows in (("train", task.rows_in[:ROWS]), ("test", task.rows_out)):
        predicted = evaluate(net, task.inputs[rows]).argmax(axis=-1)
        values[f"accuracy_{name}"] = float((predicted == task.targets[rows]).mean())
    return values


def head_modules(net: Any, task: Task) -> Values:
    """How strongly each hidden unit of the stage `head` is tied to one frame.

    Units are compared by their outgoing weights, as published; a unit belongs to the frame that receives most of its
    squared outgoing weight.

    **Returns:**

    - `spectrum` (N + 2,): Laplacian eigenvalues over live units; `eigengap`, λ_(N+1) - λ_N;
    - `in_block_out`, `in_block_in`: share of squared weight that stays within frames after and before the units;
    - `live`: live units; `units`: all.

    ```python
    >>> import jax
    >>> from recombine.studies.poisson_modularity import head_probes
    >>> from recombine.studies.poisson_modularity.film_net import film_net
    >>> from recombine.studies.poisson_modularity.film_roll import film_roll
    >>> net = film_net(frames=2, widths=(4,), blocks=1, key=jax.random.key(0))
    >>> head_probes.head_modules(net, film_roll(frames=2))["spectrum"].shape
    (4,)

    ```
    """
    by_target = {link.target: link for link in links(net)}
    if HEAD not in by_target or "output" not in by_target:
        raise InputError("net", [name for name, _ in net.stages], "stages 'head' and 'output'")
    weights = wires.layer_weights([np.asarray(by_target[name].matrix) for name in (HEAD, "output")])
    frames = task.targets.shape[1]
    activity = evaluate(net, task.inputs[task.rows_out], stage=HEAD)
    live = wires.live_units(weights, [activity])
    inputs, outputs = (
        np.arange(size) // (size // frames) for size in (weights[0].shape[0], weights[1].shape[1])
    )
    toward = np.stack([(weights[1][:, outputs == f] ** 2).sum(axis=1) for f in range(frames)], axis=1)
    labels = (inputs, np.where(live[1], toward.argmax(axis=1), -1), outputs)
    before, behind = wires.in_block_mass(weights, labels)["mass"]
    spectrum = np.full(frames + 2, np.nan)
    values = wires.laplacian_spectrum(wires.similarity(weights[1][live[1]].T))[0][: frames + 2]
    spectrum[: len(values)] = values
    return {
        "spectrum": spectrum,
        "eigengap": spectrum[frames] - spectrum[frames - 1],
        "in_block_in": before,
        "in_block_out": behind,
        "live": int(live[1].sum()),
        "units": len(live[1]),
    }
