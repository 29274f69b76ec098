"""Programs can be forgotten, at the price of compiling them again, without changing what they compute."""

import numpy as np

from recombine import Part, nets
from recombine.spaces import corner_hole
from recombine.tasks import bumps
from recombine.training import Recipe, fit
from recombine.training.freeing_memory import forget_programs


def test_a_forgotten_program_is_compiled_again_and_gives_the_same_numbers(compiled):
    task = bumps(n=8, hole=Part(corner_hole, low=4))
    net, recipe = Part(nets.mlp, inputs=16, width=8, depth=1, outputs=(8, 8)), Recipe(steps=5)

    def train():
        compiled.clear()
        curve = fit(net, task, recipe).curves["train"]
        return curve, sum("_advance" in name for name in compiled)

    first, _ = train()
    _, kept = train()
    forget_programs()
    again, retrained = train()
    assert (kept, retrained) == (0, 1)
    np.testing.assert_array_equal(again, first)
