"""The figures of the demo's report, for readers who have never heard of the paper."""

from __future__ import annotations

import numpy as np

from recombine.metrics import baseline_images
from recombine.report import (
    Picture,
    error_map_row,
    image_figure,
    image_grid,
    layer_curves,
    loss_curves,
    map_figure,
    new_figure,
)
from recombine.studies.demo.methods import METHODS, SHOWN, SIGMA, SIZE, demo_split
from recombine.studies.evidence import Evidence
from recombine.tasks import bump_images


def error_maps(evidence: Evidence) -> Picture:
    """The error at every position, one map per method."""
    split = demo_split()
    grids = {method: split.space.grid(np.median(evidence[method]["error"], axis=0)) for method in METHODS}
    figure = map_figure(len(grids))
    blank = float(evidence[METHODS[0]]["baseline_blank_out"][0])
    title = "How wrong each decoder is, position by position"
    error_map_row(figure, grids, split.space.grid(split.unseen), blank=blank, title=title)
    caption = (
        "Each square is one position of the bump; its colour is the error of the image that the decoder draws there "
        "(logarithmic scale, median over seeds). The dashed line is the hole: combinations of x and y that were not in "
        "training. The colour bar marks the error of a blank image."
    )
    return Picture("error-maps", figure, caption, "Three maps of error over bump positions", form="image")


def images(evidence: Evidence) -> Picture:
    """Targets, sums of related training images, and the images that each method draws."""
    split = demo_split()
    space = split.space
    targets = evidence[METHODS[0]]["picture_targets"][0]
    all_images = bump_images(space.cells, SIZE, SIGMA, polarity="bright")
    sums = baseline_images(all_images, split.seen, space.cells, 0.0)["superposition"]
    cells = space.index(np.array(SHOWN))
    rows = {"target": targets, "sum of related\ntraining images": sums[cells]}
    rows |= {method: evidence[method]["pictures"][0] for method in METHODS}
    figure = image_figure(len(SHOWN), len(rows))
    image_grid(
        figure,
        rows,
        columns=[f"x {x}, y {y}" for x, y in SHOWN],
        shades="bright",
        unseen=split.unseen[cells],
        title="Inside the hole the standard decoder draws a sum of training images",
    )
    caption = (
        "One column per position, first seed. The last column was seen in training; the others (dashed frame) were "
        "not. The second row does not come from a net: it is the sum of all training images with the same x or the "
        "same y. A decoder that adds up what it has seen, instead of composing it, draws something like that row."
    )
    return Picture(
        "pictures", figure, caption, "Targets and the images that each decoder draws", form="image"
    )


def layers(evidence: Evidence) -> Picture:
    """How well the factors can be decoded from each layer, and how evenly the layer represents them."""
    figure, panels = new_figure(2, aspect=0.75)
    methods = {"standard decoder": METHODS[0], "stripes": METHODS[2]}
    n_layers = evidence[METHODS[0]]["factorisation"].shape[1]
    names = ["input", *(str(i) for i in range(1, n_layers - 1)), "image"]
    layer_curves(
        panels[0, 0],
        names,
        {label: evidence[method]["r2_held_out"].mean(axis=2) for label, method in methods.items()},
        limits=(0.0, 1.05),
        title="How well x and y can be decoded from each layer",
        label="R² of a linear read-out",
    )
    layer_curves(
        panels[0, 1],
        names,
        {label: evidence[method]["volume_gap"] for label, method in methods.items()},
        baselines={"even": 0.0},
        title="How much volume each layer gives to the hole",
        label="log10 volume, unseen - seen",
    )
    caption = (
        "Left: how well a linear regression decodes x and y from a layer (five-fold cross-validated). Right: the "
        "volume that a layer gives to neighbouring positions inside the hole, compared with outside, as a power of "
        "ten (0: the same; -1: ten times less). Positions that are squeezed together are drawn alike. Each point is "
        "a seed."
    )
    return Picture("layers", figure, caption, "Decodability of x and y and volume of the hole, by layer")


def curves(evidence: Evidence) -> Picture:
    """Error on seen and unseen cells during training."""
    figure, panels = new_figure(3, aspect=1.0, share_y=True)
    blank = float(evidence[METHODS[0]]["baseline_blank_out"][0])
    for ax, method in zip(panels[0], METHODS, strict=True):
        records = evidence[method].curves
        loss_curves(
            ax,
            records["step"][0],
            {"seen": records["in"], "unseen": records["out"]},
            baselines={"blank": blank},
            title=method,
        )
    caption = (
        "Error on seen and unseen positions during training; the thin line is the error of a blank image."
    )
    return Picture("curves", figure, caption, "Errors during training")


def canvases(evidence: Evidence) -> Picture:
    """The canvas of each factor in the net with forced rendering."""
    arm = evidence[METHODS[1]]
    canvas = arm["canvas"]
    drawn = canvas.reshape(-1, *canvas.shape[2:])
    figure = image_figure(len(drawn), 1)
    columns = [f"{factor} = 9, seed {seed}" for seed in arm.seeds for factor in ("x", "y")]
    title = "Each factor draws a stripe of its own; the head only has to find the crossing"
    image_grid(figure, {"canvas": drawn}, columns=columns, shades="signed", normalise=True, title=title)
    caption = (
        "The net with forced rendering first draws x alone and y alone, each on a canvas of the size of the image. Two "
        "penalties push every canvas towards a stripe. What is left to combine is so simple that it also works for "
        "unseen combinations. The sign of a stripe (its colour) is arbitrary."
    )
    return Picture("canvases", figure, caption, "Canvases of the two factors", form="image")
