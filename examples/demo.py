"""The demo in a few lines: an ordinary decoder, forced rendering and the stripes curriculum on one hole."""

from recombine import Part, bump_code, bumps, centre_hole, one_hot, with_stripes
from recombine.fit import Recipe, adamw, fit
from recombine.nets import cnn_decoder
from recombine.probes.decoders import errors, positions
from recombine.remedies import forced_rendering


def main(n: int = 20, steps: int = 1000, width: int = 32, seeds: tuple[int, ...] = (0, 1, 2)) -> None:
    world = {
        "n": n,
        "sigma": 1.5,
        "hole": Part(centre_hole, low=n // 5, high=n - n // 5 - 1),
        "polarity": "bright",
    }
    decoder = Part(cnn_decoder, inputs=2 * n, width=width, depth=3, size=n, start=n // 4)
    remedy = forced_rendering((n, n))
    slow = Recipe(steps=4 * steps, optimiser=adamw(weight_decay=1e-4), penalties=remedy.penalties)
    contest = {
        "ordinary decoder": (decoder, bumps(**world, encoding=bump_code), Recipe(steps=steps)),
        "forced rendering": (remedy.net, bumps(**world, encoding=one_hot), slow),
        "stripes": (decoder, with_stripes(**world), Recipe(steps=steps)),
    }
    for name, (net, task, recipe) in contest.items():
        fitted = fit(net, task, recipe, seeds)
        for i, seed in enumerate(seeds):
            found = errors(fitted.net(i), task) | positions(fitted.net(i), task)
            share = found["error_out"] / found["baseline_blank_out"]
            print(
                f"{name:17} seed {seed}: unseen error {share:.2f} of blank, {found['accuracy1_out']:.0%} in place"
            )


if __name__ == "__main__":
    main()
