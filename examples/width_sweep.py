"""A sweep: does a wider decoder draw bumps at positions it has never seen?"""

from pathlib import Path

from recombine import Part, Recipe, nets, spaces, sweep, tasks
from recombine.training import adam


def main(steps: int = 1000, n: int = 12, seeds: int = 6, store: Path | None = None) -> None:
    found = sweep(
        task=Part(tasks.bumps, n=n, hole=Part(spaces.centre_hole, low=n // 3, high=2 * n // 3)),
        net=Part(nets.mlp, inputs=2 * n, width=64, depth=2, outputs=(n, n)),
        recipe=Recipe(steps=steps, optimiser=adam(1e-3)),
        seeds=seeds,
        over={"net.width": [16, 64, 256], "recipe.optimiser.learning_rate": [1e-3, 1e-2]},
        store=store,
        name="width",
    )
    print(found)
    print(found.best("error_out"))
    print(found.frame().select("net.width", "seed", "status", "error_in", "error_out"))


if __name__ == "__main__":
    main()
