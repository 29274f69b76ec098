"""Programs can be forgotten without changing what is computed afterwards."""

import numpy as np

from recombine import Part, bumps, corner_hole, nets
from recombine.fit import Recipe, fit
from recombine.fit.memory import forget_programs


def test_a_forgotten_program_gives_the_same_numbers_again():
    task = bumps(n=8, hole=Part(corner_hole, low=4))
    net, recipe = Part(nets.mlp, inputs=16, width=8, depth=1, outputs=(8, 8)), Recipe(steps=5)
    first = fit(net, task, recipe).curves["train"]
    forget_programs()
    np.testing.assert_array_equal(fit(net, task, recipe).curves["train"], first)
