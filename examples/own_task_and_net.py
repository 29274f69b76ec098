"""A task and a net of your own: flags with a coloured cloth on a pole, drawn by a small MLP."""

import equinox as eqx
import jax
import numpy as np

from recombine import Part, Space, Split, Task
from recombine.nets import Chain, Linear
from recombine.probes import errors
from recombine.training import Recipe, adam, fit


def flags(heights: int = 6, colours: int = 6) -> Task:
    """From (height, colour) to a column of pixels: the pole up to that height, then three pixels of cloth."""
    space = Space({"height": heights, "colour": colours})
    height, colour = space.cells.T
    pixel = np.arange(heights + 3)
    pole = (pixel < height[:, None]) * 0.5
    cloth = ((pixel >= height[:, None]) & (pixel < height[:, None] + 3)) * (colour[:, None] + 1) / colours
    codes = np.concatenate([np.eye(heights)[height], np.eye(colours)[colour]], axis=1)
    unseen = (height >= heights // 2) & (colour >= colours // 2)
    return Task(Split(space, ~unseen), codes, pole + cloth)


class Painter(eqx.Module):
    """A net: any Equinox module with `stages`."""

    first: Chain
    last: Linear

    def __init__(self, inputs: int, outputs: int, width: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.first = Chain(Linear(inputs, width, key=keys[0]), jax.nn.relu)
        self.last = Linear(width, outputs, key=keys[1])

    @property
    def stages(self) -> tuple[tuple[str, eqx.Module], ...]:
        return (("hidden", self.first), ("output", self.last))


def main(steps: int = 3000) -> None:
    task = flags()
    net = Part(Painter, inputs=12, outputs=9, width=64)
    fitted = fit(net, task, Recipe(steps=steps, batch=None, optimiser=adam(1e-2)), seeds=(0, 1, 2))
    for i, seed in enumerate(fitted.seeds):
        values = errors(fitted.net(i), task)
        print(f"seed {seed}: seen error {values['error_in']:.1e}, unseen error {values['error_out']:.1e}")


if __name__ == "__main__":
    main()
