"""The demo's report: for a reader who has never heard of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.probes import baseline_images
from recombine.report import (
    Page,
    Picture,
    Section,
    Table,
    error_map_row,
    image_figure,
    image_grid,
    layer_curves,
    loss_curves,
    machine,
    map_figure,
    new_figure,
)
from recombine.spaces import Space, Split, centre_hole
from recombine.studies.claims import Evidence
from recombine.studies.demonstration.world import HOLE, METHODS, SHOWN, SIGMA, SIZE
from recombine.tasks import bump_images


def demo_page(evidence: Evidence, table: Table, words: Sequence[str]) -> Page:
    """The page with the result in words, error maps, pictures, layers, canvases and curves."""
    space = Space({"x": SIZE, "y": SIZE})
    split = Split(space, ~centre_hole(space, low=HOLE[0], high=HOLE[1]))
    lead = (
        f"A neural network learnt to draw a {SIZE} × {SIZE} picture of one bump, given its position (x, y) in a code "
        f"that keeps x and y apart. Training showed every x and every y, but not {split.unseen.sum()} of the "
        f"{space.n_cells} combinations: a square hole in the middle. Can it draw what it never saw combined?"
    )
    sections = [
        Section("What came out", [table, *words]),
        Section("Where it goes wrong", [_maps(evidence, space, split), _pictures(evidence, space, split)]),
        Section("Why", [_layers(evidence), _curves(evidence)]),
        Section("What forced rendering does", [_canvases(evidence)]),
        Section(
            "What to do with this",
            [
                "**If you design data**: a few pictures of each factor alone can replace very many combinations.",
                "**If you design nets**: keep the factors apart up to the space in which they are combined. A code "
                "that is disentangled at the input is not enough.",
                "**If you must trust a model**: test it on combinations that training did not contain, and compare "
                "its error with a blank answer, not only with zero.",
            ],
        ),
    ]
    seeds = ", ".join(str(seed) for seed in evidence[METHODS[0]].seeds)
    footer = {
        "Version": __version__,
        "Seeds": seeds,
        "Machine": machine(),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "Method": "Liang, Qian, Ziyin & Fiete, ICML 2025, arXiv:2501.18797",
    }
    return Page("Can a decoder draw what it never saw combined?", lead, sections, footer)


def _unseen(split: Split) -> Any:
    return split.space.grid(split.unseen)


def _maps(evidence: Evidence, space: Space, split: Split) -> Picture:
    grids = {method: space.grid(np.median(evidence[method]["error"], axis=0)) for method in METHODS}
    figure = map_figure(len(grids))
    blank = float(evidence[METHODS[0]]["baseline_blank_out"][0])
    title = "How wrong each decoder is, position by position"
    error_map_row(figure, grids, _unseen(split), blank=blank, title=title)
    caption = (
        "Each square is one position of the bump; its colour is how wrong the drawn picture is (logarithmic scale, "
        "median of the seeds). The dashed line is the hole: combinations of x and y that training never showed. A "
        "blank picture would score the value marked on the colour bar."
    )
    return Picture("error-maps", figure, caption, "Three maps of error over bump positions", form="image")


def _pictures(evidence: Evidence, space: Space, split: Split) -> Picture:
    targets = evidence[METHODS[0]]["picture_targets"][0]
    everything = bump_images(space.cells, SIZE, SIGMA, polarity="bright")
    sums = baseline_images(everything, split.seen, space.cells, 0.0)["superposition"]
    cells = space.index(np.array(SHOWN))
    rows = {"the truth": targets, "sum of related\ntraining pictures": sums[cells]}
    rows |= {method: evidence[method]["pictures"][0] for method in METHODS}
    figure = image_figure(len(SHOWN), len(rows))
    image_grid(
        figure,
        rows,
        columns=[f"x {x}, y {y}" for x, y in SHOWN],
        shades="bright",
        unseen=split.unseen[cells],
        title="What is drawn, beside the truth and beside a sum of related training pictures",
    )
    caption = (
        "One column per position, first seed. The last column was seen in training, the others (dashed frame) were "
        "not. The second row is no net: it is the sum of all training pictures that share x or share y with the "
        "position. A decoder that adds up what it has seen, instead of composing it, draws something like that row."
    )
    return Picture("pictures", figure, caption, "Drawn pictures beside the truth", form="image")


def _layers(evidence: Evidence) -> Picture:
    figure, panels = new_figure(2, aspect=0.75)
    shown = {"ordinary decoder": METHODS[0], "stripes": METHODS[2]}
    layers = evidence[METHODS[0]]["factorisation"].shape[1]
    names = ["input", *(str(i) for i in range(1, layers - 1)), "picture"]
    layer_curves(
        panels[0, 0],
        names,
        {label: evidence[m]["r2_held_out"].mean(axis=2) for label, m in shown.items()},
        limits=(0.0, 1.05),
        title="How well x and y can be read from each layer",
        label="R² of a linear read-out",
    )
    layer_curves(
        panels[0, 1],
        names,
        {label: evidence[m]["volume_gap"] for label, m in shown.items()},
        baselines={"even": 0.0},
        title="How much room each layer gives to the hole",
        label="log10 volume, unseen - seen",
    )
    caption = (
        "Left: how well x and y can be read from a layer by a straight-line fit (five-fold cross-validated). Right: "
        "how much room a layer gives to neighbouring positions inside the hole, compared with outside, as a power "
        "of ten (0: the same; -1: ten times less). Where positions are squeezed together, they are drawn alike. "
        "Points are seeds."
    )
    return Picture("layers", figure, caption, "Readability and evenness by layer")


def _curves(evidence: Evidence) -> Picture:
    figure, panels = new_figure(3, aspect=1.0, share_y=True)
    blank = float(evidence[METHODS[0]]["baseline_blank_out"][0])
    for ax, method in zip(panels[0], METHODS, strict=True):
        curves = evidence[method].curves
        loss_curves(
            ax,
            curves["step"][0],
            {"seen": curves["in"], "unseen": curves["out"]},
            baselines={"blank": blank},
            title=method,
        )
    caption = "Error on seen and unseen positions during training, with the blank picture as a thin line."
    return Picture("curves", figure, caption, "Errors during training")


def _canvases(evidence: Evidence) -> Picture:
    canvases = evidence[METHODS[1]]["canvas"]
    pictures = canvases.reshape(-1, *canvases.shape[2:])
    figure = image_figure(len(pictures), 1)
    seeds = evidence[METHODS[1]].seeds
    columns = [f"{factor} = 9, seed {seed}" for seed in seeds for factor in ("x", "y")]
    title = "Each factor draws a stripe of its own; the head only has to find the crossing"
    image_grid(figure, {"canvas": pictures}, columns=columns, shades="signed", normalise=True, title=title)
    caption = (
        "The net with forced rendering first draws x alone and y alone, each on a canvas of the picture's size. Two "
        "penalties push every canvas to be a stripe. What is left to combine is so simple that it works for "
        "combinations never seen. The sign of a stripe (its colour) is arbitrary."
    )
    return Picture("canvases", figure, caption, "Canvases of the two factors", form="image")
