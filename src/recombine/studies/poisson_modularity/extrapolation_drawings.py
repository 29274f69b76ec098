"""Figures of held-out regions, shifted inputs, and modules in front of a dense block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, SEEN, UNSEEN, blank_figure, colours, look, outline_unseen, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.evidence import Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.compositions import (
    cell_of,
    composition,
    gaussian_bump,
    random_composition,
)
from recombine.studies.poisson_modularity.module_probes import SHIFTS
from recombine.studies.poisson_modularity.region_arms import DEPTHS, NETS, TASKS, block_arm, region_arm
from recombine.studies.poisson_modularity.region_probes import lattice
from recombine.studies.poisson_modularity.sine_nets import other_outputs
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"wedge": "Gaussian", "composition": "composition"}
SHIFTED = ("L2", "Noise2", "Act", "L1 1e-4", "WA")
ALL_REGIONS = tuple(region_arm(task, net) for task in TASKS for net in NETS)


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
            disk = _disk(task, side)
            _square(line[0], np.where(disk, target, np.nan), held, cmap="Greys")
            line[0].set_ylabel(TITLES[task])
            for ax, net in zip(line[1:], NETS, strict=True):
                error = (evidence[region_arm(task, net)]["map"] - target) ** 2
                shown = np.where(disk, np.median(error, axis=0), np.nan)
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


def _disk(task: str, side: int) -> np.ndarray:
    """Where the task is defined: the unit disk for the Gaussian, everywhere for the composition."""
    points = lattice(side)
    defined = (points**2).sum(axis=1) < 1 if task == "wedge" else np.ones(len(points), dtype=bool)
    return defined.reshape(side, side)


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
                    style = {"color": ink, "markersize": 3.5, "label": None if column else label}
                    ax.plot(np.full(len(arm[name]), position), arm[name], "o", **style)
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


def _shift(evidence: Evidence) -> Figure:
    inks = colours([*SHIFTED, "blocks"])
    with look():
        figure = blank_figure(height=3.0)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, name in zip(panels, ("shift_error", "shift_error_pruned"), strict=True):
            for arm in SHIFTED:
                values = other_outputs(evidence[arm], name)[:, 1:]
                ax.plot(SHIFTS, np.median(values, axis=0), color=inks[arm], label=arm)
                low, high = values.min(axis=0), values.max(axis=0)
                ax.fill_between(SHIFTS, low, high, color=inks[arm], alpha=0.15, linewidth=0)
            ax.set_xscale("log")
            ax.set_yscale("log")
            log_ticks(ax.xaxis)
            log_ticks(ax.yaxis)
            ax.set_xlabel("added to input 1")
        blocks = np.median(other_outputs(evidence["blocks"], "shift_error")[:, 1:], axis=0)
        panels[0].plot(SHIFTS, blocks, color=BASELINE, label="blocks", linewidth=1.0)
        sentence(panels[0], "as trained")
        sentence(panels[1], "cut between modules")
        panels[0].set_ylabel("error of outputs 2 to 4")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
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


REGION_MAPS = Drawing(
    "region-maps",
    "Only modular nets are as good on unseen regions as on seen ones.",
    "Squared error over the square; the region inside the dashed line was not in training.",
    ALL_REGIONS,
    _maps,
    form="image",
)
REGION_ERRORS = Drawing(
    "region-errors",
    "On the unseen region, the errors of dense nets are larger by orders of magnitude.",
    "Each point is a seed; dashes: published. The small dense net has as many parameters as the modular one.",
    ALL_REGIONS,
    _errors,
)
SHIFT = Drawing(
    "shift",
    "A shifted input leaks into other outputs of L2 nets; modules contain it, completely once connections are cut.",
    "A constant is added to input 1 alone; the targets of outputs 2 to 4 do not change. Lines: medians, bands: all "
    "seeds.",
    (*SHIFTED, "blocks"),
    _shift,
)
BLOCKS = Drawing(
    "blocks",
    "Sufficiently deep modules take over the nonlinear computation from the dense block after them.",
    "How well an affine map predicts each function from its own module's one value; each point is a seed.",
    tuple(block_arm(depth) for depth in DEPTHS),
    _blocks,
)
