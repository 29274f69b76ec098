"""Runs a small sweep where it is told to, and writes its frame; some trials fail and some diverge."""

import json
import sys

from recombine import Part, Recipe, nets, sweep
from recombine.training import sgd


def main():
    order = json.loads(sys.argv[1])
    found = sweep(
        task=Part("sweep_parts:sums"),
        net=Part(nets.mlp, inputs=6, width=4, depth=1, outputs=1),
        recipe=Recipe(steps=20, batch=4, optimiser=sgd(1e-2)),
        seeds=2,
        over={
            ("task.n", "net.inputs"): [(3, 6), (4, 8), (13, 26)],
            "recipe.optimiser.learning_rate": [1e-2, 1e30],
        },
        store=order["store"],
        on=order["on"],
        jobs=order["jobs"],
        quiet=True,
    )
    found.to_parquet(order["frame"])


if __name__ == "__main__":
    main()
