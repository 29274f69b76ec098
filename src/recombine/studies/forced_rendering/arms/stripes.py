"""Figure 4: the stripes curriculum, and how much data is needed with and without it."""

from __future__ import annotations

import math

from recombine.nets import cnn_decoder, mlp
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.spaces import corner_hole
from recombine.studies.forced_rendering import bump_probes
from recombine.studies.forced_rendering.arms.builder import BEHAVIOUR, CORNER, CORNER_SHOWN, Builder
from recombine.studies.study import Arms
from recombine.tasks import bump_code, bumps_real, ramp_with_presence, with_stripes
from recombine.training import Recipe

BUMP_COUNTS = (0, 10, 25, 50, 100, 196, 588)
RAMP_COUNTS = (0, 196)
SCALING_SIZES = (12, 16, 20, 24)
SCALING_STRIPES = (0, 1, 2, 4, 7, 10)
"""Bumps per N, in addition to the stripes, in the data-scaling experiment."""
SCALING_EVERYWHERE = (1, 2, 4, 8, 16, 32)
"""Real-valued bumps per N in its arms without stripes and without a hole."""
KINDS = {"stripes": "stripes + bumps", "alone": "bumps only", "everywhere": "bumps only, nothing held out"}
"""The three kinds of training set in the data-scaling experiment, with their labels."""
FITTED = 0.02
"""Training stops when the loss falls to this fraction of a blank image's error."""


def curricula(build: Builder) -> Arms:
    """Stripes with increasing numbers of bumps, and the same nets without stripes."""

    def task(count: int | None, stripes: bool = True) -> Part:
        return Part(with_stripes, hole=CORNER, bumps=count, stripes=stripes)

    perceptron = Part(mlp, inputs=56, width=build.pick(16, 256, 256), depth=3, outputs=(28, 28))
    recipe = Recipe(steps=build.pick(2, 1200, 1200))
    arms = {
        "mlp stripes only": build.train(task(0), perceptron, recipe, BEHAVIOUR),
        "mlp bumps only": build.train(task(252, stripes=False), perceptron, recipe, BEHAVIOUR),
    }
    width = build.pick(4, 32, 64)
    cnn = build.cnn("bump", build.pick(2, 4, 4), width)
    recipe = Recipe(steps=build.pick(2, 1000, 3000))
    shown = Part(decoders.output_images, cells=CORNER_SHOWN)
    for count in build.pick((0, 196), BUMP_COUNTS, BUMP_COUNTS):
        probes: tuple[Part, ...] = (*BEHAVIOUR, shown)
        if count in {0, 50, 196}:
            probes += (Part(layers.geometry), Part(bump_probes.tuning))
        arms[f"cnn stripes + {count} bumps"] = build.train(task(count), cnn, recipe, probes)
    arms["cnn 252 bumps, no stripes"] = build.train(
        task(252, stripes=False), cnn, recipe, (*BEHAVIOUR, shown)
    )
    present = Part(cnn_decoder, inputs=4, width=width, depth=4)
    recipe = Recipe(steps=build.pick(2, 3000, 6000))
    for count in build.some(RAMP_COUNTS):
        ramp = Part(with_stripes, hole=CORNER, bumps=count, encoding=Part(ramp_with_presence))
        arms[f"cnn stripes + {count} bumps, ramp"] = build.train(ramp, present, recipe, (*BEHAVIOUR, shown))
    return arms


def data_scaling(build: Builder) -> Arms:
    """Accuracy as a function of data size, for several image sizes and three kinds of training set.

    They are: stripes and bumps outside a corner; only bumps outside the corner; and bumps everywhere, where
    nothing is held out and the data only has to cover the plane. All nets are tested at the same integer positions and
    trained to the same loss, or for a fixed number of steps if they do not reach it.
    """
    arms = {}
    for n in build.some(SCALING_SIZES):
        net = Part(cnn_decoder, inputs=2 * n, width=build.pick(4, 16, 64), depth=3, size=n, start=n // 4)
        recipe = Recipe(
            steps=build.pick(2, 3000, 20_000),
            record_every=build.pick(2, 100, 100),
            stop_below=FITTED * math.pi / n**2,
        )
        hole = Part(corner_hole, low=n // 2)
        real = {"n": n, "where": "corner", "test_out": "grid", "encoding": Part(bump_code)}
        probes = (Part(decoders.errors, baselines=False), Part(decoders.positions, untrained=True))
        for per_n in build.some(SCALING_STRIPES):
            task = Part(with_stripes, n=n, hole=hole, bumps=per_n * n)
            arms[scaling_arm(n, "stripes", per_n)] = build.train(task, net, recipe, probes)
        for per_n in build.some(alone_per_n(n)):
            task = Part(bumps_real, p=0.5, train=per_n * n, **real)
            arms[scaling_arm(n, "alone", per_n)] = build.train(task, net, recipe, probes)
        for per_n in build.some(SCALING_EVERYWHERE):
            task = Part(bumps_real, p=None, train=per_n * n, **real)
            arms[scaling_arm(n, "everywhere", per_n)] = build.train(task, net, recipe, probes)
    return arms


def alone_per_n(n: int) -> tuple[int, ...]:
    """Bumps per N in the arms with neither stripes nor bumps in the corner: up to N² of them, N³ bumps."""
    return (4, 16, 64, n * n)


def multiples(n: int, kind: str) -> tuple[int, ...]:
    """Bumps per N in the arms of one kind."""
    return {"stripes": SCALING_STRIPES, "alone": alone_per_n(n), "everywhere": SCALING_EVERYWHERE}[kind]


def scaling_arms() -> tuple[str, ...]:
    """All arms of the data-scaling experiment."""
    return tuple(scaling_arm(n, kind, m) for n in SCALING_SIZES for kind in KINDS for m in multiples(n, kind))


def scaling_arm(n: int, kind: str, per_n: int) -> str:
    """The arm with `per_n` times `n` bumps, of kind `"stripes"`, `"alone"` or `"everywhere"`."""
    words = {"stripes": "stripes + ", "alone": "bumps ", "everywhere": "bumps everywhere "}
    return f"scaling {n} {words[kind]}{per_n} N"
