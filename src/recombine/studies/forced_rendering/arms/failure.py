"""Figures 1 and 2: standard decoders with disentangled inputs, and what the layers of MLPs represent."""

from __future__ import annotations

from recombine.nets import mlp
from recombine.parts import Part
from recombine.probes import decoders as probes
from recombine.probes import layers
from recombine.studies.forced_rendering import bump_probes, interpolation_probes
from recombine.studies.forced_rendering.arms.builder import (
    BEHAVIOUR,
    CENTRE,
    CODES,
    LAYERS,
    SHOWN,
    SMALL_CENTRE,
    Builder,
)
from recombine.studies.study import Arms
from recombine.tasks import bump_code, bumps
from recombine.training import Recipe, adamw

DEPTHS = (2, 4, 8)
"""Hidden blocks of the CNNs whose claims are decided; scale paper runs all of `ALL_DEPTHS`."""
ALL_DEPTHS = tuple(range(2, 11))
MLP_DEPTHS = (3, 4, 5, 6, 7)
WIDTH_MULTIPLIERS = (1, 3, 5, 7, 9, 11)
MLP_WIDTHS = {"bump": 256, "ramp": 128}
EXPLAIN = (
    Part(probes.superposition),
    Part(bump_probes.similarity, threshold=0.8, every=4),
    Part(bump_probes.kernel_fits),
    Part(probes.output_images, cells=SHOWN),
    Part(bump_probes.sum_images, cells=SHOWN),
)
"""Probes that describe how a net fails."""


def decoders(build: Builder) -> Arms:
    """The CNNs of Figure 1, and CNNs with wider codes."""
    first = (
        BEHAVIOUR[0],
        Part(probes.positions, margin=6),
        Part(bump_probes.dissimilarity),
        *EXPLAIN,
        *LAYERS,
        Part(bump_probes.ranks),
    )
    arms = {
        "cnn bump": build.train(
            build.bump_task(),
            build.cnn("bump", build.pick(2, 4, 4), build.pick(4, 32, 64)),
            build.cnn_recipe(1000, 50),
            (*first, Part(bump_probes.superposed_images, cells=SHOWN), _between(CODES["bump"][0])),
        ),
        "cnn ramp": build.train(
            build.bump_task("ramp", draws=1000),
            build.cnn("ramp", build.pick(2, 4, 10), build.pick(4, 32, 128)),
            build.cnn_recipe(3000, 100),
            (*first, _between(CODES["ramp"][0])),
        ),
    }
    for m in build.some(WIDTH_MULTIPLIERS):
        code = Part(bump_code, width=float(m))
        task = Part(bumps, hole=SMALL_CENTRE, encoding=code, train=build.pick(None, None, 1000))
        net = build.cnn("bump", build.pick(2, 4, 10), build.pick(4, 32, 256))
        recipe = build.cnn_recipe(1000, 250, optimiser=adamw(weight_decay=1e-3))
        recorded = (*BEHAVIOUR, Part(bump_probes.dissimilarity), _between(code)) if m == 1 else BEHAVIOUR
        arms[f"code width {m}"] = build.train(task, net, recipe, recorded)
    return arms


def depths(build: Builder) -> Arms:
    """CNNs of other depths, both codes, and MLPs of every published depth.

    The MLPs are trained for 200 epochs, because after the released 20 they cannot draw anything.
    """
    arms = {}
    steps = {"bump": (1000, 50), "ramp": (3000, 50)}
    for code, length in steps.items():
        for depth in build.pick(DEPTHS[:1], DEPTHS, ALL_DEPTHS):
            name = cnn_arm(code, depth)
            if name != "cnn bump":
                arms[name] = build.train(
                    build.bump_task(code),
                    build.cnn(code, depth, build.pick(4, 32, 64)),
                    build.cnn_recipe(*length),
                    (*BEHAVIOUR, Part(layers.geometry, maps=False)),
                )
    for code in CODES:
        for depth in build.some(MLP_DEPTHS):
            if depth != 5:
                arms[mlp_arm(code, depth)] = build.train(
                    _perceptron_task(build, code),
                    _perceptron(build, code, depth),
                    Recipe(epochs=build.pick(1, 200, 200)),
                    (*BEHAVIOUR, Part(layers.geometry, maps=False), Part(layers.readability)),
                )
    return arms


def cnn_arm(code: str, depth: int) -> str:
    """The arm of a CNN of some depth; with a bump code, depth 4 is the net of Figure 1."""
    return "cnn bump" if (code, depth) == ("bump", 4) else f"cnn {code} depth {depth}"


def mlp_arm(code: str, depth: int) -> str:
    """The arm of an MLP of some depth after 200 epochs; depth 5 is the net of Figure 2."""
    return f"mlp {code} 200 epochs" if depth == 5 else f"mlp {code} depth {depth}"


def sampling(build: Builder) -> Arms:
    """The superposition and kernel runs, whose published nets were trained on other numbers of draws.

    At scale quick they differ from the CNNs of Figure 1 only in that training rows are drawn with replacement.
    """
    published = {
        "superposition bump": ("bump", 4, 64, 20_000, 20, 4),
        "superposition ramp": ("ramp", 10, 128, 20_000, 30, 4),
        "kernel bump": ("bump", 4, 64, 1500, 15, 3),
        "kernel ramp": ("ramp", 4, 64, 2000, 15, 3),
    }
    arms = {}
    for name, (code, depth, width, draws, epochs, margin) in published.items():
        task = Part(bumps, hole=CENTRE, encoding=CODES[code][0], train=build.pick(None, draws, draws))
        net = build.cnn(code, build.pick(2, 4, depth), build.pick(4, 32, width))
        explain = (Part(probes.superposition, margin=margin), *EXPLAIN[1:])
        recipe = build.cnn_recipe({"bump": 1000, "ramp": 3000}[code], epochs)
        arms[name] = build.train(task, net, recipe, (*BEHAVIOUR, *explain))
    return arms


def perceptrons(build: Builder) -> Arms:
    """The MLPs of Figure 2, for the released 20 epochs and for 200."""
    arms = {}
    for code in CODES:
        for epochs in (20, 200):
            recorded = (*BEHAVIOUR, *LAYERS, Part(probes.superposition), Part(bump_probes.ranks))
            arms[f"mlp {code} {epochs} epochs"] = build.train(
                _perceptron_task(build, code),
                _perceptron(build, code, 5),
                Recipe(epochs=build.pick(1, epochs, epochs)),
                recorded,
            )
    wide = Part(mlp, inputs=2, width=build.pick(16, 512, 512), depth=5, outputs=(28, 28))
    recipe = Recipe(epochs=build.pick(1, 200, 200))
    arms["mlp ramp wide"] = build.train(_perceptron_task(build, "ramp"), wide, recipe, BEHAVIOUR)
    return arms


def _perceptron_task(build: Builder, code: str) -> Part:
    return Part(bumps, hole=CENTRE, encoding=CODES[code][0], train=build.pick(64, 2000, 2000))


def _perceptron(build: Builder, code: str, depth: int) -> Part:
    width = build.pick(16, MLP_WIDTHS[code], MLP_WIDTHS[code])
    return Part(mlp, inputs=CODES[code][1], width=width, depth=depth, outputs=(28, 28))


def _between(encoding: Part) -> Part:
    return Part(interpolation_probes.error_between, encoding=encoding)
