"""Figure 1: ordinary decoders with disentangled inputs fail on unseen cells, and in which way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recombine.probes import binary_kernel
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
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.figures.world import (
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

TRUTH, SUM = "the truth", "the sum"

SUPERPOSING = CNNS | {
    "MLP, bump code, 200 epochs": "mlp bump 200 epochs",
    "MLP, ramp code, 200 epochs": "mlp ramp 200 epochs",
    "render net, no penalty": "render none",
    "render net, both penalties": "render both",
}
"""Arms whose unseen pictures are compared with sums of seen ones."""

FAMILIES = {
    "binary": "binary (shares x or y)",
    "additive": "additive (how many shared)",
    "factorised": "factorised Gaussian",
    "radial": "radial Gaussian",
}
"""Kernels by what they call alike."""


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


def _pictures(evidence: Evidence) -> Figure:
    rows = {"the truth": evidence[BUMP]["picture_targets"][0]}
    stretched = []
    for label, arm in present(evidence, CNNS).items():
        drawn = evidence[arm]["pictures"][0]
        stretched.append(f"{label},\nfull contrast")
        rows |= {label: drawn, stretched[-1]: drawn}
    rows["sum of related\nseen pictures"] = superposed(evidence, BUMP)
    right = percent(median(evidence[BUMP]["accuracy1_out"]))
    title = f"Bump code: {right} of unseen bumps are drawn at the right place ± 1"
    return cells_figure(evidence, BUMP, rows, largest=0.95, normalise=stretched, title=title)


def _super_pictures(evidence: Evidence) -> Figure:
    x_alone, y_alone, drawn = np.moveaxis(evidence[BUMP]["super_pictures"][0], 1, 0)
    total = x_alone + y_alone
    rows = {
        "x, with y averaged": x_alone,
        "y, with x averaged": y_alone,
        "sum of the two,\nover its maximum": total / total.max(axis=(1, 2), keepdims=True),
        "picture of (x, y)": drawn,
    }
    alike = median([np.corrcoef(a.ravel(), b.ravel())[0, 1] for a, b in zip(total, drawn, strict=True)])
    title = f"The sum and the picture of the pair correlate by {fixed(alike, 2)} (median)"
    return cells_figure(evidence, BUMP, rows, largest=1.05, normalise=True, title=title)


def _superposition_index(evidence: Evidence) -> Figure:
    arms = present(evidence, SUPERPOSING)
    groups = {
        label: {TRUTH: evidence[arm]["with_truth"], SUM: evidence[arm]["with_superposition"]}
        for label, arm in arms.items()
    }
    closer = sum(median(group[SUM]) > median(group[TRUTH]) for group in groups.values())
    lowest = min(float(np.nanmin(values)) for group in groups.values() for values in group.values())
    ideal = median(evidence[BUMP]["truth_with_superposition"])
    figure, panels = new_figure(aspect=0.2 + 0.055 * len(groups))
    seed_points(
        panels[0, 0],
        groups,
        baselines={"no resemblance": 0.0, "the truth with the sum": ideal},
        limits=(min(-0.1, lowest - 0.05), 1.03),
        title=f"{closer} of {len(groups)} nets draw unseen pictures closer to the sum than to the truth",
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
    rows, alike = {}, []
    for label, arm in present(evidence, CNNS).items():
        found = evidence[arm]
        rows[f"{label}:\ndrawn"] = found["pictures"][0]
        rows[f"{label}:\nsum of its own\nseen pictures"] = found["sum_pictures"][0]
        alike.append(f"{label} {fixed(median(found['own_superposition']), 2)}")
    title = f"Correlation of the two inside the hole: {', '.join(alike)}"
    return cells_figure(evidence, BUMP, rows, largest=1.0, normalise=True, title=title)


def _overlap(arm: str, evidence: Evidence) -> Figure:
    found, split = evidence[arm], task_of(evidence, arm).split
    seen, matrix = found["overlap_seen"][0].astype(bool), found["overlap_matrix"][0]
    every = -(-split.space.n_cells // len(seen))
    kept = np.concatenate([np.flatnonzero(mask)[::every] for mask in (split.seen, split.unseen)])
    figure, panels = new_figure(2, aspect=0.92)
    similarity_matrix(
        panels[0, 0],
        binary_kernel(split.space.cells[kept]),
        int(seen.sum()),
        limits=(0.0, 1.0),
        title="The binary kernel: 1 where two cells share x or y",
        label="kernel",
    )
    others = matrix[~np.eye(len(matrix), dtype=bool)]  # each picture overlaps most with itself
    pixels, angles = (fixed(median(found[f"{kind}_binary"]), 2) for kind in ("overlap", "cosine"))
    similarity_matrix(
        panels[0, 1],
        matrix,
        int(seen.sum()),
        limits=(0.0, float(np.quantile(others, 0.995)) or 1.0),
        title=f"Overlap of the CNN's pictures: correlates {pixels} with the kernel (cosine {angles})",
        label="share of pixels dark in both",
    )
    return figure


def _kernel_fits(arm: str, evidence: Evidence) -> Figure:
    found = evidence[arm]
    groups = {label: {"unseen": found[f"kernel_{family}_out"]} for family, label in FAMILIES.items()}
    best = min(FAMILIES, key=lambda family: median(found[f"kernel_{family}_out"]))
    nothing = median(found["kernel_constant_out"])
    figure, panels = new_figure(aspect=0.4)
    seed_points(
        panels[0, 0],
        groups,
        baselines={"constant: knows nothing": nothing},
        log=True,
        title=f"Of the four, the {best} kernel comes closest to the net's own unseen pictures",
        label="mean squared difference",
    )
    return figure


DRAWINGS = (
    Drawing(
        "fig1-error-maps",
        "Figure 1b-c. How wrong ordinary decoders are, for every position of the bump.",
        "A net gets x and y in a code that keeps them apart and draws a bump there. Each square of a map is one "
        "position; its colour is the error of the drawn picture (logarithmic, median of the seeds). The dashed line "
        "is the hole, the combinations that training never showed; a blank picture would score what is marked on the "
        "colour bar. Above each map: mean error on unseen cells over that on seen cells.",
        (BUMP,),
        _error_maps,
        "image",
    ),
    Drawing(
        "fig1-pictures",
        "Figure 1b-c. What ordinary decoders draw for unseen combinations.",
        "One column per position, all unseen (dashed frame), first seed; the open cross marks where the bump belongs. "
        "Pictures may be so faint that they are shown twice, as drawn and stretched to full contrast. The last row is "
        "no net: it is the sum of all seen pictures that share x or y with the position. A net that composes would "
        "repeat the first row.",
        (BUMP,),
        _pictures,
        "image",
    ),
    Drawing(
        "fig1-superposition",
        "Figure 1d. One factor alone, their sum, and the picture of both.",
        "First two rows: the net's picture when the code of the other factor is replaced by its average over "
        "training. Third row: the two added up and divided by the maximum. Last row: the picture for the pair itself. "
        "Every picture is stretched to full contrast, first seed. Where the last two rows look alike, the net adds up "
        "what x and y each bring instead of combining them.",
        (BUMP,),
        _super_pictures,
        "image",
    ),
    Drawing(
        "fig1-between",
        "Figure 1b-c, further. The same nets between the positions they were trained on.",
        "As the maps above, on a grid of 50 × 50 real-valued positions, nearly two to a pixel. Fine stripes between "
        "whole positions would mean that a net has learnt single positions by heart.",
        (BUMP,),
        _between,
        "image",
    ),
    Drawing(
        "fig1-own-sums",
        "Figure 1d, further. Unseen pictures beside the sum of the net's own seen ones.",
        "For every position, what the net draws, and the sum of what it draws for all seen positions that share x or "
        "y, divided by its maximum. Every picture is stretched to full contrast, first seed.",
        (BUMP,),
        _own_sums,
        "image",
    ),
    Drawing(
        "fig1-superposition-index",
        "Figure 1d in numbers. Do unseen pictures resemble the truth, or a sum of seen pictures?",
        "Correlation over pixels of the picture drawn for an unseen cell with the true picture, and with the sum of "
        "the seen pictures that share x or y with it; means over unseen cells well inside the hole, one point per "
        "seed. The thin line shows how far the truth itself resembles the sum, for the CNN's hole.",
        (BUMP,),
        _superposition_index,
    ),
    Drawing(
        "fig1-kernel",
        "Figure 1e. Which pictures overlap, beside the kernel that would explain it.",
        "Rows and columns are cells, seen ones first. Left: the binary kernel of the paper's theory, for which two "
        "cells are alike if they share x or y. Right: the share of pixels that are dark in both of the CNN's pictures "
        "(first seed; the colour scale leaves out each picture's overlap with itself). The more the lower left block, "
        "unseen against seen, repeats the pattern on the left, the more the net behaves like that kernel. The "
        "correlations above are of that block; the cosine between pictures also counts what is too faint to be called "
        "dark.",
        (BUMP,),
        partial(_overlap, BUMP),
        "image",
    ),
    Drawing(
        "fig1-kernel-ramp",
        "Figure 1e for the ramp code. Which pictures overlap, beside the binary kernel.",
        "As above, for the CNN that gets x and y as two numbers. Neighbouring numbers are alike before anything is "
        "learnt, so the net has less reason to follow a kernel that knows only equal and unequal.",
        (RAMP,),
        partial(_overlap, RAMP),
        "image",
    ),
    Drawing(
        "fig1-kernel-fits",
        "Figure 1e, further. How well simple kernels predict the CNN's own pictures.",
        "A kernel machine learns the net's pictures of the seen cells and predicts those of the unseen ones; one "
        "point per seed. Kernel widths are chosen on seen cells only. A small difference means that the net acts like "
        "that kernel there; the line is the constant kernel, which predicts the mean of the seen pictures everywhere.",
        (BUMP,),
        partial(_kernel_fits, BUMP),
    ),
    Drawing(
        "fig1-kernel-fits-ramp",
        "Figure 1e for the ramp code, further. How well simple kernels predict its pictures.",
        "As above, for the CNN that gets x and y as two numbers. One point per seed.",
        (RAMP,),
        partial(_kernel_fits, RAMP),
    ),
)
