"""Labels next to what they name instead of in a legend, and never on top of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from recombine.report.figures.style import BASELINE, Axes, styled

LINE_HEIGHT = 1.25
"""The distance between two labels, in units of their type size."""


class EndLabel(NamedTuple):
    """A label at the right end of a line that ends at height `y`."""

    text: str
    y: float
    colour: str


def spread(targets: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Moves positions as little as possible so that they are at least `gap` apart and stay in a range.

    Least squares under the two constraints, in the order of `targets`. If the range is too short for all
    of them, they overshoot it at the top.

    ```python
    >>> from recombine.report.figures.direct_labels import spread
    >>> spread([5.0, 5.0, 0.0], gap=2.0, low=0.0, high=10.0)
    [4.0, 6.0, 0.0]

    ```
    """
    order = np.argsort(targets, kind="stable")
    blocks: list[tuple[float, int]] = []  # mean and size; merged while they would overlap
    for rank, index in enumerate(order):
        mean, size = targets[index] - rank * gap, 1
        while blocks and blocks[-1][0] > mean:
            previous, members = blocks.pop()
            mean, size = (mean * size + previous * members) / (size + members), size + members
        blocks.append((mean, size))
    apart = np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])
    apart = np.maximum(np.minimum(apart, high - (len(targets) - 1) * gap), low)
    placed = np.empty(len(targets))
    placed[order] = apart + np.arange(len(targets)) * gap
    return [float(value) for value in placed]


@styled
def end_labels(ax: Axes, labels: Sequence[EndLabel], *, size: float = 8.0) -> None:
    """Writes labels to the right of a panel at the heights of their lines, apart where they would touch.

    Where they go is decided when the figure is drawn, because only then the panel's size is known; the layout
    keeps space for them. A label without a finite height is at the bottom and says that its line diverged.
    """
    from matplotlib.transforms import Affine2D

    bottom = float(ax.get_ylim()[0])
    labels = [
        label if np.isfinite(label.y) else label._replace(text=f"{label.text} (diverged)", y=bottom)
        for label in labels
    ]

    def positions(renderer: Any) -> list[tuple[float, float]]:
        pixels = float(renderer.points_to_pixels(1.0))
        box, to_pixels = ax.bbox, ax.get_yaxis_transform()
        targets = [float(np.clip(to_pixels.transform((1.0, one.y))[1], box.y0, box.y1)) for one in labels]
        heights = spread(targets, LINE_HEIGHT * size * pixels, box.y0, box.y1)
        return [(box.x1 + 10.0 * pixels, height) for height in heights]

    def offset_transform(index: int) -> Callable[[Any], Any]:
        return lambda renderer: Affine2D().translate(*positions(renderer)[index])

    for index, label in enumerate(labels):
        ax.annotate(
            label.text,
            xy=(1.0, label.y),
            xycoords=ax.get_yaxis_transform(),
            xytext=(0.0, 0.0),
            textcoords=offset_transform(index),
            annotation_clip=False,
            color=label.colour,
            fontsize=size,
            verticalalignment="center",
            arrowprops={
                "arrowstyle": "-",
                "color": label.colour,
                "linewidth": 0.5,
                "relpos": (0.0, 0.5),
                "shrinkA": 1.0,
                "shrinkB": 0.0,
            },
        )


def baseline_lines(ax: Axes, baselines: Mapping[str, float]) -> list[EndLabel]:
    """Draws a thin line across the panel for every baseline and returns the labels that belong to them."""
    for value in baselines.values():
        ax.axhline(value, color=BASELINE, linewidth=0.7, zorder=1)
    return [EndLabel(text, value, BASELINE) for text, value in baselines.items()]


@styled
def baseline_flags(ax: Axes, baselines: Mapping[str, float], *, size: float = 8.0) -> float:
    """Draws baselines as thin upright lines, each labelled above the panel on a separate line.

    **Returns:**

    The height in points that the labels take, for [`recombine.report.sentence`][]'s `lift`.
    """
    ordered = sorted(baselines.items(), key=lambda item: -item[1])  # no pole crosses a label
    for level, (text, value) in enumerate(ordered):
        lift = 2.0 + level * LINE_HEIGHT * size
        ax.axvline(value, color=BASELINE, linewidth=0.7, zorder=1)
        ax.annotate(
            text,
            xy=(value, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(3.0, lift),
            textcoords="offset points",
            annotation_clip=False,
            color=BASELINE,
            fontsize=size,
            verticalalignment="bottom",
        )
        ax.annotate(
            "",
            xy=(value, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0.0, lift + size),
            textcoords="offset points",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": BASELINE,
                "linewidth": 0.7,
                "shrinkA": 0.0,
                "shrinkB": 0.0,
            },
        )
    return len(ordered) * LINE_HEIGHT * size
