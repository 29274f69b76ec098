"""Further material: encoders, rotation, the enlarged canvas, and the sizes of image and hole."""

from __future__ import annotations

from recombine.nets import cnn_decoder, cnn_encoder, rotation_decoder
from recombine.parts import Part
from recombine.probes import decoders
from recombine.studies.forced_rendering import bump_probes, interpolation_probes
from recombine.studies.forced_rendering.arms.builder import BEHAVIOUR, CENTRE, CODES, Builder
from recombine.studies.forced_rendering.glyphs import glyph_source
from recombine.studies.forced_rendering.rotation_tasks import (
    rotation_circle,
    rotation_digits,
    rotation_gap,
)
from recombine.studies.study import Arms
from recombine.tasks import bumps_on_canvas, bumps_real, reverse_bumps
from recombine.tasks.encodings import angle_cos_sin, angle_scalar
from recombine.training import Recipe, Schedule, adam, adamw

SIZES = tuple((n, p) for n in (24, 28, 32, 36, 40) for p in (0.2, 0.3, 0.4, 0.5, 0.6))


def encoders(build: Builder) -> Arms:
    """The reverse task: from images to a bump code, or to coordinates."""
    arms = {}
    for code, outputs, epochs in (("bump", 56, 20), ("ramp", 2, 50)):
        task = Part(reverse_bumps, hole=CENTRE, code=CODES[code][0], train=build.pick(64, 2000, 2000))
        recipe = Recipe(epochs=build.pick(1, epochs, epochs), optimiser=adam())
        probes = (Part(decoders.errors, baselines=False), Part(bump_probes.encoder_accuracy))
        arms[f"encoder {code}"] = build.train(task, Part(cnn_encoder, outputs=outputs), recipe, probes)
    return arms


def rotations(build: Builder) -> Arms:
    """A rotated digit: with a gap of angles, on the full circle in two codes, and several digits."""
    width = build.pick(8, 64, 128)
    decoder = Part(rotation_decoder, inputs=2, width=width)
    loss = Part("recombine.training.losses:squared_and_absolute_error", absolute=0.1)
    angles = build.pick(30, 444, 444)

    def recipe(epochs: int) -> Recipe:
        return Recipe(
            epochs=epochs,
            optimiser=adamw(weight_decay=1e-4),
            loss=loss,
            clip_norm=1.0,
            validation=0.1,
            record_every="epoch",
            schedule=Schedule("plateau", factor=0.5, every=5, minimum=1e-6),
        )

    source = glyph_source()
    gap = Part(rotation_gap, angles=angles, source=source)
    circle = build.pick(40, 1000, 1000)
    deep = Part(rotation_decoder, inputs=2, width=width, deep=True)
    scalar = Part(rotation_decoder, inputs=1, width=width)
    turns = build.pick(12, 60, 100)
    digits = Part(rotation_digits, digits=(1, 4, 7), angles=turns, source=source)
    composed = Part(rotation_decoder, inputs=5, width=width)
    plain, paths = Part(decoders.errors, baselines=False), Part(interpolation_probes.rings)
    return {
        "rotation gap": build.train(
            gap, decoder, recipe(build.pick(1, 100, 200)), (plain, Part(interpolation_probes.blend), paths)
        ),
        "rotation circle": build.train(
            Part(rotation_circle, angles=circle, encoding=Part(angle_cos_sin), source=source),
            deep,
            recipe(build.pick(1, 50, 100)),
            (plain, paths),
        ),
        "rotation circle scalar": build.train(
            Part(rotation_circle, angles=circle, encoding=Part(angle_scalar), source=source),
            scalar,
            recipe(build.pick(1, 100, 300)),
            (plain, paths),
        ),
        "rotation digits": build.train(
            digits,
            composed,
            recipe(build.pick(1, 100, 200)),
            (plain, Part(interpolation_probes.digit_poses)),
        ),
    }


def canvases(build: Builder) -> Arms:
    """Bumps on a larger canvas, cropped: what the authors' scripts call stripe augmentation."""
    published = {"bump": (80, 64, 20), "ramp": (2, 128, 30)}
    arms = {}
    for code, (inputs, width, epochs) in published.items():
        task = Part(bumps_on_canvas, encoding=CODES[code][0], train=build.pick(64, 2000, 2000))
        net = Part(cnn_decoder, inputs=inputs, width=build.pick(4, 32, width), depth=build.pick(2, 4, 8))
        steps = {"bump": 1000, "ramp": 3000}[code]
        arms[f"canvas {code}"] = build.train(task, net, build.cnn_recipe(steps, epochs), BEHAVIOUR)
    return arms


def sizes(build: Builder) -> Arms:
    """Every image size and hole size, both codes, with real-valued positions."""
    arms = {}
    for code, epochs in (("bump", 20), ("ramp", 50)):
        for n, p in build.some(SIZES):
            hidden = int(p * n)
            seen = 1000 * (n - hidden) ** 2 // n**2
            unseen = 1000 * hidden**2 // n**2
            task = Part(bumps_real, n=n, p=p, train=seen, test_out=unseen, encoding=CODES[code][0])
            net = Part(
                cnn_decoder,
                inputs=2 * n if code == "bump" else 2,
                width=build.pick(4, 16, 128),
                depth=build.pick(2, 3, 8),
                size=n,
                start=build.pick(6, n // 4, 7),
            )
            steps = {"bump": 800, "ramp": 2400}[code]
            recipe = Recipe(**build.pick({"steps": 1}, {"steps": steps}, {"epochs": epochs}))
            arms[size_arm(code, n, p)] = build.train(task, net, recipe, (Part(decoders.errors),))
    return arms


def size_arm(code: str, n: int, p: float) -> str:
    """The arm with images of `n` pixels and a hole of side `p n`."""
    return f"size {n} hole {p}, {code}"
