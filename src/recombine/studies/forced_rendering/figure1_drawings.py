"""Figure 1: standard decoders with disentangled inputs fail on unseen cells, and how they fail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.metrics import binary_kernel
from recombine.report import (
    error_map_row,
    fixed,
    map_figure,
    new_figure,
    number,
    percent,
    seed_points,
    similarity_matrix,
)
from recombine.studies.evidence import Evidence
from recombine.studies.forced_rendering.decoder_figures import (
    CNNS,
    cells_figure,
    median,
    median_grid,
    present,
    superposed,
    task_of,
    unseen_grid,
)
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BUMP, RAMP = "cnn bump", "cnn ramp"

TARGET, SUM = "the target", "the sum"

SUPERPOSING = CNNS | {
    "MLP, bump code, 200 epochs": "mlp bump 200 epochs",
    "MLP, ramp code, 200 epochs": "mlp ramp 200 epochs",
    "render net, no penalty": "render none",
    "render net, both penalties": "render both",
}
"""Arms whose unseen images are compared with sums of seen ones."""

FAMILIES = {
    "binary": "binary (shares x or y)",
    "additive": "additive (how many shared)",
    "factorised": "factorised Gaussian",
    "radial": "radial Gaussian",
}
"""Kernels with the pairs of cells that they treat as similar."""


def _error_maps(evidence: Evidence) -> Figure:
    arms = present(evidence, CNNS)
    grids = {}
    for label, arm in arms.items():
        ratio = median(evidence[arm]["error_out"] / evidence[arm]["error_in"])
        grids[f"{label}: unseen {number(ratio)} times seen"] = median_grid(evidence, arm)
    figure = map_figure(len(arms))
    blank = median(evidence[BUMP]["baseline_blank_out"])
    error_map_row(figure, grids, unseen_grid(task_of(evidence, BUMP)), blank=blank)
    return figure


def _images(evidence: Evidence) -> Figure:
    rows = {"target": evidence[BUMP]["picture_targets"][0]}
    stretched = []
    for label, arm in present(evidence, CNNS).items():
        drawn = evidence[arm]["pictures"][0]
        stretched.append(f"{label},\nfull contrast")
        rows |= {label: drawn, stretched[-1]: drawn}
    rows["sum of related\nseen images"] = superposed(evidence, BUMP)
    right = percent(median(evidence[BUMP]["accuracy1_out"]))
    title = f"Bump code: {right} of unseen bumps are drawn in the right place ± 1"
    return cells_figure(evidence, BUMP, rows, largest=0.95, normalise=stretched, title=title)


def _superposed_images(evidence: Evidence) -> Figure:
    x_alone, y_alone, drawn = np.moveaxis(evidence[BUMP]["super_pictures"][0], 1, 0)
    total = x_alone + y_alone
    rows = {
        "x, with y averaged": x_alone,
        "y, with x averaged": y_alone,
        "sum of the two,\nover its maximum": total / total.max(axis=(1, 2), keepdims=True),
        "image of (x, y)": drawn,
    }
    correlation = median([np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(total, drawn, strict=True)])
    title = f"The sum and the image of the pair have a correlation of {fixed(correlation, 2)} (median)"
    return cells_figure(evidence, BUMP, rows, largest=1.05, normalise=True, title=title)


def _superposition_index(evidence: Evidence) -> Figure:
    arms = present(evidence, SUPERPOSING)
    groups = {
        label: {TARGET: evidence[arm]["with_truth"], SUM: evidence[arm]["with_superposition"]}
        for label, arm in arms.items()
    }
    closer = sum(median(group[SUM]) > median(group[TARGET]) for group in groups.values())
    lowest = min(float(np.nanmin(values)) for group in groups.values() for values in group.values())
    ideal = median(evidence[BUMP]["truth_with_superposition"])
    figure, panels = new_figure(aspect=0.2 + 0.055 * len(groups))
    seed_points(
        panels[0, 0],
        groups,
        baselines={"no resemblance": 0.0, "the target with the sum": ideal},
        limits=(min(-0.1, lowest - 0.05), 1.03),
        title=f"{closer} of {len(groups)} nets draw unseen images closer to the sum than to the target",
        label="correlation with",
    )
    return figure


def _between(evidence: Evidence) -> Figure:
    arms = present(evidence, CNNS)
    grids = {label: np.nanmedian(evidence[arm]["error_between"], axis=0) for label, arm in arms.items()}
    points = next(iter(grids.values())).shape[0]
    space = task_of(evidence, BUMP).split.space
    nearest = np.rint(np.linspace(0, space.shape[0] - 1, points)).astype(int)
    unseen = unseen_grid(task_of(evidence, BUMP))[np.ix_(nearest, nearest)]
    figure = map_figure(len(arms))
    blank = median(evidence[BUMP]["baseline_blank_out"])
    error_map_row(figure, grids, unseen, blank=blank)
    shown = np.arange(0, space.shape[0], 10)
    for ax in figure.axes[: len(arms)]:
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(
                shown * (points - 1) / (space.shape[0] - 1), labels=[str(level) for level in shown]
            )
    return figure


def _own_sums(evidence: Evidence) -> Figure:
    rows, correlations = {}, []
    for label, arm in present(evidence, CNNS).items():
        values = evidence[arm]
        rows[f"{label}:\ndrawn"] = values["pictures"][0]
        rows[f"{label}:\nsum of its own\nseen images"] = values["sum_pictures"][0]
        correlations.append(f"{label} {fixed(median(values['own_superposition']), 2)}")
    title = f"Correlation of the two inside the hole: {', '.join(correlations)}"
    return cells_figure(evidence, BUMP, rows, largest=1.0, normalise=True, title=title)


def _overlap(arm: str, evidence: Evidence) -> Figure:
    values, split = evidence[arm], task_of(evidence, arm).split
    seen, matrix = values["overlap_seen"][0].astype(bool), values["overlap_matrix"][0]
    every = -(-split.space.n_cells // len(seen))
    kept = np.concatenate([np.flatnonzero(mask)[::every] for mask in (split.seen, split.unseen)])
    figure, panels = new_figure(2, aspect=0.92)
    similarity_matrix(
        panels[0, 0],
        binary_kernel(split.space.cells[kept]),
        int(seen.sum()),
        limits=(0.0, 1.0),
        title="The binary kernel: 1 if two cells share x or y",
        label="kernel",
    )
    others = matrix[~np.eye(len(matrix), dtype=bool)]  # each image overlaps most with itself
    pixels, angles = (fixed(median(values[f"{kind}_binary"]), 2) for kind in ("overlap", "cosine"))
    similarity_matrix(
        panels[0, 1],
        matrix,
        int(seen.sum()),
        limits=(0.0, float(np.quantile(others, 0.995)) or 1.0),
        title=f"Overlap of the CNN's images: correlates {pixels} with the kernel (cosine {angles})",
        label="share of pixels dark in both",
    )
    return figure


def _kernel_fits(arm: str, evidence: Evidence) -> Figure:
    values = evidence[arm]
    groups = {label: {"unseen": values[f"kernel_{family}_out"]} for family, label in FAMILIES.items()}
    best = min(FAMILIES, key=lambda family: median(values[f"kernel_{family}_out"]))
    constant = median(values["kernel_constant_out"])
    figure, panels = new_figure(aspect=0.4)
    seed_points(
        panels[0, 0],
        groups,
        baselines={"constant kernel": constant},
        log=True,
        title=f"Of the four, the {best} kernel comes closest to the net's own unseen images",
        label="mean squared difference",
    )
    return figure


DRAWINGS = (
    Drawing(
        "fig1-error-maps",
        "Figure 1b-c. The error of standard decoders at every position of the bump.",
        "A net receives x and y in a code that keeps them apart and draws a bump there. Each square of a map is one "
        "position; its colour is the error of the drawn image (logarithmic, median over seeds). The dashed line "
        "is the hole, the combinations that were not in training; the error of a blank image is marked on the "
        "colour bar. Above each map: mean error on unseen cells divided by that on seen cells.",
        (BUMP,),
        _error_maps,
        "image",
    ),
    Drawing(
        "fig1-pictures",
        "Figure 1b-c. What standard decoders draw for unseen combinations.",
        "One column per position, all unseen (dashed frame), first seed; the open cross marks where the bump belongs. "
        "Faint images are shown twice, as drawn and stretched to full contrast. The last row is not drawn by a "
        "net: it is the sum of all seen images that share x or y with the position. A net that composes would "
        "reproduce the first row.",
        (BUMP,),
        _images,
        "image",
    ),
    Drawing(
        "fig1-superposition",
        "Figure 1d. Each factor alone, their sum, and the image of both.",
        "First two rows: the net's image when the code of the other factor is replaced by its average over "
        "training. Third row: the two added up and divided by the maximum. Last row: the image for the pair itself. "
        "Every image is stretched to full contrast, first seed. Where the last two rows look alike, the net adds up "
        "the contributions of x and y instead of combining them.",
        (BUMP,),
        _superposed_images,
        "image",
    ),
    Drawing(
        "fig1-between",
        "Figure 1b-c, further. The same nets between the positions they were trained on.",
        "Like the maps above, but on a grid of 50 × 50 real-valued positions, nearly two per pixel. Fine stripes "
        "between integer positions would mean that a net has memorised individual positions.",
        (BUMP,),
        _between,
        "image",
    ),
    Drawing(
        "fig1-own-sums",
        "Figure 1d, further. Unseen images compared with the sum of the net's own seen images.",
        "For every position, the image that the net draws, and the sum of its images for all seen positions that "
        "share x or y, divided by its maximum. Every image is stretched to full contrast, first seed.",
        (BUMP,),
        _own_sums,
        "image",
    ),
    Drawing(
        "fig1-superposition-index",
        "Figure 1d in numbers. Do unseen images resemble the target, or a sum of seen images?",
        "Correlation over pixels between the image drawn for an unseen cell and its target, and between it and the "
        "sum of the seen images that share x or y with it; means over unseen cells well inside the hole, one point "
        "per seed. The thin line shows how strongly the target itself correlates with the sum, for the CNN's hole.",
        (BUMP,),
        _superposition_index,
    ),
    Drawing(
        "fig1-kernel",
        "Figure 1e. Which images overlap, compared with the kernel that would explain it.",
        "Rows and columns are cells, seen ones first. Left: the binary kernel of the paper's theory, for which two "
        "cells are similar if they share x or y. Right: the share of pixels that are dark in both of the CNN's "
        "images (first seed; the colour scale leaves out each image's overlap with itself). The more the lower left "
        "block, unseen by seen, repeats the pattern on the left, the more the net behaves like that kernel. The "
        "correlations above refer to that block; the cosine between images also counts pixels that are too faint to "
        "be called dark.",
        (BUMP,),
        partial(_overlap, BUMP),
        "image",
    ),
    Drawing(
        "fig1-kernel-ramp",
        "Figure 1e for the ramp code. Which images overlap, compared with the binary kernel.",
        "As above, for the CNN that receives x and y as two numbers. Neighbouring numbers are similar before "
        "anything is learned, so the net has less reason to follow a kernel that only distinguishes equal from "
        "unequal.",
        (RAMP,),
        partial(_overlap, RAMP),
        "image",
    ),
    Drawing(
        "fig1-kernel-fits",
        "Figure 1e, further. How well simple kernels predict the CNN's own images.",
        "A kernel machine learns the net's images of the seen cells and predicts those of the unseen ones; one "
        "point per seed. Kernel widths are chosen on seen cells only. A small difference means that the net acts like "
        "that kernel there; the line is the constant kernel, which predicts the mean of the seen images everywhere.",
        (BUMP,),
        partial(_kernel_fits, BUMP),
    ),
    Drawing(
        "fig1-kernel-fits-ramp",
        "Figure 1e for the ramp code, further. How well simple kernels predict its images.",
        "As above, for the CNN that receives x and y as two numbers. One point per seed.",
        (RAMP,),
        partial(_kernel_fits, RAMP),
    ),
)
