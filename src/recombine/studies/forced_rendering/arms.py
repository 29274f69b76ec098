"""The experiments of the study, as arms of trials, at three scales.

Scale `paper` is what was published (from the authors' scripts where the paper is silent). Scale `quick` keeps the
picture size, bump width, holes and losses, and shrinks the nets and the number of steps. Scale `smoke` only shows
that everything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recombine.fit import Recipe, Schedule, adam, adamw
from recombine.nets import (
    cnn_decoder,
    cnn_encoder,
    mlp,
    pixel_transformer,
    rotation_decoder,
    spatial_mlp,
)
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.remedies import forced_rendering
from recombine.runs import Trial
from recombine.spaces import centre_hole, corner_hole
from recombine.studies.claims import Scale
from recombine.studies.forced_rendering import exact, rotation
from recombine.studies.study import Arms, in_pieces
from recombine.tasks import (
    bump_code,
    bumps,
    bumps_on_canvas,
    bumps_real,
    glyph_source,
    one_hot,
    ramp,
    reverse_bumps,
    rotation_circle,
    rotation_digits,
    rotation_gap,
    with_stripes,
)
from recombine.tasks.encodings import angle_cos_sin, angle_scalar

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": (0, 1, 2)}
CENTRE = Part(centre_hole, low=6, high=22)
SMALL_CENTRE = Part(centre_hole, low=10, high=18)
CORNER = Part(corner_hole, low=14)
RENDER_CORNER = Part(corner_hole, low=12)
CODES = {"bump": (Part(bump_code), 56), "ramp": (Part(ramp), 2)}
SHOWN = ((14, 14), (12, 16), (8, 14), (14, 20))
"""Unseen cells whose pictures are kept, centre hole of 28 pixels."""
RENDER_SHOWN = ((14, 14), (20, 16), (24, 24), (16, 28))
CORNER_SHOWN = ((16, 16), (20, 18), (24, 22), (18, 26))

BEHAVIOUR = (Part(decoders.errors), Part(decoders.positions))
LAYERS = (Part(layers.geometry), Part(layers.readability))

EPOCH = 20
"""Steps per epoch of the render nets: 624 seen cells in batches of 32."""
DEPTHS = (2, 4, 8)
WIDTH_MULTIPLIERS = (1, 3, 5, 7, 9, 11)
BUMP_COUNTS = (0, 10, 25, 50, 100, 196, 588)
SCALING_SIZES = (12, 16, 20, 24)
SCALING_PER_N = (0, 1, 2, 4, 7, 10)
"""Bumps per N in the stripes + bumps arms of the data-scaling experiment."""
SCALING_BUMPS_ONLY = (2, 4, 8, 16, 32)
"""Real-valued bumps per N in its bumps-only arms."""
CONTOUR = tuple((n, p) for n in (24, 28, 32, 36, 40) for p in (0.2, 0.3, 0.4, 0.5, 0.6))


def bumps_only_per_n(n: int) -> tuple[int, ...]:
    """Bumps per N in the bumps-only arms of the data-scaling experiment: up to N² of them, N³ bumps."""
    return tuple(sorted({*SCALING_BUMPS_ONLY, n, n * n}))


def arms(scale: Scale) -> Arms:
    """All arms of the study at a scale, by name."""
    build = _Arms(scale)
    groups = (
        build.exact(),
        build.ordinary_decoders(),
        build.perceptrons(),
        build.render_nets(),
        build.stripes(),
        build.data_scaling(),
        build.encoders(),
        build.token_decoders(),
        build.rotations(),
        build.variants(),
    )
    return {name: trials for group in groups for name, trials in group.items()}


class _Arms:
    """Builds the arms of one scale."""

    def __init__(self, scale: Scale) -> None:
        self.scale, self.seeds = scale, SEEDS[scale]

    def pick(self, smoke: Any, quick: Any, paper: Any) -> Any:
        return {"smoke": smoke, "quick": quick, "paper": paper}[self.scale]

    def some(self, values: Sequence[Any]) -> Sequence[Any]:
        """At scale smoke the first of several alike is enough."""
        return values[:1] if self.scale == "smoke" else values

    def train(self, task: Part, net: Part, recipe: Recipe, probes: tuple[Part, ...]) -> tuple[Trial, ...]:
        """One arm, a trial for every seed, so that seeds run on different cores."""
        return in_pieces(Trial(task, probes, self.seeds, net, recipe))

    # Exact statements: no training, or training only to compare numbers bit by bit.

    def exact(self) -> Arms:
        task = Part(bumps, hole=CENTRE)
        return {
            "constants": (Trial(task, (Part(exact.constants),), (0,)),),
            "parameter counts": (Trial(task, (Part(exact.parameter_counts),), (0,)),),
            "encodings": (Trial(task, (Part(exact.encodings),), (0,)),),
            "repeatability": in_pieces(
                Trial(Part(bumps, hole=CENTRE, train=495), (Part(exact.repeatability),), self.seeds),
                len(self.seeds),
            ),
        }

    # Figure 1: ordinary decoders with disentangled inputs.

    def cnn(self, code: str, depth: int, width: int) -> Part:
        return Part(cnn_decoder, inputs=CODES[code][1], width=width, depth=depth)

    def bump_task(self, code: str = "bump", hole: Part = CENTRE, draws: int = 2000) -> Part:
        """At scale paper training rows are drawn with replacement; otherwise each seen cell is there once."""
        return Part(bumps, hole=hole, encoding=CODES[code][0], train=self.pick(None, None, draws))

    def cnn_recipe(self, quick_steps: int, epochs: int, **changes: Any) -> Recipe:
        length = self.pick({"steps": 2}, {"steps": quick_steps}, {"epochs": epochs})
        return Recipe(**length, optimiser=changes.pop("optimiser", adamw()), **changes)

    def ordinary_decoders(self) -> Arms:
        width = self.pick(4, 32, 64)
        explain = (
            Part(decoders.superposition),
            Part(decoders.similarity, threshold=0.8, every=4),
            Part(decoders.dissimilarity),
            Part(decoders.kernel_fits),
            Part(decoders.pictures, cells=SHOWN),
        )
        first = (BEHAVIOUR[0], Part(decoders.positions, margin=6), *explain)
        found = {
            "cnn bump": self.train(
                self.bump_task(),
                self.cnn("bump", 4, width),
                self.cnn_recipe(1000, 50),
                (*first, *LAYERS, Part(layers.ranks), Part(decoders.super_pictures, cells=SHOWN)),
            ),
            "cnn ramp": self.train(
                self.bump_task("ramp", draws=1000),
                self.cnn("ramp", self.pick(2, 4, 10), self.pick(4, 32, 128)),
                self.cnn_recipe(3000, 100),
                (*first, *LAYERS, Part(layers.ranks)),
            ),
        }
        for depth in self.some(DEPTHS):
            if depth != 4:
                net = self.cnn("bump", self.pick(2, depth, depth), width)
                found[f"cnn bump depth {depth}"] = self.train(
                    self.bump_task(),
                    net,
                    self.cnn_recipe(1000, 50),
                    (*BEHAVIOUR, Part(layers.geometry, maps=False)),
                )
        for m in self.some(WIDTH_MULTIPLIERS):
            task = Part(
                bumps,
                hole=SMALL_CENTRE,
                encoding=Part(bump_code, width=float(m)),
                train=self.pick(None, None, 1000),
            )
            optimiser = adamw(weight_decay=1e-3)
            net = self.cnn("bump", self.pick(2, 4, 10), self.pick(4, 32, 256))
            recipe = self.cnn_recipe(1000, 250, optimiser=optimiser)
            found[f"code width {m}"] = self.train(task, net, recipe, BEHAVIOUR)
        return found

    # Figure 2: what the layers of perceptrons hold.

    def perceptrons(self) -> Arms:
        found = {}
        for code, width in (("bump", 256), ("ramp", 128)):
            net = Part(
                mlp, inputs=CODES[code][1], width=self.pick(16, width, width), depth=5, outputs=(28, 28)
            )
            for epochs in (20, 200):
                recipe = Recipe(epochs=self.pick(1, epochs, epochs))
                task = Part(bumps, hole=CENTRE, encoding=CODES[code][0], train=self.pick(64, 2000, 2000))
                probes = (*BEHAVIOUR, *LAYERS, Part(decoders.superposition), Part(layers.ranks))
                found[f"mlp {code} {epochs} epochs"] = self.train(task, net, recipe, probes)
        wide = Part(mlp, inputs=2, width=self.pick(16, 512, 512), depth=5, outputs=(28, 28))
        task = Part(bumps, hole=CENTRE, encoding=CODES["ramp"][0], train=self.pick(64, 2000, 2000))
        found["mlp ramp wide"] = self.train(task, wide, Recipe(epochs=self.pick(1, 200, 200)), BEHAVIOUR)
        return found

    # Figure 3: forced rendering and its ablations.

    def render_nets(self) -> Arms:
        n = self.pick(12, 32, 32)
        hole = Part(corner_hole, low=5) if self.scale == "smoke" else RENDER_CORNER
        task = Part(
            bumps, n=n, sigma=1.5, hole=hole, encoding=Part(one_hot), polarity="bright", pixels="half"
        )
        shown = ((6, 6), (8, 9)) if self.scale == "smoke" else RENDER_SHOWN
        probes = (
            *BEHAVIOUR,
            Part(layers.geometry),
            Part(layers.canvases),
            Part(decoders.superposition),
            Part(decoders.similarity, threshold=0.5, every=4),
            Part(decoders.pictures, cells=shown),
        )
        found = {}
        strengths = {"none": (0.0, 0.0), "entropy": (0.1, 0.0), "flatness": (0.0, 0.01), "both": (0.1, 0.01)}
        for name, (entropy, flatness) in strengths.items():
            remedy = forced_rendering((n, n), entropy=entropy, flatness=flatness)
            recipe = Recipe(
                epochs=self.pick(1, 300, 1000),
                optimiser=adamw(weight_decay=1e-4),
                penalties=remedy.penalties,
                record_every=5 * EPOCH,
            )
            found[f"render {name}"] = self.train(task, remedy.net, recipe, probes)
            if name == "none":
                start = replace(recipe, epochs=1, record_every=EPOCH)
                found["render none, 1 epoch"] = self.train(task, remedy.net, start, (Part(decoders.errors),))
        return found

    # Figure 4: the stripes curriculum.

    def stripes(self) -> Arms:
        def task(count: int | None, stripes: bool = True) -> Part:
            return Part(with_stripes, hole=CORNER, bumps=count, stripes=stripes)

        perceptron = Part(mlp, inputs=56, width=self.pick(16, 256, 256), depth=3, outputs=(28, 28))
        recipe = Recipe(steps=self.pick(2, 1200, 1200))
        found = {
            "mlp stripes only": self.train(task(0), perceptron, recipe, BEHAVIOUR),
            "mlp bumps only": self.train(task(252, stripes=False), perceptron, recipe, BEHAVIOUR),
        }
        cnn = self.cnn("bump", 4, self.pick(4, 32, 64))
        recipe = Recipe(steps=self.pick(2, 1000, 3000))
        shown = Part(decoders.pictures, cells=CORNER_SHOWN)
        for count in self.pick((0, 196), BUMP_COUNTS, BUMP_COUNTS):
            probes: tuple[Part, ...] = (*BEHAVIOUR, shown)
            if count in {0, 50, 196}:
                probes += (Part(layers.geometry), Part(layers.tuning))
            found[f"cnn stripes + {count} bumps"] = self.train(task(count), cnn, recipe, probes)
        found["cnn 252 bumps, no stripes"] = self.train(
            task(252, stripes=False), cnn, recipe, (*BEHAVIOUR, shown)
        )
        return found

    def data_scaling(self) -> Arms:
        """Accuracy against the size of the data set, with and without stripes, for several picture sizes."""
        found = {}
        for n in self.some(SCALING_SIZES):
            net = Part(cnn_decoder, inputs=2 * n, width=self.pick(4, 16, 64), depth=3, size=n, start=n // 4)
            recipe = Recipe(steps=self.pick(2, 1500, 3000))
            hole = Part(corner_hole, low=n // 2)
            for per_n in self.some(SCALING_PER_N):
                task = Part(with_stripes, n=n, hole=hole, bumps=per_n * n)
                found[f"scaling {n} stripes + {per_n} N"] = self.train(task, net, recipe, BEHAVIOUR)
            for per_n in self.some(bumps_only_per_n(n)):
                task = Part(
                    bumps_real,
                    n=n,
                    p=0.5,
                    where="corner",
                    train=per_n * n,
                    test_out=500,
                    encoding=Part(bump_code),
                )
                found[f"scaling {n} bumps {per_n} N"] = self.train(task, net, recipe, BEHAVIOUR)
        return found

    # Further material: encoders, token decoders, rotation, variants.

    def encoders(self) -> Arms:
        found = {}
        for code, outputs, epochs in (("bump", 56, 20), ("ramp", 2, 50)):
            task = Part(reverse_bumps, hole=CENTRE, code=CODES[code][0], train=self.pick(64, 2000, 2000))
            recipe = Recipe(epochs=self.pick(1, epochs, epochs), optimiser=adam())
            probes = (Part(decoders.errors, baselines=False), Part(decoders.encoder_accuracy))
            found[f"encoder {code}"] = self.train(task, Part(cnn_encoder, outputs=outputs), recipe, probes)
        return found

    def token_decoders(self) -> Arms:
        spatial_task = Part(bumps, hole=CORNER, encoding=Part(one_hot), polarity="bright")
        spatial = Part(spatial_mlp, inputs=56, depth=2, width=self.pick(8, 128, 256))
        recipe = Recipe(
            **self.pick({"steps": 1}, {"epochs": 300}, {"epochs": 2000}), optimiser=adamw(weight_decay=1e-4)
        )
        small = self.scale != "paper"
        n = 14 if small else 28
        task = Part(
            bumps,
            n=n,
            hole=Part(centre_hole, low=3, high=11) if small else CENTRE,
            train=self.pick(None, None, 2000),
        )
        net = Part(pixel_transformer, inputs=2 * n, depth=2, size=n, hidden=self.pick(16, 256, 2048))
        shown = Part(decoders.pictures, cells=((7, 7), (5, 8)) if small else SHOWN)
        length = self.pick({"steps": 1}, {"steps": 3000}, {"epochs": 20})
        return {
            "spatial mlp": self.train(
                spatial_task, spatial, recipe, (*BEHAVIOUR, Part(decoders.pictures, cells=CORNER_SHOWN))
            ),
            "transformer": self.train(task, net, Recipe(**length), (*BEHAVIOUR, shown)),
        }

    def rotations(self) -> Arms:
        width = self.pick(8, 64, 128)
        decoder = Part(rotation_decoder, inputs=2, width=width)
        loss = Part("recombine.fit.losses:squared_and_absolute_error", absolute=0.1)
        angles = self.pick(30, 444, 444)

        def recipe(epochs: int, rows: int) -> Recipe:
            """The plateau counts epochs, so there is one record per epoch of the 90 % that are trained on."""
            return Recipe(
                epochs=epochs,
                optimiser=adamw(weight_decay=1e-4),
                loss=loss,
                clip_norm=1.0,
                validation=0.1,
                record_every=-(-(rows - max(1, round(0.1 * rows))) // 32),
                schedule=Schedule("plateau", factor=0.5, every=5, minimum=1e-6),
            )

        source = glyph_source()
        gap = Part(rotation_gap, angles=angles, source=source)
        circle = self.pick(40, 1000, 1000)
        deep = Part(rotation_decoder, inputs=2, width=width, deep=True)
        scalar = Part(rotation_decoder, inputs=1, width=width)
        turns = self.pick(12, 60, 100)
        digits = Part(rotation_digits, digits=(1, 4, 7), angles=turns, source=source)
        composed = Part(rotation_decoder, inputs=5, width=width)
        probes = (Part(decoders.errors, baselines=False), Part(rotation.blend))
        plain = (Part(decoders.errors, baselines=False),)
        return {
            "rotation gap": self.train(gap, decoder, recipe(self.pick(1, 100, 200), 2 * angles), probes),
            "rotation circle": self.train(
                Part(rotation_circle, angles=circle, encoding=Part(angle_cos_sin), source=source),
                deep,
                recipe(self.pick(1, 50, 100), circle),
                plain,
            ),
            "rotation circle scalar": self.train(
                Part(rotation_circle, angles=circle, encoding=Part(angle_scalar), source=source),
                scalar,
                recipe(self.pick(1, 100, 300), circle),
                plain,
            ),
            "rotation digits": self.train(digits, composed, recipe(self.pick(1, 100, 200), 3 * turns), plain),
        }

    def variants(self) -> Arms:
        """The enlarged canvas, and the map of unseen error over picture size and hole size."""
        task = Part(bumps_on_canvas, train=self.pick(64, 2000, 2000))
        net = Part(cnn_decoder, inputs=80, width=self.pick(4, 32, 64), depth=self.pick(2, 4, 8))
        found = {"canvas bump": self.train(task, net, self.cnn_recipe(1000, 20), BEHAVIOUR)}
        for n, p in self.some(CONTOUR):
            hidden = int(p * n)
            seen = 1000 * (n - hidden) ** 2 // n**2
            unseen = 1000 * hidden**2 // n**2
            task = Part(bumps_real, n=n, p=p, train=seen, test_out=unseen)
            start = self.pick(6, n // 4, 7)
            net = Part(
                cnn_decoder,
                inputs=2 * n,
                width=self.pick(4, 16, 128),
                depth=self.pick(2, 3, 8),
                size=n,
                start=start,
            )
            recipe = Recipe(**self.pick({"steps": 1}, {"steps": 800}, {"epochs": 20}))
            found[f"contour {n} {p}"] = self.train(task, net, recipe, (Part(decoders.errors),))
        return found
