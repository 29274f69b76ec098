"""An additive decoder made of nets of any kind."""

from __future__ import annotations

import jax
from jaxtyping import PRNGKeyArray

from recombine.nets import Net
from recombine.parts import Part
from recombine.studies.remedies.changed_nets import SumOfBlocks


def sum_of_nets(*, net: Part, blocks: tuple[int, ...], key: PRNGKeyArray) -> Net:
    """A sum of one net per factor, as `recombine.studies.remedies.changed_nets.additive_net` with MLPs.

    **Arguments:**

    - `net`: gets the size of each block as its number of `inputs`.
    """
    keys = jax.random.split(key, len(blocks))
    settings = dict(net.settings)
    made = tuple(
        Part(net.name, **(settings | {"inputs": size}))(key=k) for size, k in zip(blocks, keys, strict=True)
    )
    return Net(("output",), (SumOfBlocks(made, tuple(blocks)),))
