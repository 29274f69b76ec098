"""Figure 3: forced rendering and its ablations, and decoders that work on every pixel by itself."""

from __future__ import annotations

from dataclasses import replace

from recombine.nets import pixel_transformer, spatial_mlp
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.remedies import forced_rendering
from recombine.remedies.forced_rendering import ForcedRendering
from recombine.spaces import centre_hole, corner_hole
from recombine.studies.forced_rendering import bump_probes
from recombine.studies.forced_rendering.arms.builder import (
    BEHAVIOUR,
    CENTRE,
    CORNER,
    CORNER_SHOWN,
    SHOWN,
    Builder,
)
from recombine.studies.study import Arms
from recombine.tasks import bumps, one_hot
from recombine.training import Recipe, adamw

RENDER_CORNER = Part(corner_hole, low=12)
RENDER_SHOWN = ((14, 14), (20, 16), (24, 24), (16, 28))
EPOCH = 20
"""Steps per epoch of the render nets: 624 seen cells in batches of 32."""
STRENGTHS = {"none": (0.0, 0.0), "entropy": (0.1, 0.0), "flatness": (0.0, 0.01), "both": (0.1, 0.01)}
"""Weights of the entropy and the flatness penalty in the four ablation arms."""
HEADS = (1, 3)
"""Hidden layers of the head, in addition to the published 2."""
SPATIAL_DEPTHS = (2, 4)
TRANSFORMER_DEPTHS = (2, 3, 4, 5)


def render_nets(build: Builder) -> Arms:
    """The four ablation arms, and the net without penalties after its first epoch."""
    shown = ((6, 6), (8, 9)) if build.scale == "smoke" else RENDER_SHOWN
    probes = (
        *BEHAVIOUR,
        Part(layers.geometry),
        Part(layers.canvases),
        Part(decoders.superposition),
        Part(bump_probes.similarity, threshold=0.5, every=4),
        Part(decoders.output_images, cells=shown),
    )
    arms, task = {}, _task(build)
    for name in STRENGTHS:
        remedy = _remedy(build, name)
        recipe = _recipe(build, remedy)
        arms[f"render {name}"] = build.train(task, remedy.net, recipe, probes)
        if name == "none":
            start = replace(recipe, epochs=1, record_every=EPOCH)
            arms["render none, 1 epoch"] = build.train(task, remedy.net, start, (Part(decoders.errors),))
    return arms


def heads(build: Builder) -> Arms:
    """Render nets whose head is shallower or deeper than the published one."""
    arms = {}
    for hidden in build.some(HEADS):
        for name in ("none", "both"):
            remedy = _remedy(build, name, hidden=hidden)
            arms[f"render {name}, head {hidden}"] = build.train(
                _task(build), remedy.net, _recipe(build, remedy), (*BEHAVIOUR, Part(layers.canvases))
            )
    return arms


def _task(build: Builder) -> Part:
    hole = Part(corner_hole, low=5) if build.scale == "smoke" else RENDER_CORNER
    return Part(
        bumps,
        n=_size(build),
        sigma=1.5,
        hole=hole,
        encoding=Part(one_hot),
        polarity="bright",
        pixels="half",
    )


def _size(build: Builder) -> int:
    return int(build.pick(12, 32, 32))


def _remedy(build: Builder, name: str, hidden: int = 2) -> ForcedRendering:
    entropy, flatness = STRENGTHS[name]
    n = _size(build)
    return forced_rendering((n, n), entropy=entropy, flatness=flatness, hidden=hidden)


def _recipe(build: Builder, remedy: ForcedRendering) -> Recipe:
    return Recipe(
        epochs=build.pick(1, 300, 1000),
        optimiser=adamw(weight_decay=1e-4),
        penalties=remedy.penalties,
        record_every=5 * EPOCH,
    )


def token_decoders(build: Builder) -> Arms:
    """The per-pixel MLP of both depths, and pixel transformers of every published depth."""
    arms = {}
    task = Part(bumps, hole=CORNER, encoding=Part(one_hot), polarity="bright")
    for depth in SPATIAL_DEPTHS:
        length = build.pick({"steps": 1}, {"epochs": 300}, {"epochs": 2000})
        arms[spatial_arm(depth)] = build.train(
            task,
            Part(spatial_mlp, inputs=56, depth=depth, width=build.pick(8, 128, 256)),
            Recipe(**length, optimiser=adamw(weight_decay=1e-4)),
            (*BEHAVIOUR, Part(decoders.output_images, cells=CORNER_SHOWN)),
        )
    small = build.scale != "paper"
    n = 14 if small else 28
    hole = Part(centre_hole, low=3, high=11) if small else CENTRE
    task = Part(bumps, n=n, hole=hole, train=build.pick(None, None, 2000))
    shown = Part(decoders.output_images, cells=((7, 7), (5, 8)) if small else SHOWN)
    for depth in build.some(TRANSFORMER_DEPTHS):
        length = build.pick({"steps": 1}, {"steps": 3000}, {"epochs": 20})
        net = Part(pixel_transformer, inputs=2 * n, depth=depth, size=n, hidden=build.pick(16, 256, 2048))
        arms[transformer_arm(depth)] = build.train(task, net, Recipe(**length), (*BEHAVIOUR, shown))
    return arms


def spatial_arm(depth: int) -> str:
    """The arm of the per-pixel MLP with that many hidden layers."""
    return "spatial mlp" if depth == 2 else f"spatial mlp depth {depth}"


def transformer_arm(depth: int) -> str:
    """The arm of the pixel transformer with that many layers."""
    return "transformer" if depth == 2 else f"transformer depth {depth}"
