"""The demo's task and the three methods that it compares: one hole, 3 seeds each."""

from __future__ import annotations

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.probes import decoders, layers
from recombine.remedies import forced_rendering
from recombine.runs import Trial
from recombine.spaces import Space, Split, centre_hole
from recombine.studies.evidence import ArmPlan, ArmPlans, Scale
from recombine.tasks import bump_code, bumps, one_hot, with_stripes
from recombine.training import Recipe, adamw

SIZE = 20
SIGMA = 1.5
"""Width of the bumps in pixels, as in the published runs of forced rendering."""
HOLE = (4, 15)
SEEDS = 3
SHOWN = ((9, 9), (7, 12), (12, 7), (6, 6), (13, 10), (2, 10))
"""Cells whose images the report shows; the last one was seen in training."""
METHODS = ("standard decoder", "forced rendering", "stripes in the curriculum")


def demo_split() -> Split:
    """Every cell is seen except the square hole in the middle."""
    space = Space({"x": SIZE, "y": SIZE})
    return Split(space, ~centre_hole(space, low=HOLE[0], high=HOLE[1]))


def arms(scale: Scale) -> ArmPlans:
    """Standard decoder, forced rendering and stripes, on the same bumps and the same hole."""
    hole = Part(centre_hole, low=HOLE[0], high=HOLE[1])
    small = scale == "smoke"
    cnn = Part(cnn_decoder, inputs=2 * SIZE, width=4 if small else 32, depth=3, size=SIZE, start=5)
    plain = Part(bumps, n=SIZE, sigma=SIGMA, hole=hole, encoding=Part(bump_code), polarity="bright")
    hot = Part(bumps, n=SIZE, sigma=SIGMA, hole=hole, encoding=Part(one_hot), polarity="bright")
    striped = Part(with_stripes, n=SIZE, sigma=SIGMA, hole=hole, encoding=Part(bump_code), polarity="bright")
    remedy = forced_rendering((SIZE, SIZE))
    decoder_recipe = Recipe(steps=2 if small else 1000)
    render_recipe = Recipe(
        steps=2 if small else 4000, optimiser=adamw(weight_decay=1e-4), penalties=remedy.penalties
    )
    probes = (
        Part(decoders.errors),
        Part(decoders.positions),
        Part(decoders.superposition, margin=2),
        Part(decoders.output_images, cells=SHOWN),
        Part(layers.geometry),
        Part(layers.readability),
    )
    trials = (
        Trial(plain, probes, (0,), cnn, decoder_recipe),
        Trial(hot, (*probes, Part(layers.canvases, level=9)), (0,), remedy.net, render_recipe),
        Trial(striped, probes, (0,), cnn, decoder_recipe),
    )
    seeds = 1 if small else SEEDS
    return {method: ArmPlan(trial, seeds) for method, trial in zip(METHODS, trials, strict=True)}


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    return 12.0 if trial.net is not None and "render" in trial.net.name else 25.0
