"""A grid of cells by kind: seen, determined, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from recombine.report.canvas import PAGE_WIDTH, blank_figure
from recombine.report.style import INK, METHODS, SEEN, UNSEEN, Figure, sentence, styled

KINDS = (SEEN, METHODS["sky"], METHODS["orange"], UNSEEN)
"""Colours of the kinds in order: from known to open."""


@styled
def status_grid(
    status: Int[np.ndarray, "first second"],
    kinds: Sequence[str],
    *,
    factors: Sequence[str],
    levels: Sequence[Sequence[str]],
    title: str = "",
) -> Figure:
    """Every combination of two factors as a square in the colour of its kind; white where there is none.

    **Arguments:**

    - `status`: `(first, second)` kind numbers; -1 for cells that are none of them.
    - `kinds`: their names, at most four.
    - `factors`, `levels`: names of the two factors and of their levels; the first runs to the right.

    ```python
    >>> import numpy as np
    >>> from recombine.report import status_grid
    >>> figure = status_grid(np.array([[0, 1], [1, 0]]), ("seen", "open"), factors=("a", "b"), levels=("pq", "rs"))

    ```
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    across, down = status.shape
    side = min(0.32, (PAGE_WIDTH - 2.6) / across)
    figure = blank_figure(height=max(1.8, side * down + 1.1))
    ax = figure.subplots()
    shown = np.ma.masked_less(status.T, 0)
    ax.imshow(shown, cmap=ListedColormap(KINDS), vmin=-0.5, vmax=len(KINDS) - 0.5, aspect="equal")
    for axis, names, label in ((ax.xaxis, levels[0], factors[0]), (ax.yaxis, levels[1], factors[1])):
        step = max(1, -(-len(names) // 20))
        axis.set_ticks(np.arange(0, len(names), step), [str(name)[:14] for name in names][::step])
        axis.set_label_text(label)
    if max(map(len, map(str, levels[0]))) > 3 and across > 6:
        ax.tick_params(axis="x", rotation=60)
    ax.set_xticks(np.arange(across + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(down + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    present = [i for i in range(len(kinds)) if (status == i).any()]
    patches = [Patch(facecolor=KINDS[i], edgecolor=INK, linewidth=0.4, label=kinds[i]) for i in present]
    ax.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    sentence(ax, title)
    return figure
