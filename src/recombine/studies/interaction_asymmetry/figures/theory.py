"""The theory on functions of two latents: what rotation does to interaction, and extrapolation from an L-shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, outline_unseen, sentence
from recombine.studies.claims import Evidence
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL_ORDERS = (1, 2, 3, 7)


def _rotations(evidence: Evidence) -> Figure:
    arm = evidence["rotations"]
    degrees = arm["degrees"][0]
    panels_of = {
        "second derivatives across slots, r2": {"g1, of order 1": "r2_g1", "g2, of order 2": "r2_g2"},
        "third derivatives across slots, r3": {"g1, of order 1": "r3_g1", "g2, of order 2": "r3_g2"},
    }
    inks = colours(["g1, of order 1", "g2, of order 2"])
    with look():
        figure = blank_figure(height=2.6, width=6.2)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, (title, curves) in zip(panels, panels_of.items(), strict=True):
            for label, name in curves.items():
                ax.plot(degrees, arm[name][0], color=inks[label], label=label, linewidth=1.4)
            ax.axhline(
                0, color=BASELINE, linewidth=0.8, linestyle=":", label="linear map (no such derivatives)"
            )
            ax.set_xticks([0, 30, 60, 90])
            ax.set_xlabel("rotation of the latents (degrees)")
            sentence(ax, title)
        panels[0].set_ylim(-0.03, 1)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _l_shape(evidence: Evidence) -> Figure:
    arm = evidence["L-shape"]
    target, surfaces, table = arm["truth"][0], arm["surface"][0], arm["table"][:, 1]
    side = len(target)
    axis = np.linspace(-1, 1, side)
    hidden = (axis[:, None] > 1e-9) & (axis > 1e-9)
    low, high = target.min(), target.max()
    with look():
        figure = blank_figure(height=3.3)
        panels = figure.subplots(2, len(MODEL_ORDERS) + 1)
        for line, noise in zip(panels, (False, True), strict=True):
            images = [target, *surfaces[int(noise)]]
            for ax, image in zip(line, images, strict=True):
                ax.imshow(image.T, origin="lower", cmap="viridis", vmin=low, vmax=high)
                outline_unseen(ax, hidden)
                ax.set_xticks([])
                ax.set_yticks([])
            for ax, scores in zip(line[1:], np.median(table, axis=0), strict=True):
                ax.set_xlabel(f"R² outside {scores[3 if noise else 1]:.2f}")
            line[0].set_ylabel("noise 0.05" if noise else "no noise")
        for ax, title in zip(panels[0], ("target", *(f"order {n}" for n in MODEL_ORDERS)), strict=True):
            sentence(ax, title)
    return figure


DRAWINGS = (
    Drawing(
        "rotations",
        "Rotating the latents increases interaction: only the true slots have none of the next order.",
        "Share of derivatives across the two slots after a rotation, pooled over a grid. r2 identifies the slots of "
        "g1, r3 those of g2; nothing identifies those of a linear map.",
        ("rotations",),
        _rotations,
    ),
    Drawing(
        "l-shape",
        "From an L-shaped support, a model of the right order extrapolates; lower orders cannot, higher orders may "
        "fail.",
        "One output of g2 (order 2) over both latents, fitted by least squares outside the dashed quadrant with cross "
        "terms up to the order above each image.",
        ("L-shape",),
        _l_shape,
        form="image",
    ),
)
