"""How unevenly the layers of a net represent the factors: the spread of the volume element over cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.metrics.geometry import log10_volume, metric_tensor
from recombine.probes.layers import stage_activations
from recombine.tasks import Task


def warping(net: Any, task: Task) -> dict[str, Any]:
    """Standard deviation of log10 volume over seen and over unseen cells, one number per layer, the inputs first.

    A layer that treats all combinations alike has a small spread, whatever its scale. Unlike the difference of means,
    the spread does not depend on whether a layer stretches or compresses the cells that it has not seen.

    **Returns:** `volume_spread_in`, `volume_spread_out` `(layers,)`.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering.warping import warping
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> warping(net, task)["volume_spread_out"].shape  # input, hidden layer, image
    (3,)

    ```
    """
    space, seen, spreads = task.split.space, task.split.seen, []
    for activations in stage_activations(net, task):
        volumes = log10_volume(metric_tensor(space.grid(activations.reshape(len(activations), -1)))).ravel()
        spreads.append((volumes[seen].std(), volumes[~seen].std()))
    spread_in, spread_out = np.array(spreads).T
    return {"volume_spread_in": spread_in, "volume_spread_out": spread_out}
