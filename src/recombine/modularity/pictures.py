"""Weight maps: every layer's weights as squares, units sorted by module."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from recombine.modularity.phrases import place_names, share
from recombine.report import PAGE_WIDTH, blank_figure, headline, look
from recombine.report.weight_maps import weight_map

if TYPE_CHECKING:
    from recombine.modularity.result import ModularityReport

MOST_LAYERS = 12
"""Layers that are shown; of deeper nets, the first."""
COLUMNS = 4
MOST_NUMBERS = 12
"""Module numbers along a side of a map."""


def weight_maps(
    weights: Sequence[Float[np.ndarray, "before after"]],
    labels: Sequence[Int[np.ndarray, " units"]],
    *,
    titles: Sequence[str] = (),
    title: str = "",
) -> Any:
    """|w| of every layer as a map, units sorted by module and dead units left out, modules framed on the diagonal.

    **Arguments:**

    - `weights`: matrices `(units before, units after)`; `labels`: module numbers of inputs, hidden units and outputs,
        -1 for dead ones.
    - `titles`: what stands above each map.

    **Returns:**

    A matplotlib figure. Colours are relative to the largest weight of a layer, on a square-root scale.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity import weight_maps
    >>> figure = weight_maps([np.eye(2), np.eye(2)], [np.arange(2)] * 3, title="Two modules")
    >>> len(figure.axes)  # two maps and the colour bar
    3

    ```
    """
    shown = min(len(weights), MOST_LAYERS)
    columns = min(shown, COLUMNS)
    rows = ceil(shown / columns)
    with look():
        side = min(2.2, (PAGE_WIDTH - 0.3) / columns)
        figure = blank_figure(height=rows * (side + 0.15) + 0.9, width=max(4.0, columns * side + 0.3))
        panels = figure.subplots(rows, columns, squeeze=False)
        names = place_names(len(weights) + 1)
        for number, ax in enumerate(panels.flat):
            if number >= shown:
                ax.set_visible(False)
                continue
            image = weight_map(ax, weights[number], labels[number], labels[number + 1])
            _thin_ticks(ax)
            ax.set_ylabel(names[number])
            ax.set_xlabel(names[number + 1])
            if titles:
                ax.set_title(titles[number], fontsize=8.0)
        bar = figure.colorbar(image, ax=panels, location="bottom", aspect=40.0, pad=0.03, shrink=0.6)
        bar.set_ticks([0, 0.01, 0.1, 0.5, 1], labels=["0", "1 %", "10 %", "50 %", "100 %"])
        bar.set_label("size of a weight, relative to the largest of its layer")
        bar.outline.set_visible(False)
        headline(figure, title)
    return figure


def report_figure(report: ModularityReport) -> Any:
    """The weight maps of a report, with what stays within modules above each."""
    titles = [f"layer {layer + 1}: {share(mass)} within" for layer, mass in enumerate(report.mass)]
    words = {
        "modular": f"Weights stay within {report.modules} modules",
        "partly modular": f"Most weights stay within {report.modules} modules, some join them",
        "mixed": "Weights join units of different modules",
        "undecided": f"Weights within {report.modules} modules, which may be there by chance",
    }
    return weight_maps(report.weights, report.labels, titles=titles, title=words[report.verdict.word])


def _thin_ticks(ax: Any) -> None:
    """Numbers of as many modules as there is room for."""
    for axis in (ax.xaxis, ax.yaxis):
        every = ceil(len(axis.get_ticklocs()) / MOST_NUMBERS) or 1
        names = [tick.get_text() for tick in axis.get_ticklabels()]
        axis.set_ticks(axis.get_ticklocs()[::every], names[::every])
