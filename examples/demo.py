"""The demo in a few lines: a standard decoder, forced rendering and the stripes curriculum on one hole."""

from recombine import Part
from recombine.nets import cnn_decoder
from recombine.probes import errors, positions
from recombine.remedies import forced_rendering
from recombine.spaces import centre_hole
from recombine.tasks import bump_code, bumps, one_hot, with_stripes
from recombine.training import Recipe, adamw, fit


def main(n: int = 20, steps: int = 1000, width: int = 32, seeds: tuple[int, ...] = (0, 1, 2)) -> None:
    settings = {
        "n": n,
        "sigma": 1.5,
        "hole": Part(centre_hole, low=n // 5, high=n - n // 5 - 1),
        "polarity": "bright",
    }
    decoder = Part(cnn_decoder, inputs=2 * n, width=width, depth=3, size=n, start=n // 4)
    remedy = forced_rendering((n, n))
    long_recipe = Recipe(steps=4 * steps, optimiser=adamw(weight_decay=1e-4), penalties=remedy.penalties)
    methods = {
        "standard decoder": (decoder, bumps(**settings, encoding=bump_code), Recipe(steps=steps)),
        "forced rendering": (remedy.net, bumps(**settings, encoding=one_hot), long_recipe),
        "stripes": (decoder, with_stripes(**settings), Recipe(steps=steps)),
    }
    for name, (net, task, recipe) in methods.items():
        fitted = fit(net, task, recipe, seeds)
        for i, seed in enumerate(seeds):
            values = errors(fitted.net(i), task) | positions(fitted.net(i), task)
            error = values["error_out"] / values["baseline_blank_out"]
            in_place = values["accuracy1_out"]
            print(
                f"{name:17} seed {seed}: unseen error {error:.2f} (blank image = 1), {in_place:.0%} in place"
            )


if __name__ == "__main__":
    main()
