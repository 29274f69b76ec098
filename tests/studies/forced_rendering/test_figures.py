"""Every figure of the study, drawn from made-up values of exactly the kinds that its arms measure.

Warnings are errors in this run. An arm's made-up values come from its own list of probes, so a figure that asks
for a value that its arm does not measure fails here.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from matplotlib.text import Text

from recombine.probes import decoders, layers
from recombine.report import Picture, look, png_bytes, svg_bytes
from recombine.report.figures.style import SMALLEST_TYPE
from recombine.runs import Trial
from recombine.spaces import Space
from recombine.studies import Arm, Drawing, Evidence, Scale, load
from recombine.studies.forced_rendering import bump_probes, interpolation_probes
from recombine.studies.forced_rendering.held_out_error import held_out_error
from recombine.studies.forced_rendering.similarity_kernels import similarity_kernels
from recombine.studies.forced_rendering.warping import warping
from recombine.tasks import bump_images

Values = dict[str, np.ndarray]
STUDY = load("forced-rendering")
DRAWINGS = STUDY.drawings
RNG = np.random.default_rng


class MadeUp:
    """Values of one arm for a few seeds, by probe."""

    def __init__(self, trial: Trial, seeds: int) -> None:
        self.task, self.net = dict(trial.task.settings), dict(trial.net.settings if trial.net else ())
        self.n, self.seeds, self.rng = self.task.get("n", 28), seeds, RNG(crc32(repr(trial).encode()))
        space = Space({"x": self.n, "y": self.n})
        self.unseen = np.asarray(self.task["hole"](space)) if "hole" in self.task else space.cells[:, 0] < 5
        self.unseen = self.unseen.reshape(self.n, self.n)
        self.layers = {"render_net": 8, "mlp": self.net.get("depth", 0) + 2}.get(
            trial.net.name.rpartition(":")[2] if trial.net else "", self.net.get("depth", 0) + 3
        )

    def near(self, centre: Any, *shape: int) -> np.ndarray:
        """Positive values around a centre."""
        return np.asarray(centre) * self.rng.uniform(0.6, 1.5, (self.seeds, *shape))

    def share(self, *shape: int) -> np.ndarray:
        return self.rng.uniform(0.0, 1.0, (self.seeds, *shape))

    def per_cell(self) -> np.ndarray:
        return self.near(np.where(self.unseen, 4e-3, 1e-4).ravel(), self.n**2)

    def images(self, cells: Any) -> np.ndarray:
        drawn = bump_images(np.array(cells), self.n)
        return drawn + self.rng.normal(0.0, 0.1, (self.seeds, *drawn.shape))

    def errors(self, **_: Any) -> Values:
        names = ("error_out", "baseline_blank_in", "baseline_blank_out")
        return {"error": self.per_cell(), "error_in": self.near(1e-4)} | {k: self.near(4e-3) for k in names}

    def positions(self, *, untrained: bool = False, **_: Any) -> Values:
        bumps = self.task.get("bumps", self.task.get("train")) or 0
        right = np.clip(bumps / self.n / self.near(8.0), 0.0, 1.0)  # the more data, the better
        right = {f"accuracy{t}_{side}": right for t in (0, 1) for side in ("in", "out")}
        return right | ({"accuracy_untrained": right["accuracy1_out"]} if untrained else {})

    def held_out_error(self) -> Values:
        share = 1.0 / ((self.task.get("bumps", self.task.get("train")) or 0) + 2 * self.n)
        return {"held_out_error": self.near(self.n * share), "held_out_blank": np.ones(self.seeds)}

    def superposition(self, **_: Any) -> Values:
        names = ("with_superposition", "with_truth", "truth_with_superposition", "own_superposition")
        return {name: self.share() for name in names}

    def similarity(self, *, every: int, **_: Any) -> Values:
        seen = np.repeat(
            [True, False], [len(range(0, m, every)) for m in (np.sum(~self.unseen), np.sum(self.unseen))]
        )
        repeated = np.broadcast_to(seen, (self.seeds, len(seen)))
        return {
            "overlap_binary": self.share(),
            "cosine_binary": self.share(),
            "overlap_matrix": 0.02 * self.share(len(seen), len(seen)),
            "overlap_seen": repeated,
        }

    def kernel_fits(self) -> Values:
        families = ("binary", "additive", "constant", "factorised", "radial")
        return {f"kernel_{f}_{side}": self.near(1e-3) for f in families for side in ("in", "out")}

    def output_images(self, *, cells: Any) -> Values:
        return {"pictures": self.images(cells), "picture_targets": self.images(cells)}

    def superposed_images(self, *, cells: Any) -> Values:
        return {"super_pictures": np.stack([self.images(cells)] * 3, axis=2)}

    def sum_images(self, *, cells: Any) -> Values:
        return {"sum_pictures": self.images(cells)}

    def error_between(self, *, points: int = 50, **_: Any) -> Values:
        return {"error_between": self.near(1e-3, points, points)}

    def geometry(self, *, maps: bool = True) -> Values:
        scores = ("factorisation", "factorisation_in", "factorisation_out")
        values = {name: 0.5 + 0.5 * self.share(self.layers) for name in scores}
        values["volume_gap"] = self.share(self.layers) - 0.5
        return values | ({"volume_maps": self.share(self.layers, self.n, self.n)} if maps else {})

    def readability(self) -> Values:
        return {name: 0.9 + 0.1 * self.share(self.layers, 2) for name in ("r2", "r2_held_out")}

    def ranks(self) -> Values:
        return {"numerical_rank": self.near(50, self.layers), "largest_possible": self.near(500, self.layers)}

    def canvases(self, **_: Any) -> Values:
        per_level = {k: self.share(2, self.n) for k in ("canvas_participation", "stripe_energy")}
        return per_level | {"canvas": self.share(2, self.n, self.n) - 0.5}

    def tuning(self, **_: Any) -> Values:
        return {"tuning": self.share(2, 8, self.n, self.n)}

    def encoder_accuracy(self) -> Values:
        return {
            "right": self.share(self.n**2) > 0.5,
            "accuracy_in": self.share(),
            "accuracy_out": self.share(),
        }

    def blend(self) -> Values:
        poses = {k: self.share(5, 28, 28) for k in ("poses", "pose_targets", "pose_blends")}
        poses["pose_degrees"] = np.tile(np.linspace(160, 198, 5), (self.seeds, 1))
        return poses | {"with_truth": self.share(), "with_blend": self.share()}

    def digit_poses(self) -> Values:
        poses = {k: self.share(5, 28, 28) for k in ("poses", "pose_targets")}
        return poses | {"pose_degrees": np.tile(np.linspace(140, 200, 5), (self.seeds, 1))}

    def rings(self, *, angles: int = 120) -> Values:
        degrees = np.linspace(0, 357, angles)
        path = np.stack([np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))], axis=-1)
        return {
            "ring": np.broadcast_to(path, (self.seeds, 9, angles, 2)),
            "ring_share": self.share(9),
            "ring_degrees": np.tile(degrees, (self.seeds, 1)),
        }


PROBES: dict[Callable[..., Any], Callable[..., Values]] = {
    decoders.errors: MadeUp.errors,
    decoders.positions: MadeUp.positions,
    decoders.superposition: MadeUp.superposition,
    bump_probes.similarity: MadeUp.similarity,
    similarity_kernels: lambda _, margin: {},
    warping: lambda _: {},
    held_out_error: MadeUp.held_out_error,
    bump_probes.dissimilarity: lambda _: {},
    bump_probes.kernel_fits: MadeUp.kernel_fits,
    decoders.output_images: MadeUp.output_images,
    bump_probes.superposed_images: MadeUp.superposed_images,
    bump_probes.sum_images: MadeUp.sum_images,
    bump_probes.encoder_accuracy: MadeUp.encoder_accuracy,
    layers.geometry: MadeUp.geometry,
    layers.readability: MadeUp.readability,
    bump_probes.ranks: MadeUp.ranks,
    layers.canvases: MadeUp.canvases,
    bump_probes.tuning: MadeUp.tuning,
    interpolation_probes.blend: MadeUp.blend,
    interpolation_probes.digit_poses: MadeUp.digit_poses,
    interpolation_probes.rings: MadeUp.rings,
    interpolation_probes.error_between: MadeUp.error_between,
}


def made_up_arm(trial: Trial, seeds: int) -> Arm:
    values: Values = {}
    for probe in trial.probes:
        if trial.net is not None:
            values |= PROBES[probe.function](MadeUp(trial, seeds), **dict(probe.settings))
    steps = np.broadcast_to(np.arange(1, 61) * 100, (seeds, 60))
    curves = {"step": steps} | {side: 10.0 ** -(2.0 + RNG(0).random((seeds, 60))) for side in ("in", "out")}
    return Arm(tuple(range(seeds)), ("finished",) * seeds, values, curves)


def made_up(scale: Scale, seeds: int = 3) -> Evidence:
    """Evidence of all arms."""
    return Evidence({name: made_up_arm(plan.trial, seeds) for name, plan in STUDY.arms(scale).items()}, scale)


@pytest.fixture(scope="module")
def complete() -> Evidence:
    return made_up("quick")


def _texts(figure: Any) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def test_names_are_different_and_needs_are_arms() -> None:
    names = [drawing.name for drawing in DRAWINGS]
    assert len(set(names)) == len(names)
    known = set(STUDY.arms("quick"))
    assert all(set(drawing.needs) <= known and drawing.needs for drawing in DRAWINGS)


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.name)
def test_every_figure_draws_legibly_and_whole(drawing: Drawing, complete: Evidence) -> None:
    figure = drawing.draw(complete)
    assert Picture(drawing.name, figure, drawing.caption, drawing.title, drawing.form)
    (svg_bytes if drawing.form == "vector" else png_bytes)(figure)
    assert not [text.get_text() for text in _texts(figure) if text.get_fontsize() < SMALLEST_TYPE]
    with look():
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.01, box
    assert max(box.x1 - width, box.y1 - height) < 0.01, box


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.name)
def test_the_arms_in_needs_are_enough(drawing: Drawing) -> None:
    """Drawn where everything is: laying out is tested with all arms."""
    plans = STUDY.arms("quick")
    smallest = Evidence({name: made_up_arm(plans[name].trial, 1) for name in drawing.needs}, "quick")
    figure = drawing.draw(smallest)
    figure.set_layout_engine("none")
    with look():
        figure.draw_without_rendering()


@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_figures_follow_the_scale(scale: Scale) -> None:
    """Drawn only: laying out takes twice as long and is tested at scale quick."""
    evidence = made_up(scale, seeds=2)
    for drawing in DRAWINGS:
        if set(drawing.needs) <= set(evidence):
            drawing.draw(evidence)


def test_a_run_with_one_record_draws_its_curves() -> None:
    """At scale smoke training ends with its first record."""
    evidence = made_up("smoke", seeds=1)
    short = {
        name: replace(arm, curves={key: curve[:, :1] for key, curve in arm.curves.items()})
        for name, arm in evidence.items()
    }
    png_bytes(_drawing("fig3-curves").draw(Evidence(short, "smoke")))


@pytest.mark.parametrize(("ratio", "words"), [(1.0, "unseen 1.0 times seen"), (50.0, "unseen 50 times seen")])
def test_titles_say_what_the_numbers_say(ratio: float, words: str, complete: Evidence) -> None:
    arm = complete["cnn bump"]
    changed = replace(arm, values={**arm.values, "error_out": ratio * arm["error_in"]})
    figure = _drawing("fig1-error-maps").draw(Evidence({"cnn bump": changed}, "quick"))
    shown = " ".join(text.get_text().replace("\n", " ") for text in _texts(figure))
    assert words in shown


def _drawing(name: str) -> Drawing:
    return next(drawing for drawing in DRAWINGS if drawing.name == name)


def test_captions_are_sentences_for_newcomers() -> None:
    for drawing in DRAWINGS:
        assert drawing.title.endswith((".", "?")), drawing.name
        assert drawing.caption.endswith("."), drawing.name
        assert ". " in drawing.caption, drawing.name
