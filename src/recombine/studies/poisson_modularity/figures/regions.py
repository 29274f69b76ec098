"""Held-out regions, modules in front of a dense block, and film rolls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, SEEN, UNSEEN, blank_figure, colours, look, outline_unseen, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.arms.blocks import DEPTHS, block_arm
from recombine.studies.poisson_modularity.arms.compositions import NETS, TASKS, region_arm
from recombine.studies.poisson_modularity.arms.film import FRAMES, WEIGHTS, film_arm
from recombine.studies.poisson_modularity.compositions import (
    cell_of,
    composition,
    gaussian_bump,
    random_composition,
)
from recombine.studies.poisson_modularity.region_probes import lattice
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"wedge": "Gaussian", "composition": "composition"}


def _target(task: str, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The target over the square, and where it is unseen."""
    points = lattice(side)
    if task == "wedge":
        held = (points.prod(axis=1) < 0) & ((points**2).sum(axis=1) < 1)
        return gaussian_bump(points).reshape(side, side), held.reshape(side, side)
    split = random_composition().split
    numbers = cell_of(points, 8)
    seen = split.seen.reshape(8, 8)[numbers % 8, numbers // 8]
    return composition()(points).reshape(side, side), ~seen.reshape(side, side)


def _maps(evidence: Evidence) -> Figure:
    from matplotlib.colors import LogNorm

    with look():
        figure = blank_figure(height=3.9)
        panels = figure.subplots(2, len(NETS) + 1)
        for line, task in zip(panels, TASKS, strict=True):
            side = evidence[region_arm(task, "full")]["map"].shape[-1]
            target, held = _target(task, side)
            inside = _inside(task, side)
            _square(line[0], np.where(inside, target, np.nan), held, cmap="Greys")
            line[0].set_ylabel(TITLES[task])
            for ax, net in zip(line[1:], NETS, strict=True):
                error = (evidence[region_arm(task, net)]["map"] - target) ** 2
                shown = np.where(inside, np.median(error, axis=0), np.nan)
                image = _square(ax, shown, held, cmap="viridis", norm=LogNorm(1e-7, 1e-2))
            if task == "wedge":
                for ax, name in zip(line, ("target", *NETS), strict=True):
                    sentence(ax, name)
        bar = figure.colorbar(image, ax=panels, location="bottom", aspect=40.0, shrink=0.6, pad=0.03)
        bar.set_label("squared error, median over seeds")
        bar.outline.set_visible(False)
        log_ticks(bar.ax.xaxis)
    return figure


def _square(ax: Any, grid: np.ndarray, held: np.ndarray, **scale: Any) -> Any:
    image = ax.imshow(grid.T, origin="upper", **scale)
    outline_unseen(ax, held)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    return image


def _inside(task: str, side: int) -> np.ndarray:
    points = lattice(side)
    inside = (points**2).sum(axis=1) < 1 if task == "wedge" else np.ones(len(points), dtype=bool)
    return inside.reshape(side, side)


def _errors(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.9, width=6.2)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, task in zip(panels, TASKS, strict=True):
            for column, net in enumerate(NETS):
                arm = evidence[region_arm(task, net)]
                for shift, (name, ink, label) in enumerate(
                    (("mse_in", SEEN, "seen region"), ("mse_out", UNSEEN, "unseen region"))
                ):
                    position = column + 0.24 * (shift - 0.5)
                    ax.plot(
                        np.full(len(arm[name]), position),
                        arm[name],
                        "o",
                        color=ink,
                        markersize=3.5,
                        label=None if column else label,
                    )
                    if (task, net) in published.REGIONS:
                        known = published.REGIONS[task, net][shift]
                        ax.plot(position, known, "_", color=ink, markersize=12)
            ax.set_xticks(range(len(NETS)), [name.replace(", ", ",\n") for name in NETS])
            ax.set_yscale("log")
            log_ticks(ax.yaxis)
            sentence(ax, TITLES[task])
        panels[0].set_ylabel("squared error")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _blocks(evidence: Evidence) -> Figure:
    known = np.array(published.READOUT)
    names = [f"function {j + 1}, frequency {w:.2f}" for j, w in enumerate(published.SINES[1]["frequency"])]
    with look():
        figure = blank_figure(height=2.9, width=6.2)
        ax = figure.subplots()
        for j, (name, ink) in enumerate(colours(names).items()):
            values = np.array([evidence[block_arm(depth)]["readout_rmse"][:, j] for depth in DEPTHS])
            ax.plot(DEPTHS, np.median(values, axis=1), color=ink, label=name)
            ax.plot(DEPTHS, values, "o", color=ink, markersize=3)
            ax.plot(DEPTHS, known[:, j], "_", color=ink, markersize=12)
        ax.set_yscale("log")
        log_ticks(ax.yaxis)
        ax.set_xticks(DEPTHS)
        ax.set_xlabel("hidden layers of a module (dashes: published)")
        ax.set_ylabel("RMSE of the function\nread from its module")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _film(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, len(FRAMES), sharey=True)
        for ax, frames in zip(panels, FRAMES, strict=True):
            for regime, ink in colours(list(WEIGHTS)).items():
                values = evidence[film_arm(frames, regime)]["spectrum"]
                indices = np.arange(1, frames + 3)
                ax.plot(indices, np.median(values, axis=0), color=ink, label=regime)
                ax.plot(indices, values.T, "o", color=ink, markersize=3)
            if frames in published.FILM:
                ax.plot([frames, frames + 1], published.FILM[frames], "_", color="#009E73", markersize=14)
            ax.axvline(frames + 0.5, color=BASELINE, linewidth=0.6)
            ax.set_xticks(range(1, frames + 3))
            ax.set_xlabel("eigenvalue of the head")
            accuracy = np.median(evidence[film_arm(frames, "WA")]["accuracy_test"])
            sentence(ax, f"{frames} frames, {100 * accuracy:.0f}% correct")
        panels[0].set_ylabel("size")
        panels[0].legend()
    return figure


DRAWINGS = (
    Drawing(
        "region-maps",
        "Only modular nets are as good on unseen regions as on seen ones.",
        "Squared error over the square; the region inside the dashed line was not in training.",
        tuple(region_arm(task, net) for task in TASKS for net in NETS),
        _maps,
        form="image",
    ),
    Drawing(
        "region-errors",
        "On the unseen region, the errors of dense nets are larger by orders of magnitude.",
        "Each point is a seed; dashes: published. The small dense net has as many parameters as the modular one.",
        tuple(region_arm(task, net) for task in TASKS for net in NETS),
        _errors,
    ),
    Drawing(
        "blocks",
        "Sufficiently deep modules take over the non-linear computation from the dense block after them.",
        "How well an affine map predicts each function from its own module's one value; each point is a seed.",
        tuple(block_arm(depth) for depth in DEPTHS),
        _blocks,
    ),
    Drawing(
        "film-rolls",
        "Rolls of digits: weighted activity splits the head into one part per frame.",
        "Laplacian eigenvalues of the head's live hidden units, by their outgoing weights; each point is a seed. "
        "Green dashes: published for CIFAR-10 and ResNet-18.",
        tuple(film_arm(n, regime) for n in FRAMES for regime in WEIGHTS),
        _film,
    ),
)
