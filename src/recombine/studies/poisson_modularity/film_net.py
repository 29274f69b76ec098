"""A net for rolls of images: one convolutional trunk for all frames, and one dense head for all frames together.

The head can route every frame's features to its own classes, or mix them; the study asks which of the two it does
(Qian et al., arXiv 2512.13707).
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
from jaxtyping import Array, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import leaky_relu
from recombine.nets.layers.dense import Linear
from recombine.nets.layers.residual import residual_trunk
from recombine.nets.stages import Chain, Net, Reshape, Stage


class PoolFrames(eqx.Module):
    """The mean over each frame of a roll, `(batch, height, frames · width, channels)` to `(batch, frames · channels)`.

    The features of one frame are adjacent.
    """

    frames: int = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        batch, height, width, channels = x.shape
        if width % self.frames:
            raise InputError("frames", self.frames, f"a divisor of the width {width}")
        return x.reshape(batch, height, self.frames, -1, channels).mean(axis=(1, 3)).reshape(batch, -1)


def film_net(
    *,
    frames: int,
    channels: int = 1,
    widths: Sequence[int] = (64, 128, 256, 512),
    blocks: int = 2,
    hidden: int | None = None,
    classes: int = 10,
    activation: Stage = leaky_relu,
    key: PRNGKeyArray,
) -> Net:
    """A residual trunk without early pooling, a mean per frame, and a head of one hidden layer.

    Stages `stem`, `block0.0`, ..., `pool` `(batch, frames · features)`, `head` (the hidden layer) and `output`
    `(batch, frames, classes)`. By default the trunk is ResNet-18 with a 3 × 3 stem, and the head has as many hidden
    units as it has inputs, as published.

    **Arguments:**

    - `widths`, `blocks`: of the trunk; every width but the first halves the image size.
    - `hidden`: units of the head.

    ```python
    >>> import equinox, jax
    >>> from recombine.studies.poisson_modularity.film_net import film_net
    >>> from recombine.nets import parameter_count
    >>> make = lambda: film_net(frames=2, channels=3, key=jax.random.key(0))
    >>> parameter_count(equinox.filter_eval_shape(make))
    12238932

    ```
    """
    keys = iter(jax.random.split(key, 3 + len(widths) * blocks))
    stages = residual_trunk(channels, widths, blocks, keys=keys)
    features = frames * widths[-1]
    units = features if hidden is None else hidden
    head = Chain(Linear(features, units, key=next(keys)), activation)
    readout = Chain(Linear(units, frames * classes, key=next(keys)), Reshape((frames, classes)))
    stages += [("pool", PoolFrames(frames)), ("head", head), ("output", readout)]
    return Net(*zip(*stages, strict=True))
